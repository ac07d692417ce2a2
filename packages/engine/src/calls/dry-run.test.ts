import { beforeEach, describe, expect, test } from '@jest/globals';
import { CALLS_WITHOUT_CHANGE, CHANGING_CALLS } from '../testing/changing-calls.js';
import { Harness, type Plain } from '../testing/harness.js';
import { worldBefore, worldLines } from '../testing/world-lines.js';

const CALLS = (['collection', 'thingsdb'] as const).flatMap((scope) =>
  Object.entries(CHANGING_CALLS[scope]).map(([name, code]) => [scope, name, code] as const),
);

const DRY = { dryRun: true } as const;

let db: Harness;

beforeEach(() => {
  db = new Harness({ evicts: false });
});

/** The changes of some code that a dry run tells. */
function changes(code: string, scope: 'collection' | 'thingsdb' = 'collection'): Plain {
  return changesIn(db.run(code, { ...DRY, scope }));
}

function changesIn(answer: Plain): Plain {
  return isMap(answer) ? (answer['changes'] ?? null) : null;
}

function isMap(value: Plain): value is { readonly [key: string]: Plain } {
  return typeof value === 'object' && value !== null && 'changes' in value;
}

describe('a dry run', () => {
  test.each(CALLS)(
    'a dry run in %s changes nothing by %s, and tells what it would change',
    (scope, name, code) => {
      const world = worldBefore();
      const before = worldLines(world);

      const outcome = world.db.outcome(code, { ...DRY, scope });

      expect(worldLines(world)).toEqual(before);
      expect(world.db.changes).toEqual([]);
      if (CALLS_WITHOUT_CHANGE.has(name)) return;
      if (outcome.kind !== 'value') throw new Error(`${name} failed`);
      expect(changesIn(world.db.decode(outcome.result))).not.toEqual({});
    },
  );

  test.each(CALLS)('a dry run in %s leaves %s as it was for a run behind it', (scope, _name, code) => {
    const tried = worldBefore();
    const other = worldBefore();
    tried.db.outcome(code, { ...DRY, scope });
    // Ids that it used are passed over: those of both worlds begin with the same.
    const { store } = tried.db.collection;
    const { typeIds, enumIds } = store.schema;
    for (const ids of [store, tried.db.engine.root, typeIds, enumIds]) ids.idFloor = 0;
    for (const of of store.schema.allEnums()) of.nextMember = of.def?.nextMember ?? 0;

    const outcomes = [tried, other].map(({ db: each }) => each.outcome(code, { scope }).kind);

    expect(outcomes[0]).toBe(outcomes[1]);
    expect(withoutKeys(worldLines(tried))).toEqual(withoutKeys(worldLines(other)));
  });
});

/** Without the keys of tokens, which are random, and the numbers of fields, which may have gaps, as after an error. */
function withoutKeys(lines: readonly string[]): readonly string[] {
  return lines.map((line) =>
    line
      .replaceAll(/\b[0-9a-f]{16,}\b|"prefix":"[^"]*"/g, 'KEY')
      .replaceAll(/(?<=^type .*[{,] ?)\d+ (?=[a-z])/g, ''),
  );
}

describe('counts of a dry run', () => {
  beforeEach(() => {
    db.run(
      '.list = [{}, {}]; .set = set({n: 1}, {n: 2}, {n: 3}); .kept = {inner: {deep: {}}}; .r = room(); nil;',
    );
  });

  test.each([
    ['1 + 1;', {}],
    ['.x = 1;', { properties: 1 }],
    ['.x = 1; .x = 2; .x += 1;', { properties: 3 }],
    ['.x = {y: {}};', { things_added: 2, properties: 1 }],
    [".del('kept');", { things_removed: 3, properties: 1 }],
    ['.x = {}; .del("x");', { things_added: 1, things_removed: 1, properties: 2 }],
    ['.kept.clear();', { things_removed: 2, properties: 1 }],
    ['for (i in range(300)) .list.push({});', { things_added: 300, items: 300 }],
    ['for (i in range(300)) .list.push(i);', { items: 300 }],
    ['.list.push({a: {}});', { things_added: 2, items: 1 }],
    ['.list.splice(0, 1, 7, 8, 9);', { things_removed: 1, items: 4 }],
    ['.list.remove(|x| true);', { things_removed: 2, items: 2 }],
    ['.list.fill(nil);', { things_removed: 2, items: 2 }],
    ['.set.remove(|m| m.n > 1); .set.add({});', { things_added: 1, things_removed: 2, members: 3 }],
    ["new_type('T'); set_type('T', {n: 'int'}); new_procedure('p', || 1);", { definitions: 3 }],
    [".kept.inner.to_type('T');", 'lookup_err'],
    ['.r.emit("e"); .r.emit("f");', { events: 2 }],
    ['.q = room();', { properties: 1, rooms: 1 }],
    ['task(datetime(2050, 1, 1), |t| nil);', { tasks: 1 }],
    ['.x = 1; 1 / 0;', 'zero_div_err'],
  ])('%s', (code, expected) => {
    if (typeof expected === 'string') expect(db.error(code, DRY)).toBe(expected);
    else expect(changes(code)).toEqual(expected);
  });

  test.each([
    ["new_user('u'); grant('//stuff', 'u', QUERY | CHANGE); new_token('u');", { users: 2, access: 1 }],
    ["new_collection('c');", { access: 1, collections: 1 }],
    ["set_history('//stuff', true);", { settings: 1 }],
  ])('%s', (code, expected) => {
    expect(changes(code, 'thingsdb')).toMatchObject(expected);
  });
});

describe('the answer of a dry run', () => {
  test('has the result in the form that it would have, in JSON too', () => {
    db.run('.x = {n: 1}; nil;');
    expect(db.run('.x.n = 2; return .x, 1;', DRY)).toEqual({
      result: { '#': 2, n: 2 },
      changes: { properties: 1 },
    });
    expect(db.json('.x.n = 2; .x;', DRY)).toBe('{"result":{"#":2,"n":2},"changes":{"properties":1}}');
    expect(db.json('nil;', DRY)).toBe('{"result":null,"changes":{}}');
  });

  test('tells how many futures would be started, and starts none', () => {
    const answer = db.run('.x = 1; future(|| .x = 2); future(|| .y = 3);', DRY);
    expect(answer).toEqual({ result: null, changes: { properties: 1 }, futures: 2 });
    expect(db.engine.runtime.waitingFutures).toBe(0);
    expect(db.run('.keys();')).toEqual([]);
  });

  test('waits for the leader when it tells clients of events', () => {
    db.run('.r = room(); nil;');
    expect(db.outcome('.r.emit("e");', { ...DRY, follows: true })).toEqual({ kind: 'needs_change' });
  });

  test('is bounded as that of any query', () => {
    const small = new Harness({ limits: { resultBytes: 1000 }, evicts: false });
    expect(small.error(".x = 1; range(2000).map(|i| 'text');", DRY)).toBe('result_too_large');
    expect(small.run('.len();')).toBe(0);
  });

  test('is refused to a restore', () => {
    expect(
      worldBefore().db.failure("restore('f');", { ...DRY, scope: 'thingsdb', mayRestore: true }).message,
    ).toContain('dry run');
  });
});
