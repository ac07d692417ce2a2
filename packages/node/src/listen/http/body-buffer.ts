import type { ByteBudget, Bytes } from '../limits/byte-budget.js';

/** First size of the buffer. */
const BYTES_MIN = 4096;

/**
 * Collects a body that comes in pieces. Memory follows what has come, not what was announced, and counts
 * against a budget.
 */
export class BodyBuffer {
  private bytes: Buffer = Buffer.alloc(0);
  private length = 0;

  /** @param sizeMax bytes that can come at most */
  constructor(
    private budget: Bytes,
    private readonly sizeMax: number,
  ) {}

  get size(): number {
    return this.length;
  }

  /** Adds a copy of a piece. False when the budget does not allow it. */
  add(piece: Buffer): boolean {
    const size = this.length + piece.length;
    if (size > this.bytes.length && !this.grow(size)) return false;
    piece.copy(this.bytes, this.length);
    this.length = size;
    return true;
  }

  /** The body so far, without a copy. */
  content(): Buffer {
    return this.bytes.subarray(0, this.length);
  }

  /** Counts its memory against another budget, even beyond the limit of that. */
  moveTo(budget: ByteBudget): void {
    this.budget.give(this.bytes.length);
    budget.take(this.bytes.length);
    this.budget = budget;
  }

  /** Gives the memory back. */
  free(): void {
    this.budget.give(this.bytes.length);
    this.bytes = Buffer.alloc(0);
    this.length = 0;
  }

  private grow(size: number): boolean {
    const capacity = Math.max(size, Math.min(this.sizeMax, Math.max(BYTES_MIN, this.bytes.length * 2)));
    if (!this.budget.tryTake(capacity - this.bytes.length)) return false;
    const bytes = Buffer.allocUnsafeSlow(capacity);
    this.bytes.copy(bytes, 0, 0, this.length);
    this.bytes = bytes;
    return true;
  }
}
