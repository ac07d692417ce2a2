/** Writes MessagePack as ThingsDB does: everything in its shortest form. */
import { Buffer } from 'node:buffer';
import { ByteWriter } from '../bytes.js';

export class DataOutput {
  private readonly out = new ByteWriter();

  take(): Uint8Array {
    return this.out.take();
  }

  nil(): void {
    this.out.u8(0xc0);
  }

  bool(value: boolean): void {
    this.out.u8(value ? 0xc3 : 0xc2);
  }

  int(value: number | bigint): void {
    const { out } = this;
    if (typeof value === 'bigint' || value > 0xffff_ffff || value < -0x8000_0000) {
      if (value < 0) {
        out.u8(0xd3);
        out.i64(BigInt(value));
      } else {
        out.u8(0xcf);
        out.u64(BigInt(value));
      }
    } else if (value >= 0) this.uint(value);
    else if (value >= -32) out.u8(value & 0xff);
    else if (value >= -0x80) this.int8(value);
    else if (value >= -0x8000) this.int16(value);
    else {
      out.u8(0xd2);
      out.u32(value >>> 0);
    }
  }

  /** An int in one byte behind its code, whatever it is. */
  int8(value: number): void {
    this.out.u8(0xd0);
    this.out.u8(value & 0xff);
  }

  /** An int in two bytes. */
  int16(value: number): void {
    this.out.u8(0xd1);
    this.out.u16(value & 0xffff);
  }

  float(value: number): void {
    this.out.u8(0xcb);
    this.out.f64(value);
  }

  str(text: string): void {
    const bytes = Buffer.from(text, 'utf8');
    if (bytes.length < 32) this.out.u8(0xa0 | bytes.length);
    else this.size(bytes.length, 0xd9);
    this.out.bytes(bytes);
  }

  bin(bytes: Uint8Array): void {
    this.size(bytes.length, 0xc4);
    this.out.bytes(bytes);
  }

  array(length: number): void {
    if (length < 16) this.out.u8(0x90 | length);
    else this.longSize(length, 0xdc);
  }

  map(pairs: number): void {
    if (pairs < 16) this.out.u8(0x80 | pairs);
    else this.longSize(pairs, 0xde);
  }

  ext(type: number, bytes: Uint8Array): void {
    const power = [1, 2, 4, 8, 16].indexOf(bytes.length);
    if (power >= 0) this.out.u8(0xd4 + power);
    else this.size(bytes.length, 0xc7);
    this.out.u8(type);
    this.out.bytes(bytes);
  }

  /** An extension that holds an id. */
  idExt(type: number, id: number): void {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64BE(BigInt(id));
    this.ext(type, bytes);
  }

  private uint(value: number): void {
    if (value < 0x80) this.out.u8(value);
    else this.size(value, 0xcc);
  }

  /** A number behind the code of its width; the codes of one, two and four bytes follow each other. */
  private size(value: number, code: number): void {
    if (value > 0xff) this.longSize(value, code + 1);
    else {
      this.out.u8(code);
      this.out.u8(value);
    }
  }

  private longSize(value: number, code: number): void {
    if (value > 0xffff) {
      this.out.u8(code + 1);
      this.out.u32(value);
    } else {
      this.out.u8(code);
      this.out.u16(value);
    }
  }
}
