import { overflowError, typeError } from '../error.js';
import type { DateTimeValue } from './datetime-value.js';
import { type ObjectOf, type ObjectTag, type ObjectValue, textOf } from './kinds.js';
import { doubleToInt, toIntValue } from './numbers.js';
import { Bytes, Float } from './scalars.js';
import { Tag } from './tag.js';
import { typeName, type Value } from './value.js';

/**
 * The text of a value, as `str(v)` and templates give it.
 *
 * @throws QueryError type_err for what has no text (list, tuple, set, mpdata), value_err for bytes that are not UTF-8
 */
export function toText(value: Value): string {
  const text = textOf(value);
  if (text === undefined) throw typeError(`${typeName(value)} has no text`);
  return text;
}

/** The conversion of a kind of object; null where that is an error. */
interface Conversion<V> {
  readonly int: { of(value: V): number | bigint }['of'] | null;
  readonly float: { of(value: V): number }['of'] | null;
  readonly bytes: { of(value: V): Bytes }['of'] | null;
}

const NONE: Conversion<ObjectValue> = { int: null, float: null, bytes: null };

const DATETIME: Conversion<DateTimeValue> = {
  int: ({ time: { moment } }) => (typeof moment === 'bigint' ? toIntValue(moment) : moment),
  float: ({ time }) => Number(time.moment),
  bytes: null,
};

/** The column of the table of kinds that this is about. */
const CONVERSIONS: { readonly [T in ObjectTag]: Conversion<ObjectOf<T>> } = {
  [Tag.FLOAT]: { int: ({ value }) => doubleToInt(value), float: ({ value }) => value, bytes: null },
  [Tag.BYTES]: { int: null, float: null, bytes: (bytes) => bytes },
  [Tag.REGEX]: NONE,
  [Tag.DATETIME]: DATETIME,
  [Tag.TIMEVAL]: DATETIME,
  [Tag.ERROR]: { int: ({ code }) => code, float: ({ code }) => code, bytes: null },
  [Tag.CLOSURE]: NONE,
  [Tag.LIST]: NONE,
  [Tag.TUPLE]: NONE,
  [Tag.SET]: NONE,
  [Tag.THING]: NONE,
  [Tag.MPDATA]: { int: null, float: null, bytes: ({ data }) => new Bytes(data) },
  [Tag.MEMBER]: {
    int: ({ value }) => toInt(value),
    float: ({ value }) => toFloat(value).value,
    bytes: ({ value }) => toBytes(value),
  },
  [Tag.WRAP]: NONE,
  [Tag.ANONYMOUS]: NONE,
  [Tag.FUTURE]: NONE,
  [Tag.TASK]: NONE,
  [Tag.MODULE]: NONE,
  [Tag.ROOM]: NONE,
};

const conversions: Readonly<Record<ObjectTag, Conversion<ObjectValue>>> = CONVERSIONS;

/** `int(v)`. */
export function toInt(value: Value): number | bigint {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'string') return textToInt(value);
  const convert = value === null ? null : conversions[value.tag].int;
  if (convert === null || value === null) throw typeError(`${typeName(value)} can not be converted to int`);
  return convert(value);
}

/** `float(v)`. */
export function toFloat(value: Value): Float {
  if (value instanceof Float) return value;
  if (typeof value === 'string') return new Float(textToDouble(value));
  if (typeof value === 'boolean' || typeof value === 'number' || typeof value === 'bigint') {
    return new Float(Number(value));
  }
  const convert = value === null ? null : conversions[value.tag].float;
  if (convert === null || value === null) throw typeError(`${typeName(value)} can not be converted to float`);
  return new Float(convert(value));
}

/** `bytes(v)`. */
export function toBytes(value: Value): Bytes {
  if (typeof value === 'string') return new Bytes(Buffer.from(value));
  const convert = typeof value === 'object' && value !== null ? conversions[value.tag].bytes : null;
  if (convert === null || value === null || typeof value !== 'object') {
    throw typeError(`${typeName(value)} can not be converted to bytes`);
  }
  return convert(value);
}

const INT_TEXT = /^[ \t\n\v\f\r]*([+-]?)(?:0[xX]([0-9A-Fa-f]+)|(0[0-7]*)|([0-9]+))/;

/** The int that a text begins with: `0x` is hexadecimal, a leading 0 octal; 0 when there is none. */
function textToInt(text: string): number | bigint {
  const match = INT_TEXT.exec(text);
  if (match === null) return 0;
  const [, sign, hex, octal, decimal] = match;
  const magnitude =
    hex !== undefined ? digits(hex, 16) : octal !== undefined ? digits(octal, 8) : digits(decimal ?? '0', 10);
  return toIntValue(sign === '-' ? -magnitude : magnitude);
}

/** Digits that an int64 can have in each base, so that a long text is refused without a long computation. */
const INT_DIGITS_MAX: Readonly<Record<number, number>> = { 8: 22, 10: 19, 16: 16 };

function digits(text: string, base: 8 | 10 | 16): bigint {
  const significant = text.replace(/^0+/, '');
  if (significant === '') return 0n;
  if (significant.length > (INT_DIGITS_MAX[base] ?? 0)) throw overflowError();
  const prefix = base === 8 ? '0o' : base === 16 ? '0x' : '';
  return BigInt(prefix + significant);
}

const FLOAT_TEXT =
  /^[ \t\n\v\f\r]*([+-]?)(?:(0[xX](?:[0-9A-Fa-f]+\.?[0-9A-Fa-f]*|\.[0-9A-Fa-f]+)(?:[pP][+-]?[0-9]+)?)|((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)|(inf)|(nan))/i;

/** The float that a text begins with, as C's `strtod` reads it; 0 when there is none. */
function textToDouble(text: string): number {
  const match = FLOAT_TEXT.exec(text);
  if (match === null) return 0;
  const [, sign, hex, decimal, infinity] = match;
  const magnitude =
    hex !== undefined
      ? hexToDouble(hex)
      : decimal !== undefined
        ? Number(decimal)
        : infinity !== undefined
          ? Number.POSITIVE_INFINITY
          : Number.NaN;
  return sign === '-' ? -magnitude : magnitude;
}

function hexToDouble(text: string): number {
  const [, whole = '', fraction = '', power = '0'] =
    /^0x([0-9a-f]*)\.?([0-9a-f]*)(?:p([+-]?[0-9]+))?$/i.exec(text) ?? [];
  const mantissa = Number(BigInt(`0x${whole}${fraction}`));
  // In two steps: the power of two alone may leave the range of a double.
  const exponent = Number(power) - 4 * fraction.length;
  const half = Math.trunc(exponent / 2);
  return mantissa * 2 ** half * 2 ** (exponent - half);
}
