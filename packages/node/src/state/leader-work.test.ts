import type { CollectionGroup } from '@althing/engine';
import { expect, jest, test } from '@jest/globals';
import { ROOT_GROUP } from '../between/protocol.js';
import { TestBench } from '../testing/session-bench.js';
import { LeaderWork } from './leader-work.js';

const STUFF = 2;

/** A collection with an index of so many instances that it is not built at once, and a builder whose slices take one of them each. */
async function building(): Promise<{
  readonly bench: TestBench;
  readonly builder: LeaderWork;
  /** Does what waits for its time; gives how much that was. */
  readonly tick: () => number;
}> {
  const bench = await new TestBench().start();
  bench.engine.runtime.indexedAtOnce = 2;
  await bench.value(
    STUFF,
    "set_type('T', {n: 'int'}); .ts = range(3).map(|i| T{n: i}); new_index('T', 'n');",
  );
  const waiting: (() => void)[] = [];
  let time = 0;
  const builder = new LeaderWork({
    task: bench.engine.upkeep.indexes,
    clock: {
      after: (_ms, work) => {
        waiting.push(work);
        return () => {};
      },
    },
    workClock: () => (time += 10),
    busyClock: () => time,
    propose: (session, change, done) => session.propose(change, { ok: true, result: '' }, done),
    confirm: (_group, done) => done(true),
    onFailure: (error) => bench.failures.push(error),
  });
  const tick = (): number => waiting.splice(0).map((work) => work()).length;
  return { bench, builder, tick };
}

/** Entries of the index. */
function entriesIn(bench: TestBench): number | undefined {
  const { store } = bench.session(STUFF).group as CollectionGroup;
  return [...store.indexes.byId.values()][0]?.tree.count;
}

const percent = (bench: TestBench): Promise<string> =>
  bench.value(STUFF, "index_info('T', 'n').load().percent;");

test('an index is built a slice at a time, each behind the one before that is committed', async () => {
  const { bench, builder, tick } = await building();
  const session = bench.session(STUFF);
  builder.consider(session);
  builder.consider(session);
  // Given a slice that is proposed, nothing more is done
  expect(tick()).toBe(1);
  expect(tick()).toBe(0);
  builder.consider(session);
  expect(tick()).toBe(0);
  // until it is committed.
  for (const built of ['33', '66', '100', '100']) {
    expect(await percent(bench)).toBe(built);
    tick();
  }
  expect(await bench.value(STUFF, "count_by('T', 'n');")).toBe('3');
  // Then there is nothing to do any more.
  builder.consider(session);
  expect(tick()).toBe(0);
  expect(bench.failures).toEqual([]);
});

test('a group that goes away is built no further', async () => {
  const { bench, builder, tick } = await building();
  builder.consider(bench.session(STUFF));
  builder.forget(bench.session(STUFF));
  tick();
  expect(await percent(bench)).toBe('0');
});

test('an index on a disk that is full is built no further; it goes on when there is room, and has what it should', async () => {
  const { bench, builder, tick } = await building();
  const session = bench.session(STUFF);
  builder.consider(session);
  // Given a log that has no room for the second slice,
  tick();
  await bench.travel();
  bench.logDisk.fault = ({ kind }) => (kind === 'write' ? { kind: 'error', errno: 'ENOSPC' } : undefined);
  tick();
  await bench.travel();
  // the builder rests, as all changes do, and the index tells how far it is: nothing of the slice is left.
  for (let look = 0; look < 3; look++) {
    builder.consider(session);
    tick();
    await bench.tick();
  }
  expect(tick()).toBe(0);
  expect(await percent(bench)).toBe('33');
  expect(await bench.value(STUFF, "one_by('T', 'n', 1);")).toBe('error -63');
  expect(session.refusal()?.message).toMatch(/disk.*full/);
  expect(entriesIn(bench)).toBe(1);
  // When there is room, what the log had taken takes effect, and the rest is built.
  bench.logDisk.fault = () => undefined;
  for (let look = 0; look < 8; look++) {
    await bench.tick();
    builder.consider(session);
    tick();
  }
  expect(await percent(bench)).toBe('100');
  expect(await bench.value(STUFF, "v = verify_index('T', 'n'); [v.problems, v.checked];")).toBe('[[],3]');
  expect(bench.failures).toEqual([]);
});

test('a pause is three times as long as the slice, within limits, and the time until that is decided is part of it', async () => {
  const bench = await new TestBench().start();
  const change = { effects: new Uint8Array(), undo: [], events: [], collectionEvents: [] };
  let time = 0;
  const pauses: number[] = [];
  const [waiting, deciding]: (() => void)[][] = [[], []];
  let takesMs = 0;
  const work = new LeaderWork({
    task: {
      isDue: () => true,
      slice: () => {
        time += takesMs;
        return change;
      },
    },
    clock: {
      after: (ms, next) => {
        pauses.push(ms);
        waiting?.push(next);
        return () => {};
      },
    },
    workClock: () => time,
    busyClock: () => time,
    propose: (_session, _change, done) => deciding?.push(done),
    confirm: (_group, done) => done(true),
    onFailure: (error) => bench.failures.push(error),
  });
  work.consider(bench.session(STUFF));
  for (const [slice, decision] of [
    [1, 0],
    [1, 2],
    [1, 9],
    [7, 2],
    [9, 2],
  ] as const) {
    takesMs = slice;
    waiting?.pop()?.();
    time += decision;
    deciding?.pop()?.();
  }
  expect(pauses).toEqual([0, 3, 1, 1, 19, 22]);
  expect(bench.failures).toEqual([]);
});

test('slices are small at first, and follow the work that each thing took, at most, and not the time in which others had the processor', async () => {
  const bench = await new TestBench().start();
  const waiting: (() => void)[] = [];
  const sizes: number[] = [];
  const pauses: number[] = [];
  let [time, busy, thingMs, waitMs] = [0, 0, 0, 0];
  const work = new LeaderWork({
    task: {
      isDue: () => sizes.length % 8 < 7,
      slice: (_collection, isOver) => {
        let things = 1;
        while (!isOver()) things += 1;
        sizes.push(things);
        // They are changed when all are looked at.
        busy += things * thingMs;
        time += things * thingMs + waitMs;
        return null;
      },
    },
    clock: {
      after: (ms, next) => {
        pauses.push(ms);
        waiting.push(next);
        return () => {};
      },
    },
    workClock: () => time,
    busyClock: () => busy,
    propose: () => {},
    confirm: (_group, done) => done(true),
    onFailure: (error) => bench.failures.push(error),
  });
  const all = (): number[] => {
    work.consider(bench.session(STUFF));
    while (waiting.length > 0) waiting.pop()?.();
    return sizes.splice(0);
  };
  expect(all()).toEqual([16, 32, 64, 128, 256, 512, 600]);
  thingMs = 0.03125;
  expect(all()).toEqual([16, 32, 64, 128, 160, 160, 160]);
  waitMs = 30;
  expect(all()).toEqual([16, 32, 64, 128, 160, 160, 160]);
  // Nor does the next one come later for it.
  expect(pauses.at(-1)).toBe(15);
  // Work that takes long with few things is not told to take fewer.
  thingMs = 11;
  expect(all()).toEqual([16, 20, 25, 31, 38, 47, 58]);
  // Work that takes longer meanwhile, such as pages that a checkpoint has still to write, makes the next ones smaller.
  thingMs = 0.01;
  work.consider(bench.session(STUFF));
  for (let slice = 0; slice < 5; slice++) waiting.pop()?.();
  thingMs = 0.04;
  for (let slice = 0; slice < 2; slice++) waiting.pop()?.();
  expect(sizes).toEqual([16, 32, 64, 128, 256, 500, 250]);
  expect(bench.failures).toEqual([]);
});

test('a job whose closure names what is not there fails, once this node has all that was acknowledged in the root scope', async () => {
  const bench = await new TestBench().start();
  await bench.value(
    STUFF,
    "set_type('T', {n: 'int'}); .ts = range(3).map(|i| T{n: i}); mod_type('T', 'all', |t| nobody_knows(t), {background: true});",
  );
  await bench.value(STUFF, "del_instances('T', |t| nobody_knows(t)); del_instances('T', |t| t.n == 1);");
  await bench.value(STUFF, "mod_type('T', 'mod', 'n', 'str', |t| nobody_knows(t), {background: true});");
  const waiting: (() => void)[] = [];
  const asked: (typeof ROOT_GROUP)[] = [];
  const work = new LeaderWork({
    task: bench.engine.upkeep.jobs,
    clock: {
      after: (_ms, next) => {
        waiting.push(next);
        return () => {};
      },
    },
    workClock: () => 0,
    busyClock: () => 0,
    propose: (session, change, done) => session.propose(change, { ok: true, result: '' }, done),
    confirm: (group, done) => {
      asked.push(group);
      // The first answer does not come in time.
      done(asked.length > 1);
    },
    onFailure: (error) => bench.failures.push(error),
  });
  work.consider(bench.session(STUFF));
  for (let slice = 0; slice < 30 && waiting.length > 0; slice++) {
    for (const next of waiting.splice(0)) next();
    await bench.value(STUFF, 'nil;');
  }
  expect(asked).toEqual([ROOT_GROUP, ROOT_GROUP, ROOT_GROUP, ROOT_GROUP]);
  const states = await bench.value(STUFF, 'jobs_info().map(|job| [job.action, job.state]);');
  expect(JSON.parse(states)).toEqual([
    ['mod_type all', 'failed'],
    ['del_instances', 'failed'],
    ['del_instances', 'done'],
    ['mod_type mod', 'failed'],
  ]);
  const [why] = JSON.parse(await bench.value(STUFF, 'jobs_info().map(|job| job.why);'));
  expect(why).toContain("there is no function, procedure, module or variable 'nobody_knows'");
  expect(bench.failures).toEqual([]);
});

test('things that expire go in slices, also those for which nothing changed', async () => {
  const bench = await new TestBench().start();
  await bench.value(
    STUFF,
    "set_type('T', {until: 'int?'}); mod_type('T', 'ttl', 'until'); .far = range(9).map(|i| {i:}); .far[7].t = T{until: 1}; .t = T{};",
  );
  const waiting: (() => void)[] = [];
  let time = 0;
  const work = new LeaderWork({
    task: bench.engine.upkeep.expiry,
    clock: {
      after: (_ms, next) => {
        waiting.push(next);
        return () => {};
      },
    },
    workClock: () => (time += 10),
    busyClock: () => time,
    propose: (session, change, done) => session.propose(change, { ok: true, result: '' }, done),
    confirm: (_group, done) => done(true),
    onFailure: (error) => bench.failures.push(error),
  });
  let slices = 0;
  work.consider(bench.session(STUFF));
  while (waiting.length > 0) {
    for (const next of waiting.splice(0)) next();
    slices += 1;
    await bench.value(STUFF, 'nil;');
  }
  // Each slice looks into one thing, since its clock moves that far.
  expect(slices).toBeGreaterThan(7);
  expect(await bench.value(STUFF, "[type_count('T'), .far[7].has('t')];")).toBe('[1,false]');
  expect(bench.failures).toEqual([]);
});

test('work of many groups that rest is looked for in turns, and that of one that changed at once', async () => {
  const bench = await new TestBench().start();
  const count = 98;
  for (let i = 0; i < count; i++)
    expect(await bench.value('thingsdb', `new_collection('c${i}');`)).toBe(`"c${i}"`);
  for (const { id } of bench.sessions.all) if (id !== ROOT_GROUP) await bench.checkpoint(id);
  const looks = jest.spyOn(bench.engine.upkeep.expiry, 'isDue');
  const looked = async (): Promise<number[]> => {
    looks.mockClear();
    await bench.consider();
    return looks.mock.calls.map(([collection]) => collection);
  };
  const turns = [await looked(), await looked(), await looked()];
  expect(Math.max(...turns.map((turn) => turn.length))).toBeLessThan(60);
  expect(new Set(turns.flat()).size).toBe(count + 2);
  for (let i = 0; i < 3; i++) {
    await bench.value(STUFF, `.x = ${i};`);
    expect(await looked()).toContain(STUFF);
  }
  expect(bench.failures).toEqual([]);
});
