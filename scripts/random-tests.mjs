import { SEED_MAX, treeSeed } from './tree-seed.mjs';

/**
 * The settings of all random tests, from the environment:
 *
 *   ALTHING_TEST_SEED           the seed of all of them, a whole number from 1 to 2^31 - 1 (default: that of the tree, see `tree-seed.mjs`)
 *   ALTHING_TEST_RUNS_FACTOR    so many times their usual runs (default 1)
 *
 * @param {Readonly<Record<string, string | undefined>>} environment
 * @returns {Record<string, string>} both, as they are to stand in the environment of the tests
 * @throws {Error} when one of them is not such a number
 */
export function randomTests({ ALTHING_TEST_SEED: seed, ALTHING_TEST_RUNS_FACTOR: factor = '1' }) {
  if (seed !== undefined && (!/^[1-9]\d{0,9}$/.test(seed) || Number(seed) > SEED_MAX))
    throw new Error(`ALTHING_TEST_SEED=${seed}: a whole number from 1 to ${SEED_MAX}`);
  if (!/^\d{1,6}(\.\d{1,6})?$/.test(factor) || Number(factor) === 0)
    throw new Error(`ALTHING_TEST_RUNS_FACTOR=${factor}: a number above 0`);
  return {
    ALTHING_TEST_SEED: seed ?? String(treeSeed(new URL('..', import.meta.url))),
    ALTHING_TEST_RUNS_FACTOR: factor,
  };
}
