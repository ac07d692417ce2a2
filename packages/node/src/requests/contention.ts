/** Finds that users need the engine's thread at the same time: then it is shared between them, a few milliseconds each. */

/** Time that was run from which on it is looked how busy the thread was, in milliseconds. */
const SAMPLE_MS = 10;

/** The part of the time that runs took from which on others had to wait for them. */
const BUSY_PART = 0.5;

/** Time for which users are taken to go on, in milliseconds. */
const MEMORY_MS = 200;

/** Costs an addition as long as there is a single user, and no look at the clock while little runs. */
export class Contention {
  private userId = 0;
  private ranMs = 0;
  private sampleAt = Number.NEGATIVE_INFINITY;
  private until = Number.NEGATIVE_INFINITY;

  /** @param now monotonic, in milliseconds */
  constructor(private readonly now: () => number) {}

  /**
   * Notes a run.
   *
   * @returns until when the thread is taken for shared; null where this run tells nothing of that
   */
  note(userId: number, ms: number): number | null {
    this.ranMs += ms;
    if (userId === this.userId) return null;
    this.userId = userId;
    if (this.ranMs < SAMPLE_MS) return null;
    const now = this.now();
    const isBusy = this.ranMs >= BUSY_PART * (now - this.sampleAt);
    this.sampleAt = now;
    this.ranMs = 0;
    if (!isBusy) return null;
    this.until = now + MEMORY_MS;
    return this.until;
  }

  isAt(now: number): boolean {
    return now < this.until;
  }
}
