/** Values of JavaScript to requests: what msgpackr is to write. */
import type { Writable } from '../wire/exact.js';
import { writableFloat, writableInt } from '../wire/msgpack.js';
import { Float, type Int } from './numbers.js';
import { ThingRef } from './things.js';

/** Values that may be sent as a variable or an argument. Properties that are undefined are left out. */
export type Sendable =
  | null
  | boolean
  | Int
  | Float
  | string
  | Uint8Array
  | readonly Sendable[]
  | ReadonlyMap<string, Sendable>
  | { readonly [name: string]: Sendable | undefined };

/**
 * The form of a value that msgpackr writes.
 *
 * @param nestingMax levels of lists and maps at most
 * @throws {TypeError} for what the database has no value for, {@link RangeError} for ints beyond 64 bits and too many levels
 */
export function writableOf(value: unknown, nestingMax: number, depth = 0): Writable {
  switch (typeof value) {
    case 'boolean':
      return value;
    case 'string':
      return textOf(value);
    case 'number':
      return numberOf(value);
    case 'bigint':
      return int64Of(value);
    case 'object':
      return value === null ? null : compoundOf(value, nestingMax, depth);
    default:
      throw new TypeError(`a value of type ${typeof value} can't be sent`);
  }
}

function compoundOf(value: object, nestingMax: number, depth: number): Writable {
  if (value instanceof Uint8Array) return value;
  if (value instanceof Float) return writableFloat(value.value);
  if (depth >= nestingMax)
    throw new RangeError(`a value with more than ${nestingMax} levels (limits.nesting)`);
  if (Array.isArray(value)) return value.map((item: unknown) => writableOf(item, nestingMax, depth + 1));
  const entries = value instanceof Map ? value.entries() : plainEntries(value);
  const map = new Map<string, Writable>();
  for (const [key, item] of entries) {
    if (typeof key !== 'string') throw new TypeError('the keys of a Map that is sent must be strings');
    if (item !== undefined) map.set(textOf(key), writableOf(item, nestingMax, depth + 1));
  }
  return map;
}

function plainEntries(value: object): [string, unknown][] {
  const prototype: unknown = Object.getPrototypeOf(value);
  // Objects of another realm (a frame, a test) have another Object.prototype, which has no prototype either.
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return Object.entries(value);
  const name =
    value instanceof Date ? 'a Date' : value instanceof Set ? 'a Set' : value instanceof ThingRef && 'ref()';
  if (name) throw new TypeError(`${name} can be sent as a value of a template only, query\`...\``);
  throw new TypeError(
    `an object of class ${value.constructor?.name} can't be sent: make a plain object of it`,
  );
}

function textOf(text: string): string {
  if (LONE_SURROGATE.test(text))
    throw new TypeError('a string with half of a surrogate pair can not be sent');
  return text;
}

const LONE_SURROGATE = /[\ud800-\udfff]/u;

/** Whole numbers are ints as far as 64 bits go; -0 is none, since the int 0 has no sign. */
function numberOf(value: number): Writable {
  if (!Number.isInteger(value)) return value;
  if (Object.is(value, -0) || value < -INT64_END || value >= INT64_END) return writableFloat(value);
  return value >= INT32_MIN && value <= UINT32_MAX ? value : writableInt(BigInt(value));
}

function int64Of(value: bigint): Writable {
  if (BigInt.asIntN(64, value) !== value) throw new RangeError(`${value} has more than 64 bits`);
  return writableInt(value);
}

const INT64_END = 2 ** 63;
const INT32_MIN = -(2 ** 31);
const UINT32_MAX = 2 ** 32 - 1;
