import { expect, test } from '@jest/globals';
import { goalTable, percentile } from './goals.js';

test('a percentile is one of the numbers', () => {
  const numbers = Array.from({ length: 200 }, (_, i) => 200 - i);
  expect([50, 99, 100].map((percent) => percentile(numbers, percent))).toEqual([100, 198, 200]);
  expect(percentile([7], 99)).toBe(7);
});

test('a table of goals says which were missed', () => {
  const table = goalTable([
    { name: 'one', measured: '1 s', limit: 'under 2 s', isMet: true },
    { name: 'another', measured: '3 s', limit: 'under 2 s', isMet: false },
  ]);
  expect(table.split('\n')).toEqual([
    'goal     measured     wanted',
    'one           1 s  under 2 s     met',
    'another       3 s  under 2 s  MISSED',
  ]);
});
