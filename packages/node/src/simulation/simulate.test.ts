/**
 * A few lives; `npm run simulate` lives thousands. A failure names the seed: `npm run simulate -- --seed N` shows it.
 */
import { describe, expect, test } from '@jest/globals';
import { simulate } from './simulate.js';

const SEEDS = 12;

describe('simulated clusters', () => {
  test(`seeds 1 to ${SEEDS} keep every promise, and get things done`, async () => {
    let acknowledged = 0;
    for (let seed = 1; seed <= SEEDS; seed++) {
      try {
        acknowledged += (await simulate({ seed })).acknowledged;
      } catch (error) {
        throw new Error(`seed ${seed}`, { cause: error });
      }
    }
    expect(acknowledged).toBeGreaterThan(SEEDS * 20);
  }, 60_000);

  test('the same seed leads to the same life', async () => {
    const seed = 2;
    const first: string[] = [];
    const report = await simulate({ seed, log: (line) => first.push(line) });
    const second: string[] = [];
    expect(await simulate({ seed, log: (line) => second.push(line) })).toEqual(report);
    expect(second).toEqual(first);
  }, 60_000);

  test('a planted bug is found', async () => {
    const mutants = new Set(['node:answer_before_commit']);
    const findings: string[] = [];
    for (let seed = 1; seed <= 20 && findings.length === 0; seed++) {
      await simulate({ seed, mutants }).catch((error: Error) => findings.push(error.message));
    }
    expect(findings).toHaveLength(1);
  }, 60_000);
});
