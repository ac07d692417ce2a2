import { Buffer } from 'node:buffer';
import { MsgpackWriter } from '../pack/msgpack-writer.js';

/** Writes MessagePack as ThingsDB does: in the shortest form, too, and with extension types. */
export class DataOutput extends MsgpackWriter {
  take(): Uint8Array {
    return this.out.take();
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

  ext(type: number, bytes: Uint8Array): void {
    const power = [1, 2, 4, 8, 16].indexOf(bytes.length);
    if (power >= 0) this.out.u8(0xd4 + power);
    else this.sized(bytes.length, 0xc7, 0xc8, 0xc9);
    this.out.u8(type);
    this.out.bytes(bytes);
  }

  /** An extension that holds an id. */
  idExt(type: number, id: number): void {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64BE(BigInt(id));
    this.ext(type, bytes);
  }
}
