import { expect, test } from '@jest/globals';
import { BeginRate } from './begin-rate.js';

test('a user begins 60 sessions in a row, then one a second, and holds up nobody else', () => {
  let now = 0;
  const rate = new BeginRate(() => now);
  const begun = (userId: number, attempts: number): number =>
    Array.from({ length: attempts }, () => rate.takes(userId)).filter((isTaken) => isTaken).length;
  expect(begun(1, 1000)).toBe(60);
  expect(begun(2, 1)).toBe(1);
  now = 999;
  expect(begun(1, 10)).toBe(0);
  now = 1000;
  expect(begun(1, 10)).toBe(1);
  now = 3500;
  expect(begun(1, 10)).toBe(2);
  now = 1e9;
  expect(begun(1, 1000)).toBe(60);
});
