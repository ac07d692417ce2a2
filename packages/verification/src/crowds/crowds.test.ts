/**
 * A few crowds; `npm run crowds` tries as many as one likes. A failure names the seed: `npm run crowds -- --seed N` shows it.
 *
 * @jest-environment ./scripts/jest-environment.mjs
 */
import { expect, test } from '@jest/globals';
import { Draw } from '../simulation/random.js';
import { drawCrowd } from './crowd.js';
import { isFair, meet } from './meeting.js';

test.each([
  { nodes: 1, first: 1, crowds: 6 },
  { nodes: 3, first: 1, crowds: 3 },
])(
  'with $nodes nodes nobody waits for longer than the query of another takes, whatever crowd comes',
  async ({ nodes, first, crowds }) => {
    const factor = Number(process.env.ALTHING_TEST_RUNS_FACTOR);
    let ended = 0;
    for (let seed = first; seed < first + crowds * factor; seed++) {
      const met = await meet(seed, nodes, drawCrowd(new Draw(seed, 'crowd'), nodes));
      if (!isFair(met)) throw new Error(`seed ${seed}: ${JSON.stringify(met.longest)}`);
      ended += met.ended;
    }
    expect(ended).toBeGreaterThan(0);
  },
  600_000,
);
