import { StateStore } from '@althing/storage';
import { expect, jest, test } from '@jest/globals';
import { MiniCluster } from '../testing/mini-cluster.js';

test('a slice of background work is no shorter for having waited for records that are read ahead', async () => {
  const cluster = await MiniCluster.begin(1);
  const { engine, scopes } = cluster.node(1);
  let waited = 0;
  const waits = jest.spyOn(StateStore.prototype, 'waitedMs', 'get').mockImplementation(() => waited);
  const over: boolean[] = [];
  jest.spyOn(engine.upkeep.indexes, 'isDue').mockImplementation(() => over.length === 0);
  jest.spyOn(engine.upkeep.indexes, 'slice').mockImplementation((_collection, isOver) => {
    cluster.now += 5;
    waited += 5;
    over.push(isOver());
    cluster.now += 5;
    over.push(isOver());
    return null;
  });
  scopes.consider();
  await cluster.pass(100);
  waits.mockRestore();
  expect(over).toEqual([false, true]);
});
