import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { RootGroup } from '../admin/root-group.js';
import type { PasswordHash } from '../admin/user.js';
import { RecordKind } from '../state/records.js';
import { takeBack } from '../state/transaction.js';
import { NOW_MS, type Plain } from '../testing/harness.js';
import { linesOf, RootBench } from '../testing/root-bench.js';

const ROOT = { scope: 'thingsdb' } as const;
const NOW_S = Math.floor(NOW_MS / 1000);

let { db, follower, change, changed, look, refused } = new RootBench();

beforeEach(() => {
  ({ db, follower, change, changed, look, refused } = new RootBench());
});

afterEach(() => {
  expect(linesOf(follower)).toEqual(linesOf(db.engine.root));
});

/** The answer of user_info about a user, or a part of it. */
const info = (name: string, part = ''): Plain => look(`user_info('${name}').load()${part};`);

describe('a user', () => {
  test('begins without password, tokens and privileges', () => {
    expect(changed("new_user('anna')")).toBe('anna');
    expect(look("user_info('anna').load()")).toMatchObject({
      name: 'anna',
      created_at: NOW_S,
      has_password: false,
      access: [],
      tokens: [],
      whitelists: {},
    });
    expect(look("[has_user('anna'), has_user('Anna'), users_info().len()]")).toEqual([true, false, 2]);
  });

  test.each([
    ["new_user('')", 'value_err'],
    ["new_user('a b')", 'value_err'],
    ["new_user('é')", 'value_err'],
    [`new_user('${'x'.repeat(128)}')`, 'value_err'],
    ['new_user(5)', 'type_err'],
    ['new_user()', 'num_arguments_err'],
    ["new_user('admin')", 'lookup_err'],
    ["del_user('nobody')", 'lookup_err'],
    ["del_user('admin')", 'operation_err'],
    ["rename_user('nobody', raise('not looked at'))", 'lookup_err'],
    ["rename_user('admin', 'admin')", 'lookup_err'],
    ["rename_user('admin', 5)", 'type_err'],
    ["rename_user('admin', 'a b')", 'value_err'],
    ['has_user(1)', 'type_err'],
    ['user_info(1)', 'type_err'],
    ["user_info('nobody')", 'lookup_err'],
  ])('%s is refused as %s', (code, name) => {
    expect(refused(code)).toBe(name);
  });

  test('may have a name of 127 characters', () => {
    expect(changed(`new_user('${'x'.repeat(127)}')`)).toBe('x'.repeat(127));
  });

  test('keeps its id, tokens and privileges under another name', () => {
    change("new_user('anna'); grant('//stuff', 'anna', QUERY); new_token('anna');");
    const id = info('anna', '.user_id');
    change("rename_user('anna', 'berta')");
    expect(look("[has_user('anna'), has_user('berta')]")).toEqual([false, true]);
    expect([info('berta', '.user_id'), info('berta', '.tokens.len()')]).toEqual([id, 1]);
    expect(info('berta', '.access')).toEqual([{ scope: '@collection:stuff', privileges: 'QUERY' }]);
  });

  test('a user that is gone leaves nothing to the next of its name', () => {
    change("new_user('anna'); grant('//stuff', 'anna', FULL); grant('@node', 'anna', QUERY);");
    const key = changed("new_token('anna')");
    const id = info('anna', '.user_id');
    change("del_user('anna')");
    expect(look(`[has_user('anna'), has_token('${String(key)}')]`)).toEqual([false, false]);
    change("new_user('anna')");
    expect(info('anna', '.access')).toEqual([]);
    expect(Number(info('anna', '.user_id'))).toBeGreaterThan(Number(id));
  });

  test('is as before when the query fails or the change is taken back', () => {
    change("new_user('anna'); grant('//stuff', 'anna', FULL); new_token('anna');");
    const before = linesOf(db.engine.root);
    const work =
      "del_user('anna'); new_user('anna'); new_user('carl'); grant('/t', 'carl', GRANT); rename_user('carl', 'dora');";
    expect(refused(`${work} raise('stop')`)).toBe('err');
    expect(linesOf(db.engine.root)).toEqual(before);
    const outcome = db.outcome(work, ROOT);
    if (outcome.kind !== 'value') throw new Error('the query failed');
    expect(linesOf(db.engine.root)).not.toEqual(before);
    takeBack(outcome.change?.undo ?? []);
    expect(linesOf(db.engine.root)).toEqual(before);
  });
});

describe('passwords', () => {
  const hash = (byte: number): PasswordHash => ({
    salt: new Uint8Array(16).fill(byte),
    hash: new Uint8Array(32).fill(byte),
    logN: 14,
    r: 8,
    p: 1,
  });

  test('are hashed before anything is changed, and only the hash is in what other nodes get', () => {
    const code = "new_user('anna'); set_password('anna', 'open sesame');";
    const before = linesOf(db.engine.root);
    expect(db.outcome(code, ROOT)).toEqual({ kind: 'hash', password: 'open sesame' });
    expect(linesOf(db.engine.root)).toEqual(before);

    const hashes = new Map([['open sesame', hash(7)]]);
    const effects = db.effects(code, { ...ROOT, hashes });
    expect(Buffer.from(effects).includes('open sesame')).toBe(false);
    expect(Buffer.from(effects).includes(Buffer.from(hash(7).hash))).toBe(true);
    follower.apply(effects);
    expect(info('anna', '.has_password')).toBe(true);
    expect(follower.usersByName.get('anna')?.password).toEqual(hash(7));
  });

  test('are removed by nil', () => {
    change("new_user('anna'); set_password('anna', 'x');", { hashes: new Map([['x', hash(1)]]) });
    change("set_password('anna', nil)");
    expect(info('anna', '.has_password')).toBe(false);
  });

  test.each([
    ["set_password('nobody', raise('not looked at'))", 'lookup_err'],
    ["set_password('admin', '')", 'value_err'],
    ["set_password('admin', 'é')", 'value_err'],
    [`set_password('admin', '${'x'.repeat(128)}')`, 'value_err'],
    ["set_password('admin', 5)", 'type_err'],
  ])('%s is refused as %s', (code, name) => {
    expect(refused(code)).toBe(name);
  });
});

describe('tokens', () => {
  test('show their key once, and their beginning afterwards', () => {
    const key = String(changed("new_token('admin', nil, 'of the tests')"));
    expect(key).toMatch(/^[A-Za-z0-9+/]{22}$/);
    const short = `${key.slice(0, 6)}...`;
    expect(info('admin', '.tokens')).toEqual([
      {
        key: short,
        status: 'OK',
        expiration_time: 'never',
        description: 'of the tests',
        created_on: '2024-05-06T07:08:09Z',
      },
    ]);
    expect(look(`[has_token('${key}'), has_token('${short}')]`)).toEqual([true, true]);
    // Whoever knows the beginning alone does not know the key.
    expect(look(`has_token('${key.slice(0, 6)}${'x'.repeat(16)}')`)).toBe(false);
  });

  test('are kept as a hash: the key is in nothing that other nodes get', () => {
    const outcome = db.outcome("new_token('admin')", ROOT);
    if (outcome.kind !== 'value' || outcome.change === null) throw new Error('no token was made');
    const key = String(db.decode(outcome.result));
    expect(Buffer.from(outcome.change.effects).includes(key)).toBe(false);
    follower.apply(outcome.change.effects);
    expect(follower.tokenByKey(key)?.user.name).toBe('admin');
  });

  test.each([
    ['the key', (key: string) => key],
    ['its beginning', (key: string) => `${key.slice(0, 6)}...`],
  ])('are deleted by %s', (_what, given) => {
    const [first, second] = [String(changed("new_token('admin')")), String(changed("new_token('admin')"))];
    change(`del_token('${given(first)}')`);
    expect(look(`[has_token('${first}'), has_token('${second}')]`)).toEqual([false, true]);
    expect(refused(`del_token('${given(first)}')`)).toBe('lookup_err');
  });

  test('expire: a second later, and the sweep takes those of all users', () => {
    change("new_user('anna')");
    const code = `
      new_token('anna', datetime(${NOW_S}));
      new_token('admin', datetime(${NOW_S + 3600}));
      new_token('admin', datetime(4294967295));`;
    change(code);
    expect(info('anna', '.tokens[0].status')).toBe('EXPIRED');
    expect(info('admin', '.tokens.map(|t| [t.status, t.expiration_time])')).toEqual([
      ['OK', '2024-05-06T08:08:09Z'],
      ['OK', '2106-02-07T06:28:15Z'],
    ]);
    // Equal to now is not yet over: nothing is deleted.
    expect(db.outcome('del_expired()', ROOT)).toMatchObject({ kind: 'value', change: null });
    db.nowMs += 1000;
    change('del_expired()');
    expect([info('anna', '.tokens.len()'), info('admin', '.tokens.len()')]).toEqual([0, 2]);
  });

  test.each([
    [`new_token('admin', datetime(${NOW_S - 1}))`, 'value_err'],
    ["new_token('admin', datetime(4294967296))", 'value_err'],
    ["new_token('admin', 5)", 'type_err'],
    ["new_token('admin', nil, nil)", 'type_err'],
    ["new_token('nobody', raise('not looked at'))", 'lookup_err'],
    ["del_token('AAAAAAAAAAAAAAAAAAAAAA')", 'lookup_err'],
    ["del_token('AAAAAA...')", 'lookup_err'],
    ["del_token('short')", 'value_err'],
    ["has_token('AAAAA...')", 'value_err'],
    ['has_token(1)', 'type_err'],
  ])('%s is refused as %s', (code, name) => {
    expect(refused(code)).toBe(name);
  });

  test('tokens of one user have a limit, which is looked at before the expiry', () => {
    change("for (i in range(100)) new_token('admin');");
    expect(refused("new_token('admin', raise('not looked at'))")).toBe('max_quota_err');
    change("new_user('anna'); new_token('anna');");
  });
});

describe('privileges', () => {
  beforeEach(() => change("new_user('anna'); grant('/t', 'anna', QUERY|CHANGE);"));

  const masks = (): Plain => info('anna', '.access.map(|a| [a.scope, a.privileges])');

  test('add up, GRANT brings CHANGE, and only what is known counts', () => {
    change("grant('//stuff', 'anna', QUERY); grant('@:stuff', 'anna', RUN); grant('@node', 'anna', GRANT);");
    expect(masks()).toEqual([
      ['@node', 'CHANGE|GRANT'],
      ['@thingsdb', 'QUERY|CHANGE'],
      ['@collection:stuff', 'QUERY|RUN'],
    ]);
    change("grant('@node', 'anna', 32); grant('//stuff', 'anna', -1);");
    expect(masks()).toEqual([
      ['@node', 'CHANGE|GRANT'],
      ['@thingsdb', 'QUERY|CHANGE'],
      ['@collection:stuff', 'FULL'],
    ]);
    change("revoke('/t', 'anna', FULL); grant('@node', 'anna', 0); grant('/t', 'anna', 0);");
    expect(masks()).toEqual([
      ['@node', 'CHANGE|GRANT'],
      ['@thingsdb', 'NO_ACCESS'],
      ['@collection:stuff', 'FULL'],
    ]);
  });

  test('go with revoke: CHANGE takes GRANT along, GRANT leaves CHANGE', () => {
    change("grant('//stuff', 'anna', FULL); revoke('//stuff', 'anna', GRANT);");
    expect(masks()).toContainEqual(['@collection:stuff', 'USER']);
    change("grant('//stuff', 'anna', GRANT); revoke('//stuff', 'anna', CHANGE);");
    expect(masks()).toContainEqual(['@collection:stuff', 'QUERY|JOIN|RUN']);
    change("revoke('//stuff', 'anna', FULL)");
    expect(masks()).toEqual([['@thingsdb', 'QUERY|CHANGE']]);
    // A privilege that is not there can be revoked, too.
    expect(look("revoke('//stuff', 'anna', FULL)")).toBeNull();
  });

  test.each([
    ["grant('stuff', 'anna', QUERY)", 'value_err'],
    ["grant('//missing', raise('not looked at'), QUERY)", 'lookup_err'],
    ["grant('//stuff', 'nobody', raise('not looked at'))", 'lookup_err'],
    ["grant('//stuff', 5, QUERY)", 'type_err'],
    ["grant('//stuff', 'anna', 'QUERY')", 'type_err'],
    ["grant('//stuff', 'anna')", 'num_arguments_err'],
    ["revoke('//stuff', 'admin', QUERY)", 'operation_err'],
    ["revoke('//stuff', 'admin', CHANGE)", 'operation_err'],
    ["revoke('/t', 'admin', GRANT)", 'operation_err'],
  ])('%s is refused as %s', (code, name) => {
    expect(refused(code)).toBe(name);
  });

  test.each(['@n:xyz', '@n:1a', '@node:0x1', '/n/1a', '@node:64'])(
    'the node %s is named by no number, so nothing is granted or revoked there, whatever stands behind it',
    (scope) => {
      change("new_user('xeno'); grant('/n', 'xeno', QUERY);");
      expect(refused(`grant('${scope}', raise('not looked at'), FULL)`)).toBe('value_err');
      expect(refused(`grant('${scope}', 'xeno', FULL)`)).toBe('value_err');
      expect(refused(`revoke('${scope}', 'xeno', QUERY)`)).toBe('value_err');
      expect(info('xeno', '.access.map(|a| [a.scope, a.privileges])')).toEqual([['@node', 'QUERY']]);
    },
  );

  test('one may take JOIN and RUN away from oneself', () => {
    change("revoke('//stuff', 'admin', JOIN|RUN)");
    expect(info('admin', '.access[2].privileges')).toBe('QUERY|CHANGE|GRANT');
  });

  test('a function that needs GRANT is refused without it, before the arguments are counted', () => {
    for (const code of [
      'new_user()',
      'del_user()',
      'rename_user()',
      'has_user()',
      'users_info(1)',
      'has_token()',
      'del_expired(1)',
      "user_info('anna')",
      "set_password('admin', 'x')",
      "new_token('admin')",
      "grant('//stuff', 'anna', FULL)",
      "grant('/t', 'anna', FULL)",
      "revoke('//stuff', 'admin', FULL)",
    ]) {
      expect([code, refused(code, { user: 'anna' })]).toEqual([code, 'forbidden_err']);
    }
  });

  test('a user who may not administer others hears first of a user that does not exist', () => {
    for (const code of ["set_password('nobody', 'x')", "new_token('nobody')"]) {
      expect([code, refused(code, { user: 'anna' })]).toEqual([code, 'lookup_err']);
    }
  });

  test("one's own password and tokens need none, and others' tokens are not even known", () => {
    const theirs = String(changed("new_token('admin')"));
    expect(db.outcome("set_password('anna', 'x')", { ...ROOT, user: 'anna' })).toMatchObject({
      kind: 'hash',
    });
    change("new_token('anna')", { user: 'anna' });
    const mine = String(look('user_info().load().tokens[0].key', { user: 'anna' }));
    expect(refused(`del_token('${theirs}')`, { user: 'anna' })).toBe('lookup_err');
    change(`del_token('${mine}')`, { user: 'anna' });
    expect(look(`has_token('${theirs}')`)).toBe(true);
  });

  test('GRANT on a collection is enough to give rights on it, more than one has oneself', () => {
    change("grant('//stuff', 'anna', GRANT); new_user('carl');");
    change("grant('//stuff', 'carl', FULL)", { user: 'anna' });
    expect(info('carl', '.access[0].privileges')).toBe('FULL');
    expect(refused("grant('@node', 'carl', QUERY)", { user: 'anna' })).toBe('forbidden_err');
  });

  test('user_info of others is asked for in the root scope', () => {
    change("grant('//stuff', 'anna', QUERY)");
    expect(db.run('user_info().load().name', { user: 'anna' })).toBe('anna');
    expect(db.error("user_info('anna')", { user: 'anna' })).toBe('forbidden_err');
    expect(db.error("user_info('anna')")).toBe('forbidden_err');
    expect(db.error("new_user('x')")).toBe('lookup_err');
  });
});

test('there are only so many users', () => {
  change("for (i in range(99)) new_user('u' + str(i));");
  expect(refused("new_user('one_more')")).toBe('max_quota_err');
  change("del_user('u7'); new_user('one_more');");
});

test('a checkpoint brings users, tokens and privileges back', () => {
  change(
    "new_user('anna'); grant('//stuff', 'anna', FULL); new_token('anna', nil, 'ü'); grant('@node', 'anna', 0);",
  );
  const saved = db.engine.root.dirty.freeze(() => {});
  const loaded = new RootGroup();
  loaded.apply(db.foundation);
  loaded.clear();
  for (const { kind, id, value } of saved.records.values())
    if (value !== null) loaded.loadRecord(kind, id, value);
  loaded.loadRecord(RecordKind.META, 0, db.engine.root.encodeMeta());
  expect(linesOf(loaded)).toEqual(linesOf(db.engine.root));
  expect(loaded.tokenByPrefix(String(info('anna', '.tokens[0].key')).slice(0, 6))?.user.name).toBe('anna');
});
