import { expect, test } from '@jest/globals';
import { quantile } from '../harness/table.js';
import { goalTable } from './goals.js';

test('a quantile is one of the numbers', () => {
  const numbers = Array.from({ length: 200 }, (_, i) => 200 - i);
  expect([0.5, 0.99, 1].map((share) => quantile(numbers, share))).toEqual([100, 198, 200]);
  expect(quantile([7], 0.99)).toBe(7);
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
