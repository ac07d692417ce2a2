import { overflowError, valueError } from '../error.js';
import { type Entry, func } from '../run/builtin.js';
import * as p from '../run/params.js';
import { doubleToInt, toIntValue } from '../value/numbers.js';
import { toDouble } from '../value/scalar-compare.js';
import { Float } from '../value/scalars.js';

/** Mathematical functions. Float results are those of the platform. */
export const MATH: readonly Entry[] = [
  func('abs', {
    doc: 'The absolute value, of the same type.',
    params: [p.number('value')],
    run: (_rt, value) => {
      if (typeof value === 'number') return Math.abs(value);
      if (typeof value === 'bigint') return toIntValue(value < 0n ? -value : value);
      return new Float(Math.abs(value.value));
    },
  }),
  func('ceil', {
    doc: 'The smallest int that is not below a number.',
    params: [p.number('value')],
    run: (_rt, value) => (value instanceof Float ? doubleToInt(Math.ceil(value.value)) : value),
  }),
  func('floor', {
    doc: 'The largest int that is not above a number.',
    params: [p.number('value')],
    run: (_rt, value) => (value instanceof Float ? doubleToInt(Math.floor(value.value)) : value),
  }),
  func('round', {
    doc: 'The number rounded to digits behind the point (default 0; negative: tens, hundreds, ...), of the same type.',
    params: [p.number('value'), p.optional(p.int('digits'))],
    run: (_rt, value, digits = 0) => {
      if (!(value instanceof Float)) return roundInt(Number(value), digits);
      const { value: float } = value;
      if (!Number.isFinite(float)) return value;
      const scale = powerOfTen(digits);
      return new Float(halfAwayFromZero(float * scale) / scale);
    },
  }),
  func('sqrt', {
    doc: 'The square root.',
    params: [p.number('value')],
    run: (_rt, value) => {
      const x = toDouble(value);
      if (x < 0) throw valueError('a negative number has no square root');
      return new Float(Math.sqrt(x));
    },
  }),
  func('pow', {
    doc: 'A base raised to a power, as a float.',
    params: [p.number('base'), p.number('exponent')],
    run: (_rt, base, exponent) => new Float(power(toDouble(base), toDouble(exponent))),
  }),
  func('exp', {
    doc: 'The number e raised to a power.',
    params: [p.number('exponent')],
    run: (_rt, value) => new Float(Math.exp(toDouble(value))),
  }),
  logarithm('loge', 'natural logarithm', Math.log),
  logarithm('log2', 'logarithm to the base 2', Math.log2),
  logarithm('log10', 'logarithm to the base 10', Math.log10),
  trigonometric('sin', 'sine', Math.sin),
  trigonometric('cos', 'cosine', Math.cos),
  trigonometric('tan', 'tangent', Math.tan),
];

function logarithm(name: string, what: string, of: (value: number) => number): Entry {
  return func(name, {
    doc: `The ${what}.`,
    params: [p.number('value')],
    run: (_rt, value) => {
      const x = toDouble(value);
      if (x <= 0) throw valueError(`only numbers above 0 have a logarithm: ${name}() got ${x}`);
      return new Float(of(x));
    },
  });
}

function trigonometric(name: string, what: string, of: (value: number) => number): Entry {
  return func(name, {
    doc: `The ${what} of an angle in radians.`,
    params: [p.number('angle')],
    run: (_rt, value) => {
      const x = toDouble(value);
      if (Math.abs(x) === Number.POSITIVE_INFINITY) throw valueError(`${name}() has no value at infinity`);
      return new Float(of(x));
    },
  });
}

/**
 * Rounds an int that went through a double: ints beyond 2^53 lose precision there, which is the contract, as recorded.
 * From there on the result is exact (the product and quotient of doubles would not always be).
 */
function roundInt(value: number, digits: number | bigint): number | bigint {
  const scale = powerOfTen(digits);
  if (!Number.isFinite(value * scale) || scale === 0)
    throw overflowError('round() can not take so many digits');
  if (digits >= 0) return doubleToInt(value);
  const unit = 10n ** -BigInt(digits);
  const magnitude = BigInt(Math.abs(value));
  const rounded = ((magnitude + unit / 2n) / unit) * unit;
  return toIntValue(value < 0 ? -rounded : rounded);
}

function halfAwayFromZero(value: number): number {
  return value < 0 ? -Math.round(-value) : Math.round(value);
}

/** The double nearest to a power of ten. `Math.pow` is off by one in the last place for some: 10 ** -5. */
function powerOfTen(exponent: number | bigint): number {
  return Number(`1e${exponent}`);
}

/** `pow` of C: unlike in JavaScript, 1 to any power is 1, and -1 to an infinite one too. */
function power(base: number, exponent: number): number {
  if (base === 1 || (base === -1 && Math.abs(exponent) === Number.POSITIVE_INFINITY)) return 1;
  return base === 10 && Number.isInteger(exponent) ? powerOfTen(exponent) : base ** exponent;
}
