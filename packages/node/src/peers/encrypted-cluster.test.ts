import { expect, test } from '@jest/globals';
import { RealCluster } from '../testing/index.js';

test('a cluster is founded and serves where every connection between its nodes is encrypted', async () => {
  const cluster = await RealCluster.start(3, { peer_tls: 'on', drain_delay_ms: 0 });
  try {
    await cluster.node(1).value('//stuff', '.x = 1;');
    for (const node of cluster.nodes) expect(await node.value('//stuff', '.x;')).toBe(1);
    await cluster.killNode(2);
    await cluster.restartNode(2);
    expect(await cluster.node(2).value('//stuff', '.x += 1;')).toBe(2);
    for (const node of cluster.nodes) {
      expect(node.log).not.toMatch(/peer_(plain|garbage|tls|wrong_secret)|nodes_without_tls/);
      expect((await node.probe('/status')).json).toMatchObject({ alarms: [] });
    }
  } finally {
    await cluster.stop();
  }
});
