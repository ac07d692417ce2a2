import { describe, expect, test } from '@jest/globals';
import { addInts, multiplyInts, toInt, toInt32 } from './int64.js';
import { codeOf } from './testing.js';

const INT_MAX = 2n ** 63n - 1n;

describe('ints of 64 bits', () => {
  test('are numbers while safe, so that equal ones are identical', () => {
    expect(toInt(5n)).toBe(5);
    expect(toInt(2 ** 53)).toBe(2n ** 53n);
    expect(toInt(2n ** 53n - 1n)).toBe(2 ** 53 - 1);
    expect(Object.is(toInt(-0), 0)).toBe(true);
  });

  test('results are exact beyond the safe integers', () => {
    expect(addInts(2 ** 53 - 1, 2)).toBe(2n ** 53n + 1n);
    expect(addInts(2n ** 53n + 1n, -2)).toBe(2 ** 53 - 1);
    expect(multiplyInts(2 ** 52 + 1, 60)).toBe((2n ** 52n + 1n) * 60n);
    expect(Object.is(multiplyInts(0, -3600), 0)).toBe(true);
  });

  test('overflow is overflow_err', () => {
    expect(addInts(INT_MAX - 1n, 1)).toBe(INT_MAX);
    expect(codeOf(() => addInts(INT_MAX, 1))).toBe('overflow_err');
    expect(codeOf(() => addInts(-INT_MAX, -2))).toBe('overflow_err');
    expect(codeOf(() => multiplyInts(INT_MAX, 2))).toBe('overflow_err');
    expect(codeOf(() => toInt(Number.NaN))).toBe('overflow_err');
  });

  test('steps of 32 bits', () => {
    expect(toInt32(2n ** 31n - 1n)).toBe(2 ** 31 - 1);
    expect(codeOf(() => toInt32(2 ** 31))).toBe('overflow_err');
    expect(codeOf(() => toInt32(-(2 ** 31) - 1))).toBe('overflow_err');
    expect(codeOf(() => toInt32(INT_MAX))).toBe('overflow_err');
  });
});
