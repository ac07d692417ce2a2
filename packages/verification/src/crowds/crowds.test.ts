/**
 * A few crowds; `npm run crowds` tries as many as one likes. A failure names the seed: `npm run crowds -- --seed N` shows it.
 */
import { expect, test } from '@jest/globals';
import { Draw } from '../simulation/random.js';
import { ALL_KINDS, type Asker, DOORS, drawCrowd } from './crowd.js';
import { meetInHeap } from './heap.js';
import { isFair, meet, NODE_MAX_MS } from './meeting.js';

test('requests of all kinds are carried out at all doors', async () => {
  const asker = { user: 0, node: 0, program: 1, ms: 1, againMs: 1, times: 1, pieceMs: 0.1, isDeaf: false };
  const crowd = ALL_KINDS.flatMap((kind) => DOORS.map((door) => ({ ...asker, kind, door }))).map(
    (request, at): Asker => ({ ...request, at: at * 20 }),
  );
  const { ended, errors } = await meet(1, 1, crowd);
  expect(ended).toBe(crowd.length);
  expect([...errors]).toEqual([['change that fails', expect.stringContaining('on purpose')]]);
});

test.each([
  { nodes: 1, first: 1, crowds: 4 },
  { nodes: 3, first: 1, crowds: 2 },
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

test('a late checkpoint does not delay those once more who waited for a query that ran up to its limit', async () => {
  const beside = { node: 0, pieceMs: 0.1, isDeaf: false };
  const crowd: Asker[] = [
    {
      ...beside,
      kind: 'large value',
      user: 10,
      at: 36,
      program: 3,
      ms: 5,
      againMs: 1,
      times: 3,
      door: 'json',
    },
    {
      ...beside,
      kind: 'known text',
      user: 11,
      at: 179,
      program: 8,
      ms: 39,
      againMs: 500,
      times: 1,
      door: 'native',
    },
    {
      ...beside,
      kind: 'large set',
      user: 10,
      at: 571,
      program: 5,
      ms: 1e5,
      againMs: 50,
      times: 20,
      door: 'msgpack',
    },
    { ...beside, kind: 'read', user: 0, at: 1131, program: 3, ms: 1e5, againMs: 500, times: 1, door: 'json' },
    {
      ...beside,
      kind: 'large set',
      user: 7,
      at: 1157,
      program: 8,
      ms: 900,
      againMs: 1,
      times: 20,
      door: 'msgpack',
    },
    {
      ...beside,
      kind: 'large value',
      user: 6,
      at: 1265,
      program: 3,
      ms: 900,
      againMs: 1,
      times: 20,
      door: 'msgpack',
    },
    { ...beside, kind: 'read', user: 10, at: 2224, program: 6, ms: 60, againMs: 500, times: 1, door: 'json' },
  ];
  const met = await meet(30_503, 1, crowd);
  if (!isFair(met)) throw new Error(JSON.stringify(met.longest));
  expect(met.ended).toBeGreaterThan(0);
});

test('a node with a heap of 400 MB lives through large bodies, answers and values, and answers what is small', async () => {
  const seed = Number(process.env.ALTHING_TEST_SEED);
  const { statuses, answers, ranMs } = await meetInHeap(new Draw(seed, 'crowd'), 1000, 6);
  expect(answers).toBeGreaterThan(0);
  expect(ranMs).toBeLessThan(NODE_MAX_MS);
  for (const status of statuses.keys()) expect([0, 200, 413, 422, 429, 500, 503, 504]).toContain(status);
}, 120_000);
