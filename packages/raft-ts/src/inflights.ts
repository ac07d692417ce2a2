/**
 * The window of appends that were sent to one follower and are not yet acknowledged: bounded by count and by
 * bytes, so that neither many small nor a few huge messages fill the memory of the line.
 */
import { assert } from './assert.js';
import type { Index } from './types.js';

export class Inflights {
  /** Last index and size of each append, oldest first, from `head` on. */
  private sent: { readonly last: Index; readonly bytes: number }[] = [];
  private head = 0;
  private bytesInFlight = 0;

  constructor(
    readonly maxCount: number,
    readonly maxBytes: number,
  ) {
    assert(maxCount > 0 && maxBytes > 0, 'A window needs room', maxCount, maxBytes);
  }

  get count(): number {
    return this.sent.length - this.head;
  }

  get bytes(): number {
    return this.bytesInFlight;
  }

  /** Full windows admit nothing; one that has room admits one more append of any size. */
  get full(): boolean {
    return this.count >= this.maxCount || this.bytesInFlight >= this.maxBytes;
  }

  add(last: Index, bytes: number): void {
    assert(!this.full, 'An append beyond the window', this.count, this.bytesInFlight);
    assert(last >= (this.sent[this.sent.length - 1]?.last ?? 0), 'Appends out of order', last);
    this.sent.push({ last, bytes });
    this.bytesInFlight += bytes;
  }

  /** Everything up to `index` has arrived. */
  freeTo(index: Index): void {
    while (this.head < this.sent.length && this.sent[this.head]!.last <= index) {
      this.bytesInFlight -= this.sent[this.head]!.bytes;
      this.head += 1;
    }
    if (this.head === this.sent.length) this.clear();
    else if (this.head >= 32 && this.head * 2 >= this.sent.length) {
      this.sent = this.sent.slice(this.head);
      this.head = 0;
    }
  }

  clear(): void {
    this.sent.length = 0;
    this.head = 0;
    this.bytesInFlight = 0;
  }
}
