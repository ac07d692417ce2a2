import { rmSync } from 'node:fs';
import { RealNode, until } from '@althing/node/testing';
import { afterEach, describe, expect, test } from '@jest/globals';
import { seeded } from 'raft-ts';
import { fateOf, Workload } from './workload.js';

/** Time that a stop under load may take, in milliseconds. */
const STOP_MS = 10_000;

describe('the life of a node', () => {
  const nodes: RealNode[] = [];
  afterEach(async () => {
    for (const node of nodes.splice(0)) {
      await node.kill();
      rmSync(node.folder, { recursive: true, force: true });
    }
  });

  async function start(...args: Parameters<typeof RealNode.start>): Promise<RealNode> {
    const node = await RealNode.start(...args);
    nodes.push(node);
    return node;
  }

  test('a fresh installation has one collection, which is empty', async () => {
    const node = await start();
    const collections = (await node.value('/t', 'collections_info();')) as { name: string; things: number }[];
    expect(collections.map(({ name, things }) => [name, things])).toEqual([['stuff', 1]]);
    expect(await node.value('//stuff', '.len();')).toBe(0);
    expect(await node.value('//stuff', 'procedures_info();')).toEqual([]);
  });

  test('a second process on the folder ends with code 3, says who has it, and disturbs nothing', async () => {
    const node = await start();
    await node.value('//stuff', '.x = 1;');
    const second = await RealNode.launch({}, node.folder);
    expect(await second.ended()).toBe(3);
    expect(second.log).toContain(String(node.pid));
    expect(await node.value('//stuff', '.x += 1;')).toBe(2);
  });

  test('SIGTERM under load: everything under way is answered, and the node ends with code 0', async () => {
    const workload = new Workload({ clients: 8, random: seeded(1), onRefusal: fateOf });
    const node = await start();
    await workload.prepare(node);
    const load = workload.run(node);
    await until(() => workload.acknowledged > 200, 'changes are acknowledged');
    const begin = performance.now();
    node.signal('SIGTERM');
    expect(await node.ended()).toBe(0);
    expect(performance.now() - begin).toBeLessThan(STOP_MS);
    await load;
    const again = await start({}, node.folder, node.authorization);
    await workload.verify(again);
  });

  test('a second SIGTERM ends the node at once, and nothing that was acknowledged is lost', async () => {
    const workload = new Workload({ clients: 8, random: seeded(2), onRefusal: fateOf });
    // The first one would wait for a minute.
    const node = await start({ drain_delay_ms: 60_000, shutdown_timeout_ms: 120_000 });
    await workload.prepare(node);
    const load = workload.run(node);
    await until(() => workload.acknowledged > 200, 'changes are acknowledged');
    node.signal('SIGTERM');
    await until(() => node.log.includes('"stopping"'), 'the node is stopping');
    const begin = performance.now();
    node.signal('SIGTERM');
    expect(await node.ended()).toBe(0);
    expect(performance.now() - begin).toBeLessThan(STOP_MS);
    await load;
    const again = await start({}, node.folder, node.authorization);
    await workload.verify(again);
  });
});
