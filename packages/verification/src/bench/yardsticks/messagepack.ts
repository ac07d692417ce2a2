/**
 * As much of MessagePack as requests of the benchmark need, written as one writes it for a service of one's own: straight from bytes
 * to plain values. It trusts what it reads.
 */

/** The values of a body: nil, booleans, numbers, text, arrays and maps. */
export type Value = null | boolean | number | string | readonly Value[] | { readonly [key: string]: Value };

/** Reads one value. */
export function decode(bytes: Buffer): Value {
  return new Decoder(bytes).value();
}

class Decoder {
  private at = 0;

  constructor(private readonly bytes: Buffer) {}

  value(): Value {
    const { bytes } = this;
    const tag = bytes[this.at++] ?? 0xc0;
    if (tag < 0x80) return tag;
    if (tag < 0x90) return this.map(tag & 0x0f);
    if (tag < 0xa0) return this.array(tag & 0x0f);
    if (tag < 0xc0) return this.text(tag & 0x1f);
    if (tag >= 0xe0) return tag - 0x100;
    switch (tag) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xca:
        return bytes.readFloatBE(this.skip(4));
      case 0xcb:
        return bytes.readDoubleBE(this.skip(8));
      case 0xcc:
        return bytes.readUInt8(this.skip(1));
      case 0xcd:
        return bytes.readUInt16BE(this.skip(2));
      case 0xce:
        return bytes.readUInt32BE(this.skip(4));
      case 0xcf:
        return Number(bytes.readBigUInt64BE(this.skip(8)));
      case 0xd0:
        return bytes.readInt8(this.skip(1));
      case 0xd1:
        return bytes.readInt16BE(this.skip(2));
      case 0xd2:
        return bytes.readInt32BE(this.skip(4));
      case 0xd3:
        return Number(bytes.readBigInt64BE(this.skip(8)));
      case 0xd9:
        return this.text(bytes.readUInt8(this.skip(1)));
      case 0xda:
        return this.text(bytes.readUInt16BE(this.skip(2)));
      case 0xdb:
        return this.text(bytes.readUInt32BE(this.skip(4)));
      case 0xdc:
        return this.array(bytes.readUInt16BE(this.skip(2)));
      case 0xdd:
        return this.array(bytes.readUInt32BE(this.skip(4)));
      case 0xde:
        return this.map(bytes.readUInt16BE(this.skip(2)));
      case 0xdf:
        return this.map(bytes.readUInt32BE(this.skip(4)));
      default:
        throw new Error(`no value begins with ${tag}`);
    }
  }

  private skip(count: number): number {
    const { at } = this;
    this.at = at + count;
    return at;
  }

  private text(length: number): string {
    const start = this.skip(length);
    return this.bytes.toString('utf8', start, start + length);
  }

  private array(count: number): Value[] {
    const items: Value[] = [];
    for (let i = 0; i < count; i++) items.push(this.value());
    return items;
  }

  private map(count: number): Record<string, Value> {
    const map: Record<string, Value> = {};
    for (let i = 0; i < count; i++) {
      const key = this.value();
      map[String(key)] = this.value();
    }
    return map;
  }
}

/** Room for an answer; the longest of the benchmark takes some KB. */
const ROOM = Buffer.alloc(64 * 1024);

/** The bytes of a value, in memory that the next call takes again. */
export function encode(value: Value): Buffer {
  return ROOM.subarray(0, write(value, 0));
}

/** Writes a value at a place, and gives the place behind it. */
function write(value: Value, at: number): number {
  if (value === null) return ROOM.writeUInt8(0xc0, at);
  if (typeof value === 'boolean') return ROOM.writeUInt8(value ? 0xc3 : 0xc2, at);
  if (typeof value === 'number') return writeNumber(value, at);
  if (typeof value === 'string') {
    const length = Buffer.byteLength(value);
    const start = writeSize(length, at, 0xa0, 32, 0xda);
    return start + ROOM.write(value, start);
  }
  if (Array.isArray(value)) {
    let end = writeSize(value.length, at, 0x90, 16, 0xdc);
    for (const item of value) end = write(item, end);
    return end;
  }
  const entries = Object.entries(value);
  let end = writeSize(entries.length, at, 0x80, 16, 0xde);
  for (const [key, item] of entries) end = write(item, write(key, end));
  return end;
}

function writeNumber(value: number, at: number): number {
  if (!Number.isInteger(value)) return ROOM.writeDoubleBE(value, ROOM.writeUInt8(0xcb, at));
  if (value >= 0 && value < 128) return ROOM.writeUInt8(value, at);
  if (value >= -(2 ** 31) && value < 2 ** 31) return ROOM.writeInt32BE(value, ROOM.writeUInt8(0xd2, at));
  return ROOM.writeBigInt64BE(BigInt(value), ROOM.writeUInt8(0xd3, at));
}

/** Writes how much follows: within the tag below `shortMax`, else in two bytes behind `long`. */
function writeSize(size: number, at: number, short: number, shortMax: number, long: number): number {
  if (size < shortMax) return ROOM.writeUInt8(short + size, at);
  return ROOM.writeUInt16BE(size, ROOM.writeUInt8(long, at));
}
