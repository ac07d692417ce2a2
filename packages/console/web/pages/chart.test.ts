import { expect, test } from '@jest/globals';
import { pathsOf } from './chart.js';

test('a line is broken where nothing is known, and what stands alone is a dot', () => {
  const same = (value: number): number => value;
  expect(pathsOf([1], [5], same, same)).toEqual({ line: '', dots: 'M1.0,5.0h0' });
  expect(pathsOf([1, 2, 3, 4], [5, 6, null, 7], same, same)).toEqual({
    line: 'M1.0,5.0L2.0,6.0',
    dots: 'M4.0,7.0h0',
  });
});
