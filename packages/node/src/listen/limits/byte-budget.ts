/** Memory that can be taken and given back, in bytes. */
export interface Bytes {
  /** Takes bytes if there are as many left. */
  tryTake(bytes: number): boolean;
  give(bytes: number): void;
}

/** A piece of so many bytes at most is small: most requests need no more. */
const SMALL_BYTES = 64 * 1024;

/** Small pieces may take this part of the limit beyond it, so that a few large ones do not keep them out. */
const SMALL_PART = 1 / 16;

/** Memory that many connections share: a sum of bytes that does not exceed a limit, but for small pieces. */
export class ByteBudget implements Bytes {
  private taken = 0;

  constructor(readonly limit: number) {}

  get used(): number {
    return this.taken;
  }

  /** Takes bytes if there are as many left, for a small piece also a little beyond the limit. */
  tryTake(bytes: number): boolean {
    const limit = bytes > SMALL_BYTES ? this.limit : this.limit * (1 + SMALL_PART);
    if (this.taken + bytes > limit) return false;
    this.taken += bytes;
    return true;
  }

  /** Takes bytes, even beyond the limit: for what exists already. */
  take(bytes: number): void {
    this.taken += bytes;
  }

  give(bytes: number): void {
    this.taken -= bytes;
  }
}
