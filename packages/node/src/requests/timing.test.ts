import { expect, test } from '@jest/globals';
import type { Timing } from '../groups/request.js';
import { MiniCluster } from '../testing/mini-cluster.js';

/** Asks a node of three, of which node 1 leads, and lets 30 ms pass before anything is committed. */
async function timingOf(code: string, node: number): Promise<Timing | undefined> {
  const cluster = await MiniCluster.begin(3);
  cluster.commits = false;
  const asked = cluster.node(node).query('stuff', code, { terms: { timing: true } });
  await cluster.pass(30);
  cluster.log(cluster.stuff).commitAll();
  await cluster.pass(10);
  return (await asked).timing;
}

test('a change waits for its commit on the leader', async () => {
  expect(await timingOf('.x = 1;', 1)).toEqual({ queueMs: 0, runMs: 0, commitMs: 30, forwardMs: 0 });
});

test('a change that another node carries out has one time', async () => {
  expect(await timingOf('.x = 1;', 2)).toEqual({ queueMs: 0, runMs: 0, commitMs: 0, forwardMs: 30 });
});
