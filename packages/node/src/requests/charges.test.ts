/** Time that goes into requests beside their runs: it is charged when it was spent, so that others have their turn. */
import { ErrorCode, QueryError } from '@althing/engine';
import { expect, test } from '@jest/globals';
import { MiniCluster } from '../testing/mini-cluster.js';

const PARSING_MS = 50;

test('long texts that wait for a majority are not all parsed in one turn', async () => {
  const cluster = await MiniCluster.begin(3);
  const { engine, router } = cluster.node(2);
  const prepare = engine.prepare.bind(engine);
  engine.prepare = (code) => {
    cluster.now += PARSING_MS;
    return prepare(code);
  };
  const begun = cluster.now;
  const texts = [1, 2, 3, 4].map((n) => `/* ${'-'.repeat(20_000)} ${n} */ .has('x');`);
  const answers = texts.map((text) => cluster.node(2).query('stuff', text));
  expect(cluster.now - begun).toBe(PARSING_MS);
  expect(router.scheduler.takes(null, 99)).toBe(true);
  await cluster.pass(5000);
  expect((await Promise.all(answers)).map(({ ok }) => ok)).toEqual([true, true, true, true]);
});

test('a long text that is no program is charged, too', async () => {
  const cluster = await MiniCluster.begin(1);
  const { engine, router } = cluster.node(1);
  const prepare = engine.prepare.bind(engine);
  engine.prepare = (code) => {
    cluster.now += PARSING_MS;
    return prepare(code);
  };
  const answer = cluster.node(1).query('stuff', `/* ${'-'.repeat(20_000)} */ ) (`);
  expect(router.scheduler.takes(null, 99)).toBe(true);
  await cluster.pass(1000);
  expect((await answer).ok).toBe(false);
});

test('a procedure that could not be compiled in time is charged, too', async () => {
  const cluster = await MiniCluster.begin(1);
  const { engine, router } = cluster.node(1);
  const made = cluster.node(1).query('stuff', "new_procedure('long', || 1);");
  await cluster.pass(1000);
  expect((await made).ok).toBe(true);
  engine.compile = () => {
    cluster.now += PARSING_MS;
    throw new QueryError(ErrorCode.TIMEOUT, 'the query ran too long');
  };
  const answer = cluster.node(1).run('stuff', 'long');
  expect(router.scheduler.takes(null, 99)).toBe(true);
  await cluster.pass(1000);
  expect((await answer).ok).toBe(false);
});

test('a new text that has to wait for its turn is parsed once', async () => {
  const cluster = await MiniCluster.begin(1);
  const { engine, router } = cluster.node(1);
  await cluster.pass(100);
  router.scheduler.ran(null, 99, 45);
  const { misses } = engine.figures.programs;
  const answer = cluster.node(1).query('stuff', '1 + 2;');
  await cluster.pass(1000);
  expect(await answer).toMatchObject({ ok: true, result: '3' });
  expect(engine.figures.programs.misses - misses).toBe(1);
});

test('a task waits for the commit of what somebody changed who came during a long run', async () => {
  const cluster = await MiniCluster.begin(1);
  const { scheduler } = cluster.node(1).router;
  await cluster.pass(100);
  cluster.commits = false;
  cluster.now += 1000;
  scheduler.ran(null, 99, 1000);
  const change = cluster.node(1).query('stuff', '.x = 1;');
  let hasBegun = false;
  scheduler.defersUnstoppable(99, undefined, () => {
    hasBegun = true;
  });
  await cluster.pass(500);
  expect(hasBegun).toBe(false);
  cluster.commits = true;
  await cluster.pass(20);
  expect((await change).ok).toBe(true);
  expect(hasBegun).toBe(true);
});

test('a large body that another node sent is read when it is its turn', async () => {
  const cluster = await MiniCluster.begin(3);
  const { router } = cluster.node(1);
  const reads: (() => void)[] = [];
  router.readsLater = (_userId, bytes, read) => {
    expect(bytes).toBeGreaterThan(100_000);
    return reads.push(read) > 0;
  };
  const answer = cluster
    .node(2)
    .query('stuff', '.x = x.len();', { vars: new Map([['x', 'x'.repeat(100_001)]]) });
  await cluster.pass(20);
  expect([reads.length, router.busy]).toEqual([1, 0]);
  for (const read of reads) read();
  await cluster.pass(20);
  expect(await answer).toMatchObject({ ok: true, result: '100001' });
});
