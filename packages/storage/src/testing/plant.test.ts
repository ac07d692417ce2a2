/** The stores know nothing of planted bugs, and each of these still finds its place. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { STORAGE_MUTANTS, type StorageMutant } from './mutants.js';
import { SOUND_STORES, StoragePlanter } from './plant.js';

const SOURCE = new URL('../../src/', import.meta.url);
const sound = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.startsWith('testing'),
);

describe('the stores', () => {
  test('know nothing of planted bugs', () => {
    expect(sound.length).toBeGreaterThan(40);
    const telling = sound.filter((name) =>
      /mutant|planted|\bbugs?\b/i.test(readFileSync(new URL(name, SOURCE), 'utf8')),
    );
    expect(telling).toEqual([]);
  });
});

describe('the planter', () => {
  const planter = new StoragePlanter();

  test.each(Object.keys(STORAGE_MUTANTS) as StorageMutant[])('finds the place of %s', async (bug) => {
    const planted = await planter.plant(new Set([bug]));
    expect(planted).not.toEqual(SOUND_STORES);
    expect(await planter.plant(new Set([bug]))).toEqual(planted);
  });

  test('copies what holds the bug and what leads to it, and nothing else', () => {
    const copied = [...planter.sources(STORAGE_MUTANTS.lost_tail_not_noticed.edits).keys()].sort();
    expect(copied).toEqual(['log/log-store', 'log/recovery']);
    expect(() => planter.sources([{ file: 'log/recovery', code: 'no such code', bug: '' }])).toThrow(
      'holds 0 times',
    );
  });

  test('gives the sound stores without a bug', async () => {
    expect(await planter.plant(new Set())).toBe(SOUND_STORES);
  });
});
