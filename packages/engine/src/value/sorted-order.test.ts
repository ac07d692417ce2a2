import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sortedOrder } from './sorted-order.js';

test('gives the order of a stable sort', () => {
  const keys = fc.array(fc.oneof(fc.integer({ min: -20, max: 20 }), fc.double({ noNaN: true })), {
    maxLength: 300,
  });
  fc.assert(
    fc.property(keys, (numbers) => {
      const expected = [...numbers.keys()].sort((a, b) =>
        compare(numbers[a] as number, numbers[b] as number),
      );
      expect([...sortedOrder(Float64Array.from(numbers))]).toEqual(expected);
    }),
  );
});

test.each([0, 1, 2, 11, 12, 13, 24, 25, 1000])('sorts %d keys that come in opposite order', (length) => {
  const keys = Float64Array.from({ length }, (_, i) => -i);
  expect([...sortedOrder(keys)]).toEqual(Array.from({ length }, (_, i) => length - 1 - i));
});

test('every index stays, also with nan', () => {
  const keys = Float64Array.from({ length: 500 }, (_, i) => (i % 3 === 0 ? Number.NaN : 500 - i));
  expect(new Set(sortedOrder(keys)).size).toBe(500);
});

function compare(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
