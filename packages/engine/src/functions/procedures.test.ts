import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { CollectionGroup } from '../state/collection-group.js';
import { groupLines, stateLines } from '../state/describe.js';
import { RecordKind } from '../state/records.js';
import { takeBack } from '../state/transaction.js';
import { Harness, NOW_MS, type Plain, type RunOptions } from '../testing/harness.js';
import { newGroup } from '../testing/state-lines.js';
import { Closure } from '../value/closure.js';

const NOW_S = Math.floor(NOW_MS / 1000);

let db: Harness;
/** Another node: it knows only the effects. */
let follower: CollectionGroup;

beforeEach(() => {
  db = new Harness({ evicts: false });
  follower = newGroup();
});

afterEach(() => {
  expect(lines(follower)).toEqual(lines(db.collection));
});

function lines(group: CollectionGroup): string[] {
  return [...stateLines(group), ...groupLines(group).sort()];
}

function change(code: string, options: RunOptions = {}): void {
  follower.apply(db.effects(code, options));
}

const info = (name: string, part = ''): Plain => db.run(`procedure_info('${name}').load()${part};`);

test('sources are for everybody with QUERY, and procedure_info shows them to those with CHANGE', () => {
  change("new_procedure('secret_sum', |a| a + 42)");
  db.run("new_user('reader'); grant('//stuff', 'reader', QUERY);", { scope: 'thingsdb' });
  const asReader = (code: string): Plain => db.run(code, { user: 'reader' });
  expect(asReader('secret_sum')).toBe('|a|a+42');
  expect(String(asReader('export()'))).toContain('a + 42');
  expect(asReader("procedure_info('secret_sum').load().has('definition')")).toBe(false);
  expect(info('secret_sum', '.definition')).toContain('a + 42');
});

describe('a procedure', () => {
  test('is called by its name, in any place', () => {
    change("new_procedure('add', |a, b| a + b)");
    expect(db.run("[add(1, 2), run('add', 3, 4), [5, 6].map(|x| add(x, x))]")).toEqual([3, 7, [10, 12]]);
    expect(db.run("[has_procedure('add'), has_procedure('sub'), has_procedure('1')]")).toEqual([
      true,
      false,
      false,
    ]);
  });

  test('is known with its text, its parameters and whether it changes something', () => {
    change("new_procedure('put', |key, value| { 'Sets a property.'; .set(key, value); })");
    expect(info('put')).toMatchObject({
      name: 'put',
      doc: 'Sets a property.',
      created_at: NOW_S,
      with_side_effects: true,
      arguments: ['key', 'value'],
    });
    expect(String(info('put', '.definition'))).toContain('.set(key, value)');
    expect(db.run("procedure_doc('put')")).toBe('Sets a property.');
    change("new_procedure('get', |key| .get(key))");
    expect([info('get', '.with_side_effects'), info('get', '.doc')]).toEqual([false, '']);
    expect(db.run('procedures_info().map(|p| p.load().name)')).toEqual(['get', 'put']);
  });

  test('is laid out when a list of all is asked for it, and as it was then', () => {
    change("['a', 'b', 'c'].each(|name| new_procedure(name, |x| x + 1))");
    const laidOut = jest.spyOn(Closure.prototype, 'pretty');
    expect(db.run('[procedures_info().len(), procedures_info()[1:2].map(|p| p.load().name)]')).toEqual([
      3,
      ['b'],
    ]);
    expect(laidOut).toHaveBeenCalledTimes(1);
    laidOut.mockRestore();
    change(`all = procedures_info(); mod_procedure('a', |x| x + 2); rename_procedure('b', 'd'); del_procedure('c');
      .seen = all.map(|p| [p.load().name, p.load().definition])`);
    expect(db.run('.seen')).toEqual([
      ['a', '|x| x + 1'],
      ['b', '|x| x + 1'],
      ['c', '|x| x + 1'],
    ]);
  });

  test('changes the state where it runs, like the query that calls it', () => {
    change("new_procedure('put', |value| .x = value)");
    expect(db.error('put(5)')).toBe('operation_err');
    change('wse(put(5))');
    expect(db.run('.x')).toBe(5);
    const before = lines(db.collection);
    expect(db.error("wse(put(6)); raise('stop')")).toBe('err');
    expect(lines(db.collection)).toEqual(before);
  });

  test('has what its closure had when it was made', () => {
    change(".c = |x| x + 1; new_procedure('inc', .c); .c = |x| x + 2;");
    expect(db.run('[inc(1), .c(1)]')).toEqual([2, 3]);
    change("mod_procedure('inc', |x| x + 10)");
    expect(db.run('[inc(1), .c(1)]')).toEqual([11, 3]);
  });

  test('gets another closure and time by mod_procedure', () => {
    change("new_procedure('f', |a| a)");
    db.nowMs += 5000;
    change("mod_procedure('f', |a, b| [a, b])");
    expect(db.run('f(1, 2)')).toEqual([1, 2]);
    expect([info('f', '.created_at'), info('f', '.arguments')]).toEqual([NOW_S + 5, ['a', 'b']]);
  });

  test('keeps all but the name under another one', () => {
    change("new_procedure('f', |a| a)");
    db.nowMs += 5000;
    change("rename_procedure('f', 'g')");
    expect([db.run('g(7)'), info('g', '.created_at')]).toEqual([7, NOW_S]);
    expect(db.error('f(7)')).toBe('lookup_err');
  });

  test('is gone after del_procedure', () => {
    change("new_procedure('f', |a| a); new_procedure('g', |a| a);");
    change("del_procedure('f')");
    expect(db.run("[has_procedure('f'), has_procedure('g')]")).toEqual([false, true]);
    expect(db.error("run('f', 1)")).toBe('lookup_err');
  });

  test.each([
    ["new_procedure('1a', raise('not looked at'))", 'value_err'],
    ["new_procedure('', || 1)", 'value_err'],
    [`new_procedure('${'x'.repeat(256)}', || 1)`, 'value_err'],
    ["new_procedure('f', || 2)", 'lookup_err'],
    ["new_procedure('x', 5)", 'type_err'],
    ['new_procedure(5, || 1)', 'type_err'],
    ["new_procedure('x')", 'num_arguments_err'],
    ["mod_procedure('x', raise('not looked at'))", 'lookup_err'],
    ["mod_procedure('f', 'no closure')", 'type_err'],
    ["rename_procedure('f', 'f')", 'lookup_err'],
    ["rename_procedure('f', '1a')", 'value_err'],
    ["rename_procedure('x', raise('not looked at'))", 'lookup_err'],
    ["del_procedure('x')", 'lookup_err'],
    ["del_procedure('1a')", 'value_err'],
    ["procedure_info('x')", 'lookup_err'],
    ["procedure_doc('x')", 'lookup_err'],
    ["run('x')", 'lookup_err'],
    ["run('1a')", 'value_err'],
    ['run(1)', 'type_err'],
    ['has_procedure(1)', 'type_err'],
  ])('%s is refused as %s', (code, name) => {
    change("new_procedure('f', |a| a)");
    expect(db.error(code)).toBe(name);
  });

  test('is as before when the query fails or the change is taken back', () => {
    change("new_procedure('f', |a| a); new_procedure('g', |a| a + 1);");
    const before = lines(db.collection);
    const work =
      "del_procedure('f'); rename_procedure('g', 'f'); mod_procedure('f', || 9); new_procedure('g', || 8);";
    expect(db.error(`${work} raise('stop')`)).toBe('err');
    expect(lines(db.collection)).toEqual(before);
    const outcome = db.outcome(work);
    if (outcome.kind !== 'value') throw new Error('the query failed');
    expect(lines(db.collection)).not.toEqual(before);
    takeBack(outcome.change?.undo ?? []);
    expect(lines(db.collection)).toEqual(before);
    expect(db.run('[f(1), g(1)]')).toEqual([1, 2]);
  });

  test('shows its text only to who may change it', () => {
    change("new_procedure('f', |a| a)");
    db.effects("new_user('anna'); grant('//stuff', 'anna', QUERY);", { scope: 'thingsdb' });
    expect(db.run("procedure_info('f').load().keys();", { user: 'anna' })).toEqual([
      'doc',
      'name',
      'created_at',
      'with_side_effects',
      'arguments',
    ]);
    expect(db.run("procedure_info('f').load().keys();")).toContain('definition');
  });

  test('there are only so many', () => {
    change("for (i in range(1000)) new_procedure('p' + str(i), || i);");
    expect(db.error("new_procedure('one_more', || 1)")).toBe('max_quota_err');
    change("del_procedure('p7'); new_procedure('one_more', || 1);");
  });
});

test('the root scope has procedures of its own, a node none', () => {
  const root = { scope: 'thingsdb' } as const;
  db.effects("new_procedure('f', || 'of the root')", root);
  change("new_procedure('f', || 'of stuff')");
  expect([db.run('f()'), db.run('f()', root)]).toEqual(['of stuff', 'of the root']);
  expect(db.error("new_procedure('f', || 1)", { scope: 'node' })).toBe('lookup_err');
});

test('a checkpoint brings procedures back, also after a change of name and a deletion', () => {
  const saved = new Map<number, Uint8Array>();
  const checkpoint = (): CollectionGroup => {
    const { dirty } = db.collection;
    const { records } = dirty.freeze((thing) => db.collection.saveThing(thing, NOWHERE));
    for (const { kind, id, value } of records.values()) {
      if (kind !== RecordKind.PROCEDURE) continue;
      if (value === null) saved.delete(id);
      else saved.set(id, value);
    }
    dirty.release();
    const loaded = newGroup();
    for (const [id, value] of saved) loaded.loadRecord(RecordKind.PROCEDURE, id, value);
    return loaded;
  };
  const procedures = (group: CollectionGroup): string[] => groupLines(group).slice(1).sort();

  change("new_procedure('a', || 1); new_procedure('b', |x| { 'b'; x }); new_procedure('c', || 3);");
  expect(procedures(checkpoint())).toEqual(procedures(db.collection));
  change("rename_procedure('a', 'z'); del_procedure('b'); mod_procedure('c', || 4);");
  const loaded = checkpoint();
  expect(procedures(loaded)).toEqual(procedures(db.collection));
  expect([...loaded.procedures.byName.keys()].sort()).toEqual(['c', 'z']);
});

const NOWHERE = { put: () => {}, delete: () => {} };
