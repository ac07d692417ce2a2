import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { functionsPage } from './describe.js';
import { builtIns } from './index.js';

describe('the table of functions', () => {
  test('the reference page is current: run "npm run docs"', () => {
    const page = new URL('../../../../docs/functions.md', import.meta.url);
    expect(readFileSync(page, 'utf8')).toBe(functionsPage(builtIns()));
  });

  test('every entry has one line of doc that is a sentence', () => {
    const odd = builtIns().filter(({ doc }) => !/^[A-Z][^\n]*\.$/.test(doc));
    expect(odd.map(({ name }) => name)).toEqual([]);
  });

  test('every entry takes as many arguments as it has parameters for', () => {
    const odd = builtIns().filter(
      ({ params, rest, min, max }) =>
        min > max ||
        min > params.length + (rest === null ? 0 : max) ||
        (rest === null && max > params.length),
    );
    expect(odd.map(({ name }) => name)).toEqual([]);
  });
});
