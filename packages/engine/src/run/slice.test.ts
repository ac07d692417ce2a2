import { describe, expect, test } from '@jest/globals';
import type { Outcome } from '../calls/call.js';
import { Harness } from '../testing/harness.js';
import { brokenRules } from '../testing/state-lines.js';

/** Milliseconds that go by between two looks at the clock. */
const LOOK_MS = 1;

function harness(durationMs = 1000): Harness {
  let now = 0;
  return new Harness({
    limits: { durationMs },
    monotonic: () => {
      now += LOOK_MS;
      return now;
    },
  });
}

function run(db: Harness, code: string, sliceMs?: number): Outcome {
  const { engine } = db;
  const [user] = engine.root.users.values();
  const [collection] = engine.root.collections.keys();
  const scope = collection === undefined ? undefined : engine.scope(collection);
  if (user === undefined || scope === undefined) throw new Error('there is a user and a collection');
  const body = { kind: 'query', prepared: engine.prepare(code), vars: null } as const;
  return engine.run({ scope, user, body, format: 'json', ...(sliceMs === undefined ? {} : { sliceMs }) });
}

const WORK = 'for (i in range(1000)) { for (j in range(200)) { .x += 1; } };';

describe('a query with a slice of time', () => {
  test('a slice that is too short has changed nothing, and the query may run again', () => {
    const db = harness();
    db.run('.x = 0;');
    expect(run(db, `${WORK} .x;`, 5)).toEqual({ kind: 'slice_over' });
    expect(db.run('.x;')).toBe(0);
    expect(run(db, `${WORK} .x;`)).toMatchObject({ kind: 'value', result: '200000' });
    expect(db.engine.figures.stops.time).toBe(0);
  });

  test('a slice ends a query that removes many things at its end, too', () => {
    const db = harness();
    db.run('.list = range(30000).map(|i| {i:}); nil;');
    expect(run(db, '.list = nil;', 4)).toEqual({ kind: 'slice_over' });
    expect(db.run('[.list.len(), .list[29999].i];')).toEqual([30000, 29999]);
    expect(brokenRules(db.collection)).toEqual([]);
    expect(run(db, '.list = nil;')).toMatchObject({ kind: 'value', result: 'null' });
    expect(db.collection.store.thingCount).toBe(1);
  });

  test('gives ids that come again when it runs again: nobody heard of them', () => {
    const db = harness();
    db.run('.x = 0;');
    expect(run(db, `.a = {}; ${WORK}`, 5)).toEqual({ kind: 'slice_over' });
    expect(db.run('.a = {}; .a.id() - root().id();')).toBe(1);
  });

  test('can not keep its end from coming by try', () => {
    const db = harness();
    expect(run(db, 'try({ for (i in range(1000)) { for (j in range(1000)) { 1; } }; }); 2;', 5)).toEqual({
      kind: 'slice_over',
    });
  });

  test('is the same as without one if it is done before', () => {
    expect(run(harness(), '1 + 1;', 5)).toMatchObject({ kind: 'value', result: '2' });
  });

  test('ends by its time limit where that is shorter', () => {
    const db = harness(20);
    db.run('.x = 0;');
    expect(run(db, WORK, 30)).toMatchObject({ kind: 'error', error: { code: -5 } });
    expect(db.run('.x;')).toBe(0);
  });
});
