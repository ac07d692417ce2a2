/**
 * How long proposals wait for more behind a write of the log, so that one write takes them all: a write costs
 * as much as some ten changes, and those whose changes were just answered often ask again at once. Else two
 * groups of clients form, and each waits for the writes of both. Reads wait in the same way for the question
 * that serves them all.
 *
 * It waits for as many as came the last times, and no longer than its owner lets it. Where few came it does
 * not wait, and tries again after a while.
 */
export class Gathering {
  /** Proposals that are waited for; 0 when nothing is. */
  private wanted = 0;
  /** How many were there when it began, and how many changes had been answered. */
  private before = 0;
  private answered = 0;
  /** The part of those who were answered that asks again in time. */
  private share = 1;
  private readonly shareMax: number;

  /** @param shareMax the part of them that is waited for at most */
  constructor(shareMax = 1) {
    this.shareMax = shareMax;
  }

  /** Whether proposals wait for more. */
  get isOn(): boolean {
    return this.wanted > 0;
  }

  /**
   * Some changes are answered now.
   *
   * @param answered how many
   * @param there proposals that wait already
   * @returns whether they, and those that come, wait for more
   */
  begin(answered: number, there: number): boolean {
    this.stop();
    if (answered < ANSWERED_MIN) return false;
    if (this.share < SHARE_MIN) {
      this.share += SHARE_REGAINED;
      return false;
    }
    const wanted = Math.min(there + Math.floor(Math.min(this.share, this.shareMax) * answered), WRITE_MAX);
    if (there >= wanted) return false;
    this.wanted = wanted;
    this.before = there;
    this.answered = answered;
    return true;
  }

  /** Whether it goes on with so many proposals. */
  goesOn(there: number): boolean {
    if (there < this.wanted) return true;
    if (this.wanted > 0) this.share = Math.min(1, this.share + SHARE_GAINED);
    this.stop();
    return false;
  }

  /** The time is over, and so many proposals are there. */
  end(there: number): void {
    if (this.wanted > 0) this.share = (there - this.before) / this.answered;
    this.stop();
  }

  /** What waits is sent for another reason. */
  stop(): void {
    this.wanted = 0;
  }
}

/**
 * Time that proposals wait at most, in milliseconds: enough for some hundred clients to be answered, and to
 * ask again.
 */
export const GATHER_MS = 4;

/** Where fewer changes are answered at once, those who wait would lose more than a write. */
const ANSWERED_MIN = 4;

/** Proposals in one write of which each further one is hardly cheaper. */
const WRITE_MAX = 128;

/** Where a smaller part asks again in time, it is not waited for. */
const SHARE_MIN = 0.25;

/** Added to the part each time that all came who were waited for, and each time that none was waited for. */
const SHARE_GAINED = 0.05;
const SHARE_REGAINED = 0.01;
