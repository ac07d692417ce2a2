import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sortedOrder } from './sorted-order.js';

/** Counts nothing. */
const NOBODY = { charge(): void {} };

test('gives the order of a stable sort', () => {
  const keys = fc.array(fc.oneof(fc.integer({ min: -20, max: 20 }), fc.double({ noNaN: true })), {
    maxLength: 300,
  });
  fc.assert(
    fc.property(keys, (numbers) => {
      const expected = [...numbers.keys()].sort((a, b) =>
        compare(numbers[a] as number, numbers[b] as number),
      );
      expect([...sortedOrder(Float64Array.from(numbers), NOBODY)]).toEqual(expected);
    }),
  );
});

test.each([0, 1, 2, 11, 12, 13, 24, 25, 1000])('sorts %d keys that come in opposite order', (length) => {
  const keys = Float64Array.from({ length }, (_, i) => -i);
  expect([...sortedOrder(keys, NOBODY)]).toEqual(Array.from({ length }, (_, i) => length - 1 - i));
});

test('every index stays, also with nan', () => {
  const keys = Float64Array.from({ length: 500 }, (_, i) => (i % 3 === 0 ? Number.NaN : 500 - i));
  expect(new Set(sortedOrder(keys, NOBODY)).size).toBe(500);
});

test('counts each merge before it is done, and none for longer than half of a millisecond unless it is that large', () => {
  const counted: number[] = [];
  sortedOrder(new Float64Array(200_000), { charge: (units) => counted.push(units) });
  expect(counted.reduce((sum, units) => sum + units, 0)).toBeGreaterThan(
    200_000 * Math.log2(200_000 / 12) * 3,
  );
  expect(counted.filter((units) => units < 100_000).length).toBeGreaterThan(50);
});

function compare(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
