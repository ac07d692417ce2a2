import type { HistorySeries, MetricsHistory } from '../node-view.js';
import { MsgpackWriter } from '../pack/msgpack-writer.js';
import { type Entry, func, INSPECT, In } from '../run/builtin.js';
import * as p from '../run/params.js';
import type { Durations, RunFigures } from '../run/run-figures.js';
import { List } from '../value/containers.js';
import { Float, MpData } from '../value/scalars.js';

/** Figures of the node that runs the query: where its time goes. */
export const NODE_FIGURES: readonly Entry[] = [
  func('queries_info', {
    doc: 'The 200 query shapes (texts with ? for literals) that ran longest on this node, with counts and times in seconds, since it started or since reset_counters().',
    in: In.NODE,
    needs: INSPECT,
    run: (rt) => new List(rt.node.queries().map((entry) => figuresEntry('query', entry.shape, entry))),
  }),
  func('metrics_history', {
    doc: 'The figures of the last hour on this node in steps of 5 seconds, or those of steps that ended later than so many Unix seconds: lists with a value for each step, and marks for starts, elections and backups.',
    in: In.NODE,
    params: [p.optional(p.number('since'))],
    run: (rt, since = 0) =>
      historyEntry(rt.node.history(since instanceof Float ? since.value : Number(since))),
  }),
  func('procedure_stats', {
    doc: 'The procedures that were called on this node, with counts and times in seconds, since it started or since reset_counters(); the longest in all first.',
    in: In.NODE,
    needs: INSPECT,
    run: (rt) => new List(rt.node.procedures().map((entry) => figuresEntry('procedure', entry.name, entry))),
  }),
];

function historyEntry({ stepSeconds, times, series, marks }: MetricsHistory): MpData {
  const out = new MsgpackWriter();
  const names = [...new Set(series.map(({ name }) => name))];
  out.beginMap(3 + names.length);
  out.key('step');
  out.int(stepSeconds);
  out.key('times');
  out.beginArray(times.length);
  for (const time of times) out.int(time);
  for (const name of names) {
    out.key(name);
    const parts = series.filter((each) => each.name === name);
    if (parts[0]?.part !== null) out.beginMap(parts.length);
    for (const each of parts) {
      if (each.part !== null) out.key(each.part);
      writeSeries(out, each);
    }
  }
  out.key('marks');
  out.beginArray(marks.length);
  for (const { at, kind, text } of marks) {
    out.beginMap(3);
    out.key('at');
    out.int(at);
    out.key('kind');
    out.str(kind);
    out.key('text');
    out.str(text);
  }
  return new MpData(out.out.take());
}

function writeSeries(out: MsgpackWriter, { values, isFloat }: HistorySeries): void {
  out.beginArray(values.length);
  for (const value of values) {
    if (value === null) out.nil();
    else if (isFloat) out.float(value);
    else out.int(value);
  }
}

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
