import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { PasswordHash } from '../admin/user.js';
import { NOW_MS } from '../testing/harness.js';
import { linesOf, RootBench, reloaded } from '../testing/root-bench.js';

const ROOT = { scope: 'thingsdb' } as const;
const HASH = `12345678$1${'a'.repeat(53)}`;
const KEY = 'abcdefghijklmnopqrstuv';
const password: PasswordHash = {
  salt: new Uint8Array(16).fill(3),
  hash: new Uint8Array(32),
  logN: 0,
  r: 1,
  p: 1,
};
const hashes = new Map([[HASH, password]]);

let { db, follower, change, look, refused } = new RootBench();

beforeEach(() => {
  ({ db, follower, change, look, refused } = new RootBench());
});

afterEach(() => {
  expect(linesOf(follower)).toEqual(linesOf(db.engine.root));
  expect(linesOf(reloaded(db.engine.root))).toEqual(linesOf(db.engine.root));
});

const WANTED = `{created_at: 7, password_hash: '${HASH}', tokens: [{key: '${KEY}', created_at: 5, expires_at: 4294967295, description: 'x'}]}`;

describe('import_user', () => {
  test('makes a user with the password and the tokens that it had', () => {
    change(`import_user('bob', ${WANTED});`, { hashes });
    const user = db.engine.root.usersByName.get('bob');
    expect(user).toMatchObject({ createdAt: 7, password: { ...password, thingsdbSalt: '12345678$1' } });
    expect(look(`[has_token('${KEY}'), user_info('bob').load().tokens.len()]`)).toEqual([true, 1]);
  });

  test('changes nothing where it was done before, and says so', () => {
    change(`import_user('bob', ${WANTED});`, { hashes });
    const again = db.outcome(`import_user('bob', ${WANTED});`, { ...ROOT, hashes });
    expect(again.kind === 'value' && db.decode(again.result)).toEqual({
      user: false,
      password: false,
      tokens: 0,
    });
    expect(again.kind === 'value' && again.change).toBe(null);
  });

  test('leaves the password of a user who has one', () => {
    change("new_user('bob'); set_password('bob', 'x');", { hashes: new Map([['x', { ...password, r: 9 }]]) });
    change(`import_user('bob', ${WANTED});`, { hashes });
    expect(db.engine.root.usersByName.get('bob')?.password).toMatchObject({ r: 9 });
    expect(db.engine.root.usersByName.get('bob')).toMatchObject({ createdAt: Math.floor(NOW_MS / 1000) });
  });

  test.each([
    ["import_user('a b', {})", 'value_err'],
    ["import_user('bob', {color: 1})", 'value_err'],
    ["import_user('bob', {password_hash: 'secret'})", 'value_err'],
    ["import_user('bob', {created_at: -1})", 'value_err'],
    ["import_user('bob', {created_at: 'now'})", 'value_err'],
    ["import_user('bob', {tokens: 1})", 'value_err'],
    ["import_user('bob', {tokens: [1]})", 'value_err'],
    ["import_user('bob', {tokens: [{key: 'short'}]})", 'value_err'],
    [`import_user('bob', {tokens: [{key: '${KEY}', age: 1}]})`, 'value_err'],
    [`import_user('bob', {tokens: [{key: '${KEY}'}, {key: '${KEY}'}]})`, 'value_err'],
    ["import_user('bob')", 'num_arguments_err'],
    ["import_user('bob', 1)", 'type_err'],
  ])('%s is refused as %s', (code, name) => {
    expect(refused(code)).toBe(name);
  });

  test('gives nobody the token of another user', () => {
    change(`import_user('bob', {tokens: [{key: '${KEY}'}]});`);
    expect(refused(`import_user('eve', {tokens: [{key: '${KEY}'}]})`)).toBe('lookup_err');
  });

  test('takes the right to make users', () => {
    change("new_user('eve'); grant('@thingsdb', 'eve', QUERY | CHANGE);");
    expect(refused("import_user('bob', {})", { user: 'eve' })).toBe('forbidden_err');
  });
});
