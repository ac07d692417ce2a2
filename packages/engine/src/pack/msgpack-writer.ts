/**
 * Results as MessagePack (https://github.com/msgpack/msgpack/blob/master/spec.md): ints, lengths and containers in
 * their shortest form, floats always as float 64, no extension types. How each value appears to a client is told in
 * `walk.ts`.
 */
import { ByteWriter } from '../bytes.js';
import type { Sink } from './walk.js';

/** Writes the MessagePack form of plain values. */
export class MsgpackWriter implements Sink {
  constructor(readonly out: ByteWriter = new ByteWriter()) {}

  nil(): void {
    this.out.u8(0xc0);
  }

  bool(value: boolean): void {
    this.out.u8(value ? 0xc3 : 0xc2);
  }

  int(value: number | bigint): void {
    const { out } = this;
    if (typeof value === 'bigint') {
      out.u8(value >= 0n ? 0xcf : 0xd3);
      if (value >= 0n) out.u64(value);
      else out.i64(value);
    } else if (value >= 0) {
      if (value < 0x80) out.u8(value);
      else if (value < 0x100) {
        out.u8(0xcc);
        out.u8(value);
      } else if (value < 0x10000) {
        out.u8(0xcd);
        out.u16(value);
      } else if (value < 0x100000000) {
        out.u8(0xce);
        out.u32(value);
      } else {
        out.u8(0xcf);
        out.u64(BigInt(value));
      }
    } else if (value >= -0x20) out.u8(0x100 + value);
    else if (value >= -0x80) {
      out.u8(0xd0);
      out.u8(value & 0xff);
    } else if (value >= -0x8000) {
      out.u8(0xd1);
      out.u16(value & 0xffff);
    } else if (value >= -0x80000000) {
      out.u8(0xd2);
      out.u32(value >>> 0);
    } else {
      out.u8(0xd3);
      out.i64(BigInt(value));
    }
  }

  float(value: number): void {
    this.out.u8(0xcb);
    this.out.f64(value);
  }

  str(value: string): void {
    const size = value.length < 32 && isAscii(value) ? value.length : Buffer.byteLength(value);
    if (size < 32) this.out.u8(0xa0 | size);
    else this.sized(size, 0xd9, 0xda, 0xdb);
    this.out.utf8(value, size);
  }

  longStr(value: string): void {
    this.str(value);
  }

  bin(value: Uint8Array): void {
    this.sized(value.length, 0xc4, 0xc5, 0xc6);
    this.out.bytes(value);
  }

  /** Announces an array of this many values. */
  beginArray(count: number): void {
    this.counted(count, 0x90, 0xdc, 0xdd);
  }

  endArray(): void {}

  /** Announces a map of this many pairs of key and value. */
  beginMap(count: number): void {
    this.counted(count, 0x80, 0xde, 0xdf);
  }

  key(key: string): void {
    this.str(key);
  }

  longKey(key: string): void {
    this.str(key);
  }

  endMap(): void {}

  packed(data: Uint8Array): void {
    this.out.bytes(data);
  }

  get size(): number {
    return this.out.length;
  }

  /** A length behind the code of its width. */
  protected sized(size: number, c8: number, c16: number, c32: number): void {
    const { out } = this;
    if (size < 0x100) {
      out.u8(c8);
      out.u8(size);
    } else if (size < 0x10000) {
      out.u8(c16);
      out.u16(size);
    } else {
      out.u8(c32);
      out.u32(size);
    }
  }

  private counted(count: number, fix: number, c16: number, c32: number): void {
    const { out } = this;
    if (count < 16) out.u8(fix | count);
    else if (count < 0x10000) {
      out.u8(c16);
      out.u16(count);
    } else {
      out.u8(c32);
      out.u32(count);
    }
  }
}

function isAscii(value: string): boolean {
  for (let i = 0; i < value.length; i++) if (value.charCodeAt(i) >= 0x80) return false;
  return true;
}
