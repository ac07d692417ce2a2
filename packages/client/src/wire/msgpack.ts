/**
 * MessagePack, as nodes and clients speak it, written and read by msgpackr:
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
 * are refused. Bytes in a str that are not UTF-8 are read as U+FFFD.
 */
import { pack, ReadFloat, unpack, Verbatim, type Writable } from './exact.js';
import { isWireBytes, isWireList, nestingMax, WireError, type WireValue } from './value.js';

const INT64_MIN = -(2n ** 63n);
const UINT64_MAX = 2n ** 64n - 1n;

/** Ints in this range are numbers to msgpackr, which writes them in the shortest form. */
const INT32_MIN = -(2n ** 31n);
const UINT32_MAX = 2n ** 32n - 1n;

/**
 * Encodes one value.
 *
 * @throws {WireError} for ints beyond 64 bits and for nesting that is too deep
 */
export function encodeMessagePack(value: WireValue): Buffer {
  return pack(writableWire(value));
}

/**
 * Decodes one value, which has to take all of the bytes.
 *
 * @throws {WireError} for anything else
 */
export function decodeMessagePack(bytes: Uint8Array): WireValue {
  let read: unknown;
  try {
    read = unpack(bytes);
  } catch (error) {
    throw new WireError(error instanceof Error ? error.message : String(error));
  }
  return wireValue(read, 0);
}

/** The form of a value that msgpackr writes. */
export function writableWire(value: WireValue, depth = 0): Writable {
  if (depth > nestingMax) throw new WireError(`more than ${nestingMax} nested levels`);
  if (typeof value === 'bigint') return writableInt(value);
  if (typeof value === 'number') return writableFloat(value);
  if (value === null || typeof value !== 'object' || isWireBytes(value)) return value;
  if (isWireList(value)) return value.map((item) => writableWire(item, depth + 1));
  return new Map(Array.from(value, ([key, item]) => [key, writableWire(item, depth + 1)]));
}

/** A float, which msgpackr would write as an int where it is whole. */
export function writableFloat(value: number): Writable {
  return Number.isInteger(value) ? literal(0xcb, 'setFloat64', value) : value;
}

/** @throws {WireError} for ints beyond 64 bits */
export function writableInt(value: bigint): Writable {
  if (value < INT64_MIN || value > UINT64_MAX) throw new WireError(`${value} has more than 64 bits`);
  if (value >= INT32_MIN && value <= UINT32_MAX) return Number(value);
  return value < 0n ? literal(0xd3, 'setBigInt64', value) : literal(0xcf, 'setBigUint64', value);
}

/** A marker and eight bytes. */
function literal(marker: number, set: 'setFloat64', value: number): Verbatim;
function literal(marker: number, set: 'setBigInt64' | 'setBigUint64', value: bigint): Verbatim;
function literal(marker: number, set: 'setFloat64' | 'setBigInt64' | 'setBigUint64', value: number | bigint) {
  const bytes = new Uint8Array(9);
  const view = new DataView(bytes.buffer);
  bytes[0] = marker;
  if (set === 'setFloat64') view.setFloat64(1, Number(value));
  else view[set](1, BigInt(value));
  return new Verbatim(bytes);
}

/** The value that msgpackr read: it knows more types than this protocol has. */
function wireValue(read: unknown, depth: number): WireValue {
  if (depth > nestingMax) throw new WireError(`more than ${nestingMax} nested levels`);
  if (read === null || typeof read === 'boolean' || typeof read === 'string') return read;
  if (typeof read === 'number' || typeof read === 'bigint') return BigInt(read);
  if (read instanceof ReadFloat) return read.value;
  if (read instanceof Uint8Array) return new Uint8Array(read);
  if (Array.isArray(read)) return Array.from(read, (item: unknown) => wireValue(item, depth + 1));
  if (!(read instanceof Map)) throw new WireError('an extension type, or a byte that begins no value');
  const map = new Map<string, WireValue>();
  for (const [key, item] of read) {
    if (typeof key !== 'string') throw new WireError('a key that is no str');
    map.set(key, wireValue(item, depth + 1));
  }
  return map;
}
