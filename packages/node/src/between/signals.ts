import { waitForChange, wakeWaiting } from '@althing/storage';

/**
 * Signals between the two threads of a node through shared memory, which save messages: a message
 * costs both of them more than a small change does.
 */
export class Signals {
  /** Bytes of memory that it takes, zeros at first. */
  static readonly BYTES = 20;
  private readonly cells: Int32Array<SharedArrayBuffer>;

  constructor(buffer: SharedArrayBuffer) {
    this.cells = new Int32Array(buffer);
  }

  /** The consensus thread sent a message. */
  ring(): void {
    Atomics.add(this.cells, RINGS, 1);
    wakeWaiting(this.cells, RINGS);
  }

  /** The number of rings. To be read before one looks for a message. */
  get rings(): number {
    return Atomics.load(this.cells, RINGS);
  }

  /** Blocks until it rings again, or some milliseconds. */
  waitForRing(rings: number, ms: number): void {
    waitForChange(this.cells, RINGS, rings, ms);
  }

  /** The consensus thread begins a write of the log. */
  writing(): void {
    Atomics.store(this.cells, WRITING, 1);
  }

  /**
   * The consensus thread has done a write of the log.
   *
   * @param more whether another one is under way
   * @returns whether the engine thread holds something back, and waits for a message
   */
  written(more: boolean): boolean {
    if (!more) Atomics.store(this.cells, WRITING, 0);
    return this.takeHeld();
  }

  /** The engine thread has sent proposals, which will be written. */
  proposed(): void {
    Atomics.store(this.cells, PROPOSED, 1);
  }

  /**
   * The consensus thread has got what was proposed, and writes it if it is to be.
   *
   * @returns whether the engine thread holds something back, and waits for a message
   */
  taken(): boolean {
    Atomics.store(this.cells, PROPOSED, 0);
    return !this.isBusy && this.takeHeld();
  }

  /**
   * The engine thread may hold proposals back, if this is true: a message comes when the write under way, or about to begin, is done,
   * and until then they could not be written anyway.
   */
  hold(): boolean {
    if (!this.isBusy) return false;
    Atomics.store(this.cells, HELD, 1);
    // The write may have ended between the two.
    return this.isBusy || !this.takeHeld();
  }

  /** The engine thread holds nothing back any more. */
  release(): void {
    Atomics.store(this.cells, HELD, 0);
  }

  /** True if the log is being written, or will be as soon as what is on its way is there. */
  private get isBusy(): boolean {
    return Atomics.load(this.cells, WRITING) !== 0 || Atomics.load(this.cells, PROPOSED) !== 0;
  }

  private takeHeld(): boolean {
    return Atomics.exchange(this.cells, HELD, 0) !== 0;
  }
}

/** The word behind it tells whether the engine thread waits. */
const RINGS = 0;
const WRITING = 2;
const HELD = 3;
const PROPOSED = 4;
