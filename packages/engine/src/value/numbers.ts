import { overflowError, type QueryError, typeError, zeroDivisionError } from '../error.js';
import { isNumeric, isRaw, rawBytes, toDouble } from './scalar-compare.js';
import { Bytes, Float } from './scalars.js';
import { typeName, type Value } from './value.js';

export const INT_MIN = -(2n ** 63n);
export const INT_MAX = 2n ** 63n - 1n;

/** Below this the quotient of two ints, computed in doubles, can't round up to the next integer. */
const EXACT_QUOTIENT = 2 ** 52;

/** An int of the language from a bigint: a number while it is a safe integer. Throws overflow_err outside int64. */
export function toIntValue(value: bigint): number | bigint {
  if (value >= -9007199254740991n && value <= 9007199254740991n) return Number(value);
  if (value < INT_MIN || value > INT_MAX) throw overflowError();
  return value;
}

/** The int of a double, cut towards zero. Throws overflow_err for nan, infinities and what is outside int64. */
export function doubleToInt(value: number): number | bigint {
  if (Number.isSafeInteger(value)) return value + 0;
  if (Number.isNaN(value)) throw overflowError('nan has no integer value');
  const cut = Math.trunc(value) + 0;
  if (Number.isSafeInteger(cut)) return cut;
  if (!(cut >= -(2 ** 63) && cut < 2 ** 63)) throw overflowError();
  return toIntValue(BigInt(cut));
}

export function add(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b;
    return Number.isSafeInteger(sum) ? sum : toIntValue(BigInt(a) + BigInt(b));
  }
  if (typeof a === 'string' && typeof b === 'string') return a + b;
  if (isNumeric(a) && isNumeric(b)) {
    if (a instanceof Float || b instanceof Float) return new Float(toDouble(a) + toDouble(b));
    return toIntValue(big(a) + big(b));
  }
  if (isRaw(a) && isRaw(b)) return new Bytes(Buffer.concat([rawBytes(a), rawBytes(b)]));
  throw operandError('+', a, b);
}

export function subtract(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    const difference = a - b;
    return Number.isSafeInteger(difference) ? difference : toIntValue(BigInt(a) - BigInt(b));
  }
  if (isNumeric(a) && isNumeric(b)) {
    if (a instanceof Float || b instanceof Float) return new Float(toDouble(a) - toDouble(b));
    return toIntValue(big(a) - big(b));
  }
  throw operandError('-', a, b);
}

export function multiply(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    const product = a * b;
    return Number.isSafeInteger(product) ? product + 0 : toIntValue(BigInt(a) * BigInt(b));
  }
  if (isNumeric(a) && isNumeric(b)) {
    if (a instanceof Float || b instanceof Float) return new Float(toDouble(a) * toDouble(b));
    return toIntValue(big(a) * big(b));
  }
  throw operandError('*', a, b);
}

/** Ints divide towards zero; a float on either side makes a float. */
export function divide(a: Value, b: Value): Value {
  if (!isNumeric(a) || !isNumeric(b)) throw operandError('/', a, b);
  if (toDouble(b) === 0) throw zeroDivisionError();
  if (typeof a === 'number' && typeof b === 'number' && Math.abs(a) < EXACT_QUOTIENT)
    return Math.trunc(a / b) + 0;
  if (a instanceof Float || b instanceof Float) return new Float(toDouble(a) / toDouble(b));
  return toIntValue(big(a) / big(b));
}

/** Always an int; floats are cut towards zero first. The sign is that of the left side. */
export function modulo(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number' && b !== 0) return (a % b) + 0;
  if (!isNumeric(a) || !isNumeric(b)) throw operandError('%', a, b);
  const left = big(a instanceof Float ? doubleToInt(a.value) : a);
  const right = big(b instanceof Float ? doubleToInt(b.value) : b);
  if (right === 0n) throw zeroDivisionError();
  return toIntValue(left % right);
}

export type BitOp = '&' | '|' | '^' | '<<' | '>>';

/** Bitwise operators and shifts on ints and bools; shift counts are taken modulo 64. */
export function bitwise(op: BitOp, a: Value, b: Value): Value {
  if (!isIntOrBool(a) || !isIntOrBool(b)) throw operandError(op, a, b);
  const left = big(a);
  const right = big(b);
  switch (op) {
    case '&':
      return toIntValue(left & right);
    case '|':
      return toIntValue(left | right);
    case '^':
      return toIntValue(left ^ right);
    case '<<':
      return toIntValue(BigInt.asIntN(64, left << (right & 63n)));
    case '>>':
      return toIntValue(left >> (right & 63n));
  }
}

export function negate(value: Value): Value {
  if (typeof value === 'number') return 0 - value;
  if (value instanceof Float) return new Float(-value.value);
  if (isIntOrBool(value)) return toIntValue(-big(value));
  throw typeError(`prefix operator - is not defined for ${typeName(value)}`);
}

export function plus(value: Value): Value {
  if (typeof value === 'boolean') return Number(value);
  if (isNumeric(value)) return value;
  throw typeError(`prefix operator + is not defined for ${typeName(value)}`);
}

export function complement(value: Value): Value {
  if (!isIntOrBool(value)) throw typeError(`prefix operator ~ is not defined for ${typeName(value)}`);
  return toIntValue(~big(value));
}

export function operandError(op: string, a: Value, b: Value): QueryError {
  return typeError(`operator ${op} is not defined for ${typeName(a)} and ${typeName(b)}`);
}

function isIntOrBool(value: Value): value is number | bigint | boolean {
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean';
}

function big(value: number | bigint | boolean): bigint {
  return BigInt(value);
}

export function isInt(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}
