import { DateTimeError } from './error.js';

/** An int64: a number while it is a safe integer, else a bigint. Equal ints are therefore `===`. */
export type Int = number | bigint;

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const INT32_MIN = -(2 ** 31);
const INT32_MAX = 2 ** 31 - 1;

/** The one form of an int; `overflow_err` outside int64. */
export function toInt(value: Int): Int {
  if (typeof value === 'number') {
    if (!Number.isInteger(value)) throw overflow();
    // Adding zero turns a negative zero into the plain one.
    return Number.isSafeInteger(value) ? value + 0 : toInt(BigInt(value));
  }
  if (value < INT64_MIN || value > INT64_MAX) throw overflow();
  const small = Number(value);
  return Number.isSafeInteger(small) ? small : value;
}

export function addInts(a: Int, b: Int): Int {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return toInt(BigInt(a) + BigInt(b));
}

export function multiplyInts(a: Int, b: Int): Int {
  if (typeof a === 'number' && typeof b === 'number') {
    const product = a * b;
    if (Number.isSafeInteger(product)) return product + 0;
  }
  return toInt(BigInt(a) * BigInt(b));
}

/** The value as a number if it is within int32, else `overflow_err`. */
export function toInt32(value: Int): number {
  if (value < INT32_MIN || value > INT32_MAX)
    throw new DateTimeError('overflow_err', 'the step is too large (32 bits)');
  return Number(value);
}

function overflow(): DateTimeError {
  return new DateTimeError('overflow_err', 'the result does not fit in 64 bits');
}
