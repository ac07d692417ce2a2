import { describe, expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';
import { Float } from '../value/scalars.js';

const harness = new Harness();
const run = harness.run.bind(harness);
const error = harness.error.bind(harness);
const float = (value: number) => new Float(value);

describe('abs, ceil and floor', () => {
  test('keep ints', () => {
    expect(run('[abs(-3), abs(INT_MAX), ceil(INT_MAX), floor(INT_MIN)]')).toEqual([
      3,
      2n ** 63n - 1n,
      2n ** 63n - 1n,
      -(2n ** 63n),
    ]);
    expect(error('abs(INT_MIN)')).toBe('overflow_err');
  });

  test('abs, ceil and floor of floats are floats', () => {
    expect(run('[abs(-1.5), ceil(-0.5), floor(-0.5), ceil(1.2)]')).toEqual([float(1.5), 0, -1, 2]);
    expect(error('ceil(nan)')).toBe('overflow_err');
    expect(error('floor(1.0e+19)')).toBe('overflow_err');
    expect(error('abs(true)')).toBe('type_err');
  });
});

describe('round', () => {
  test('round of floats goes half away from zero', () => {
    expect(
      run('[round(2.5), round(-2.5), round(0.49999999999999994), round(-0.3), round(2.675, 2)]'),
    ).toEqual([3, -3, 0, 0, 2.68].map(float));
    expect(run('[round(1234.5, -2), round(inf), round(1.5, 400), round(0.00012345, 5)]')).toEqual(
      [1200, Number.POSITIVE_INFINITY, Number.NaN, 0.00012].map(float),
    );
  });

  test('round of ints is exact or an error (decision 11)', () => {
    expect(run('[round(9007199254740991, 1), round(-9007199254740991, 3), round(123456789, 12)]')).toEqual([
      9007199254740991, -9007199254740991, 123456789,
    ]);
    expect(run('[round(9007199254740985, -1), round(-25, -1), round(24, -1), round(5, -3)]')).toEqual([
      9007199254740990, -30, 20, 0,
    ]);
    expect(run('[round(499999999999999, -15), round(500000000000000, -15), round(7, -100)]')).toEqual([
      0, 1e15, 0,
    ]);
    expect(error('round(INT_MAX)')).toBe('overflow_err');
    expect(error('round(9000000000000000000, -19)')).toBe('overflow_err');
    expect(error('round(15, 400)')).toBe('overflow_err');
    expect(error('round(15, -400)')).toBe('overflow_err');
    expect(error('round(15, INT_MIN)')).toBe('overflow_err');
  });
});

describe('pow', () => {
  test('is that of C', () => {
    expect(run('[pow(2, 10), pow(10, -5), pow(0, -1), pow(nan, 0), pow(1, nan), pow(-1, inf)]')).toEqual(
      [1024, 1e-5, Number.POSITIVE_INFINITY, 1, 1, 1].map(float),
    );
    expect(run('[pow(-8, 0.5), pow(10, 999), pow(-10, 999), pow(10, -999), pow(10, inf)]')).toEqual(
      [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, Number.POSITIVE_INFINITY].map(
        float,
      ),
    );
  });
});

describe('roots, logarithms and angles', () => {
  test('are floats', () => {
    expect(run('[sqrt(9), exp(0), loge(MATH_E), log2(8), log10(1000), sin(0), cos(0)]')).toEqual(
      [3, 1, 1, 3, 3, 0, 1].map(float),
    );
    expect(run('[sqrt(inf), sqrt(nan), log2(inf), log10(nan), tan(nan)]')).toEqual(
      [Number.POSITIVE_INFINITY, Number.NaN, Number.POSITIVE_INFINITY, Number.NaN, Number.NaN].map(float),
    );
  });

  test.each([
    'sqrt(-1)',
    'sqrt(-inf)',
    'loge(0)',
    'log2(-1)',
    'log10(0.0)',
    'sin(inf)',
    'cos(-inf)',
    'tan(inf)',
  ])('%s is value_err', (code) => {
    expect(error(code)).toBe('value_err');
  });
});
