import { describe, expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';

const harness = new Harness();
const run = harness.run.bind(harness);
const error = harness.error.bind(harness);

describe('range', () => {
  test('stops before its end', () => {
    expect(run('[range(3), range(2, 5), range(0, 10, 4), range(10, 0, -4), range(0)]')).toEqual([
      [0, 1, 2],
      [2, 3, 4],
      [0, 4, 8],
      [10, 6, 2],
      [],
    ]);
    expect(run('[range(3, 1), range(0, 5, -1), range(-3)]')).toEqual([[], [], []]);
  });

  test('works at the limits of int', () => {
    const max = 2n ** 63n - 1n;
    expect(run('[range(INT_MAX - 2, INT_MAX), range(INT_MIN + 1, INT_MIN, -1)]')).toEqual([
      [max - 2n, max - 1n],
      [-max],
    ]);
    expect(run('range(INT_MIN, INT_MAX, INT_MAX)')).toEqual([-max - 1n, -1, max - 1n]);
    expect(run('range(9007199254740990, 9007199254740993)')).toEqual([
      9007199254740990,
      9007199254740991,
      9007199254740992n,
    ]);
    expect(run('range(INT_MAX, INT_MIN)')).toEqual([]);
  });

  test('is bounded, without counting', () => {
    expect(run('range(100000)')).toHaveLength(100_000);
    expect(error('range(100001)')).toBe('operation_err');
    expect(error('range(0, INT_MIN, -1)')).toBe('operation_err');
    expect(error('range(INT_MAX)')).toBe('operation_err');
    expect(error('range(0, 5, 0)')).toBe('value_err');
    expect(error("range('1')")).toBe('type_err');
    expect(error('range(0, 5.0)')).toBe('type_err');
  });
});
