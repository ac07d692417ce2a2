import { beforeEach, describe, expect, test } from '@jest/globals';
import { MiniCluster } from '../testing/mini-cluster.js';
import type { MiniNode } from '../testing/mini-node.js';

let cluster: MiniCluster;
let node: MiniNode;

async function lone(): Promise<void> {
  cluster = await MiniCluster.begin(1);
  node = cluster.node(1);
  await ask("new_procedure('add', |a, b| a + b); new_procedure('fail', || 1 / 0);");
  node.runs.reset();
}

async function ask(code: string, at = node, scope = 'stuff'): Promise<void> {
  void at.query(scope, code);
  await cluster.pass(50);
}

async function run(name: string, at = node): Promise<void> {
  void at.run('stuff', name);
  await cluster.pass(50);
}

/** Shapes with their counts, and failures where there are some. */
function shapes(at = node): readonly string[] {
  return at.runs
    .queries()
    .map(
      ({ shape, scope, figures: { count, failures } }) =>
        `${shape} ${scope} ${count}${failures > 0 ? `/${failures}` : ''}`,
    )
    .sort();
}

describe('a query counts', () => {
  beforeEach(lone);

  test('a query counts by its shape, whichever literals it has, and by its scope', async () => {
    for (const code of ['.x = 1', '.x = 2', '.x  = 2', ".x = 'text'", '.x = 1', '.x = 1']) await ask(code);
    await ask('1 + 1');
    await ask('1 + 2', node, '/t');

    expect(shapes()).toEqual([
      '.x = ? @collection:stuff 6',
      '? + ? @collection:stuff 1',
      '? + ? @thingsdb 1',
    ]);
  });

  test('a query counts as a failure where it ends in an error; one that does not run counts for nothing', async () => {
    await ask('.gone;');
    await ask('.gone;');
    await ask('.x = ;');

    expect(shapes()).toEqual(['.gone @collection:stuff 2/2']);
  });

  test('a query counts with things that it read, those in memory and those on disk', async () => {
    await ask('.a = {b: {c: 1}}; nil;');
    node.runs.reset();
    await ask('.a.b.c;');

    const [read] = node.runs.queries();
    expect([read?.figures.thingsRead, read?.figures.coldReads]).toEqual([3, 0]);
  });

  test('a query counts with its time from arrival to answer', async () => {
    cluster.commits = false;
    await ask('.x = 1;');
    cluster.commits = true;
    cluster.log(cluster.stuff).commitAll();
    await cluster.pass(50);

    const [change] = node.runs.queries();
    expect(change?.figures.run.totalMs).toBe(0);
    expect(change?.figures.wait.maxMs).toBeGreaterThanOrEqual(50);
    expect(change?.last).toBeGreaterThan(900);
  });

  test('no more once counters begin anew', async () => {
    await ask('.x = 1;');
    await ask('.x = 1;');
    node.runs.reset();
    expect(shapes()).toEqual([]);
    await ask('.x = 1;');
    expect(shapes()).toEqual(['.x = ? @collection:stuff 1']);
  });
});

describe('a procedure counts', () => {
  beforeEach(lone);

  test('a procedure counts by its name, also once it is another one', async () => {
    await run('fail');
    await ask("mod_procedure('fail', || 1);");
    await run('fail');
    await run('gone');

    expect(
      node.runs.procedureCalls().map(({ name, scope, figures: { count, failures } }) => ({
        name,
        scope,
        count,
        failures,
      })),
    ).toEqual([{ name: 'fail', scope: '@collection:stuff', count: 2, failures: 1 }]);
  });

  test('until its collection is gone', async () => {
    await run('fail');
    await ask("del_collection('stuff');", node, '/t');
    expect(node.runs.procedureCalls()).toEqual([]);
  });
});

describe('many of them', () => {
  beforeEach(lone);

  test('leave those that took the most time, in bounded memory', async () => {
    await ask('.busy = 1;');
    await ask('.busy = 1;');
    const busy = node.runs.queries()[0]?.figures;
    busy?.run.add(100, 1);
    for (let i = 0; i < 450; i++) {
      void node.query('stuff', `nil; x${i} = 1;`);
      if (i % 90 === 89) await cluster.pass(1000);
    }

    const all = node.runs.queries();
    expect(all.length).toBe(200);
    expect(all[0]?.shape).toBe('.busy = ?');
    await ask('.busy = 1;');
    expect(node.runs.queries()[0]?.figures.count).toBe(3);
  });

  test('texts that come once are looked at now and then, and what is seen counts for all', async () => {
    const count = (): number => node.runs.queries()[0]?.figures.count ?? 0;
    const burst = async (from: number, to: number): Promise<void> => {
      for (let i = from; i < to; i++) void node.query('stuff', `.y = ${i};`);
      await cluster.pass(1000);
    };
    await burst(0, 100);
    expect(count()).toBe(100);
    await burst(100, 3100);
    // Requests behind the last that was looked at are still to be counted.
    expect(count()).toBeGreaterThan(3100 - 30);
    expect(count()).toBeLessThanOrEqual(3100);
    await burst(3100, 6100);
    expect(count()).toBeGreaterThan(6100 - 60);
    expect(count()).toBeLessThanOrEqual(6100);
  });
});

test('a call counts on the node that ran it: a change on the leader, a read where it was asked', async () => {
  cluster = await MiniCluster.begin(3);
  const [leader, follower] = [cluster.node(1), cluster.node(2)];
  await ask('.x = 1;', follower);
  await ask('.x;', follower);

  expect(shapes(leader)).toEqual(['.x = ? @collection:stuff 1']);
  expect(shapes(follower)).toEqual(['.x @collection:stuff 1']);
});

test('futures count with the request that made them: what they read, too', async () => {
  await lone();
  await ask('.a = {b: {c: 1}}; nil;');
  node.runs.reset();
  await ask('future(|| .a.b.c);');

  const [read] = node.runs.queries();
  expect([read?.shape, read?.figures.count, read?.figures.thingsRead]).toEqual(['future(|| .a.b.c)', 1, 3]);
});
