/**
 * Names of requests, by which each takes effect once however often it is sent: `CLIENT.SEQUENCE.LOW`. Each scope counts for itself, under a
 * client name of its own, since one scope has several spellings.
 *
 * Invariant: all numbers of a client that are open lie in [low, sequence], and no number below a LOW that was sent is sent again.
 */

/** Numbers from LOW to SEQUENCE at most; nodes take 10,000. */
const SPAN_MAX = 9000;

/** Nodes forget a client that has changed nothing for an hour, and its numbers with it. */
const SILENCE_MAX_MS = 30 * 60_000;

/** The name of one request, until it is ended. */
export interface RequestName {
  /** `CLIENT.SEQUENCE`, which stays the same. */
  readonly text: string;
  /** As nodes take it, with the LOW of this moment. */
  header(): string;
  /** The request is not sent again. */
  end(): void;
}

export class RequestNames {
  readonly #newClientName: () => string;
  readonly #byScope = new Map<string, Series>();

  constructor(newClientName: () => string) {
    this.#newClientName = newClientName;
  }

  /** Names a request to a scope. */
  begin(scope: string, now: number): RequestName {
    let series = this.#byScope.get(scope);
    if (series === undefined || !series.canTakeMore(now)) {
      series = new Series(this.#newClientName());
      this.#byScope.set(scope, series);
    }
    return series.begin(now);
  }
}

/** The numbers under one client name. */
class Series {
  readonly #client: string;
  #last = 0;
  #lastAt = 0;
  /** Open numbers; a Set keeps them in the order in which they were added, which is ascending. */
  readonly #open = new Set<number>();

  constructor(client: string) {
    this.#client = client;
  }

  canTakeMore(now: number): boolean {
    return this.#last - this.#low() < SPAN_MAX && (this.#last === 0 || now - this.#lastAt < SILENCE_MAX_MS);
  }

  begin(now: number): RequestName {
    const sequence = ++this.#last;
    this.#lastAt = now;
    this.#open.add(sequence);
    const text = `${this.#client}.${sequence}`;
    return {
      text,
      header: () => `${text}.${this.#low()}`,
      end: () => this.#open.delete(sequence),
    };
  }

  #low(): number {
    const [lowest = this.#last + 1] = this.#open;
    return lowest;
  }
}
