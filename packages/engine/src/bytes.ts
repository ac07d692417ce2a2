/**
 * Writing and reading of bytes for our own formats.
 *
 *   varint   := 7 bits per byte, lowest first, high bit set on all but the last; up to 2^53 - 1
 *   zigzag   := varint of (n >= 0 ? 2n : -2n - 1); |n| < 2^52
 *   text     := varint length in bytes, UTF-8
 *   blob     := varint length, bytes
 *   list     := varint count, items
 *   f64      := 8 bytes IEEE 754, big endian
 *   i64      := 8 bytes two's complement, big endian
 */

// The global of the name has a getter, which takes time at each request.
import { Buffer } from 'node:buffer';

/** Thrown for bytes that do not follow their format. */
export class FormatError extends Error {}

/** Up to this length a text of ASCII is written faster character by character than by the platform: 54 and 139 ns for 24. */
const SHORT_TEXT = 40;

/** Up to this size it takes less time to copy byte by byte than to ask the platform. */
const BRIEF_BYTES = 32;

/** Up to this size what is needed for a moment shares its memory. */
const SHARED_BYTES = 1024;

/** Bytes of such a memory. */
const SHARED_MEMORY_BYTES = 16 * 1024;

const NAN = 0x7ff8000000000000n;

export class ByteWriter {
  private buffer: Buffer;
  /** Where the bytes begin: before them lie those that were given out. */
  private start = 0;
  private position = 0;
  /** Called now and then while many values are written, with the length at which they began; what it throws ends that. */
  watcher: { noteWritten(from: number): void } | null = null;

  constructor(capacity = 256) {
    this.buffer = Buffer.allocUnsafeSlow(capacity);
  }

  get length(): number {
    return this.position - this.start;
  }

  /** The bytes so far, without a copy: valid until the next write. */
  view(): Buffer {
    return this.buffer.subarray(this.start, this.position);
  }

  /** A copy of the bytes so far. */
  take(): Uint8Array {
    return Uint8Array.prototype.slice.call(this.buffer, this.start, this.position);
  }

  /** Puts another byte in the place of one that was written. */
  patch(position: number, value: number): void {
    this.buffer[this.start + position] = value;
  }

  /**
   * Gives out the bytes so far, and begins anew. They are needed for a moment only: short ones share their memory with others, which is
   * there as long as one of them is. A memory of its own takes longer to get, and to give back, than all else that is done for a short
   * answer, and a copy of 100 bytes twice as long as the place where they were written.
   */
  takeBriefly(): Uint8Array {
    const { buffer, start, position } = this;
    const length = position - start;
    if (length > SHARED_BYTES) {
      const taken = this.take();
      this.position = start;
      return taken;
    }
    this.start = position;
    if (buffer.length - position < SHARED_BYTES) {
      this.buffer = Buffer.allocUnsafeSlow(SHARED_MEMORY_BYTES);
      this.start = 0;
      this.position = 0;
    }
    return new Uint8Array(buffer.buffer, buffer.byteOffset + start, length);
  }

  /** Forgets everything written from `position` on. */
  rewind(position = 0): void {
    this.position = this.start + position;
  }

  u8(value: number): void {
    const at = this.position;
    if (at === this.buffer.length) this.reserve(1);
    this.buffer[at] = value;
    this.position = at + 1;
  }

  u16(value: number): void {
    this.reserve(2);
    this.position = this.buffer.writeUInt16BE(value, this.position);
  }

  u32(value: number): void {
    this.reserve(4);
    this.position = this.buffer.writeUInt32BE(value, this.position);
  }

  varint(value: number): void {
    this.reserve(8);
    const { buffer } = this;
    let at = this.position;
    let rest = value;
    while (rest >= 0x80000000) {
      buffer[at++] = (rest % 128) | 0x80;
      rest = Math.floor(rest / 128);
    }
    while (rest >= 0x80) {
      buffer[at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    buffer[at++] = rest;
    this.position = at;
  }

  zigzag(value: number): void {
    this.varint(value >= 0 ? value * 2 : value * -2 - 1);
  }

  f64(value: number): void {
    this.reserve(8);
    this.position = this.buffer.writeDoubleBE(value, this.position);
    // There is one NaN on the wire and on disk; which bits a machine has for it depends on how it came about.
    if (Number.isNaN(value)) this.buffer.writeBigUInt64BE(NAN, this.position - 8);
  }

  i64(value: bigint): void {
    this.reserve(8);
    this.position = this.buffer.writeBigInt64BE(value, this.position);
  }

  u64(value: bigint): void {
    this.reserve(8);
    this.position = this.buffer.writeBigUInt64BE(value, this.position);
  }

  bytes(value: Uint8Array): void {
    const { length } = value;
    if (length <= BRIEF_BYTES) {
      this.part(value, 0, length);
      return;
    }
    this.reserve(length);
    this.buffer.set(value, this.position);
    this.position += length;
  }

  /** Some bytes of others, which are few. */
  part(value: Uint8Array, from: number, to: number): void {
    this.reserve(to - from);
    const { buffer } = this;
    let at = this.position;
    for (let i = from; i < to; i++) buffer[at++] = value[i]!;
    this.position = at;
  }

  blob(value: Uint8Array): void {
    this.varint(value.length);
    this.bytes(value);
  }

  /** The characters of a text, which are all below 256: a byte each, without their number. */
  latin1(value: string): void {
    const { length } = value;
    this.reserve(length);
    const { buffer } = this;
    let at = this.position;
    for (let i = 0; i < length; i++) buffer[at++] = value.charCodeAt(i);
    this.position = at;
  }

  list<T>(items: readonly T[], write: (item: T) => void): void {
    this.varint(items.length);
    for (const item of items) write(item);
  }

  varints(values: readonly number[]): void {
    this.list(values, (value) => this.varint(value));
  }

  text(value: string): void {
    const length = value.length;
    if (length <= SHORT_TEXT) {
      this.reserve(length + 1);
      const buffer = this.buffer;
      const start = this.position;
      let i = 0;
      for (; i < length; i++) {
        const code = value.charCodeAt(i);
        if (code >= 0x80) break;
        buffer[start + 1 + i] = code;
      }
      if (i === length) {
        buffer[start] = length;
        this.position = start + 1 + length;
        return;
      }
    }
    const size = Buffer.byteLength(value);
    this.varint(size);
    this.utf8(value, size);
  }

  /** The UTF-8 bytes of a text whose length in bytes is known, without a length in front. */
  utf8(value: string, size: number): void {
    this.reserve(size);
    this.position += this.buffer.write(value, this.position, size, 'utf8');
  }

  private reserve(count: number): void {
    const need = this.position + count;
    if (need <= this.buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(need, this.buffer.length * 2));
    this.buffer.copy(grown, this.start, this.start, this.position);
    this.buffer = grown;
  }
}

/** The bytes that are written of a value. */
export function encoded<Value>(write: (out: ByteWriter, value: Value) => void, value: Value): Uint8Array {
  const out = new ByteWriter();
  write(out, value);
  return out.take();
}

export class ByteReader {
  private readonly buffer: Buffer;
  private position: number;

  constructor(
    data: Uint8Array,
    start = 0,
    private readonly end = data.length,
  ) {
    this.buffer = data instanceof Buffer ? data : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    this.position = start;
  }

  get offset(): number {
    return this.position;
  }

  get remaining(): number {
    return this.end - this.position;
  }

  u8(): number {
    this.require(1);
    return this.buffer[this.position++]!;
  }

  /** The next byte, which is not read. */
  peek(): number {
    this.require(1);
    return this.buffer[this.position]!;
  }

  u16(): number {
    this.require(2);
    const value = this.buffer.readUInt16BE(this.position);
    this.position += 2;
    return value;
  }

  u32(): number {
    this.require(4);
    const value = this.buffer.readUInt32BE(this.position);
    this.position += 4;
    return value;
  }

  varint(): number {
    const first = this.position < this.end ? this.buffer[this.position]! : 0x80;
    if (first < 0x80) {
      this.position += 1;
      return first;
    }
    let value = 0;
    let scale = 1;
    for (let i = 0; i < 8; i++) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (!Number.isSafeInteger(value)) break;
        return value;
      }
      scale *= 128;
    }
    throw new FormatError(`number too long at byte ${this.position}`);
  }

  zigzag(): number {
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  f64(): number {
    this.require(8);
    const value = this.buffer.readDoubleBE(this.position);
    this.position += 8;
    return value;
  }

  i64(): bigint {
    this.require(8);
    const value = this.buffer.readBigInt64BE(this.position);
    this.position += 8;
    return value;
  }

  /** A view of the next `count` bytes, not a copy. */
  bytes(count: number): Uint8Array {
    this.require(count);
    const start = this.position;
    this.position += count;
    return this.buffer.subarray(start, this.position);
  }

  /** Copies the next `count` bytes, of which there are few, to a place in others. */
  copyTo(target: Uint8Array, at: number, count: number): void {
    this.require(count);
    const { buffer, position } = this;
    for (let i = 0; i < count; i++) target[at + i] = buffer[position + i]!;
    this.position += count;
  }

  /** Reads past the next bytes as far as they are those of others from a place on, of which there are `most`; gives their number. */
  alike(others: Uint8Array, at: number, most: number): number {
    this.require(most);
    const { buffer, position } = this;
    let count = 0;
    while (count < most && buffer[position + count] === others[at + count]) count += 1;
    this.position += count;
    return count;
  }

  /** Passes over the next bytes, without a view of them. */
  skip(count: number): void {
    this.require(count);
    this.position += count;
  }

  /** Passes over a text or a blob. */
  skipBlob(): void {
    this.skip(this.varint());
  }

  /** A view of the bytes from an offset up to here. */
  since(start: number): Uint8Array {
    return this.buffer.subarray(start, this.position);
  }

  /** A copy, free of the buffer that was read. */
  blob(): Uint8Array {
    return Uint8Array.prototype.slice.call(this.bytes(this.varint()));
  }

  /** A view of a blob, not a copy. */
  blobView(): Uint8Array {
    return this.bytes(this.varint());
  }

  /** A list of items, each of which takes a byte at least. */
  list<T>(read: () => T): T[] {
    const count = this.varint();
    if (count > this.remaining) throw new FormatError(`${count} items in ${this.remaining} bytes`);
    return Array.from({ length: count }, read);
  }

  varints(): number[] {
    return this.list(() => this.varint());
  }

  text(): string {
    return this.utf8(this.varint());
  }

  utf8(size: number): string {
    this.require(size);
    const start = this.position;
    this.position += size;
    return this.buffer.toString('utf8', start, this.position);
  }

  /** The text that the next `count` bytes stand for, each for a character. */
  latin1(count: number): string {
    this.require(count);
    const start = this.position;
    this.position += count;
    return this.buffer.toString('latin1', start, this.position);
  }

  /** Reads past a varint if it is this one. */
  takeVarint(value: number): boolean {
    const start = this.position;
    if (this.varint() === value) return true;
    this.position = start;
    return false;
  }

  /** Reads past a text if it is this one, which must be short and plain ASCII to be known. */
  takeText(text: string): boolean {
    const { buffer, position } = this;
    const { length } = text;
    if (length >= 0x80 || length >= this.end - position || buffer[position] !== length) return false;
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code >= 0x80 || buffer[position + 1 + i] !== code) return false;
    }
    this.position = position + 1 + length;
    return true;
  }

  /** Reads past a text of this character and decimal digits, and gives their number; -1, and nothing is read, for another text. */
  takeNumberedText(head: string): number {
    const { buffer, position } = this;
    const length = buffer[position] ?? 0;
    if (length < 2 || length > 15 || length >= this.end - position) return -1;
    if (buffer[position + 1] !== head.charCodeAt(0)) return -1;
    let value = 0;
    for (let i = 2; i <= length; i++) {
      const digit = buffer[position + i]! - 0x30;
      if (digit < 0 || digit > 9) return -1;
      value = value * 10 + digit;
    }
    this.position = position + 1 + length;
    return value;
  }

  private require(count: number): void {
    if (count > this.end - this.position) {
      throw new FormatError(`ends at byte ${this.end}, but ${count} more are needed at ${this.position}`);
    }
  }
}
