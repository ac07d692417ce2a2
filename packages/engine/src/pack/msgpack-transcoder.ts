import { toIntValue } from '../value/numbers.js';
import type { Sink } from './walk.js';

/** Hands MessagePack of our own making, or that was checked, over to a sink. */
export function readMsgpackInto(data: Uint8Array, sink: Sink): void {
  new Transcoder(Buffer.from(data.buffer, data.byteOffset, data.byteLength), sink).value();
}

class Transcoder {
  private position = 0;

  constructor(
    private readonly data: Buffer,
    private readonly sink: Sink,
  ) {}

  value(): void {
    const { sink } = this;
    const code = this.uint(1);
    if (code < 0x80) sink.int(code);
    else if (code >= 0xe0) sink.int(code - 0x100);
    else if (code < 0x90) this.map(code & 0x0f);
    else if (code < 0xa0) this.array(code & 0x0f);
    else if (code < 0xc0) sink.str(this.text(code & 0x1f));
    else this.other(code);
  }

  private other(code: number): void {
    const { sink } = this;
    switch (code) {
      case 0xc0:
        return sink.nil();
      case 0xc2:
        return sink.bool(false);
      case 0xc3:
        return sink.bool(true);
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return sink.bin(this.bytes(this.uint(1 << (code - 0xc4))));
      case 0xca:
        return sink.float(this.bytes(4).readFloatBE(0));
      case 0xcb:
        return sink.float(this.bytes(8).readDoubleBE(0));
      case 0xcc:
      case 0xcd:
      case 0xce:
        return sink.int(this.uint(1 << (code - 0xcc)));
      case 0xcf:
        return sink.int(toIntValue(this.bytes(8).readBigUInt64BE(0)));
      case 0xd0:
        return sink.int(this.bytes(1).readInt8(0));
      case 0xd1:
        return sink.int(this.bytes(2).readInt16BE(0));
      case 0xd2:
        return sink.int(this.bytes(4).readInt32BE(0));
      case 0xd3:
        return sink.int(toIntValue(this.bytes(8).readBigInt64BE(0)));
      case 0xd9:
      case 0xda:
      case 0xdb:
        return sink.str(this.text(this.uint(1 << (code - 0xd9))));
      case 0xdc:
      case 0xdd:
        return this.array(this.uint(code === 0xdc ? 2 : 4));
      case 0xde:
      case 0xdf:
        return this.map(this.uint(code === 0xde ? 2 : 4));
      default:
        throw new Error(`unexpected MessagePack type ${code} in packed data`);
    }
  }

  private array(count: number): void {
    this.sink.beginArray(count);
    for (let i = 0; i < count; i++) this.value();
    this.sink.endArray();
  }

  private map(count: number): void {
    this.sink.beginMap(count);
    for (let i = 0; i < count; i++) {
      const code = this.uint(1);
      this.sink.key(this.text(code < 0xc0 ? code & 0x1f : this.uint(1 << (code - 0xd9))));
      this.value();
    }
    this.sink.endMap();
  }

  private text(size: number): string {
    return this.bytes(size).toString('utf8');
  }

  private uint(size: number): number {
    return this.bytes(size).readUIntBE(0, size);
  }

  private bytes(size: number): Buffer {
    const start = this.position;
    this.position += size;
    return this.data.subarray(start, this.position);
  }
}
