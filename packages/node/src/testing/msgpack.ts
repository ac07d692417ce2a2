/**
 * MessagePack as tests write and read it. An int is a number or a bigint, a float a `Float64`, bytes are a Uint8Array,
 * a map is a Map or an object.
 */
export type Packable =
  | null
  | boolean
  | number
  | bigint
  | string
  | Float64
  | Uint8Array
  | readonly Packable[]
  | ReadonlyMap<Packable, Packable>
  | { readonly [key: string]: Packable };

/** A float: `1` is an int, `new Float64(1)` is not. */
export class Float64 {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

export function packed(value: Packable): Buffer {
  if (value === null) return Buffer.of(0xc0);
  if (typeof value === 'boolean') return Buffer.of(value ? 0xc3 : 0xc2);
  if (typeof value === 'number' || typeof value === 'bigint') return packedInt(BigInt(value));
  if (typeof value === 'string') {
    const bytes = Buffer.from(value);
    return Buffer.concat([head(0xa0, 31, [0xd9, 0xda, 0xdb], bytes.length), bytes]);
  }
  if (value instanceof Float64) {
    const bytes = Buffer.alloc(9, 0xcb);
    bytes.writeDoubleBE(value.value, 1);
    return bytes;
  }
  if (value instanceof Uint8Array) {
    return Buffer.concat([head(0xc4, -1, [0xc4, 0xc5, 0xc6], value.length), value]);
  }
  if (isList(value)) {
    return Buffer.concat([head(0x90, 15, [0xdc, 0xdc, 0xdd], value.length), ...value.map(packed)]);
  }
  const entries: [Packable, Packable][] = value instanceof Map ? [...value] : Object.entries(value);
  return Buffer.concat([head(0x80, 15, [0xde, 0xde, 0xdf], entries.length), ...entries.flat().map(packed)]);
}

/** Reads one value; throws when there is more or less. Ints beyond 2^53 are bigints, maps are objects. */
export function unpacked(data: Uint8Array): Packable {
  const reader = new Reader(Buffer.from(data));
  const value = reader.value();
  if (reader.position !== data.length) throw new Error(`${data.length - reader.position} bytes too many`);
  return value;
}

function isList(value: Packable): value is readonly Packable[] {
  return Array.isArray(value);
}

function packedInt(value: bigint): Buffer {
  if (value >= -32n && value < 128n) return Buffer.of(Number(value) & 0xff);
  const bytes = Buffer.alloc(9, value < 0n ? 0xd3 : 0xcf);
  if (value < 0n) bytes.writeBigInt64BE(value, 1);
  else bytes.writeBigUInt64BE(value, 1);
  return bytes;
}

function head(
  fix: number,
  fixMax: number,
  [one, two, four]: readonly [number, number, number],
  size: number,
): Buffer {
  if (size <= fixMax) return Buffer.of(fix | size);
  if (size < 256 && one !== two) return Buffer.of(one, size);
  if (size < 65_536) return Buffer.of(two, size >> 8, size & 0xff);
  const bytes = Buffer.alloc(5, four);
  bytes.writeUInt32BE(size, 1);
  return bytes;
}

class Reader {
  position = 0;
  private readonly data: Buffer;

  constructor(data: Buffer) {
    this.data = data;
  }

  value(): Packable {
    const code = this.uint(1);
    if (code < 0x80) return code;
    if (code >= 0xe0) return code - 256;
    if (code < 0x90) return this.map(code & 15);
    if (code < 0xa0) return this.list(code & 15);
    if (code < 0xc0) return this.bytes(code & 31).toString();
    switch (code) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return Uint8Array.from(this.bytes(this.uint(1 << (code - 0xc4))));
      case 0xcb:
        return new Float64(this.bytes(8).readDoubleBE());
      case 0xcc:
      case 0xcd:
      case 0xce:
        return this.uint(1 << (code - 0xcc));
      case 0xcf:
        return int(this.bytes(8).readBigUInt64BE());
      case 0xd0:
        return this.bytes(1).readInt8();
      case 0xd1:
        return this.bytes(2).readInt16BE();
      case 0xd2:
        return this.bytes(4).readInt32BE();
      case 0xd3:
        return int(this.bytes(8).readBigInt64BE());
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.bytes(this.uint(1 << (code - 0xd9))).toString();
      case 0xdc:
      case 0xdd:
        return this.list(this.uint(code === 0xdc ? 2 : 4));
      case 0xde:
      case 0xdf:
        return this.map(this.uint(code === 0xde ? 2 : 4));
      default:
        throw new Error(`unexpected MessagePack type ${code}`);
    }
  }

  private list(count: number): Packable[] {
    return Array.from({ length: count }, () => this.value());
  }

  private map(count: number): Packable {
    const entries = Array.from({ length: count }, () => [this.value(), this.value()] as const);
    return Object.fromEntries(entries.map(([key, value]) => [String(key), value]));
  }

  private uint(size: number): number {
    return this.bytes(size).readUIntBE(0, size);
  }

  private bytes(size: number): Buffer {
    if (this.position + size > this.data.length) throw new Error('the data ends too early');
    this.position += size;
    return this.data.subarray(this.position - size, this.position);
  }
}

function int(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
