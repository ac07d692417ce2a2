import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { compare } from './compare.js';
import { Bytes, Float } from './scalars.js';
import { isCutKey, KEY_END, NIL_KEY, prefixKey, putSortKey, sortKey, TEXT_BYTES_MAX } from './sort-key.js';
import type { Value } from './value.js';

const int = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(toInt);
const nearPower = fc
  .tuple(fc.integer({ min: 50, max: 62 }), fc.integer({ min: -2000, max: 2000 }), fc.boolean())
  .map(([power, by, isNegative]) => toInt((isNegative ? -1n : 1n) * (2n ** BigInt(power) + BigInt(by))));
const float = fc
  .oneof(
    fc.double({ noNaN: true }),
    nearPower.map((value) => Number(value)),
  )
  .map((value) => new Float(value));
const number: fc.Arbitrary<Value> = fc.oneof(fc.integer({ min: -5, max: 5 }), int, nearPower, float);
const text = fc.oneof(
  fc.string({ maxLength: 6 }),
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.string({ unit: fc.constantFrom('\0', '\x01', '\x02', 'a', '\uffff', '\u{10000}'), maxLength: 4 }),
);

test('numbers are in the order of their values, ints among floats', () => {
  fc.assert(
    fc.property(number, number, (a, b) => {
      // The language compares an int with a float as doubles, so some that differ are the same to it; keys are exact.
      const order = signOf(compare(a, b)) || exactOrder(a, b);
      expect(orderOf(sortKey(a), sortKey(b))).toBe(order);
    }),
    { numRuns: 2000 },
  );
});

test('an int that is a float only when rounded has a key of its own', () => {
  const rounded = new Float(Number(-1152921504606849024n));
  expect(compare(-1152921504606848896n, rounded)).toBe(0);
  expect(orderOf(sortKey(-1152921504606848896n), sortKey(rounded))).toBe(1);
});

test('texts are in the order of their code points', () => {
  fc.assert(
    fc.property(text, text, (a, b) => expect(orderOf(sortKey(a), sortKey(b))).toBe(signOf(compare(a, b)))),
    { numRuns: 2000 },
  );
});

test('the component of a text that is put into bytes is the one that is made, or is not put', () => {
  const target = Buffer.alloc(2 * TEXT_BYTES_MAX);
  const ascii = fc.string({ unit: 'binary-ascii', maxLength: TEXT_BYTES_MAX });
  fc.assert(
    fc.property(fc.oneof(text, ascii), (a) => {
      const length = putSortKey(a, target);
      const isPlain = /^[\x01-\x7f]*$/.test(a);
      expect(target.toString('latin1', 0, length)).toBe(isPlain ? sortKey(a) : '');
    }),
  );
  expect(putSortKey('a'.repeat(TEXT_BYTES_MAX), target)).toBe(TEXT_BYTES_MAX + 3);
  expect(putSortKey('a'.repeat(TEXT_BYTES_MAX + 1), target)).toBe(0);
});

test('the key of an int that is put into bytes is the same as a text, unless the int is far from 0', () => {
  const target = Buffer.alloc(16);
  const ints = fc.oneof(fc.integer(), int, nearPower).filter((a) => typeof a === 'number');
  fc.assert(
    fc.property(ints, (a) => {
      const length = putSortKey(a, target);
      expect(target.toString('latin1', 0, length)).toBe(Number.isSafeInteger(a) ? sortKey(a) : '');
    }),
  );
});

test('keys of several values are in the order of the first ones that differ', () => {
  const row = fc.tuple(fc.oneof(number, text, fc.boolean(), fc.constant(null)), fc.oneof(number, text));
  fc.assert(
    fc.property(row, row, ([a, b], [c, d]) => {
      const first = orderOf(sortKey(a), sortKey(c));
      const order = orderOf(sortKey(a) + sortKey(b), sortKey(c) + sortKey(d));
      expect(order).toBe(first !== 0 ? first : orderOf(sortKey(b), sortKey(d)));
    }),
    { numRuns: 1000 },
  );
});

test('nil comes first, false before true, and nan behind all numbers', () => {
  const values = [null, false, true, -1, 1, new Float(Number.POSITIVE_INFINITY), new Float(Number.NaN)];
  const keys = values.map((value) => sortKey(value));
  expect(keys.toSorted((a, b) => orderOf(a, b))).toEqual(keys);
  expect(keys[0]).toBe(NIL_KEY);
});

test('1 and 1.0 have the same key, and what has no order shares one', () => {
  expect(sortKey(1)).toBe(sortKey(new Float(1)));
  expect(sortKey(new Bytes(Uint8Array.of(1)))).toBe(sortKey(new Bytes(Uint8Array.of(2))));
});

test('a text counts by its first bytes, and its key says whether that is all', () => {
  const long = 'ä'.repeat(TEXT_BYTES_MAX);
  expect(sortKey(long)).toBe(sortKey(`${long}x`));
  expect(isCutKey(sortKey(5) + sortKey(long) + sortKey(true))).toBe(true);
  expect(isCutKey(sortKey('x'.repeat(TEXT_BYTES_MAX)))).toBe(false);
  // A text of which all counts comes before those that go on behind it.
  expect(sortKey('x'.repeat(TEXT_BYTES_MAX)) < sortKey('x'.repeat(TEXT_BYTES_MAX + 1))).toBe(true);
  fc.assert(fc.property(number, (value) => expect(isCutKey(sortKey(value))).toBe(false)));
});

test('the texts with a prefix lie between its key and the end', () => {
  fc.assert(
    fc.property(text, text, (prefix, other) => {
      const from = prefixKey(prefix) as string;
      const key = sortKey(other);
      expect(key >= from && key < from + KEY_END).toBe(isPrefix(prefix, other));
    }),
    { numRuns: 1000 },
  );
  expect(prefixKey('x'.repeat(TEXT_BYTES_MAX + 1))).toBeNull();
});

/** A single half of a character has the bytes of a replacement, as everywhere on disk. */
function isPrefix(prefix: string, text: string): boolean {
  return Buffer.from(text).subarray(0, Buffer.from(prefix).length).equals(Buffer.from(prefix));
}

function toInt(value: bigint): number | bigint {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

function orderOf(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function signOf(order: number): number {
  return Math.sign(order) + 0;
}

/** Order of two numbers that are the same as doubles. */
function exactOrder(a: Value, b: Value): number {
  if (a instanceof Float && b instanceof Float) return 0;
  const [x, y] = [a, b].map((value) =>
    BigInt(value instanceof Float ? value.value : (value as number | bigint)),
  );
  return x! < y! ? -1 : x! > y! ? 1 : 0;
}
