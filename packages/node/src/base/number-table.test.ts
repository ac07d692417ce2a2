import { describe, expect, test } from '@jest/globals';
import { seededRandom } from 'raft-ts';
import { NumberTable } from './number-table.js';

describe('a table of numbers', () => {
  test('does what a map does, whatever the numbers are', () => {
    for (const spread of [8, 40, 1000, 2 ** 33, 2 ** 52]) {
      const random = seededRandom(7, spread);
      const map = new Map<number, number>();
      const table = new NumberTable<number>();
      for (let step = 0; step < 20_000; step++) {
        const key = Math.floor((random() / 2 ** 32) * spread);
        let isSame = true;
        if (step % 4000 < 2500) {
          map.set(key, step);
          table.set(key, step);
        } else {
          const known = step % 2 === 0 ? (map.keys().next().value ?? key) : key;
          isSame = table.delete(known) === map.delete(known);
        }
        isSame &&= table.get(key) === map.get(key) && table.size === map.size;
        // An expectation for each step would take most of the time.
        if (!isSame) throw new Error(`step ${step} with ${key} of ${spread} differs from a map`);
        if (step % 1000 !== 0) continue;
        expect(sorted(table.entries())).toEqual(sorted([...map]));
        for (const width of [3, spread / 2]) {
          const [from, below] = [Math.max(0, key - width), key + width];
          expect(table.keysBetween(from, below).sort((a, b) => a - b)).toEqual(
            sorted([...map].filter(([each]) => each >= from && each < below)).map(([each]) => each),
          );
        }
      }
      expect(sorted(table.entries())).toEqual(sorted([...map]));
    }
  });

  test('numbers far apart that would share a place are all found', () => {
    const table = new NumberTable<string>();
    const keys = [0, 2 ** 20, 2 ** 32, 2 ** 32 + 2 ** 20, 2 ** 50, 15, 31, 2 ** 40 + 15];
    for (const key of keys) table.set(key, `${key}`);
    for (const key of keys) expect(table.get(key)).toBe(`${key}`);
    for (const key of keys) {
      expect(table.delete(key)).toBe(true);
      expect(table.get(key)).toBeUndefined();
      for (const other of keys.slice(keys.indexOf(key) + 1)) expect(table.get(other)).toBe(`${other}`);
    }
    expect(table.size).toBe(0);
  });

  test('an entry deleted while the entries are gone through does no harm', () => {
    const table = new NumberTable<number>();
    for (let key = 0; key < 10_000; key++) table.set(key, key);
    for (const [key] of table.entries()) table.delete(key);
    expect(table.size).toBe(0);
    table.set(5, 5);
    expect(table.entries()).toEqual([[5, 5]]);
  });
});

function sorted(entries: [number, number][]): [number, number][] {
  return entries.sort(([a], [b]) => a - b);
}
