import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Harness } from '../testing/harness.js';

const harness = new Harness();

test('bit_count counts the ones of the absolute value', () => {
  expect(harness.run('[(0).bit_count(), (255).bit_count(), (-1).bit_count()]')).toEqual([0, 8, 1]);
  expect(harness.run('[INT_MAX.bit_count(), INT_MIN.bit_count()]')).toEqual([63, 1]);
  expect(harness.error('true.bit_count()')).toBe('lookup_err');
});

test('bit_count agrees with the binary digits', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (n) => {
      const magnitude = (n < 0n ? -n : n).toString(2);
      const i = Number.isSafeInteger(Number(n)) ? Number(n) : n;
      expect(harness.run('i.bit_count()', { vars: { i } })).toBe(magnitude.replaceAll('0', '').length);
    }),
    { numRuns: 50 },
  );
});
