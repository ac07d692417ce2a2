import { MsgpackWriter } from '../pack/msgpack-writer.js';
import { type Entry, func, INSPECT, In } from '../run/builtin.js';
import type { Durations, RunFigures } from '../run/run-figures.js';
import { List } from '../value/containers.js';
import { MpData } from '../value/scalars.js';

/** What the node that runs the query spends its time on. */
export const NODE_FIGURES: readonly Entry[] = [
  func('queries_info', {
    doc: 'The 200 query shapes (texts with ? for literals) that ran longest on this node, with counts and times in seconds, since it started or since reset_counters().',
    in: In.NODE,
    needs: INSPECT,
    run: (rt) => new List(rt.node.queries().map((entry) => figuresEntry('query', entry.shape, entry))),
  }),
  func('procedure_stats', {
    doc: 'The procedures that were called on this node, with counts and times in seconds, since it started or since reset_counters(); the longest in all first.',
    in: In.NODE,
    needs: INSPECT,
    run: (rt) => new List(rt.node.procedures().map((entry) => figuresEntry('procedure', entry.name, entry))),
  }),
];

interface Told {
  readonly scope: string;
  readonly figures: RunFigures;
  readonly last: number;
}

function figuresEntry(key: string, name: string, { scope, figures, last }: Told): MpData {
  const out = new MsgpackWriter();
  out.beginMap(15);
  out.key(key);
  out.str(name);
  out.key('scope');
  out.str(scope);
  out.key('count');
  out.int(figures.count);
  out.key('failures');
  out.int(figures.failures);
  writeDurations(out, 'run', figures.run);
  writeDurations(out, 'wait', figures.wait);
  out.key('things_read');
  out.int(figures.thingsRead);
  out.key('cold_reads');
  out.int(figures.coldReads);
  out.key('last');
  out.int(last);
  return new MpData(out.out.take());
}

function writeDurations(out: MsgpackWriter, name: string, durations: Durations): void {
  const told = {
    total: durations.totalMs,
    mean: durations.meanMs,
    p99: durations.quantileMs(0.99),
    max: durations.maxMs,
  };
  for (const [key, ms] of Object.entries(told)) {
    out.key(`${name}_${key}`);
    out.float(ms / 1000);
  }
}
