/**
 * Pairs of keys and values in a row of bytes, as they pass from one thread to another.
 *
 *   pairs := pair*
 *   pair  := keyBytes:u32 valueBytes:u32 key value      little-endian
 */
const HEADER_BYTES = 8;

/** Bytes that a pair takes. */
export function packedBytes(key: Uint8Array, value: Uint8Array): number {
  return HEADER_BYTES + key.length + value.length;
}

/** Writes a pair, for which there must be room, and gives the place behind it. */
export function packPair(target: Buffer, at: number, key: Uint8Array, value: Uint8Array): number {
  target.writeUInt32LE(key.length, at);
  target.writeUInt32LE(value.length, at + 4);
  target.set(key, at + HEADER_BYTES);
  target.set(value, at + HEADER_BYTES + key.length);
  return at + HEADER_BYTES + key.length + value.length;
}

/** Goes over packed pairs, one after the other. */
export class PackedPairs {
  /** Where the key of the present pair begins. */
  keyAt = 0;
  /** Where its value begins, and where that ends. */
  valueAt = 0;
  end = 0;

  constructor(readonly bytes: Buffer) {
    this.next();
  }

  /** True if there is no present pair: all were passed. */
  get isAtEnd(): boolean {
    return this.keyAt > this.bytes.length;
  }

  /** Bytes that the present pair takes. */
  get size(): number {
    return this.end - this.keyAt + HEADER_BYTES;
  }

  /** Goes on to the next pair. */
  next(): void {
    const { bytes, end: at } = this;
    this.keyAt = at + HEADER_BYTES;
    if (this.isAtEnd) return;
    this.valueAt = this.keyAt + bytes.readUInt32LE(at);
    this.end = this.valueAt + bytes.readUInt32LE(at + 4);
  }
}
