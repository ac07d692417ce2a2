/**
 * Reading and writing of the primitive pieces that `codec.ts` and `change.ts` build on:
 *
 *   u8      one byte
 *   u32     four bytes, little-endian
 *   varint  unsigned LEB128 of an integer up to 2^53 - 1, at most 8 bytes; the shortest form is written, any is read
 *   bytes   length:varint, then as many bytes
 */

/** The flaw of bytes that were to be decoded. */
export type CodecErrorCode = 'truncated' | 'overflow' | 'unknown_kind' | 'invalid' | 'trailing';

/**
 * Bytes that are no message (or no membership change). The way out: drop them, count it, distrust the sender.
 */
export class CodecError extends Error {
  override readonly name = 'CodecError';

  constructor(
    readonly code: CodecErrorCode,
    message: string,
    /** Offset of the first byte that does not fit. */
    readonly offset: number,
  ) {
    super(`${message} at byte ${offset}`);
  }
}

/** A growing buffer. */
export class ByteWriter {
  private buffer: Uint8Array;
  private used = 0;

  constructor(capacity_bytes = 64) {
    this.buffer = new Uint8Array(Math.max(capacity_bytes, 16));
  }

  /** Bytes written so far. */
  get length(): number {
    return this.used;
  }

  u8(value: number): void {
    this.reserve(1);
    this.buffer[this.used++] = value;
  }

  u32(value: number): void {
    this.reserve(4);
    this.buffer[this.used++] = value;
    this.buffer[this.used++] = value >>> 8;
    this.buffer[this.used++] = value >>> 16;
    this.buffer[this.used++] = value >>> 24;
  }

  varint(value: number): void {
    this.reserve(VARINT_BYTES_MAX);
    let rest = value;
    while (rest >= 0x80) {
      this.buffer[this.used++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.buffer[this.used++] = rest;
  }

  bytes(value: Uint8Array): void {
    this.varint(value.byteLength);
    this.raw(value);
  }

  /** Bytes without a length before them. */
  raw(value: Uint8Array): void {
    this.reserve(value.byteLength);
    this.buffer.set(value, this.used);
    this.used += value.byteLength;
  }

  /** The bytes written so far: a view of the buffer, not a copy. */
  finish(): Uint8Array {
    return this.buffer.subarray(0, this.used);
  }

  private reserve(size: number): void {
    const needed = this.used + size;
    if (needed <= this.buffer.byteLength) return;
    const grown = new Uint8Array(Math.max(needed, this.buffer.byteLength * 2));
    grown.set(this.buffer.subarray(0, this.used));
    this.buffer = grown;
  }
}

/** Reads what {@link ByteWriter} wrote, or throws {@link CodecError}. Byte strings are views of the input. */
export class ByteReader {
  private readonly buffer: Uint8Array;
  private at: number;

  constructor(
    bytes: Uint8Array,
    start = 0,
    private readonly end = bytes.byteLength,
  ) {
    this.buffer = bytes;
    this.at = start;
  }

  get offset(): number {
    return this.at;
  }

  get remaining(): number {
    return this.end - this.at;
  }

  u8(): number {
    this.need(1);
    return this.buffer[this.at++]!;
  }

  u32(): number {
    this.need(4);
    const bytes = this.buffer;
    const at = this.at;
    this.at += 4;
    return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
  }

  varint(): number {
    let value = 0;
    let scale = 1;
    for (let count = 0; count < VARINT_BYTES_MAX; count += 1) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (!Number.isSafeInteger(value)) break;
        return value;
      }
      scale *= 0x80;
    }
    throw new CodecError('overflow', 'Number beyond 2^53 - 1', this.at);
  }

  bytes(): Uint8Array {
    const length = this.varint();
    this.need(length);
    const start = this.at;
    this.at += length;
    return this.buffer.subarray(start, this.at);
  }

  /** Everything that is left. */
  rest(): Uint8Array {
    const start = this.at;
    this.at = this.end;
    return this.buffer.subarray(start, this.end);
  }

  /** A reader of the next `length:varint` bytes; this one goes on behind them. */
  section(): ByteReader {
    const length = this.varint();
    this.need(length);
    const start = this.at;
    this.at += length;
    return new ByteReader(this.buffer, start, this.at);
  }

  /**
   * A number of items of at least `itemBytes` each that can still follow: a lying count fails before it
   * allocates.
   */
  count(itemBytes: number): number {
    const count = this.varint();
    if (count * itemBytes > this.remaining)
      throw new CodecError('truncated', 'Fewer items than promised', this.at);
    return count;
  }

  fail(code: CodecErrorCode, message: string): never {
    throw new CodecError(code, message, this.at);
  }

  private need(size: number): void {
    if (size > this.end - this.at) throw new CodecError('truncated', 'Unexpected end', this.at);
  }
}

const VARINT_BYTES_MAX = 8;
