import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { includesText, PositionCounter, TextSearch } from './text-search.js';

/** All places in the order of the search, by comparing at every place. */
function placesByHand(text: string, pattern: string, backwards: boolean): number[] {
  const places: number[] = [];
  if (backwards) {
    for (let i = text.length - pattern.length; i >= 0; ) {
      const found = text.startsWith(pattern, i);
      if (found) places.push(i);
      i -= found ? pattern.length : 1;
    }
  } else {
    for (let i = 0; i <= text.length - pattern.length; ) {
      const found = text.startsWith(pattern, i);
      if (found) places.push(i);
      i += found ? pattern.length : 1;
    }
  }
  return places;
}

function places(text: string, pattern: string, backwards: boolean): number[] {
  const search = new TextSearch(text, pattern, backwards);
  const found: number[] = [];
  for (let place = search.next(); place >= 0; place = search.next()) found.push(place);
  return found;
}

/** With patterns of a thousand units, long enough for the search that is not the engine's own. */
const LONG = 2 ** 17;

describe('a search', () => {
  test('finds what comparing at every place finds', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), word, fc.boolean(), (words, pattern, backwards) => {
        const text = words.join('');
        expect(places(text, pattern, backwards)).toEqual(placesByHand(text, pattern, backwards));
      }),
    );
  });

  test('finds the same in long texts, where it works in another way', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 40 });
    const filler = 'ab'.repeat(LONG / 2);
    fc.assert(
      fc.property(fc.array(word, { maxLength: 8 }), word, fc.boolean(), (words, repeated, backwards) => {
        // A pattern that can't overlap with the filler.
        const pattern = `c${repeated.repeat(Math.ceil(1000 / repeated.length))}c`;
        const middle = words.join(pattern);
        const text = filler + middle + filler;
        const expected = placesByHand(middle, pattern, backwards).map((place) => place + filler.length);
        expect(places(text, pattern, backwards)).toEqual(expected);
      }),
      { numRuns: 20 },
    );
  });

  test('finds overlapping matches from the end where it began', () => {
    const pattern = 'a'.repeat(1000);
    const text = `${'a'.repeat(LONG)}b${'a'.repeat(2500)}`;
    expect(places(text, pattern, false).slice(-2)).toEqual([LONG + 1, LONG + 1001]);
    expect(places(text, pattern, true).slice(0, 2)).toEqual([LONG + 1501, LONG + 501]);
  });

  test('takes time in proportion to the text', () => {
    const text = 'a'.repeat(4 * LONG);
    const half = 'a'.repeat(LONG / 2);
    const start = performance.now();
    expect(includesText(text, `${half}b${half}`)).toBe(false);
    expect(new TextSearch(text, `${half}b${half}`, true).next()).toBe(-1);
    expect(new TextSearch(text, `${half}${half}b`, true).next()).toBe(-1);
    expect(new TextSearch(text, `b${half}${half}`).next()).toBe(-1);
    // Many seconds in the search of the JavaScript engine.
    expect(performance.now() - start).toBeLessThan(2000);
  });

  test('a search of the empty text succeeds', () => {
    expect(includesText('', '')).toBe(true);
    expect(includesText('abc', '')).toBe(true);
  });
});

describe('positions', () => {
  test('count code points in any order', () => {
    const text = 'a🙂b🙂🙂c';
    const counter = new PositionCounter(text, true);
    expect([0, 1, 3, 4, 8, 9, 6, 3, 0].map((offset) => counter.at(offset))).toEqual([
      0, 1, 2, 3, 5, 6, 4, 2, 0,
    ]);
  });
});
