import { toIso } from '../datetime/index.js';
import { overflowError, typeError, valueError } from '../error.js';
import { Closure } from './closure.js';
import { DateTimeValue, withDates } from './datetime-value.js';
import { doubleToInt, INT_MAX, INT_MIN, toIntValue } from './numbers.js';
import { RegexValue } from './regex-value.js';
import { Bytes, ErrorValue, Float, MpData } from './scalars.js';
import { formatFloat } from './text.js';
import { Thing } from './thing.js';
import { typeName, type Value } from './value.js';

/**
 * The text of a value, as `str(v)` and templates give it.
 *
 * @throws QueryError type_err for what has no text (list, tuple, set, mpdata), value_err for bytes that are not UTF-8
 */
export function toText(value: Value): string {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      return value === null ? 'nil' : objectToText(value);
  }
}

function objectToText(value: Exclude<Value, null | boolean | number | bigint | string>): string {
  if (value instanceof Float) return formatFloat(value.value);
  if (value instanceof Thing) return `thing:${value.id === 0 ? 'nil' : value.id}`;
  if (value instanceof Bytes) return bytesToText(value.data);
  if (value instanceof DateTimeValue) return withDates(() => toIso(value.time));
  if (value instanceof RegexValue) return value.text;
  if (value instanceof ErrorValue) return value.message;
  if (value instanceof Closure) return value.pretty();
  throw typeError(`${typeName(value)} has no text`);
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function bytesToText(data: Uint8Array): string {
  try {
    return UTF8.decode(data);
  } catch {
    throw valueError('the bytes are not valid UTF-8');
  }
}

/** `int(v)`. */
export function toInt(value: Value): number | bigint {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'string') return textToInt(value);
  if (value instanceof Float) return doubleToInt(value.value);
  if (value instanceof DateTimeValue) return normal(value.time.moment);
  if (value instanceof ErrorValue) return value.code;
  throw typeError(`${typeName(value)} can not be converted to int`);
}

/** `float(v)`. */
export function toFloat(value: Value): Float {
  if (value instanceof Float) return value;
  if (typeof value === 'string') return new Float(textToDouble(value));
  if (typeof value === 'boolean' || typeof value === 'number' || typeof value === 'bigint') {
    return new Float(Number(value));
  }
  if (value instanceof DateTimeValue) return new Float(Number(value.time.moment));
  if (value instanceof ErrorValue) return new Float(value.code);
  throw typeError(`${typeName(value)} can not be converted to float`);
}

/** `bytes(v)`. */
export function toBytes(value: Value): Bytes {
  if (value instanceof Bytes) return value;
  if (typeof value === 'string') return new Bytes(Buffer.from(value));
  if (value instanceof MpData) return new Bytes(value.data);
  throw typeError(`${typeName(value)} can not be converted to bytes`);
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

function normal(moment: number | bigint): number | bigint {
  return typeof moment === 'bigint' ? toIntValue(moment) : moment;
}

/** Whether an int lies within int64; for ints that come from outside. */
export function isInt64(value: bigint): boolean {
  return value >= INT_MIN && value <= INT_MAX;
}
