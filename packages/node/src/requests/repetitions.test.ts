import { expect, test } from '@jest/globals';
import { MiniCluster } from '../testing/mini-cluster.js';

const terms = { key: { key: 'once', body: '\x01'.repeat(16) } };

test('a repetition that waits for the first request of its name does not say that nothing was changed', async () => {
  // Given a change under a key whose commit does not come
  const cluster = await MiniCluster.begin(1);
  const node = cluster.node(1);
  node.lags = true;
  const first = node.query('stuff', '.x = 1;', { terms });
  const repetition = node.query('stuff', '.x = 1;', { terms });
  // When both are late
  await cluster.pass(2000);
  // Then neither is said to have changed nothing: the change is made when its commit comes
  expect(await first).toMatchObject({ ok: false, outcome: 'unknown' });
  expect(await repetition).toMatchObject({ ok: false, outcome: 'unknown' });
  node.catchUp();
  await cluster.pass(50);
  const again = node.query('stuff', '.x = 1;', { terms });
  await cluster.pass(50);
  expect(await again).toMatchObject({ ok: true, outcome: 'made' });
});
