import type { Collections } from '@althing/engine';
import type { CheckpointSettings } from './checkpointer.js';
import { sliceLength } from './slice-length.js';

/** Milliseconds of one slice of work at most: at first, and when things take half as much memory again as they may. */
const SLICE_MS = 2;
const SLICE_MAX_MS = 32;

/** Urgency of the work when they do: see `sliceLength`. */
const URGENCY_MAX = 2;

/** The first round gives a second chance to what was used, as all that is new was, and the next one takes it out. */
const ROUNDS = 2;

/** Keeps what things take in memory under its budget, in slices, while nothing else is to be done. */
export class MemoryKeeper {
  private working = false;
  private roundsLeft = 0;
  /** When the last slice ended, or the first one was asked for. */
  private endedAt = 0;

  /**
   * @param settings read at each use
   * @param later calls back after other work had its turn
   * @param isBehindLongRun true while those wait who came during a long run
   */
  constructor(
    private readonly collections: Pick<Collections, 'bytes' | 'isOver' | 'evict'>,
    private readonly settings: Pick<CheckpointSettings, 'cacheBytes'>,
    private readonly monotonic: () => number,
    private readonly later: (work: () => void) => void,
    private readonly isBehindLongRun: () => boolean,
  ) {}

  /** True if room is being made. */
  get isWorking(): boolean {
    return this.working;
  }

  /** Starts to make room when that is needed. To be called now and then. */
  consider(): void {
    if (this.working || !this.collections.isOver(this.settings.cacheBytes)) return;
    this.working = true;
    this.roundsLeft = ROUNDS;
    this.next();
  }

  private next(): void {
    this.endedAt = this.monotonic();
    this.later(() => this.work());
  }

  private work(): void {
    const began = this.monotonic();
    const excess = Math.min(Math.max(2 * (this.collections.bytes / this.settings.cacheBytes - 1), 0), 1);
    const mayMs = SLICE_MS + excess * (SLICE_MAX_MS - SLICE_MS);
    const urgency = excess * URGENCY_MAX;
    const sliceMs = sliceLength(mayMs, began - this.endedAt, urgency, this.isBehindLongRun());
    const isTooMuch =
      this.collections.evict(this.settings.cacheBytes, began + sliceMs) ||
      (this.collections.isOver(this.settings.cacheBytes) && --this.roundsLeft > 0);
    if (isTooMuch) this.next();
    else this.working = false;
  }
}
