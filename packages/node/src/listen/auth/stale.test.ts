/** A node that is cut off does not let in for ever who was locked out meanwhile. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RealCluster, RealNode, until } from '../../testing/index.js';

const STALE_READ = { headers: { Consistency: 'stale' } };
const SETTINGS = { auth_max_stale_ms: 1500, election_timeout_ms: 400, heartbeat_ms: 40, drain_delay_ms: 0 };

describe('a node without word from a majority', () => {
  let cluster: RealCluster;
  beforeAll(async () => {
    cluster = await RealCluster.start(3, SETTINGS);
    await cluster.node(1).value('//stuff', '.x = 1;');
  });
  afterAll(() => cluster.discard());

  test.each(['a follower', 'the leader'])(
    '%s serves nobody after a while, and the next request as soon as it is ready again',
    async (who) => {
      const leader = await cluster.whenLed('@thingsdb');
      const node = cluster.node(who === 'the leader' ? leader : (leader % 3) + 1);
      const others = cluster.nodes.filter((other) => other !== node);
      await until(async () => (await read(node)).status === 200, 'it reads its own state');
      for (const other of others) other.signal('SIGSTOP');
      const cutAt = performance.now();
      // Stale reads are answered for a while.
      expect((await read(node)).status).toBe(200);
      await until(async () => (await read(node)).status === 503, 'it has no word for too long');
      expect(performance.now() - cutAt).toBeGreaterThan(1000);

      const wrong = { authorization: 'Bearer none' };
      const answers = [
        await read(node),
        await node.query('//stuff', '1 + 1;'),
        await node.query('/n', 'node_info();'),
        await node.query('//stuff', '1;', undefined, wrong),
      ];
      for (const answer of answers) {
        expect(answer.status).toBe(503);
        expect(answer.json).toMatchObject({ error: { name: 'node_err', outcome: 'none' } });
      }
      expect((await node.probe('/healthy')).status).toBe(200);

      expect((await node.probe('/ready')).status).toBe(503);
      for (const other of others) other.signal('SIGCONT');
      await expectNextAnswered(node);
      for (const each of cluster.nodes) await each.whenReady();
    },
  );
});

test('a node alone is the majority, also after it was halted', async () => {
  const node = await RealNode.start({ auth_max_stale_ms: 1000 });
  try {
    node.signal('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const answer = node.query('//stuff', '1 + 1;');
    node.signal('SIGCONT');
    expect((await answer).status).toBe(200);
  } finally {
    await node.stop();
  }
});

/** Asks a node as soon as it is ready; where it loses its majority once more, as on a slow machine, again. */
async function expectNextAnswered(node: RealNode): Promise<void> {
  let statuses: number[] = [];
  await until(async () => {
    await node.whenReady();
    const named = { headers: { 'Idempotency-Key': randomUUID() } };
    const answers = [
      read(node),
      node.query('//stuff', '.x;'),
      node.query('//stuff', '.x = 1;'),
      node.query('//stuff', '.x = 1;', undefined, named),
    ];
    statuses = (await Promise.all(answers)).map(({ status }) => status);
    return statuses.every((status) => status === 200) || (await node.probe('/ready')).status === 200;
  }, 'it was ready all the time');
  expect(statuses).toEqual([200, 200, 200, 200]);
}

function read(node: RealNode): ReturnType<RealNode['query']> {
  return node.query('//stuff', '.x;', undefined, STALE_READ);
}
