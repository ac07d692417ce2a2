import { expect, test } from '@jest/globals';
import { abbreviationIn, type Era, erasOfZone } from './zone-abbreviations.js';

const ERAS: readonly Era[] = [
  { start: Number.NEGATIVE_INFINITY, letters: new Map([[3600, 'OLD']]) },
  { start: 1000, letters: new Map([[7200, '']]) },
];

test('an era knows the letters of its offsets, or that there are none', () => {
  expect(abbreviationIn(ERAS, 999, 3600)).toBe('OLD');
  expect(abbreviationIn(ERAS, 1000, 7200)).toBe('+02');
  expect(abbreviationIn(ERAS, 10n ** 17n, 7200)).toBe('+02');
});

test('an offset that its era does not know is looked up in earlier ones, then written as a number', () => {
  expect(abbreviationIn(ERAS, 1000, 3600)).toBe('OLD');
  expect(abbreviationIn(ERAS, 999, 7200)).toBe('+02');
  expect(abbreviationIn(ERAS, 1000, -12_600)).toBe('-0330');
});

test('the file is read by its grammar', () => {
  const [first, ...later] = erasOfZone('Europe/Amsterdam');
  expect(first?.start).toBe(Number.NEGATIVE_INFINITY);
  expect(first?.letters.get(1050)).toBe('LMT');
  expect(later.map((era) => era.start)).toEqual([...later.map((era) => era.start)].sort((a, b) => a - b));
  expect(later.at(-1)?.letters.get(7200)).toBe('CEST');
  expect(erasOfZone('Nowhere')).toEqual([]);
});
