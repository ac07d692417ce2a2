/** Memory for many small arrays of bytes: one of its own takes each of them longer than to be filled. */

/** Bytes that are taken at once. */
const SLAB_BYTES = 64 * 1024;

/** A larger array has memory of its own. */
const SHARE_BYTES_MAX = 8 * 1024;

/**
 * Arrays of bytes that lie one behind the other in the same memory, and are never written again. As long as one
 * of them is kept, all that lie beside it are kept, too: it is for what soon goes.
 */
export class Slab {
  private memory = new ArrayBuffer(0);
  private used = 0;

  /** A copy of bytes behind a first one. */
  copyBehind(first: number, bytes: Uint8Array): Uint8Array {
    const size = bytes.length + 1;
    const copy = this.take(size);
    copy[0] = first;
    copy.set(bytes, 1);
    return copy;
  }

  private take(size: number): Uint8Array {
    if (size > SHARE_BYTES_MAX) return new Uint8Array(size);
    if (this.used + size > this.memory.byteLength) {
      this.memory = new ArrayBuffer(SLAB_BYTES);
      this.used = 0;
    }
    const start = this.used;
    this.used += size;
    return new Uint8Array(this.memory, start, size);
  }
}
