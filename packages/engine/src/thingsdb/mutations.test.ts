import { expect, test } from '@jest/globals';
import { importMutations } from '../testing/thingsdb-mutations.js';

const seed = Number(process.env.ALTHING_TEST_SEED);
const runs = 1000 * Number(process.env.ALTHING_TEST_RUNS_FACTOR);

test(`damaged dumps of ThingsDB leave nothing, and break nothing (seed ${seed})`, () => {
  const { finding, refused, accepted } = importMutations(seed, runs);
  expect(finding).toBe(null);
  expect(refused).toBeGreaterThan(0);
  expect(accepted).toBeGreaterThan(0);
});
