/**
 * Random runs of small clusters. `ALTHING_TEST_RUNS_FACTOR=50` runs more of them; a failure names the
 * seed, and `runSeed(acts, { seed, onTrace, onAct })` replays it.
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { RandomRun, runSeed } from './randomrun.js';

const FIRST_SEED = Number(process.env.ALTHING_TEST_SEED);
const SEEDS = 400 * Number(process.env.ALTHING_TEST_RUNS_FACTOR);
const ACTS = 800;

describe('random runs', () => {
  test(`seeds ${FIRST_SEED} to ${FIRST_SEED + SEEDS - 1} keep every invariant, and get things done`, () => {
    let committed = 0;
    let reads = 0;
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed += 1) {
      try {
        const run = runSeed(ACTS, { seed });
        committed += run.cluster.checker.committedCount;
        reads += run.reads.answered;
      } catch (error) {
        throw new Error(`seed ${seed}, ${ACTS} acts`, { cause: error });
      }
    }
    expect(committed).toBeGreaterThan(SEEDS * 5);
    expect(reads).toBeGreaterThan(SEEDS / 4);
  }, 600_000);

  test('the same seed leads to the same life', () => {
    for (const seed of [3, 17, 42]) expect(lifeOf(seed)).toEqual(lifeOf(seed));
  });

  test('arbitrary decisions keep every invariant (shrinks to the few that matter)', () => {
    const runs = fc.record({
      seed: fc.integer({ min: 1, max: 1_000_000 }),
      decisions: fc.array(fc.nat(), { minLength: 50, maxLength: 400, size: 'max' }),
    });
    fc.assert(
      fc.property(runs, ({ seed, decisions }) => {
        const run = new RandomRun({ seed });
        for (const decision of decisions) run.act(decision);
        run.settle();
      }),
      { numRuns: 60 },
    );
  });
});

function lifeOf(seed: number): string[] {
  const lines: string[] = [];
  runSeed(ACTS, {
    seed,
    onTrace: (event) => lines.push(JSON.stringify(event)),
    onAct: (act) => lines.push(act),
  });
  return lines;
}
