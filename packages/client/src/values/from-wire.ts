/** Answers to JavaScript: what msgpackr read, as values that programs work with. */
import { ReadFloat, unpack } from '../wire/exact.js';
import { isWireList, WireError, type WireValue } from '../wire/value.js';

/** Any value of an answer. */
export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | Value[]
  | { [name: string]: Value };

/** Ints of answers: a number where that is exact, else a bigint; always a bigint; always a number, or an error. */
export type IntsAs = 'auto' | 'bigint' | 'number';

export interface Reading {
  readonly ints: IntsAs;
  /** Levels of lists and maps at most. */
  readonly nestingMax: number;
}

/**
 * Reads a value, which has to take all of the bytes.
 *
 * @throws {WireError} for anything else; RangeError for an int that `ints: 'number'` can't hold
 */
export function readValue(bytes: Uint8Array, reading: Reading): Value {
  let read: unknown;
  try {
    read = unpack(bytes);
  } catch (error) {
    throw new WireError(error instanceof Error ? error.message : String(error));
  }
  return readAs(read, reading, 0);
}

function readAs(read: unknown, reading: Reading, depth: number): Value {
  if (read === null || typeof read === 'boolean' || typeof read === 'string') return read;
  if (typeof read === 'number' || typeof read === 'bigint') return intOf(read, reading.ints);
  if (read instanceof ReadFloat) return read.value;
  if (read instanceof Uint8Array) return new Uint8Array(read);
  if (depth >= reading.nestingMax) throw new WireError(`more than ${reading.nestingMax} nested levels`);
  if (Array.isArray(read)) return Array.from(read, (item: unknown) => readAs(item, reading, depth + 1));
  if (!(read instanceof Map)) throw new WireError('an extension type, or a byte that begins no value');
  const object: { [name: string]: Value } = {};
  for (const [key, item] of read) {
    if (typeof key !== 'string') throw new WireError('a key that is no str');
    const value = readAs(item, reading, depth + 1);
    setOwn(object, key, value);
  }
  return object;
}

/** A value as on the wire, as `readValue` gives it. */
export function plainValue(value: WireValue, ints: IntsAs): Value {
  if (typeof value === 'bigint') return intOf(value, ints);
  if (value === null || typeof value !== 'object' || value instanceof Uint8Array) return value;
  return isWireList(value) ? value.map((item) => plainValue(item, ints)) : plainMap(value, ints);
}

export function plainMap(value: ReadonlyMap<string, WireValue>, ints: IntsAs): { [name: string]: Value } {
  const object: { [name: string]: Value } = {};
  for (const [key, item] of value) setOwn(object, key, plainValue(item, ints));
  return object;
}

function intOf(read: number | bigint, ints: IntsAs): number | bigint {
  if (ints === 'bigint') return BigInt(read);
  const number = Number(read);
  if (Number.isSafeInteger(number)) return number;
  if (ints === 'number')
    throw new RangeError(`the int ${read} is no safe number: ask with ints: 'auto' or 'bigint'`);
  return BigInt(read);
}

function setOwn(object: { [name: string]: Value }, key: string, value: Value): void {
  // Assigning that one would change the prototype of the object.
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}
