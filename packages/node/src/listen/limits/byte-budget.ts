/** Memory that can be taken and given back, in bytes. */
export interface Bytes {
  /** Takes bytes if there are as many left. */
  tryTake(bytes: number): boolean;
  give(bytes: number): void;
}

/** Memory that many connections share: a sum of bytes that does not exceed a limit. */
export class ByteBudget implements Bytes {
  private taken = 0;

  constructor(readonly limit: number) {}

  get used(): number {
    return this.taken;
  }

  get full(): boolean {
    return this.taken >= this.limit;
  }

  /** Takes bytes if there are as many left. */
  tryTake(bytes: number): boolean {
    if (this.taken + bytes > this.limit) return false;
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
