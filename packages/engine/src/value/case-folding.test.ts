import { expect, test } from '@jest/globals';
import { foldCase } from './case-folding.js';

test('letters that differ in case alone fold to the same', () => {
  expect(foldCase('Ann@X.ORG 7_')).toBe('ann@x.org 7_');
  expect(foldCase('ÄÖÜ ÉÇ')).toBe('äöü éç');
  expect(foldCase('ΣΑΣ σας')).toBe('σασ σασ');
  expect(foldCase('ЖУК')).toBe('жук');
  expect(foldCase('\u{10400}\u{118A0}')).toBe('\u{10428}\u{118C0}');
  expect(foldCase('\u212A \u2126')).toBe('k \u03c9');
});

test('a character stays one: no expansion, and nothing of a locale', () => {
  expect(foldCase('Straße STRASSE')).toBe('straße strasse');
  expect(foldCase('ẞ')).toBe('ß');
  expect(foldCase('İ I ı')).toBe('İ i ı');
});

test('characters that fold are the same to regular expressions without case, and fold no further', () => {
  const wrong: number[] = [];
  for (let code = 0; code <= 0x1ffff; code++) {
    const character = String.fromCodePoint(code);
    const folded = foldCase(character);
    if (folded === character) continue;
    const isSame = new RegExp(`^\\u{${code.toString(16)}}$`, 'iu').test(folded);
    if (!isSame || foldCase(folded) !== folded) wrong.push(code);
  }
  expect(wrong).toEqual([]);
});
