import { describe, expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';
import { Float } from '../value/scalars.js';

const harness = new Harness({ seed: 7 });
const run = harness.run.bind(harness);
const error = harness.error.bind(harness);

/** Values of an expression, evaluated many times. */
function many(code: string, count = 2000): unknown[] {
  return Array.from({ length: count }, () => run(code));
}

test('rand is from 0 to 1', () => {
  for (const value of many('rand()', 100)) {
    expect(value).toBeInstanceOf(Float);
    if (value instanceof Float) expect(value.value >= 0 && value.value <= 1).toBe(true);
  }
});

describe('randint', () => {
  test('gives every value of the range, and no other', () => {
    expect(new Set(many('randint(-2, 2)'))).toEqual(new Set([-2, -1, 0, 1]));
    expect(new Set(many('randint(INT_MAX - 2, INT_MAX)', 100))).toEqual(
      new Set([2n ** 63n - 3n, 2n ** 63n - 2n]),
    );
  });

  test('spreads over a wide range', () => {
    const values = many('randint(INT_MIN, -1)', 400).map((value) => BigInt(value as number | bigint));
    const low = values.filter((value) => value < -(2n ** 62n)).length;
    for (const value of values) expect(value >= -(2n ** 63n) && value < -1n).toBe(true);
    expect(low > 120 && low < 280).toBe(true);
  });

  test('refuses what is no range', () => {
    expect(error('randint(1, 1)')).toBe('value_err');
    expect(error('randint(2, 1)')).toBe('value_err');
    expect(error('randint(INT_MIN, 0)')).toBe('overflow_err');
    expect(error('randint(-2, INT_MAX)')).toBe('overflow_err');
    expect(error('randint(0, 1.0)')).toBe('type_err');
  });
});

describe('randstr', () => {
  test('takes its characters from the alphabet', () => {
    expect(run('randstr(1024)')).toMatch(/^[0-9A-Za-z_-]{1024}$/);
    expect(run("randstr(1024, 'xyz')")).toMatch(/^(?=.*x)(?=.*y)(?=.*z)[xyz]{1024}$/);
    expect(run("[randstr(0), randstr(3, 'a')]")).toEqual(['', 'aaa']);
  });

  test('checks its length before its alphabet', () => {
    expect(error("randstr(1025, raise('never'))")).toBe('value_err');
    expect(error('randstr(-1)')).toBe('value_err');
    expect(error("randstr(0, '')")).toBe('value_err');
    expect(error("randstr(0, 'é')")).toBe('value_err');
    expect(error('randstr(1, nil)')).toBe('type_err');
  });
});
