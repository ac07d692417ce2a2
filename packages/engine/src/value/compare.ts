import { typeError } from '../error.js';
import { List, ThingSet } from './containers.js';
import { DateTimeValue } from './datetime-value.js';
import { RegexValue } from './regex-value.js';
import { Bytes, ErrorValue, Float } from './scalars.js';
import { Thing } from './thing.js';
import { typeName, type Value } from './value.js';

/** Truth of a value: nil, false, zero, errors and everything empty are false. */
export function isTruthy(value: Value): boolean {
  switch (typeof value) {
    case 'boolean':
      return value;
    case 'number':
      return value !== 0;
    case 'string':
      return value !== '';
    case 'bigint':
      return true;
    default:
      return value !== null && isTruthyObject(value);
  }
}

function isTruthyObject(value: Exclude<Value, null | boolean | number | bigint | string>): boolean {
  if (value instanceof Thing) return value.shape.size > 0;
  if (value instanceof List) return value.length > 0;
  if (value instanceof Float) return value.value !== 0;
  if (value instanceof ThingSet) return value.members.size > 0;
  if (value instanceof Bytes) return value.data.length > 0;
  return !(value instanceof ErrorValue);
}

/** Gets the size of what is about to be looked at; what it throws ends the work. */
export type Charge = (units: number) => void;

/** Texts and bytes beyond this length are charged. */
const LONG_LENGTH = 1000;

/**
 * `a == b`: never an error.
 *
 * @param charge called for long texts and bytes, also within lists
 */
export function equals(a: Value, b: Value, charge?: Charge): boolean {
  if (typeof a === 'string') {
    if (charge !== undefined && a.length > LONG_LENGTH) charge(a.length);
    if (typeof b === 'string') return a === b;
    return b instanceof Bytes && equalBytes(Buffer.from(a), b.data);
  }
  if (isNumeric(a)) return isNumeric(b) && equalNumbers(a, b);
  if (a === null || b === null || typeof b !== 'object') {
    return a instanceof Bytes && typeof b === 'string' ? equals(b, a, charge) : a === b;
  }
  if (a instanceof List) return b instanceof List && equalLists(a, b, charge);
  if (a instanceof ThingSet) return b instanceof ThingSet && equalSets(a.members, b.members);
  if (a instanceof Bytes) {
    if (charge !== undefined && a.data.length > LONG_LENGTH) charge(a.data.length);
    return b instanceof Bytes && equalBytes(a.data, b.data);
  }
  if (a instanceof ErrorValue) return b instanceof ErrorValue && a.code === b.code;
  if (a instanceof RegexValue) return b instanceof RegexValue && a.text === b.text;
  if (a instanceof DateTimeValue) return b instanceof DateTimeValue && a.time.moment === b.time.moment;
  return a === b;
}

function equalNumbers(a: Numeric, b: Numeric): boolean {
  if (a instanceof Float || b instanceof Float) return toDouble(a) === toDouble(b);
  return toInt(a) === toInt(b);
}

function equalLists(a: List, b: List, charge: Charge | undefined): boolean {
  const left = a.items;
  const right = b.items;
  if (left.length !== right.length) return false;
  for (let i = 0; i < left.length; i++) {
    if (!equals(left[i] as Value, right[i] as Value, charge)) return false;
  }
  return true;
}

function equalSets(a: ReadonlySet<Thing>, b: ReadonlySet<Thing>): boolean {
  return a.size === b.size && isSubset(a, b);
}

/** Whether all members of `a` are in `b`. */
export function isSubset(a: ReadonlySet<Thing>, b: ReadonlySet<Thing>): boolean {
  for (const thing of a) if (!b.has(thing)) return false;
  return true;
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

/**
 * Order of two values: negative, zero or positive; NaN when a nan is involved. Numbers and bools compare by value, str
 * and bytes by their bytes, dates by moment.
 *
 * @throws QueryError type_err for every other pair
 */
export function compare(a: Value, b: Value): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  if (isNumeric(a) && isNumeric(b)) return compareNumbers(a, b);
  if (isRaw(a) && isRaw(b)) return Buffer.compare(rawBytes(a), rawBytes(b));
  if (a instanceof DateTimeValue && b instanceof DateTimeValue) {
    return a.time.moment < b.time.moment ? -1 : a.time.moment > b.time.moment ? 1 : 0;
  }
  throw typeError(`cannot compare ${typeName(a)} with ${typeName(b)}`);
}

function compareNumbers(a: Numeric, b: Numeric): number {
  if (a instanceof Float || b instanceof Float) {
    const x = toDouble(a);
    const y = toDouble(b);
    return x < y ? -1 : x > y ? 1 : x === y ? 0 : Number.NaN;
  }
  const x = toInt(a);
  const y = toInt(b);
  return x < y ? -1 : x > y ? 1 : 0;
}

/** Order of two texts by their UTF-8 bytes, which is the order of their code points. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return x >= 0xd800 && y >= 0xd800 ? codePointRank(x) - codePointRank(y) : x - y;
  }
  return a.length - b.length;
}

/** Surrogates stand for code points above U+FFFF, so they rank behind U+E000 to U+FFFF. */
function codePointRank(unit: number): number {
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}

type Numeric = boolean | number | bigint | Float;

export function isNumeric(value: Value): value is Numeric {
  return (
    typeof value === 'number' ||
    typeof value === 'boolean' ||
    typeof value === 'bigint' ||
    value instanceof Float
  );
}

function toDouble(value: Numeric): number {
  return value instanceof Float ? value.value : Number(value);
}

function toInt(value: Exclude<Numeric, Float>): number | bigint {
  return typeof value === 'boolean' ? Number(value) : value;
}

function isRaw(value: Value): value is string | Bytes {
  return typeof value === 'string' || value instanceof Bytes;
}

function rawBytes(value: string | Bytes): Uint8Array {
  return typeof value === 'string' ? Buffer.from(value) : value.data;
}
