import { assert } from '../base/assert.js';
import type { Clock } from '../base/clock.js';

/** Fewest answers at once after which others are waited for: with fewer, those who wait lose more than one message costs. */
const ANSWERED_MIN = 4;

/** Number that goes at once, whoever else is expected: each further one is hardly cheaper. */
const EXPECTED_MAX = 128;

/** Smallest part of those who were answered that must ask again in time for anybody to be expected. */
const SHARE_MIN = 0.25;

/** Added to that part each time that all came who were expected, and each time that nobody was. */
const SHARE_GAINED = 0.05;
const SHARE_REGAINED = 0.01;

/**
 * Decides whether proposals leave now, or wait for those of clients who were just answered and ask again at once, so that one
 * message, one write of the log and one question to other nodes serve all of them: else two groups of clients form, with a write
 * for each. They wait during a *pause*: for a time at most, and no longer than until as many are there as are expected.
 */
export class Pacer {
  /** When the pause ends, and by how many proposals it is ended before. */
  private until = Number.NEGATIVE_INFINITY;
  private wanted = Number.POSITIVE_INFINITY;
  /** The number of those who were answered before this pause, and of proposals that were there then; 0 where nobody is expected. */
  private answered = 0;
  private before = 0;
  /** The part of those who are answered that asks again in time. */
  private share = 1;
  private callOff: (() => void) | null = null;

  /**
   * @param ms length of a pause, in milliseconds
   * @param release called at the end of a pause in which something was held
   */
  constructor(
    private readonly clock: Pick<Clock, 'now' | 'after'>,
    private readonly ms: number,
    private readonly release: () => void,
  ) {}

  /**
   * Begins a pause for those who were just answered, and may ask again at once, as far as they did the last times.
   *
   * @param answered how many
   * @param there how many proposals wait already
   * @returns whether there is a pause
   */
  expect(answered: number, there: number): boolean {
    const now = this.clock.now();
    if (this.until > now) this.end();
    else this.conclude(there);
    if (answered < ANSWERED_MIN) return false;
    if (this.share < SHARE_MIN) {
      this.share += SHARE_REGAINED;
      return false;
    }
    const wanted = Math.min(there + Math.floor(this.share * answered), EXPECTED_MAX);
    if (there >= wanted) return false;
    this.until = now + this.ms;
    this.wanted = wanted;
    this.answered = answered;
    this.before = there;
    return true;
  }

  /** True if the proposals that are there, so many, wait. Then `release` is called when the pause is over. */
  holds(there: number): boolean {
    if (there >= this.wanted) {
      this.share = Math.min(1, this.share + SHARE_GAINED);
      this.end();
    }
    const left = this.until - this.clock.now();
    if (left > 0) this.callAfter(left);
    else this.conclude(there);
    return left > 0;
  }

  /** Ends the pause: what was held leaves for another reason. */
  end(): void {
    this.until = Number.NEGATIVE_INFINITY;
    this.wanted = Number.POSITIVE_INFINITY;
    this.answered = 0;
  }

  /** Nothing is released any more. */
  close(): void {
    this.callOff?.();
    this.callOff = null;
  }

  /** Learns from a pause that was too short for those who were expected. */
  private conclude(there: number): void {
    if (this.answered > 0) this.share = Math.max(0, Math.min(1, (there - this.before) / this.answered));
    assert(this.share >= 0 && this.share <= 1, 'a part of those who were answered asks again');
    this.end();
  }

  private callAfter(ms: number): void {
    this.callOff ??= this.clock.after(ms, () => {
      this.callOff = null;
      const left = this.until - this.clock.now();
      // There has been another pause since.
      if (left > 0) this.callAfter(left);
      else this.release();
    });
  }
}
