import { toIntValue } from '../value/numbers.js';
import { FORMS, type Form } from './msgpack-forms.js';
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
    const form = FORMS[code] ?? null;
    const size = this.sizeOf(form);
    switch (form?.kind) {
      case 'nil':
        return sink.nil();
      case 'bool':
        return sink.bool(code === 0xc3);
      case 'int':
        return sink.int(this.int(code, size));
      case 'float':
        return sink.float(size === 4 ? this.bytes(4).readFloatBE(0) : this.bytes(8).readDoubleBE(0));
      case 'str':
        return sink.str(this.text(size));
      case 'bin':
        return sink.bin(this.bytes(size));
      case 'array':
        return this.array(size);
      case 'map':
        return this.map(size);
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
      this.sink.key(this.text(this.sizeOf(FORMS[this.uint(1)] ?? null)));
      this.value();
    }
    this.sink.endMap();
  }

  private sizeOf(form: Form | null): number {
    if (form === null) return 0;
    return form.length === 0 ? form.size : this.uint(form.length);
  }

  private int(code: number, size: number): number | bigint {
    if (size === 0) return code < 0x80 ? code : code - 0x100;
    const bytes = this.bytes(size);
    const isSigned = code >= 0xd0;
    if (size === 8) return toIntValue(isSigned ? bytes.readBigInt64BE(0) : bytes.readBigUInt64BE(0));
    return isSigned ? bytes.readIntBE(0, size) : bytes.readUIntBE(0, size);
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
