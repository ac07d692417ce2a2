/**
 * MessagePack, as far as nodes and clients speak it.
 *
 *     value = nil c0 / false c2 / true c3
 *           / int    fixint 00-7f, e0-ff / uint cc cd ce cf / sint d0 d1 d2 d3
 *           / float  cb float64 (ca float32 is read, never written)
 *           / str    fixstr a0-bf / d9 da db        ; UTF-8
 *           / bytes  c4 c5 c6
 *           / list   90-9f / dc dd
 *           / map    80-8f / de df                  ; keys are str
 *
 * Ints, lengths and containers are written in their shortest form; a non-negative int in an unsigned form. Extension types
 * are refused.
 */
import { isWireBytes, isWireList, nestingMax, WireError, type WireValue } from './value.js';

const int64Min = -(2n ** 63n);
const uint64Max = 2n ** 64n - 1n;

/**
 * Encodes one value.
 *
 * @throws {WireError} for ints beyond 64 bits and for nesting that is too deep
 */
export function encodeMessagePack(value: WireValue): Buffer {
  const writer = new Writer();
  writer.value(value, 0);
  return writer.finish();
}

/**
 * Decodes one value, which has to take all of the bytes.
 *
 * @throws {WireError} for anything else
 */
export function decodeMessagePack(bytes: Uint8Array): WireValue {
  const reader = new Reader(bytes);
  const value = reader.value(0);
  reader.end();
  return value;
}

class Writer {
  #buffer = Buffer.allocUnsafe(256);
  #length = 0;

  finish(): Buffer {
    return Buffer.from(this.#buffer.subarray(0, this.#length));
  }

  value(value: WireValue, depth: number): void {
    if (depth > nestingMax) throw new WireError(`more than ${nestingMax} nested levels`);
    if (value === null) this.#byte(0xc0);
    else if (typeof value === 'boolean') this.#byte(value ? 0xc3 : 0xc2);
    else if (typeof value === 'bigint') this.#int(value);
    else if (typeof value === 'number') this.#float(value);
    else if (typeof value === 'string') this.#string(value);
    else if (isWireBytes(value)) this.#bytes(value);
    else if (isWireList(value)) {
      this.#header(value.length, 0x90, 16, 0, 0xdc, 0xdd);
      for (const item of value) this.value(item, depth + 1);
    } else {
      this.#header(value.size, 0x80, 16, 0, 0xde, 0xdf);
      for (const [key, item] of value) {
        this.#string(key);
        this.value(item, depth + 1);
      }
    }
  }

  #int(value: bigint): void {
    if (value < int64Min || value > uint64Max) throw new WireError(`${value} has more than 64 bits`);
    if (value >= 0n) {
      if (value < 0x80n) this.#byte(Number(value));
      else if (value <= 0xffn) this.#unsigned(0xcc, 1, value);
      else if (value <= 0xffffn) this.#unsigned(0xcd, 2, value);
      else if (value <= 0xffffffffn) this.#unsigned(0xce, 4, value);
      else this.#unsigned(0xcf, 8, value);
    } else if (value >= -32n) this.#byte(256 + Number(value));
    else if (value >= -(2n ** 7n)) this.#unsigned(0xd0, 1, BigInt.asUintN(8, value));
    else if (value >= -(2n ** 15n)) this.#unsigned(0xd1, 2, BigInt.asUintN(16, value));
    else if (value >= -(2n ** 31n)) this.#unsigned(0xd2, 4, BigInt.asUintN(32, value));
    else this.#unsigned(0xd3, 8, BigInt.asUintN(64, value));
  }

  #float(value: number): void {
    const at = this.#grow(9);
    this.#buffer[at] = 0xcb;
    // One nan for all: the quiet one without sign or payload.
    if (Number.isNaN(value)) this.#buffer.writeBigUInt64BE(0x7ff8000000000000n, at + 1);
    else this.#buffer.writeDoubleBE(value, at + 1);
  }

  #string(value: string): void {
    const length = Buffer.byteLength(value);
    this.#header(length, 0xa0, 32, 0xd9, 0xda, 0xdb);
    const at = this.#grow(length);
    this.#buffer.write(value, at);
  }

  #bytes(value: Uint8Array): void {
    this.#header(value.length, 0, 0, 0xc4, 0xc5, 0xc6);
    const at = this.#grow(value.length);
    this.#buffer.set(value, at);
  }

  /** A length: in the first byte when below `fixCount`, else after a marker for 8 (when there is one), 16 or 32 bits. */
  #header(count: number, fix: number, fixCount: number, with8: number, with16: number, with32: number): void {
    if (count < fixCount) this.#byte(fix + count);
    else if (count <= 0xff && with8 !== 0) this.#unsigned(with8, 1, BigInt(count));
    else if (count <= 0xffff) this.#unsigned(with16, 2, BigInt(count));
    else this.#unsigned(with32, 4, BigInt(count));
  }

  #unsigned(marker: number, size: 1 | 2 | 4 | 8, value: bigint): void {
    const at = this.#grow(1 + size);
    this.#buffer[at] = marker;
    if (size === 8) this.#buffer.writeBigUInt64BE(value, at + 1);
    else this.#buffer.writeUIntBE(Number(value), at + 1, size);
  }

  #byte(byte: number): void {
    const at = this.#grow(1);
    this.#buffer[at] = byte;
  }

  #grow(size: number): number {
    const at = this.#length;
    this.#length += size;
    if (this.#length > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#length, 2 * this.#buffer.length));
      this.#buffer.copy(larger, 0, 0, at);
      this.#buffer = larger;
    }
    return at;
  }
}

class Reader {
  readonly #buffer: Buffer;
  readonly #text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  end(): void {
    if (this.#at !== this.#buffer.length) {
      throw new WireError(`${this.#buffer.length - this.#at} bytes after the end of the value`);
    }
  }

  value(depth: number): WireValue {
    if (depth > nestingMax) throw new WireError(`more than ${nestingMax} nested levels`);
    const marker = this.#buffer[this.#take(1)]!;
    if (marker < 0x80) return BigInt(marker);
    if (marker < 0x90) return this.#map(marker & 0x0f, depth);
    if (marker < 0xa0) return this.#list(marker & 0x0f, depth);
    if (marker < 0xc0) return this.#string(marker & 0x1f);
    if (marker >= 0xe0) return BigInt(marker - 256);
    switch (marker) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return this.#bytes(this.#length(marker - 0xc4));
      case 0xca:
        return this.#buffer.readFloatBE(this.#take(4));
      case 0xcb:
        return this.#buffer.readDoubleBE(this.#take(8));
      case 0xcc:
      case 0xcd:
      case 0xce:
        return BigInt(this.#length(marker - 0xcc));
      case 0xcf:
        return this.#buffer.readBigUInt64BE(this.#take(8));
      case 0xd0:
        return BigInt(this.#buffer.readInt8(this.#take(1)));
      case 0xd1:
        return BigInt(this.#buffer.readInt16BE(this.#take(2)));
      case 0xd2:
        return BigInt(this.#buffer.readInt32BE(this.#take(4)));
      case 0xd3:
        return this.#buffer.readBigInt64BE(this.#take(8));
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.#string(this.#length(marker - 0xd9));
      case 0xdc:
      case 0xdd:
        return this.#list(this.#length(marker - 0xdb), depth);
      case 0xde:
      case 0xdf:
        return this.#map(this.#length(marker - 0xdd), depth);
      default:
        throw new WireError(`unexpected byte 0x${marker.toString(16)} at offset ${this.#at - 1}`);
    }
  }

  /** An unsigned number of 1, 2 or 4 bytes. */
  #length(log2Size: number): number {
    const size = 1 << log2Size;
    return this.#buffer.readUIntBE(this.#take(size), size);
  }

  #list(count: number, depth: number): WireValue {
    this.#check(count);
    const list: WireValue[] = [];
    for (let i = 0; i < count; i++) list.push(this.value(depth + 1));
    return list;
  }

  #map(count: number, depth: number): WireValue {
    this.#check(2 * count);
    const map = new Map<string, WireValue>();
    for (let i = 0; i < count; i++) {
      const key = this.value(depth + 1);
      if (typeof key !== 'string') throw new WireError(`a key that is no str before offset ${this.#at}`);
      map.set(key, this.value(depth + 1));
    }
    return map;
  }

  #string(length: number): string {
    try {
      return this.#text.decode(this.#bytes(length));
    } catch (error) {
      if (error instanceof WireError) throw error;
      throw new WireError(`a str that is not UTF-8 before offset ${this.#at}`);
    }
  }

  #bytes(length: number): Uint8Array {
    const at = this.#take(length);
    return Uint8Array.prototype.slice.call(this.#buffer, at, at + length);
  }

  #take(size: number): number {
    this.#check(size);
    const at = this.#at;
    this.#at += size;
    return at;
  }

  /** At least that many bytes have to be left: a count is not believed before. */
  #check(size: number): void {
    if (size > this.#buffer.length - this.#at) throw new WireError('the value is cut off');
  }
}
