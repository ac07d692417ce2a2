import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { codeOf } from './testing.js';
import { type OffsetChanges, offsetReader, scanOffsets } from './zone-scan.js';

const DAY = 86_400;

const seconds = (text: string) => Date.parse(`${text}Z`) / 1000;

/** The answers of a reader of a zone with these changes. */
function readerOf({ starts, offsets }: OffsetChanges): (moment: number) => number {
  return (moment) => offsets[starts.filter((start) => start <= moment).length] ?? Number.NaN;
}

describe('scanning', () => {
  test('finds every change, to the second, when they are as close as they have been', () => {
    const gap = fc.integer({ min: Math.floor(3.9 * DAY), max: 200 * DAY });
    const gaps = fc.array(gap, { minLength: 0, maxLength: 8 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 * DAY }), gaps, (first, between) => {
        const starts = [first];
        for (const next of between) starts.push((starts.at(-1) ?? 0) + next);
        const changes = { starts, offsets: [0, ...starts.map((_, i) => (i % 3) + 1)] };
        const till = (starts.at(-1) ?? 0) + 1;
        expect(scanOffsets(readerOf(changes), 0, till)).toEqual(changes);
      }),
      { numRuns: 300 },
    );
  });

  test('looks at its stretch alone: the first second belongs to it, the end does not', () => {
    const reader = readerOf({ starts: [100, 10 * DAY], offsets: [1, 2, 3] });
    expect(scanOffsets(reader, 100, 10 * DAY)).toEqual({ starts: [], offsets: [2] });
    expect(scanOffsets(reader, 99, 10 * DAY + 1)).toEqual({ starts: [100, 10 * DAY], offsets: [1, 2, 3] });
  });

  test('finds the closest pairs of the past', () => {
    const pairs: [zone: string, first: string, second: string][] = [
      ['America/Recife', '2000-10-08T03:00:00', '2000-10-15T02:00:00'],
      ['Africa/Tunis', '1943-04-17T00:00:00', '1943-04-25T01:00:00'],
      ['Europe/Simferopol', '1944-04-03T01:00:00', '1944-04-12T22:00:00'],
      ['Europe/Vienna', '1945-04-02T01:00:00', '1945-04-12T01:00:00'],
    ];
    for (const [zone, first, second] of pairs) {
      const starts = [seconds(first), seconds(second)];
      expect(scanOffsets(offsetReader(zone), starts[0]! - 2 * DAY, starts[1]! + 2 * DAY).starts).toEqual(
        starts,
      );
    }
  });

  test('says which zone this Node.js does not know', () => {
    expect(codeOf(() => offsetReader('Mars/Olympus'))).toBe('value_err');
  });
});
