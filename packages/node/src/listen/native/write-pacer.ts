/**
 * Spreads what is written to many connections over turns of the event loop: an event of 2 MB to 400 clients would keep everybody else
 * waiting for seconds. What is short is always written at once; the rest takes turns, a slice of each connection at a time.
 */
export class WritePacer {
  private left = TURN_BYTES;
  private isAwake = false;
  private waiting: (() => void)[] = [];

  /** @param nextTurn calls back when others had their turn */
  constructor(private readonly nextTurn: (work: () => void) => void = setImmediate) {}

  /** True if so many bytes may be written in this turn; if so, they count. */
  takes(bytes: number): boolean {
    if (bytes > SHORT_BYTES && this.left <= 0) return false;
    this.left -= bytes;
    this.wake();
    return true;
  }

  /** Calls back in a later turn, behind those who asked before. */
  later(work: () => void): void {
    this.waiting.push(work);
    this.wake();
  }

  private wake(): void {
    if (this.isAwake) return;
    this.isAwake = true;
    this.nextTurn(() => this.begin());
  }

  private begin(): void {
    this.isAwake = false;
    this.left = TURN_BYTES;
    const { waiting } = this;
    this.waiting = [];
    let next = 0;
    // A connection that has more to write asks again, and comes behind the others.
    while (next < waiting.length && this.left > 0) waiting[next++]?.();
    this.waiting = [...waiting.slice(next), ...this.waiting];
    if (this.waiting.length > 0) this.wake();
  }
}

/** Bytes of one connection at a time. */
export const SLICE_BYTES: number = 64 * 1024;

/** Bytes of one turn, which take some milliseconds. */
const TURN_BYTES = 1024 * 1024;

/** Up to so many bytes are written at once. */
const SHORT_BYTES = 16 * 1024;
