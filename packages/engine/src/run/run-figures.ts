/** Costs of requests on this node, by what they ran: the figures of `queries_info()` and `procedure_stats()`. */
import type { Target } from '../admin/access-lists.js';

/** Buckets to an octave are four, so that a quantile is at most a quarter too large. */
const SUB_BITS = 2;
const SUBS = 1 << SUB_BITS;

/** Buckets for a microsecond to more than an hour. */
const BUCKETS = 32 * SUBS;

/** Times in milliseconds: their sum, the longest, and how they spread. */
export class Durations {
  totalMs = 0;
  maxMs = 0;
  private count = 0;
  private readonly buckets = new Uint32Array(BUCKETS);

  /** @param weight how many times it stands for */
  add(ms: number, weight: number): void {
    this.count += weight;
    this.totalMs += ms * weight;
    if (ms > this.maxMs) this.maxMs = ms;
    this.buckets[bucketOf(ms)]! += weight;
  }

  get meanMs(): number {
    return this.count === 0 ? 0 : this.totalMs / this.count;
  }

  /** The time that a part of all stays below, up to a quarter too large; 0 without any. */
  quantileMs(part: number): number {
    let left = Math.ceil(this.count * part);
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      left -= this.buckets[bucket]!;
      if (left <= 0) return Math.min(endOf(bucket), this.maxMs);
    }
    return this.maxMs;
  }
}

/** The bucket of a time: its highest bit in microseconds, and the two bits behind that. */
function bucketOf(ms: number): number {
  const us = ms > 0 ? Math.min(ms * 1000, 0x7fffffff) | 0 : 0;
  if (us < SUBS) return us;
  const shift = 31 - Math.clz32(us) - SUB_BITS;
  return ((shift + 1) << SUB_BITS) + ((us >>> shift) & (SUBS - 1));
}

/** The end of a bucket in milliseconds. */
function endOf(bucket: number): number {
  if (bucket < SUBS) return (bucket + 1) / 1000;
  const shift = (bucket >>> SUB_BITS) - 1;
  return ((SUBS + (bucket & (SUBS - 1)) + 1) * 2 ** shift) / 1000;
}

/** The figures of one run. */
export interface RunNote {
  readonly isOk: boolean;
  readonly ranMs: number;
  /** Milliseconds from its arrival to its answer in which it did not run. */
  readonly waitedMs: number;
  readonly thingsRead: number;
  /** The part of them that was read from the disk. */
  readonly coldReads: number;
  /** When it was answered, monotonic milliseconds. */
  readonly at: number;
}

/** Sums over the runs of a query shape or a procedure in one scope. */
export class RunFigures {
  count = 0;
  failures = 0;
  readonly run = new Durations();
  readonly wait = new Durations();
  thingsRead = 0;
  coldReads = 0;
  /** When the last was answered, monotonic milliseconds. */
  lastAt = 0;

  /** @param weight how many runs it stands for */
  note({ isOk, ranMs, waitedMs, thingsRead, coldReads, at }: RunNote, weight = 1): void {
    this.count += weight;
    if (!isOk) this.failures += weight;
    this.run.add(ranMs, weight);
    this.wait.add(waitedMs, weight);
    this.thingsRead += thingsRead * weight;
    this.coldReads += coldReads * weight;
    this.lastAt = at;
  }
}

/** The figures of one query shape, by the scope that it ran in. */
export class QueryShape {
  readonly byTarget = new Map<Target, RunFigures>();
  private lastTarget: Target | null = null;
  private last: RunFigures | null = null;

  /** @param text see `shapeOf` of the language */
  constructor(readonly text: string) {}

  /** Null where it did not run in that scope. */
  figuresOf(target: Target): RunFigures | null {
    if (target === this.lastTarget) return this.last;
    this.last = this.byTarget.get(target) ?? null;
    this.lastTarget = target;
    return this.last;
  }

  put(target: Target, figures: RunFigures): void {
    this.byTarget.set(target, figures);
    this.lastTarget = null;
  }

  delete(target: Target): void {
    this.byTarget.delete(target);
    this.lastTarget = null;
  }
}
