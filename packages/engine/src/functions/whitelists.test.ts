import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { replacementEffects } from '../admin/replacement.js';
import { RootRestore } from '../admin/restore.js';
import { WHITELIST_PATTERN_MAX, WHITELIST_RULES_MAX } from '../admin/whitelist.js';
import { takeBack } from '../state/transaction.js';
import type { Plain } from '../testing/harness.js';
import { linesOf, RootBench, reloaded } from '../testing/root-bench.js';

const ROOT = { scope: 'thingsdb' } as const;

let { db, follower, change, look, refused } = new RootBench();

beforeEach(() => {
  ({ db, follower, change, look, refused } = new RootBench());
  change("new_user('iris'); grant('@t', 'iris', QUERY);");
});

afterEach(() => {
  expect(linesOf(follower)).toEqual(linesOf(db.engine.root));
  expect(linesOf(reloaded(db.engine.root))).toEqual(linesOf(db.engine.root));
});

const lists = (): Plain => look("user_info('iris').load().whitelists");
const allows = (list: 'rooms' | 'procedures', name: string | null): boolean => {
  const { root } = db.engine;
  const user = root.usersByName.get('iris');
  if (user === undefined) throw new Error('there is no user iris');
  return root.isAllowed(user.id, list, name);
};

describe('a whitelist', () => {
  test('is none at first, and everything is allowed', () => {
    expect(lists()).toEqual({});
    expect([allows('procedures', 'any'), allows('rooms', null)]).toEqual([true, true]);
  });

  test('allows nothing while it is empty, and nothing without a name ever', () => {
    change("whitelist_add('iris', 'rooms')");
    expect(lists()).toEqual({ rooms: [] });
    expect([allows('rooms', 'any'), allows('procedures', 'any')]).toEqual([false, true]);
    change("whitelist_add('iris', 'rooms', /.*/)");
    expect([allows('rooms', 'any'), allows('rooms', null)]).toEqual([true, false]);
  });

  test('holds names, which are compared as a whole, and expressions, which are searched', () => {
    change("whitelist_add('iris', 'procedures', 'api'); whitelist_add('iris', 'procedures', /^get_/i)");
    expect(lists()).toEqual({ procedures: ['api', '/^get_/i'] });
    const names = ['api', 'API', 'api_a', 'get_x', 'GET_x', 'forget_x'];
    expect(names.filter((name) => allows('procedures', name))).toEqual(['api', 'get_x', 'GET_x']);
  });

  test('loses single rules, stays when the last one goes, and goes as a whole', () => {
    change("whitelist_add('iris', 'procedures', 'a'); whitelist_add('iris', 'procedures', /a/)");
    change("whitelist_del('iris', 'procedures', /a/)");
    expect(lists()).toEqual({ procedures: ['a'] });
    change("whitelist_del('iris', 'procedures', 'a')");
    expect(lists()).toEqual({ procedures: [] });
    change("whitelist_del('iris', 'procedures')");
    expect(lists()).toEqual({});
  });

  test('stays as it was when the change is taken back, also where the user was deleted', () => {
    change("whitelist_add('iris', 'procedures', 'a'); whitelist_add('iris', 'rooms', /b/)");
    const before = linesOf(db.engine.root);
    for (const code of ["whitelist_del('iris', 'procedures')", "del_user('iris')"]) {
      const outcome = db.outcome(code, ROOT);
      if (outcome.kind !== 'value') throw new Error(`no value: ${code}`);
      takeBack(outcome.change?.undo ?? []);
      expect(linesOf(db.engine.root)).toEqual(before);
    }
  });

  test('goes with its user', () => {
    change("whitelist_add('iris', 'procedures', 'a')");
    change("del_user('iris')");
    change("new_user('iris')");
    expect(lists()).toEqual({});
  });

  test('comes with a backup, which takes away those of the users that it has', () => {
    const backup = new RootRestore();
    for (const { kind, id, part, value } of db.engine.root.dirty.freeze(() => undefined).records.values()) {
      if (value !== null) backup.add({ kind, id, part, value });
    }
    db.engine.root.dirty.refreeze(() => undefined);
    backup.add({ kind: 1, id: 0, part: 0, value: db.engine.root.encodeMeta() });
    change("whitelist_add('iris', 'procedures', 'a')");
    const live = reloaded(db.engine.root);
    const numbers = new Map([...live.collections.keys()].map((id) => [id, id]));
    live.apply(replacementEffects(live, { backup, numbers, heir: null, takesTasks: true }));
    const iris = live.usersByName.get('iris');
    expect(live.whitelists.allOf(iris?.id ?? 0)).toEqual([]);
  });
});

describe('refused whitelists', () => {
  test.each([
    ["whitelist_add('nobody', 'rooms')", 'lookup_err'],
    ["whitelist_add('nobody', 'other', 5)", 'lookup_err'],
    ["whitelist_add(nil, 'rooms')", 'type_err'],
    ["whitelist_add('iris', 5)", 'type_err'],
    ["whitelist_add('iris', 'Rooms')", 'value_err'],
    ["whitelist_add('iris', 'rooms', nil)", 'type_err'],
    ["whitelist_add('iris', 'rooms', ['a'])", 'type_err'],
    ["whitelist_add('iris', 'rooms', 'a b')", 'value_err'],
    ["whitelist_add('iris', 'rooms', '')", 'value_err'],
    [`whitelist_add('iris', 'rooms', regex('${'a'.repeat(WHITELIST_PATTERN_MAX + 1)}'))`, 'value_err'],
    ["whitelist_del('iris', 'rooms')", 'lookup_err'],
    ["whitelist_del('iris', 'rooms', 'a')", 'lookup_err'],
    ["whitelist_add('iris')", 'num_arguments_err'],
    ["whitelist_del('iris', 'rooms', 'a', 'b')", 'num_arguments_err'],
  ])('%s is a %s', (code, error) => {
    expect(refused(code)).toBe(error);
  });

  test('the same rule or list twice, or one that is not there', () => {
    change("whitelist_add('iris', 'rooms', 'a'); whitelist_add('iris', 'rooms', /a/)");
    expect(refused("whitelist_add('iris', 'rooms')")).toBe('lookup_err');
    expect(refused("whitelist_add('iris', 'rooms', 'a')")).toBe('lookup_err');
    expect(refused("whitelist_add('iris', 'rooms', /a/)")).toBe('lookup_err');
    expect(refused("whitelist_del('iris', 'rooms', /a/i)")).toBe('lookup_err');
    change("whitelist_add('iris', 'rooms', /a/i)");
    expect(lists()).toEqual({ rooms: ['a', '/a/', '/a/i'] });
  });

  test('more rules than the limit', () => {
    change(`range(${WHITELIST_RULES_MAX}).each(|i| whitelist_add('iris', 'rooms', 'room' + str(i)))`);
    expect(refused("whitelist_add('iris', 'rooms', 'more')")).toBe('max_quota_err');
  });

  test('whitelists are neither seen nor changed by users without GRANT on @thingsdb', () => {
    expect(refused("whitelist_add('nobody', 'x')", { user: 'iris' })).toBe('forbidden_err');
    expect(refused("whitelist_del('nobody', 'x')", { user: 'iris' })).toBe('forbidden_err');
  });
});
