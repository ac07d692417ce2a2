/** Status ports of real nodes when something is wrong with a node. */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { RealCluster, RealNode, type TestSettings, until } from '../../testing/index.js';

let end = async (): Promise<void> => {};

afterEach(() => end());

/** At SIGUSR2 the engine thread stands still for a while. */
function standsStill(ms: number): readonly string[] {
  const source = `process.on('SIGUSR2', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${ms}));`;
  return ['--import', `data:text/javascript,${encodeURIComponent(source)}`];
}

async function startNode(settings: TestSettings, nodeArgs: readonly string[]): Promise<RealNode> {
  const node = await RealNode.start(settings, undefined, undefined, nodeArgs);
  end = async () => {
    await node.kill();
    node.clear();
  };
  return node;
}

async function startCluster(settings: TestSettings, nodeArgs: readonly string[]): Promise<RealCluster> {
  const cluster = await RealCluster.start(3, settings, (all, folder) =>
    RealNode.launch(all, folder, nodeArgs),
  );
  end = () => cluster.discard();
  return cluster;
}

interface Verbose {
  readonly ok: boolean;
  readonly reason: string | null;
  readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly reason: string | null }[];
}

const verbose = async (node: RealNode, path: string): Promise<Verbose> =>
  (await node.probe(`${path}?verbose`)).json as Verbose;

const groupsOf = async (node: RealNode): Promise<number> =>
  ((await node.probe('/status')).json as { readonly groups: number }).groups;

describe('a node whose engine thread stands still', () => {
  test('is not ready as soon as no query can take that long, but healthy; and ready again when it goes on', async () => {
    const node = await startNode({ query_duration_limit_ms: 200 }, standsStill(4000));
    node.signal('SIGUSR2');
    await until(async () => (await node.probe('/ready')).status === 503, 'it is not ready');
    expect((await node.probe('/ready')).text).toMatch(
      /^NOK: the engine thread has been silent for \d\.\d s\n$/,
    );
    expect((await node.probe('/healthy')).status).toBe(200);
    expect((await node.probe('/status')).json).toMatchObject({ alarms: [{ name: 'ENGINE' }] });
    await node.whenReady();
    expect(await node.value('//stuff', '1 + 1;')).toBe(2);
  });
});

describe('a node whose disk does not answer', () => {
  test('tells so as long as that lasts, and its status port answers all the same', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'althing-stuck-'));
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    // Opening a pipe waits for its other end: four of these take all threads that do such work.
    const source = `
      import { open } from 'node:fs';
      process.on('SIGUSR2', () => { for (let i = 0; i < 4; i++) open(${JSON.stringify(pipe)}, 'r', () => {}); });
    `;
    const node = await startNode({}, ['--import', `data:text/javascript,${encodeURIComponent(source)}`]);
    const alarms = async (): Promise<unknown> =>
      ((await node.probe('/status')).json as { readonly alarms: unknown }).alarms;
    node.signal('SIGUSR2');
    await until(async () => JSON.stringify(await alarms()).includes('STORAGE'), 'it has an alarm');
    expect(await alarms()).toEqual([
      { name: 'STORAGE', reason: expect.stringMatching(/^the disk has not answered for [34]\.\d s$/) },
    ]);
    expect((await node.probe('/healthy')).status).toBe(200);
    expect((await node.probe('/metrics')).text).toContain('althing_ready 1');
    const end = openSync(pipe, 'r+');
    await until(async () => JSON.stringify(await alarms()) === '[]', 'it has none any more');
    closeSync(end);
    rmSync(folder, { recursive: true });
  });
});

describe('a node that is well', () => {
  test('tells all that it looked at', async () => {
    const node = await startNode({}, []);
    const ready = await verbose(node, '/ready');
    expect(ready).toMatchObject({ ok: true, reason: null });
    expect(ready.checks.map(({ name }) => name)).toEqual([
      'phase',
      'engine',
      'local_read',
      'leader',
      'caught_up',
      'lag',
      'users',
    ]);
    expect(ready.checks.every(({ ok }) => ok)).toBe(true);
    expect(await verbose(node, '/healthy')).toMatchObject({
      ok: true,
      checks: [{ name: 'engine' }, { name: 'storage' }],
    });
    expect(await verbose(node, '/started')).toMatchObject({ ok: true });
    expect(await verbose(node, '/leader')).toMatchObject({ ok: true });
    expect((await node.probe('/status')).json).toMatchObject({
      status: 'READY',
      role: 'leader',
      leader: 'test',
      cluster_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      members: [{ name: 'test', role: 'voter', is_leader: true, connected: true }],
      alarms: [],
    });
  });
});

describe('the status port of a cluster', () => {
  test('one node leads, the others name it; without a majority nobody does', async () => {
    const cluster = await startCluster({}, []);
    const place = await cluster.whenLed('@thingsdb');
    const leader = cluster.node(place);
    const others = cluster.nodes.filter((node) => node !== leader);
    const name = `127.0.0.${place}`;
    await until(async () => (await leader.probe('/leader')).status === 200, 'it is confirmed');
    for (const other of others) {
      expect(await other.probe('/leader')).toMatchObject({ status: 503, text: `NOK: ${name} leads\n` });
    }
    const [first, ...rest] = await Promise.all(
      cluster.nodes.map(async (node) => (await node.probe('/status')).json as Record<string, unknown>),
    );
    expect(rest.map(({ cluster_id }) => cluster_id)).toEqual([first?.cluster_id, first?.cluster_id]);
    expect(rest.map(({ leader: known }) => known)).toEqual([name, name]);
    expect(first?.members).toHaveLength(3);
    expect(first?.members).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: '127.0.0.3', address: expect.stringMatching(/^127\.0\.0\.3:\d+$/) }),
      ]),
    );

    for (const other of others) other.signal('SIGSTOP');
    await until(async () => (await leader.probe('/leader')).status === 503, 'it leads no more');
    await until(async () => (await leader.probe('/ready')).status === 503, 'it is not ready');
    expect((await leader.probe('/ready')).text).toMatch(/^NOK: no leader for \d+\.\d s\n$/);
    expect((await leader.probe('/healthy')).status).toBe(200);
    for (const other of others) other.signal('SIGCONT');
    await Promise.all(cluster.nodes.map((node) => node.whenReady()));
  });

  test('a follower that falls far behind is not ready until it has caught up; its leader and the others are', async () => {
    // Queries may take so long that the silence of its engine thread is no reason.
    const settings = { query_duration_limit_ms: 60_000, election_timeout_ms: 1000, heartbeat_ms: 100 };
    const cluster = await startCluster(settings, standsStill(7500));
    // With one group there is nothing to balance: its leader stays.
    await cluster.node(1).value('/t', "del_collection('stuff');");
    for (const node of cluster.nodes) {
      await until(async () => (await groupsOf(node)) === 1, 'there is one group');
    }
    const place = await cluster.whenLed('@thingsdb');
    const leader = cluster.node(place);
    const follower = cluster.node((place % 3) + 1);
    const others = cluster.nodes.filter((node) => node !== follower);
    follower.signal('SIGUSR2');
    let count = 0;
    let isEnough = false;
    const unready: string[] = [];
    const writes = (async () => {
      while (!isEnough) {
        count += 1;
        await pause(5);
        await leader.value('/t', `new_user('u${count}');`);
        for (const node of others)
          if ((await node.probe('/ready')).status !== 200) unready.push(node.log.slice(-500));
      }
    })();
    await until(async () => (await follower.probe('/ready')).status === 503, 'it is not ready');
    expect((await follower.probe('/ready')).text).toMatch(
      /^NOK: group 0 is [5-9]\.\d s behind its leader\n$/,
    );
    expect(
      (await verbose(follower, '/ready')).checks.filter(({ ok }) => !ok).map(({ name }) => name),
    ).toEqual(['lag']);
    await follower.whenReady();
    isEnough = true;
    await writes;
    expect(unready).toEqual([]);
  });
});
