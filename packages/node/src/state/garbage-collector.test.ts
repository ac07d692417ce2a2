import { expect, test } from '@jest/globals';
import { TestBench } from '../testing/session-bench.js';
import { GarbageCollector } from './garbage-collector.js';

const STUFF = 2;

/** A collection with circles of garbage, of which a portion has 512, and its collector, whose time goes on with each look at it. */
async function littered(circles: number): Promise<{
  readonly bench: TestBench;
  readonly collector: GarbageCollector;
  /** Decides what was proposed; gives how much that was. */
  readonly decide: () => number;
  /** Does what waits for its time, until nothing does. */
  readonly work: () => void;
  readonly things: () => number;
}> {
  const bench = await new TestBench().start();
  const session = bench.session(STUFF);
  const waiting: (() => void)[] = [];
  const undecided: (() => void)[] = [];
  let time = 0;
  const collector = new GarbageCollector({
    engine: bench.engine,
    settings: { garbageIntervalMs: 0 },
    clock: {
      now: () => time++,
      after: (_ms, next) => {
        waiting.push(next);
        return () => {};
      },
    },
    propose: (group, change, done) =>
      group.propose(change, { ok: true, result: '' }, () => undecided.push(done)),
    onFailure: (error) => bench.failures.push(error),
  });
  const code = `range(${circles}).each(|| { .a = {}; .a.b = {a: .a}; .del('a'); }); nil;`;
  await bench.value(STUFF, code);
  const decide = (): number => undecided.splice(0).map((done) => done()).length;
  const work = (): void => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) next();
  };
  const things = (): number => bench.engine.collections.get(session.id)?.group.store.thingCount ?? 0;
  return { bench, collector, decide, work, things };
}

test('garbage goes a portion at a time, each behind the one before that is committed', async () => {
  const { bench, collector, decide, work, things } = await littered(1200);
  const session = bench.session(STUFF);
  const counts = [things()];
  for (const _ of ['begins to wait', 'searches']) collector.consider(session);
  for (let portions = 1; portions > 0; portions = decide()) {
    work();
    counts.push(things());
    // Whatever time goes by.
    work();
    expect(things()).toBe(counts.at(-1));
    await bench.travel();
  }
  expect(counts.map((count) => count - (counts.at(-1) ?? 0))).toEqual([2400, 2048, 1024, 0, 0]);
  expect(bench.failures).toEqual([]);
});

test('a decision that comes when the search was given up goes on with nothing', async () => {
  const { bench, collector, decide, work, things } = await littered(1200);
  const session = bench.session(STUFF);
  for (const _ of ['begins to wait', 'searches']) collector.consider(session);
  work();
  const left = things();
  collector.forget(session);
  await bench.travel();
  expect(decide()).toBe(1);
  work();
  expect(things()).toBe(left);
  expect(bench.failures).toEqual([]);
});
