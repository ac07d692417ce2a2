import { describe, expect, test } from '@jest/globals';
import { formatFloat } from './text.js';

describe('floats as text', () => {
  test.each([
    [100_000, '100000'],
    [999_999, '999999'],
    [1_000_000, '1e+06'],
    [999_999.5, '1e+06'],
    [123_456.7, '123457'],
    [10, '10'],
    [0.1, '0.1'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [-1.5, '-1.5'],
    [1e100, '1e+100'],
  ])('%p is %s', (value, text) => {
    expect(formatFloat(value)).toBe(text);
  });
});
