/** A run of so many milliseconds makes others wait so long that they must not meet another long one. */
const LONG_MS = 100;

/**
 * Longest wait of a long run behind another one for the answers of those who came meanwhile, in milliseconds: another node that they need may
 * be in the midst of a long run, too.
 */
const BEHIND_LONG_MAX_MS = 1100;

/** Longest wait of a long run for those who came during shorter ones, and of work of some milliseconds before a long run, and behind it. */
const MOMENT_MS = 100;

/** Long runs, and what stands back before and behind them: others have to wait for each of them, and should not wait for more. */
export class LongRuns {
  /** When the last one ended; before all others when there was none. */
  endAt = Number.NEGATIVE_INFINITY;
  /** Since when the next one might begin, were it not for others, and when it asked last. */
  private dueAt = Number.NEGATIVE_INFINITY;
  private askedAt = Number.NEGATIVE_INFINITY;
  /** Until when work of some milliseconds stands back, so that it can begin. */
  private dueUntil = Number.NEGATIVE_INFINITY;

  /** @param owesAnswers true if somebody has no answer yet who came during a full turn, and has had a turn */
  constructor(private readonly owesAnswers: () => boolean) {}

  noteStart(): void {
    this.dueUntil = Number.NEGATIVE_INFINITY;
  }

  noteEnd(ms: number, now: number): void {
    if (ms >= LONG_MS) this.endAt = now;
  }

  /**
   * True if a long run that could begin has to wait for others. To be asked again and again.
   *
   * @param mayHaveCome true if others may have come who have had no turn yet
   */
  holdsLong(mayHaveCome: boolean, now: number): boolean {
    const isOwed = this.owesAnswers();
    if (!isOwed && !mayHaveCome) return false;
    if (now > this.askedAt + MOMENT_MS) this.dueAt = now;
    this.askedAt = now;
    this.dueUntil = this.dueAt + MOMENT_MS;
    return now < this.dueUntil || (isOwed && now < this.endAt + BEHIND_LONG_MAX_MS);
  }

  /** True if one has just ended: those who came meanwhile have their turns now. */
  isJustOver(now: number): boolean {
    return now < this.endAt + MOMENT_MS;
  }

  /**
   * True if work of some milliseconds has to wait: before a long run, whose turn would never come, and behind it for answers, each of which may
   * need several turns, and would meet such work in each.
   */
  holdsShort(now: number): boolean {
    return now < this.dueUntil || (this.isJustOver(now) && this.owesAnswers());
  }
}
