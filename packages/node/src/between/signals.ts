/**
 * A bell between the two threads of a node, in shared memory: an engine thread that has nothing else to do can wait for
 * messages in place, which is faster than by its event loop.
 */
export class Signals {
  /** Bytes of memory that it takes, zeros at first. */
  static readonly BYTES = 4;
  private readonly cells: Int32Array;

  constructor(buffer: SharedArrayBuffer) {
    this.cells = new Int32Array(buffer);
  }

  /** The consensus thread sent a message. */
  ring(): void {
    Atomics.add(this.cells, 0, 1);
    Atomics.notify(this.cells, 0);
  }

  /** How often was rung. To be read before one looks for a message. */
  get rings(): number {
    return Atomics.load(this.cells, 0);
  }

  /** Blocks until it rings again, or some milliseconds. */
  waitForRing(rings: number, ms: number): void {
    Atomics.wait(this.cells, 0, rings, ms);
  }
}
