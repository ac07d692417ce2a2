/**
 * The figures of the last hour in steps of 5 s: see `metrics_history()`. What is counted is told by its difference from the step before;
 * of a histogram, the quantiles of what came in the step.
 */
import type { HistoryMark, HistorySeries, MetricsHistory } from '@althing/engine';
import {
  FAMILIES,
  type Family,
  type FamilyName,
  OUTCOMES,
  RESULTS,
  seriesCount,
  THREADS,
} from './families.js';
import type { Metrics } from './metrics.js';

/** Time from one step to the next, in milliseconds, and steps that are kept: those of an hour. */
export const STEP_MS = 5000;
const STEPS = 720;

const MARKS_MAX = 100;

const QUANTILES = [0.5, 0.95, 0.99] as const;

/** Histograms whose quantiles are told. */
const LATENCIES = [
  ['request_latency', 'requestSeconds'],
  ['commit_latency', 'commitSeconds'],
  ['sync_latency', 'syncSeconds'],
] as const satisfies readonly (readonly [string, FamilyName])[];

/** Figures that are read from others at the end of a step. */
export interface HistoryGauges {
  readonly connections: number;
  readonly inFlight: number;
  readonly residentBytes: number;
  /** Null where it is not known. */
  readonly diskFreeBytes: number | null;
}

type Column = Omit<HistorySeries, 'values'>;

const COLUMNS: readonly Column[] = [
  ...OUTCOMES.map((outcome) => ({ name: 'requests', part: outcome, isFloat: false })),
  ...LATENCIES.flatMap(([name]) =>
    QUANTILES.map((quantile) => ({ name, part: `p${quantile * 100}`, isFloat: true })),
  ),
  ...THREADS.map((thread) => ({ name: 'event_loop_delay', part: thread, isFloat: true })),
  ...THREADS.map((thread) => ({ name: 'heap_bytes', part: thread, isFloat: false })),
  ...['resident_bytes', 'cache_bytes', 'cold_reads', 'disk_free_bytes', 'connections', 'in_flight'].map(
    (name) => ({ name, part: null, isFloat: false }),
  ),
];

/** The ring of steps takes some 170 KB, whatever happens. */
export class History {
  private readonly times = new Float64Array(STEPS);
  private readonly cells = new Float64Array(STEPS * COLUMNS.length);
  /** Steps that were taken since the start. */
  private count = 0;
  private counted: Counted;
  private readonly marks: HistoryMark[] = [];

  /** @param now Unix seconds */
  constructor(
    private readonly metrics: Metrics,
    now: number,
  ) {
    this.counted = countedIn(metrics);
    this.mark(now, 'start', 'the node was started');
  }

  /** Notes something that explains a change of the figures. */
  mark(at: number, kind: HistoryMark['kind'], text: string): void {
    if (this.marks.length === MARKS_MAX) this.marks.shift();
    this.marks.push({ at, kind, text });
  }

  /** Ends a step. @param now Unix seconds */
  step(now: number, gauges: HistoryGauges): void {
    const { metrics, counted: before } = this;
    const counted = countedIn(metrics);
    this.counted = counted;
    RESULTS.forEach((result, i) => {
      if ((counted.backups[i] ?? 0) > (before.backups[i] ?? 0))
        this.mark(now, 'backup', `a backup: ${result}`);
    });
    const row = [
      ...counted.requests.map((count, i) => count - (before.requests[i] ?? 0)),
      ...LATENCIES.flatMap(([, family], i) => {
        const cells = counted.latencies[i]?.map((cell, k) => cell - (before.latencies[i]?.[k] ?? 0)) ?? [];
        return QUANTILES.map((quantile) => quantileOf(cells, FAMILIES[family].bounds, quantile));
      }),
      ...THREADS.map((_thread, i) => metrics.takePeak(i) / 1000),
      ...THREADS.map((_thread, i) => metrics.get('heapUsed', i)),
      gauges.residentBytes,
      metrics.get('cacheBytes'),
      counted.coldReads - before.coldReads,
      gauges.diskFreeBytes ?? Number.NaN,
      gauges.connections,
      gauges.inFlight,
    ];
    const at = this.count % STEPS;
    this.times[at] = now;
    this.cells.set(row, at * COLUMNS.length);
    this.count += 1;
  }

  /** The steps that ended later than so many Unix seconds, the oldest first. */
  since(seconds: number): MetricsHistory {
    const places = Array.from(
      { length: Math.min(this.count, STEPS) },
      (_, i) => (this.count - Math.min(this.count, STEPS) + i) % STEPS,
    ).filter((place) => (this.times[place] ?? 0) > seconds);
    return {
      stepSeconds: STEP_MS / 1000,
      times: places.map((place) => this.times[place] ?? 0),
      series: COLUMNS.map((column, i) => ({
        ...column,
        values: places.map((place) => toldOf(this.cells[place * COLUMNS.length + i])),
      })),
      marks: this.marks.filter(({ at }) => at > seconds),
    };
  }
}

/** Counters, which only ever grow. */
interface Counted {
  readonly requests: readonly number[];
  /** Buckets, without the sum. */
  readonly latencies: readonly (readonly number[])[];
  readonly backups: readonly number[];
  readonly coldReads: number;
}

function countedIn(metrics: Metrics): Counted {
  const requests = OUTCOMES.map(() => 0);
  for (let series = 0; series < seriesCount(FAMILIES.requests); series++) {
    const outcome = series % OUTCOMES.length;
    requests[outcome] = (requests[outcome] ?? 0) + metrics.get('requests', series);
  }
  return {
    requests,
    latencies: LATENCIES.map(([, name]) => bucketsOf(metrics, name)),
    backups: RESULTS.map((_result, i) => metrics.get('backups', i)),
    coldReads: metrics.get('cacheMisses'),
  };
}

/** The buckets of all series of a family. */
function bucketsOf(metrics: Metrics, name: FamilyName): readonly number[] {
  const family: Family = FAMILIES[name];
  const sums = Array.from({ length: family.bounds.length + 1 }, () => 0);
  for (let series = 0; series < seriesCount(family); series++) {
    const cells = metrics.histogram(name, series);
    for (let i = 0; i < sums.length; i++) sums[i] = (sums[i] ?? 0) + (cells[i] ?? 0);
  }
  return sums;
}

/** A quantile as Prometheus estimates it: evenly spread within a bucket; NaN of nothing. */
function quantileOf(buckets: readonly number[], bounds: readonly number[], quantile: number): number {
  const count = buckets.reduce((sum, bucket) => sum + bucket, 0);
  if (count === 0) return Number.NaN;
  let left = count * quantile;
  for (let i = 0; i < bounds.length; i++) {
    const bucket = buckets[i] ?? 0;
    const from = bounds[i - 1] ?? 0;
    const to = bounds[i] ?? 0;
    if (left <= bucket) return from + (to - from) * (bucket === 0 ? 1 : left / bucket);
    left -= bucket;
  }
  return bounds.at(-1) ?? 0;
}

function toldOf(value = Number.NaN): number | null {
  return Number.isNaN(value) ? null : value;
}
