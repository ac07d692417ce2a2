/** Equality and order of what holds no other values: numbers and bools, texts and bytes. */
import type { ObjectOf, ObjectTag } from './kinds.js';
import { type Bytes, Float } from './scalars.js';
import { Tag } from './tag.js';
import type { Value } from './value.js';

/** True if a number or bool equals a value. */
export function equalNumeric(a: Numeric, b: Value): boolean {
  return isNumeric(b) && equalNumbers(a, b);
}

function equalNumbers(a: Numeric, b: Numeric): boolean {
  if (a instanceof Float || b instanceof Float) return toDouble(a) === toDouble(b);
  return toInt(a) === toInt(b);
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

/** Order of a number or bool and what may be one; undefined when it is none. */
export function compareNumeric(a: Numeric, b: Value): number | undefined {
  return isNumeric(b) ? compareNumbers(a, b) : undefined;
}

/** Order of a str or bytes and what may be one; undefined when it is none. */
export function compareRaw(a: string | Bytes, b: Value): number | undefined {
  return isRaw(b) ? Buffer.compare(rawBytes(a), rawBytes(b)) : undefined;
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
  let i = 0;
  // Parts of long texts that are equal are passed over as a whole: looking at each character takes 50 times as long.
  while (i + PART < length && a.slice(i, i + PART) === b.slice(i, i + PART)) i += PART;
  for (; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return x >= 0xd800 && y >= 0xd800 ? codePointRank(x) - codePointRank(y) : x - y;
  }
  return a.length - b.length;
}

/** Characters that are compared at once. */
const PART = 4096;

/** Surrogates stand for code points above U+FFFF, so they rank behind U+E000 to U+FFFF. */
function codePointRank(unit: number): number {
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}

type Numeric = boolean | number | bigint | Float;

/** Kinds of objects as operands of arithmetic and comparisons, a column of the table of kinds: numbers, texts, or neither. */
const OPERANDS = {
  [Tag.FLOAT]: 'number',
  [Tag.BYTES]: 'text',
  [Tag.REGEX]: null,
  [Tag.DATETIME]: null,
  [Tag.TIMEVAL]: null,
  [Tag.ERROR]: null,
  [Tag.CLOSURE]: null,
  [Tag.LIST]: null,
  [Tag.TUPLE]: null,
  [Tag.SET]: null,
  [Tag.THING]: null,
  [Tag.MPDATA]: null,
  [Tag.MEMBER]: null,
  [Tag.WRAP]: null,
  [Tag.ANONYMOUS]: null,
  [Tag.FUTURE]: null,
  [Tag.TASK]: null,
  [Tag.MODULE]: null,
  [Tag.ROOM]: null,
} as const satisfies Readonly<Record<ObjectTag, 'number' | 'text' | null>>;

/** The objects that are operands of one sort. */
type OperandOf<Sort> = {
  [T in ObjectTag]: (typeof OPERANDS)[T] extends Sort ? ObjectOf<T> : never;
}[ObjectTag];

export function isNumeric(value: Value): value is boolean | number | bigint | OperandOf<'number'> {
  switch (typeof value) {
    case 'number':
    case 'boolean':
    case 'bigint':
      return true;
    case 'object':
      return value !== null && OPERANDS[value.tag] === 'number';
    default:
      return false;
  }
}

/** A number as a double; ints beyond 2^53 lose precision. */
export function toDouble(value: Numeric): number {
  return value instanceof Float ? value.value : Number(value);
}

function toInt(value: Exclude<Numeric, Float>): number | bigint {
  return typeof value === 'boolean' ? Number(value) : value;
}

export function isRaw(value: Value): value is string | OperandOf<'text'> {
  return (
    typeof value === 'string' ||
    (typeof value === 'object' && value !== null && OPERANDS[value.tag] === 'text')
  );
}

export function rawBytes(value: string | Bytes): Uint8Array {
  return typeof value === 'string' ? Buffer.from(value) : value.data;
}
