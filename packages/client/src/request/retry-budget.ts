/**
 * Repeats are at most a tenth of all requests, else a cluster that is slow drowns in them: each request earns a tenth of a repeat, up to a
 * reserve for what is open when a node dies. A trickle lets a client without other requests go on.
 */
export class RetryBudget {
  /** In tenths of a repeat, as all that is counted here. */
  readonly #capacity: number;
  #earned: number;
  #at = 0;

  /** @param requestsMax how many requests may be open at once: all of them may be lost in one moment */
  constructor(requestsMax: number) {
    this.#capacity = Math.max(CAPACITY_MIN, requestsMax * 2 * REPEAT);
    this.#earned = this.#capacity;
  }

  /** A request begins. */
  earn(): void {
    this.#earned = Math.min(this.#capacity, this.#earned + 1);
  }

  /** Takes a repeat; 0, or milliseconds after which to ask again. */
  take(now: number): number {
    this.#earned = Math.min(this.#capacity, this.#earned + ((now - this.#at) / 1000) * PER_SECOND);
    this.#at = now;
    // Whole milliseconds: less than a clock can tell would never pass.
    if (this.#earned < REPEAT) return Math.ceil(((REPEAT - this.#earned) / PER_SECOND) * 1000);
    this.#earned -= REPEAT;
    return 0;
  }
}

const REPEAT = 10;
const PER_SECOND = REPEAT;
const CAPACITY_MIN = 10 * REPEAT;
