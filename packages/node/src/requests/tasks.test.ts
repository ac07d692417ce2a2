import { describe, expect, test } from '@jest/globals';
import { ROOT_GROUP } from '../between/protocol.js';
import { MiniCluster } from '../testing/mini-cluster.js';
import { outcome } from '../testing/mini-node.js';
import { TaskQueue } from './task-queue.js';

/** The answer of a query in the collection. */
async function value(cluster: MiniCluster, node: number, code: string, scope = 'stuff') {
  const reply = cluster.node(node).query(scope, code);
  await cluster.pass(20);
  return outcome(await reply);
}

/** Lets seconds pass, in steps in which timers go off in their order. */
async function pass(cluster: MiniCluster, seconds: number): Promise<void> {
  for (let i = 0; i < seconds * 10; i++) await cluster.pass(100);
}

const COUNT = "task(datetime().move('seconds', 2), |t| { .runs += 1; t.again_in('seconds', 2); });";

describe.each([
  ['a node that is alone', 1],
  ['three nodes', 3],
])('tasks of %s', (_, nodes) => {
  test('run at their time, once, and are the same everywhere', async () => {
    const cluster = await MiniCluster.begin(nodes);
    await value(
      cluster,
      nodes,
      ".t = task(datetime().move('seconds', 5), |t, x| .x = x, [7]); .u = task(datetime(), || 1 / 0); nil;",
    );
    await value(cluster, nodes, "task(datetime().move('seconds', 3), || new_user('made'));", '/t');
    await pass(cluster, 4);
    expect(await value(cluster, 1, "[.has('x'), .t.id() == nil, .u.err().code(), .u.at()];")).toEqual([
      false,
      false,
      -58,
      null,
    ]);
    await pass(cluster, 2);
    for (const { id } of cluster.nodes) {
      expect(await value(cluster, id, '[.x, .t, tasks().len()];')).toEqual([7, 'task:nil', 1]);
      expect(await value(cluster, id, "[has_user('made'), tasks()];", '/t')).toEqual([true, []]);
    }
    const { group } = cluster.node(1).session(cluster.stuff);
    const before = group.changeCount;
    await pass(cluster, 5);
    expect(group.changeCount).toBe(before);
  });

  test('tasks that are deleted with their owner leave nothing', async () => {
    const cluster = await MiniCluster.begin(nodes);
    await value(cluster, 1, "new_user('kim'); grant('//stuff', 'kim', QUERY|CHANGE);", '/t');
    await value(cluster, 1, '.runs = 0;');
    const made = cluster.node(1).query('stuff', COUNT, { user: 'kim' });
    await cluster.pass(20);
    await made;
    await pass(cluster, 5);
    const runs = Number(await value(cluster, 1, '.runs;'));
    expect(runs).toBe(2);
    await value(cluster, 1, "del_user('kim');", '/t');
    await pass(cluster, 5);
    expect(await value(cluster, 1, '.runs;')).toBe(runs);
    for (const { id } of cluster.nodes)
      expect(cluster.node(id).session(cluster.stuff).group.tasks.size).toBe(0);
  });
});

describe('each due run happens once', () => {
  test.each([
    ['is committed', 1],
    ['is not committed', 0],
  ])(
    'when the leader is lost and the run %s, and the clock of the next one is 5 s ahead or behind',
    async (_, kept) => {
      for (const ahead of [5000, -5000, 0]) {
        const cluster = await MiniCluster.begin(3, { clockAheadMs: (id) => (id === 2 ? ahead : 0) });
        await value(cluster, 1, '.runs = 0; .starts = [];');
        await value(
          cluster,
          1,
          "task(datetime().move('seconds', 2), |t| { .runs += 1; .starts.push(int(t.at())); t.again_in('seconds', 2); });",
        );
        cluster.commits = false;
        await pass(cluster, 2.5);
        expect(cluster.log(cluster.stuff).uncommitted).toBe(1);
        cluster.log(cluster.stuff).lead(2, kept);
        cluster.commits = true;
        await pass(cluster, 10);
        cluster.log(cluster.stuff).lead(1);
        await pass(cluster, 10);
        const [runs, starts] = (await value(cluster, 3, '[.runs, .starts];')) as [number, number[]];
        expect(runs).toBeGreaterThan(6);
        // Each start is there once: none is left out but those that had passed when the task said when it runs again.
        expect(new Set(starts).size).toBe(runs);
        expect(starts).toEqual([...starts].sort((a, b) => a - b));
      }
    },
  );

  test('tasks run in the order in which they are due, also when the first one has to wait for its turn', async () => {
    const cluster = await MiniCluster.begin(1);
    const due = "datetime().move('seconds', 2)";
    const code = `task(${due}, || .victim.cancel()); .victim = task(${due}, || .ran = true); nil;`;
    await value(cluster, 1, code);
    const { scheduler } = cluster.node(1).router;
    const defer = scheduler.defersUnstoppable.bind(scheduler);
    const turns: (() => void)[] = [];
    // The door is closed when the first run is due, and open again when the second one is.
    scheduler.defersUnstoppable = (userId, knownMs, goOn) => {
      if (turns.length > 0) return defer(userId, knownMs, goOn);
      turns.push(goOn);
      return true;
    };
    await pass(cluster, 3);
    expect(await value(cluster, 1, ".has('ran');")).toBe(false);
    for (const turn of turns) turn();
    await pass(cluster, 3);
    expect(turns).toHaveLength(1);
    expect(await value(cluster, 1, "[.has('ran'), .victim.at()];")).toEqual([false, null]);
  });

  test.each([[3600], [86_400 * 30]])(
    'within seconds after the clock was set forward by %i s',
    async (forward) => {
      let aheadMs = 0;
      const cluster = await MiniCluster.begin(3, { clockAheadMs: () => aheadMs });
      await value(cluster, 1, ".n = 0; task(datetime().move('seconds', 1800), || .n += 1); nil;");
      await pass(cluster, 3);
      aheadMs = forward * 1000;
      await pass(cluster, 2);
      expect(await value(cluster, 1, '[.n, tasks()];')).toEqual([1, []]);
      // One that was set back has no task run again.
      aheadMs = 0;
      await pass(cluster, 3);
      expect(await value(cluster, 1, '.n;')).toBe(1);
    },
  );

  test('after nobody led, as soon as somebody does', async () => {
    const cluster = await MiniCluster.begin(3);
    await value(cluster, 1, "task(datetime().move('seconds', 2), || .x = 1); nil;");
    cluster.log(cluster.stuff).depose();
    await pass(cluster, 10);
    cluster.log(cluster.stuff).lead(2);
    await pass(cluster, 1);
    expect(await value(cluster, 2, '[.x, tasks()];')).toEqual([1, []]);
  });

  test('after the leader could not write for a while', async () => {
    const cluster = await MiniCluster.begin(3);
    await value(cluster, 1, ".n = 0; task(datetime().move('seconds', 2), || .n += 1); nil;");
    cluster.log(cluster.stuff).suspend();
    await pass(cluster, 5);
    cluster.log(cluster.stuff).resume();
    await pass(cluster, 1);
    expect(await value(cluster, 1, '[.n, tasks()];')).toEqual([1, []]);
  });

  test('a task with futures runs at least once: what became of it is known with the last', async () => {
    const cluster = await MiniCluster.begin(3);
    await value(
      cluster,
      1,
      ".a = 0; .b = 0; task(datetime().move('seconds', 2), || { .a += 1; future(|| .b += 1); }); nil;",
    );
    cluster.commits = false;
    await pass(cluster, 2.5);
    expect(cluster.log(cluster.stuff).uncommitted).toBe(2);
    cluster.log(cluster.stuff).lead(3, 1);
    cluster.commits = true;
    await pass(cluster, 2);
    expect(await value(cluster, 2, '[.a, .b, tasks()];')).toEqual([2, 1, []]);
  });
});

/** Three nodes that the first leads, and a user with a task that is due in so many seconds. */
async function withTaskOfKim(seconds: number): Promise<MiniCluster> {
  const cluster = await MiniCluster.begin(3);
  await value(cluster, 1, "new_user('kim'); grant('//stuff', 'kim', QUERY|CHANGE);", '/t');
  const made = cluster
    .node(1)
    .query('stuff', `task(datetime().move('seconds', ${seconds}), || .x = 1); nil;`, { user: 'kim' });
  await cluster.pass(20);
  expect(outcome(await made)).toBeNull();
  return cluster;
}

/** Proposes that a user goes. */
async function proposeDeletion(cluster: MiniCluster): Promise<void> {
  cluster.commits = false;
  cluster.node(1).query('/t', "del_user('kim');");
  await cluster.pass(20);
  expect(cluster.log(ROOT_GROUP).uncommitted).toBe(1);
}

describe('a task whose owner is deleted by a change that is lost', () => {
  test('runs when it became due meanwhile', async () => {
    const cluster = await withTaskOfKim(3);
    await proposeDeletion(cluster);
    await pass(cluster, 5);
    cluster.log(ROOT_GROUP).lead(2, 0);
    cluster.commits = true;
    await pass(cluster, 3);
    expect(await value(cluster, 3, '[.x, tasks()];')).toEqual([1, []]);
  });

  test('runs when a leadership of its scope began meanwhile', async () => {
    const cluster = await withTaskOfKim(3);
    await proposeDeletion(cluster);
    cluster.log(cluster.stuff).lead(2);
    cluster.log(cluster.stuff).lead(1);
    await pass(cluster, 1);
    cluster.log(ROOT_GROUP).lead(2, 0);
    cluster.commits = true;
    await pass(cluster, 5);
    expect(await value(cluster, 3, '[.x, tasks()];')).toEqual([1, []]);
  });

  test('is there for as long as the deletion may be lost', async () => {
    const cluster = await withTaskOfKim(60);
    const { group } = cluster.node(1).session(cluster.stuff);
    await proposeDeletion(cluster);
    cluster.log(cluster.stuff).lead(2);
    cluster.log(cluster.stuff).lead(1);
    await pass(cluster, 2);
    // Whatever its scope proposes is made.
    cluster.log(cluster.stuff).commitAll();
    await pass(cluster, 2);
    cluster.log(ROOT_GROUP).lead(2, 0);
    cluster.commits = true;
    await pass(cluster, 2);
    expect(group.tasks.list().length).toBe(1);
    await value(cluster, 2, "del_user('kim');", '/t');
    await pass(cluster, 2);
    expect(group.tasks.size).toBe(0);
  });
});

describe('a task that is due in the same second as another one', () => {
  test.each([
    ['is cancelled by it', 'cancel', [null]],
    ['is deleted by it', 'del', []],
  ])('does not start when it %s', async (_, method, starts) => {
    const cluster = await MiniCluster.begin(1);
    const first = `task(at, || tasks()[1].${method}());`;
    await value(cluster, 1, `at = datetime().move('seconds', 2); ${first} task(at, || .x = 1); nil;`);
    await pass(cluster, 5);
    expect(await value(cluster, 1, "[.has('x'), tasks().map(|t| t.at())];")).toEqual([false, starts]);
  });
});

test('a task that schedules itself for ever runs once a second, and others are served', async () => {
  const cluster = await MiniCluster.begin(1);
  await value(cluster, 1, '.a = 0; .b = 0; task(datetime(), |t| { .a += 1; t.again_at(datetime()); }); nil;');
  await value(cluster, 1, "task(datetime(), |t| { .b += 1; t.again_in('seconds', 1); }); nil;");
  await pass(cluster, 10);
  const [a, b] = (await value(cluster, 1, '[.a, .b];')) as [number, number];
  expect(a).toBeGreaterThanOrEqual(8);
  expect(a).toBeLessThanOrEqual(12);
  expect(b).toBeGreaterThanOrEqual(8);
});

test('a change that is too large for the log fails its run alone', async () => {
  const cluster = await MiniCluster.begin(1);
  await value(
    cluster,
    1,
    "t = 'x'; range(20).each(|| t += t); .t = task(datetime(), |t, x| { .l = range(65).map(|i| x + str(i)); }, [t]); nil;",
  );
  await pass(cluster, 2);
  expect(await value(cluster, 1, "[.t.err().code(), .has('l'), .t.at()];")).toEqual([-57, false, null]);
});

test('neither a run nor its futures are refused by rights that are out of date', async () => {
  // Kim's privilege comes back while the leader of the collection has heard only that it was taken.
  const cluster = await MiniCluster.begin(3);
  cluster.log(ROOT_GROUP).lead(2);
  await value(cluster, 2, "new_user('kim'); grant('//stuff', 'kim', QUERY|CHANGE);", '/t');
  const made = cluster
    .node(1)
    .query(
      'stuff',
      "at = datetime().move('seconds', 2); task(at, || .x = 1); task(at, || future(|| .y = 1)); task(at, || change_id()); nil;",
      { user: 'kim' },
    );
  await cluster.pass(20);
  expect(outcome(await made)).toBeNull();
  await value(cluster, 2, "revoke('//stuff', 'kim', CHANGE);", '/t');
  cluster.node(1).lagsInRoot = true;
  await value(cluster, 2, "grant('//stuff', 'kim', CHANGE);", '/t');
  const { group } = cluster.node(1).session(cluster.stuff);
  await pass(cluster, 4);
  expect(group.tasks.list().map(({ status }) => status)).toEqual(['nil', 'nil']);
  cluster.node(1).catchUp();
  await pass(cluster, 3);
  expect(await value(cluster, 3, '[.x, .y, tasks()];')).toEqual([1, 1, []]);

  // A privilege that is gone is missed as before.
  const late = cluster
    .node(1)
    .query(
      'stuff',
      "task(datetime().move('seconds', 2), || .x = 2); task(datetime().move('seconds', 2), || future(|| .y = 2)); nil;",
      {
        user: 'kim',
      },
    );
  await cluster.pass(20);
  expect(outcome(await late)).toBeNull();
  await value(cluster, 2, "revoke('//stuff', 'kim', CHANGE);", '/t');
  await pass(cluster, 4);
  expect(await value(cluster, 3, '[.x, .y, tasks().map(|t| t.err().code())];')).toEqual([1, 1, [-55, -55]]);
});

test('a queue gives what starts first, whatever was added when', () => {
  const queue = new TaskQueue();
  const starts = Array.from({ length: 100_000 }, (_, i) => (i * 7919) % 100_003);
  for (const [id, startAt] of starts.entries()) queue.add({ id, startAt, knownAt: 0 });
  const taken: number[] = [];
  for (let next = queue.take(); next !== undefined; next = queue.take()) taken.push(next.startAt);
  expect(taken).toEqual([...starts].sort((a, b) => a - b));
});

test('a task gets no owner whose making is lost', async () => {
  const cluster = await MiniCluster.begin(3);
  await value(cluster, 1, '.t = task(datetime(2050, 1, 1), || 1); nil;');
  // Given a user who is made by a change that is not committed, at a node that leads root and the collection
  cluster.commits = false;
  const made = cluster.node(1).query('/t', "new_user('kim'); grant('//stuff', 'kim', CHANGE);");
  await cluster.pass(20);
  // When the task is given to that user, and the change that made it is lost for good
  const given = cluster.node(1).query('stuff', ".t.set_owner('kim');");
  await cluster.pass(20);
  cluster.log(ROOT_GROUP).depose();
  await cluster.pass(1100);
  cluster.log(ROOT_GROUP).lead(2, 0);
  cluster.commits = true;
  await cluster.pass(20);
  await Promise.all([made, given]);
  // Then it belongs to somebody who is there.
  expect(await value(cluster, 1, '.t.owner();')).toBe('admin');
});
