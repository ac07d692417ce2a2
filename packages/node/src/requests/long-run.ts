/** A run of so many milliseconds makes others wait so long that they must not meet another long one. */
const LONG_MS = 100;

/**
 * Longest wait of the next such run for the answers of those who came meanwhile, in milliseconds: another node that they need may be in the
 * midst of a long run, too.
 */
const LONG_WAIT_MAX_MS = 1100;

/** A slice of this many milliseconds and more waits for them, too, for no longer than the second number. */
const SLICE_MS = 16;
const SLICE_WAIT_MAX_MS = 100;

/** The last run that others noticed: what takes long waits behind it until those who came meanwhile are answered. */
export class LongRun {
  /** Time of its end; before all others when there was none. */
  endAt = Number.NEGATIVE_INFINITY;

  /** @param owesAnswers true if somebody has no answer yet who came during that run, and has had a turn */
  constructor(private readonly owesAnswers: () => boolean) {}

  note(ms: number, now: number): void {
    if (ms >= LONG_MS) this.endAt = now;
  }

  /** True if another long run has to wait. */
  holdsLong(now: number): boolean {
    return now < this.endAt + LONG_WAIT_MAX_MS && this.owesAnswers();
  }

  /** True if a slice has to wait: an answer may need several turns, and each of them would have such a slice before it. */
  holdsSlice(sliceMs: number, now: number): boolean {
    return sliceMs >= SLICE_MS && now < this.endAt + SLICE_WAIT_MAX_MS && this.owesAnswers();
  }
}
