import { ErrorCode } from '@althing/engine';
import { describe, expect, test } from '@jest/globals';
import type { Reply } from '../groups/request.js';
import { MiniCluster } from '../testing/mini-cluster.js';

const CLIENT = { gone: false, address: '192.0.2.7' };

/** A request whose answer may come later. */
class Asked {
  reply: Reply | null = null;

  constructor(cluster: MiniCluster, node: number, code: string) {
    void cluster
      .node(node)
      .query('stuff', code, { client: CLIENT, id: 'r-1' })
      .then((reply) => {
        this.reply = reply;
      });
  }

  /** The code of the error with what became of the changes; `ok` for a value, null while there is no answer. */
  get told(): string | null {
    if (this.reply === null) return null;
    return this.reply.ok ? 'ok' : `${this.reply.error.code} ${this.reply.outcome ?? 'none'}`;
  }
}

const CANCELLED = `${ErrorCode.CANCELLED} none`;

function present(cluster: MiniCluster, node: number) {
  return cluster.node(node).router.present;
}

function only(cluster: MiniCluster, node: number) {
  const [entry, ...others] = present(cluster, node).all();
  if (entry === undefined || others.length > 0) throw new Error('there is not exactly one request');
  return entry;
}

describe('a request that waits', () => {
  test('is told with who asks, for how long, and what for', async () => {
    const cluster = await MiniCluster.begin(1);
    cluster.commits = false;
    new Asked(cluster, 1, ".x = 'a secret';");
    await cluster.pass(50);

    expect(only(cluster, 1)).toEqual({
      id: expect.any(Number),
      request: 'r-1',
      isRunning: false,
      waitsFor: 'commit',
      ageMs: 50,
      ranMs: 0,
      user: 'admin',
      address: '192.0.2.7',
      from: null,
      scope: '@collection:stuff',
      kind: 'query',
      text: '.x =...',
    });
    cluster.log(cluster.stuff).commitAll();
    await cluster.pass(50);
    expect([...present(cluster, 1).all()]).toEqual([]);
  });

  test('a request that waits for a leader ends when it is cancelled, and changes nothing', async () => {
    const cluster = await MiniCluster.begin(3);
    cluster.log(cluster.stuff).depose();
    await cluster.pass(10);
    const change = new Asked(cluster, 1, '.x = 1;');
    const read = new Asked(cluster, 2, '.x;');
    await cluster.pass(50);
    expect([only(cluster, 1).waitsFor, only(cluster, 2).waitsFor]).toEqual(['leader', 'leader']);

    present(cluster, 1).cancel(only(cluster, 1).id);
    present(cluster, 2).cancel(only(cluster, 2).id);
    await cluster.pass(50);

    expect([change.told, read.told]).toEqual([CANCELLED, CANCELLED]);
    cluster.log(cluster.stuff).lead(1);
    const after = new Asked(cluster, 1, '.x;');
    await cluster.pass(1000);
    expect(after.told).toBe(`${ErrorCode.LOOKUP} none`);
  });

  test('a request that waits for its commit goes on: the change may be made', async () => {
    const cluster = await MiniCluster.begin(1);
    cluster.commits = false;
    const change = new Asked(cluster, 1, '.x = 1;');
    await cluster.pass(10);

    const { id } = only(cluster, 1);
    expect(() => present(cluster, 1).cancel(id)).toThrow('is being committed');
    cluster.log(cluster.stuff).commitAll();
    await cluster.pass(10);
    expect(change.told).toBe('ok');
  });

  test('a request that waits for another node is cancelled there, under an id of that node', async () => {
    const cluster = await MiniCluster.begin(3);
    cluster.commits = false;
    const change = new Asked(cluster, 2, '.x = 1;');
    await cluster.pass(10);

    const here = only(cluster, 2);
    expect([here.waitsFor, here.from]).toEqual(['other_node', null]);
    expect(() => present(cluster, 2).cancel(here.id)).toThrow('another node has it');
    const there = only(cluster, 1);
    expect([there.waitsFor, there.from, there.request]).toEqual(['commit', 'n2', 'r-1']);
    cluster.log(cluster.stuff).commitAll();
    await cluster.pass(10);
    expect(change.told).toBe('ok');
  });

  test('is told that nobody knows where an earlier attempt may have made its change', async () => {
    const cluster = await MiniCluster.begin(3);
    const change = new Asked(cluster, 2, '.x = 1;');
    cluster.fate = ({ what }) => (what === 'return' ? 'lose' : 'deliver');
    await cluster.pass(10);
    cluster.log(cluster.stuff).depose();
    await cluster.pass(10);

    const { id, waitsFor } = only(cluster, 2);
    expect(waitsFor).toBe('leader');
    present(cluster, 2).cancel(id);
    await cluster.pass(10);
    expect(change.told).toBe(`${ErrorCode.TIMEOUT} unknown`);
  });
});

describe('a request that runs', () => {
  test('a request that runs in slices ends before its next one', async () => {
    const cluster = await MiniCluster.begin(1);
    const { scheduler } = cluster.node(1).router;
    // Others are owed time, so that the next request waits for its turn.
    scheduler.ran(null, 99, 500);
    const sliced = new Asked(cluster, 1, '.x = 1;');
    expect(only(cluster, 1).waitsFor).toBe('turn');
    present(cluster, 1).cancel(only(cluster, 1).id);
    await cluster.pass(2000);

    expect(sliced.told).toBe(CANCELLED);
    const after = new Asked(cluster, 1, '.x;');
    await cluster.pass(2000);
    expect(after.told).toBe(`${ErrorCode.LOOKUP} none`);
  });

  test('its futures goes on once changes of it may have been made', async () => {
    const cluster = await MiniCluster.begin(1);
    cluster.commits = false;
    const changed = new Asked(cluster, 1, '.x = 1; future(|| .y = 2);');
    await cluster.pass(1);
    const { id, isRunning, waitsFor } = only(cluster, 1);
    expect([isRunning, waitsFor]).toEqual([true, 'futures']);
    expect(() => present(cluster, 1).cancel(id)).toThrow('some of its changes may be made');
    cluster.log(cluster.stuff).commitAll();
    await cluster.pass(10);
    expect(changed.told).toBe('ok');
  });
});

test('an id that no request has is refused', async () => {
  const cluster = await MiniCluster.begin(1);
  for (const id of [0, -1, 7, 2 ** 60, 9223372036854775807n]) {
    expect(() => present(cluster, 1).cancel(id)).toThrow(`there is no request ${id}`);
  }
});
