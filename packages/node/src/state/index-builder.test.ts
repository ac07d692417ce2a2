import { LEVEL_AFTER_0_1_0 } from '@althing/engine';
import { expect, test } from '@jest/globals';
import { TestBench } from '../testing/session-bench.js';
import { IndexBuilder } from './index-builder.js';

const STUFF = 2;

/** A collection with an index of so many instances that it is not built at once, and a builder whose slices take one of them each. */
async function building(): Promise<{
  readonly bench: TestBench;
  readonly builder: IndexBuilder;
  /** Does what waits for its time; gives how much that was. */
  readonly tick: () => number;
}> {
  const bench = await new TestBench().start();
  bench.engine.root.level = LEVEL_AFTER_0_1_0;
  bench.engine.runtime.indexedAtOnce = 2;
  await bench.value(
    STUFF,
    "set_type('T', {n: 'int'}); .ts = range(3).map(|i| T{n: i}); new_index('T', 'n');",
  );
  const waiting: (() => void)[] = [];
  let time = 0;
  const builder = new IndexBuilder({
    engine: bench.engine,
    clock: {
      after: (_ms, work) => {
        waiting.push(work);
        return () => {};
      },
    },
    workClock: () => (time += 10),
    propose: (session, change, done) => session.propose(change, { ok: true, result: '' }, done),
    onFailure: (error) => bench.failures.push(error),
  });
  const tick = (): number => waiting.splice(0).map((work) => work()).length;
  return { bench, builder, tick };
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
