import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { rootLines } from '../admin/describe.js';
import { RootGroup } from '../admin/root-group.js';
import { CollectionGroup } from '../state/collection-group.js';
import { groupLines } from '../state/describe.js';
import { EMPTY_SOURCE, RecordKind } from '../state/records.js';
import { takeBack } from '../state/transaction.js';
import { NOW_MS, type Plain } from '../testing/harness.js';
import { RootBench } from '../testing/root-bench.js';
import { ShapeTree } from '../value/shape.js';

const ROOT = { scope: 'thingsdb' } as const;

let { db, follower, change, look, refused } = new RootBench();

beforeEach(() => {
  ({ db, follower, change, look, refused } = new RootBench());
});

afterEach(() => {
  expect([...rootLines(follower), ...histories(follower)]).toEqual([
    ...rootLines(db.engine.root),
    ...histories(db.engine.root),
  ]);
});

/** The histories and commits of the root scope, as what is written and as what is read from that. */
function histories(root: RootGroup): string[] {
  const records = [...root.dirty.freeze(() => undefined).records.values()];
  root.dirty.refreeze(() => undefined);
  const loaded = new RootGroup();
  for (const { kind, id, part, value } of records) {
    if (value !== null) loaded.loadRecord(kind, id, value, part);
  }
  const lines = (group: RootGroup): string[] =>
    [...group.histories.all.values()].flatMap((history) => [
      JSON.stringify(history),
      ...group.commits.of(history.number).map((commit) => JSON.stringify(commit)),
    ]);
  expect(lines(loaded).sort()).toEqual(lines(root).sort());
  return [...lines(root).sort(), ...groupLines(root)];
}

const messages = (options: string): Plain => look(`history({${options}}).map(|c| c.load().message)`);

/** Commits in the collection, each with a message of its own. */
function commits(...texts: readonly string[]): void {
  for (const text of texts) db.run(`commit('${text}'); .x = '${text}';`);
}

describe('a history', () => {
  test('begins, keeps who said what about which text, and ends with all of it', () => {
    change("set_history('//stuff', true)");
    db.run("commit('why'); .a = 1;");
    expect(look('history({last: 1, detail: true})[0].load()')).toEqual({
      id: expect.any(Number),
      created_on: new Date(NOW_MS).toISOString().replace(/\.\d+Z$/, 'Z'),
      by: 'admin',
      message: 'why',
      code: "commit('why'); .a = 1;",
    });
    expect(look("collection_info('stuff').load().commit_history")).toBe(1);
    change("set_history('//stuff', false); set_history('//stuff', true)");
    expect(messages("scope: '//stuff', last: 9")).toEqual([]);
    db.run("commit('new'); .a = 2;");
    expect(messages('last: 9')).toEqual(['new']);
    // Entries of the former one are gone from the collection as well.
    expect(db.collection.commits.strangers(null)).toHaveLength(1);
  });

  test('selects by time, then the last, then the first of these, then by text, number and error', () => {
    change("set_history('//stuff', true)");
    commits('one', 'two', 'three', 'four');
    expect(messages('last: 3, first: 2')).toEqual(['two', 'three']);
    expect(messages("last: 2, contains: 'fou'")).toEqual(['four']);
    expect(messages('match: /^T/i')).toEqual(['two', 'three']);
    expect(messages('has_err: true')).toEqual([]);
    expect(messages('last: 0')).toEqual([]);
    expect(messages('first: 9, after: datetime().move("days", 1)')).toEqual([]);
  });

  test('deletes what is selected, in the collection with its next commit, and gives the number', () => {
    change("set_history('//stuff', true)");
    commits('one', 'two', 'three');
    const ids = db.collection.commits.strangers(null);
    expect(look('history({last: 3}).len()')).toBe(3);
    change('del_history({match: /^t/})');
    expect(messages('last: 9')).toEqual(['one']);
    expect(db.collection.commits.strangers(null)).toEqual(ids);
    commits('four');
    expect(messages('last: 9')).toEqual(['one', 'four']);
    expect(db.collection.commits.strangers(null)).toHaveLength(2);
    change("del_history({contains: 'four'})");
    const [history] = db.engine.root.histories.all.values();
    // The earlier ones are gone from the collection, and need no mention any more.
    expect(history?.deleted).toHaveLength(1);
  });

  test('a history of the root scope lies in the root scope', () => {
    change("set_history('@t', true)");
    change("commit('made'); new_procedure('p', || 1);");
    change("commit('more'); wse(nil);");
    expect(messages('last: 9')).toEqual(['made', 'more']);
    change('del_history({first: 1})');
    expect(messages('last: 9')).toEqual(['more']);
    change("set_history('@t', false)");
    expect(db.engine.root.commits.strangers(null)).toEqual([]);
  });

  test('is what it was when the change is taken back', () => {
    change("set_history('//stuff', true); set_history('@t', true)");
    change("commit('kept'); wse(nil);");
    const before = histories(db.engine.root);
    for (const code of [
      "set_history('//stuff', false)",
      "set_history('@t', false)",
      "commit('gone'); wse(nil)",
      "del_history({scope: '@t', last: 1})",
      "del_collection('stuff')",
    ]) {
      const outcome = db.outcome(code, ROOT);
      if (outcome.kind !== 'value') throw new Error(`no value: ${code}`);
      takeBack(outcome.change?.undo ?? []);
      expect(histories(db.engine.root)).toEqual(before);
    }
  });

  test('goes with its collection', () => {
    change("set_history('//stuff', true)");
    change("del_collection('stuff')");
    expect(refused('history({last: 1})')).toBe('lookup_err');
  });

  test('is asked for again where this node may lag behind', () => {
    change("set_history('//stuff', true)");
    const outcome = db.outcome('history({last: 1})', { ...ROOT, lagging: true });
    expect(outcome).toEqual({ kind: 'behind', collection: db.collection.id });
  });
});

describe('a collection with a history', () => {
  test('repeats the same entries from effects and from records', () => {
    change("set_history('//stuff', true)");
    const other = new CollectionGroup(db.collection.id, new ShapeTree(), EMPTY_SOURCE);
    other.create();
    other.apply(db.effects("commit('one'); .a = 1;"));
    other.apply(db.effects("commit('two'); .a = 2;"));
    const own = db.collection.commits.of([...db.engine.root.histories.all.values()][0]?.number ?? 0);
    expect(own.map(({ message }) => message)).toEqual(['one', 'two']);
    expect(other.commits.of(own[0]?.history ?? 0)).toEqual(own);
    const loaded = new CollectionGroup(db.collection.id, new ShapeTree(), EMPTY_SOURCE);
    for (const { kind, id, part, value } of other.dirty.freeze(() => undefined).records.values()) {
      if (kind === RecordKind.COMMIT && value !== null) loaded.loadRecord(kind, id, value, part);
    }
    expect(loaded.commits.of(own[0]?.history ?? 0)).toEqual(own);
  });

  test.each([
    "new_type('A')",
    'new_type()',
    "set_type('A', {})",
    "mod_type('A', 'add', 'x', 'int')",
    "rename_type('A', 'B')",
    "del_type('A')",
    "set_enum('E', {A: 1})",
    "mod_enum('E', 'add', 'A', 1)",
    "rename_enum('E', 'F')",
    "new_procedure('p', || 1)",
    "mod_procedure('p', || 1)",
    "rename_procedure('p', 'q')",
    "del_procedure('p')",
  ])('refuses %s without a commit in front', (code) => {
    change("set_history('//stuff', true)");
    expect(db.error(code)).toBe('operation_err');
    expect(db.error(`${code}; commit('late');`)).toBe('operation_err');
  });

  test('takes definitions behind a commit, and everything else without', () => {
    change("set_history('//stuff', true)");
    expect(db.run("commit('types'); new_type('A'); set_type('A', {x: 'int'});")).toBeNull();
    expect(db.error(".to_type('A')")).toBe('operation_err');
    // A commit comes before everything else, as with definitions.
    expect(db.error(".to_type('Nope')")).toBe('operation_err');
    expect(db.run(".a = {}; .a.to_type('A'); .l = [1]; .l.push(2);")).toBe(2);
    expect(db.run("commit('root'); .clear(); .to_type('A');")).toBeNull();
  });

  test('leaves no entry of a query that fails', () => {
    change("set_history('//stuff', true)");
    expect(db.error("commit('one'); .a = 1; raise('no');")).not.toBe('');
    expect(db.collection.commits.strangers(null)).toEqual([]);
  });
});

describe('refused histories', () => {
  test.each([
    ["commit('x'); .a = 1", 'operation_err'],
    ['commit(1); .a = 1', 'type_err'],
  ])('%s without a history is a %s', (code, error) => {
    expect(db.error(code)).toBe(error);
  });

  test.each([
    ["commit('x')", 'operation_err'],
    ["commit(''); .a = 1", 'value_err'],
    ["commit('a'); commit('b'); .a = 1", 'operation_err'],
  ])('%s is a %s', (code, error) => {
    change("set_history('//stuff', true)");
    expect(db.error(code)).toBe(error);
  });

  test.each([
    ["set_history('@n', true)", 'operation_err'],
    ["set_history('@n', 1)", 'operation_err'],
    ["set_history('//missing', true)", 'lookup_err'],
    ["set_history('stuff', true)", 'value_err'],
    ["set_history('//stuff', 1)", 'type_err'],
    ['history({})', 'lookup_err'],
    ["history({scope: '//missing'})", 'lookup_err'],
    ["history({scope: '//stuff', last: 1})", 'operation_err'],
    ['history({other: 1})', 'value_err'],
    ['history({toString: 1})', 'value_err'],
    ['history({last: -1})', 'value_err'],
    ["history({last: '1'})", 'type_err'],
    ["history({contains: ''})", 'value_err'],
    ["history({match: 'x'})", 'type_err'],
    ['history({before: 1})', 'type_err'],
    ['del_history({last: 1, detail: true})', 'value_err'],
    ['history(nil)', 'type_err'],
  ])('%s is a %s', (code, error) => {
    expect(refused(code)).toBe(error);
  });

  test('a history of several scopes without naming one', () => {
    change("set_history('//stuff', true); set_history('@t', true)");
    expect(refused('history({last: 1})')).toBe('lookup_err');
  });

  test('a history of a scope is neither read nor deleted without privileges on it', () => {
    change("set_history('//stuff', true); new_user('iris'); grant('@t', 'iris', QUERY | CHANGE)");
    expect(refused('history({last: 1})', { user: 'iris' })).toBe('forbidden_err');
    expect(refused('del_history({last: 1})', { user: 'iris' })).toBe('forbidden_err');
    expect(refused("set_history('//stuff', false)", { user: 'iris' })).toBe('forbidden_err');
    change("grant('//stuff', 'iris', CHANGE)");
    expect(refused("set_history('//stuff', false)", { user: 'iris' })).toBe('forbidden_err');
    change("grant('//stuff', 'iris', QUERY)");
    change("set_history('//stuff', false)", { user: 'iris' });
    expect(refused('history({last: 1})')).toBe('lookup_err');
  });
});

test.each([
  ["set_history('@n:1a', raise('not looked at'))", 'value_err'],
  ["history({scope: '/n/1a', last: 1})", 'value_err'],
  ["del_history({scope: '@node:0x1', last: 1})", 'value_err'],
  ["set_history('@n:1', true)", 'operation_err'],
])('%s, the scope of a node, is refused as %s', (code, name) => {
  expect(refused(code)).toBe(name);
});
