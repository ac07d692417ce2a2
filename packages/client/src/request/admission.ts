/** Limits the requests under way; further ones wait in their order. */
export class Admission {
  readonly #openMax: number;
  readonly #waitingMax: number;
  #open = 0;
  readonly #waiting = new Set<() => void>();

  constructor(openMax: number, waitingMax: number) {
    this.#openMax = openMax;
    this.#waitingMax = waitingMax;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** True if a request may begin at once; then it has to `leave`. */
  enter(): boolean {
    if (this.#open >= this.#openMax) return false;
    this.#open += 1;
    return true;
  }

  /**
   * Waits for a place: `enters` is called when there is one, which is taken then.
   *
   * @returns what stops the waiting; null when too many wait
   */
  queue(enters: () => void): (() => void) | null {
    if (this.#waiting.size >= this.#waitingMax) return null;
    // A function of its own for each, since a set knows each once.
    const entry = (): void => enters();
    this.#waiting.add(entry);
    return () => this.#waiting.delete(entry);
  }

  /** A request has ended: its place goes to the one that waits longest. */
  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#open -= 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
