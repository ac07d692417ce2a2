import type { HistorySeries, MetricsHistory } from '../node-view.js';
import { type Info, type InfoFields, packInfo } from '../pack/info.js';
import { type Entry, func, INSPECT, In } from '../run/builtin.js';
import * as p from '../run/params.js';
import type { Durations, RunFigures } from '../run/run-figures.js';
import type { Runtime } from '../run/runtime.js';
import { List } from '../value/containers.js';
import { Float, type MpData } from '../value/scalars.js';

/** Figures of the node that runs the query: where its time goes. */
export const NODE_FIGURES: readonly Entry[] = [
  func('queries_info', {
    doc: 'The 200 query shapes (texts with ? for literals) that ran longest on this node, with counts and times in seconds, since it started or since reset_counters().',
    needs: INSPECT,
    run: (rt) => new List(rt.node.queries().map((entry) => figuresEntry(rt, 'query', entry.shape, entry))),
  }),
  func('metrics_history', {
    doc: 'The figures of the last hour on this node in steps of 5 seconds, or those of steps that ended later than so many Unix seconds: lists with a value for each step, and marks for starts, elections and backups.',
    in: In.NODE,
    params: [p.optional(p.number('since'))],
    run: (rt, since = 0) =>
      historyEntry(rt, rt.node.history(since instanceof Float ? since.value : Number(since))),
  }),
  func('procedure_stats', {
    doc: 'The procedures that were called on this node, with counts and times in seconds, since it started or since reset_counters(); the longest in all first.',
    needs: INSPECT,
    run: (rt) =>
      new List(rt.node.procedures().map((entry) => figuresEntry(rt, 'procedure', entry.name, entry))),
  }),
];

function historyEntry(rt: Runtime, { stepSeconds, times, series, marks }: MetricsHistory): MpData {
  const named = new Map<string, Info>();
  for (const each of series) {
    if (each.part === null) named.set(each.name, valuesOf(each));
    else if (!named.has(each.name)) {
      const parts = series.filter(({ name }) => name === each.name);
      named.set(each.name, new Map(parts.map((one) => [one.part ?? '', valuesOf(one)])));
    }
  }
  return packInfo(rt, {
    step: stepSeconds,
    times,
    ...Object.fromEntries(named),
    marks: marks.map(({ at, kind, text }) => ({ at, kind, text })),
  });
}

/** There may be thousands of them. */
function valuesOf({ values, isFloat }: HistorySeries): Info {
  return (sink) => {
    sink.beginArray(values.length);
    for (const value of values) {
      if (value === null) sink.nil();
      else if (isFloat) sink.float(value);
      else sink.int(value);
    }
    sink.endArray();
  };
}

interface Told {
  readonly scope: string;
  readonly figures: RunFigures;
  readonly last: number;
}

function figuresEntry(rt: Runtime, key: string, name: string, { scope, figures, last }: Told): MpData {
  return packInfo(rt, {
    [key]: name,
    scope,
    count: figures.count,
    failures: figures.failures,
    ...durationsOf('run', figures.run),
    ...durationsOf('wait', figures.wait),
    things_read: figures.thingsRead,
    cold_reads: figures.coldReads,
    last,
  });
}

/** Durations in seconds. */
function durationsOf(name: string, durations: Durations): InfoFields {
  const seconds = (ms: number): Float => new Float(ms / 1000);
  return {
    [`${name}_total`]: seconds(durations.totalMs),
    [`${name}_mean`]: seconds(durations.meanMs),
    [`${name}_p99`]: seconds(durations.quantileMs(0.99)),
    [`${name}_max`]: seconds(durations.maxMs),
  };
}
