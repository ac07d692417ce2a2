import { beforeEach, describe, expect, test } from '@jest/globals';
import { rootLines } from '../admin/describe.js';
import { RootGroup } from '../admin/root-group.js';
import { SESSIONS_PER_USER } from '../admin/sessions.js';
import { TOKEN_PREFIX_LENGTH, type User } from '../admin/user.js';
import type { Outcome } from '../calls/call.js';
import { errorName } from '../error.js';
import { RecordKind } from '../state/records.js';
import { takeBack } from '../state/transaction.js';
import { Harness, NOW_MS, SESSION_LIMITS } from '../testing/harness.js';
import type { SessionAsk } from './session-requests.js';
import { keyHash } from './users.js';

let db = new Harness();

beforeEach(() => {
  db = new Harness();
  db.nowMs = NOW_MS;
  db.run("new_user('ann'); set_password('ann', 'secret');", {
    scope: 'thingsdb',
    hashes: new Map([['secret', passwordOf(1)]]),
  });
});

const passwordOf = (salt: number) => ({
  salt: new Uint8Array(16).fill(salt),
  hash: new Uint8Array(32),
  logN: 0,
  r: 1,
  p: 1,
});
const hashOf = (name: string): Uint8Array => keyHash(name);
const ann = (): User => {
  const user = db.engine.root.usersByName.get('ann');
  if (user === undefined) throw new Error('ann is gone');
  return user;
};

function ask(wanted: SessionAsk): Outcome {
  const scope = db.engine.scope('thingsdb');
  if (scope === undefined) throw new Error('there is no root scope');
  return db.engine.run({ scope, user: ann(), body: { kind: 'session', ask: wanted }, format: 'msgpack' });
}

const begin = (name: string, proof: Uint8Array = passwordOf(1).salt, readOnly = false): Outcome =>
  ask({ act: 'begin', hash: hashOf(name), proof, readOnly });
const renew = (name: string): Outcome => ask({ act: 'renew', hash: hashOf(name) });
const end = (name: string): Outcome => ask({ act: 'end', hash: hashOf(name) });

/** The answer to a client: Unix seconds, nil, or the name of an error. */
function told(outcome: Outcome): unknown {
  if (outcome.kind === 'error') return errorName(outcome.error.code);
  return outcome.kind === 'value' ? db.decode(outcome.result) : outcome.kind;
}
const changed = (outcome: Outcome): boolean => outcome.kind === 'value' && outcome.change !== null;
const left = (): number => db.engine.root.sessions.of(ann().id).length;
const shown = (): unknown =>
  db.run("user_info('ann').load().get('sessions', []).map(|s| s.id)", { scope: 'thingsdb' });
const idOf = (name: string): string => Buffer.from(hashOf(name)).toString('hex').slice(0, 12);
const inSeconds = (ms: number): number => Math.floor((db.nowMs + ms) / 1000);

describe('a session', () => {
  test('begins for a user without any privilege, and lasts as long as it may stay idle', () => {
    expect(told(begin('a'))).toBe(inSeconds(SESSION_LIMITS.idleMs));
    expect(shown()).toEqual([idOf('a')]);
    expect(db.engine.root.sessions.byHashOfKey(hashOf('a'))).toMatchObject({ userId: ann().id });
    expect(db.engine.root.sessions.byHashOfKey(hashOf('b'))).toBeUndefined();
  });

  test('is one though it was begun twice under the same hash', () => {
    begin('a');
    db.nowMs += 60_000;
    const again = begin('a');
    expect(changed(again)).toBe(false);
    expect(told(again)).toBe(inSeconds(SESSION_LIMITS.idleMs - 60_000));
    expect(left()).toBe(1);
  });

  test('is renewed by a change only when that brings much, and never beyond its longest time', () => {
    begin('a');
    db.nowMs += 299_000;
    expect(changed(renew('a'))).toBe(false);
    db.nowMs += 1000;
    const renewed = renew('a');
    expect(changed(renewed)).toBe(true);
    expect(told(renewed)).toBe(inSeconds(SESSION_LIMITS.idleMs));
    const last = Math.floor((NOW_MS + SESSION_LIMITS.maxMs) / 1000);
    while (db.nowMs < NOW_MS + SESSION_LIMITS.maxMs - 600_000) {
      db.nowMs += 600_000;
      expect(told(renew('a'))).toBeLessThanOrEqual(last);
    }
    expect(told(renew('a'))).toBe(last);
    db.nowMs = NOW_MS + SESSION_LIMITS.maxMs;
    expect(told(renew('a'))).toBe('auth_err');
  });

  test('can not be renewed any more once it has expired or ended', () => {
    begin('a');
    begin('b');
    expect(told(end('a'))).toBeNull();
    expect(changed(end('a'))).toBe(false);
    db.nowMs += SESSION_LIMITS.idleMs;
    expect([told(renew('a')), told(renew('b')), shown()]).toEqual(['auth_err', 'auth_err', []]);
    expect(left()).toBe(1);
    db.run('del_expired();', { scope: 'thingsdb' });
    expect(left()).toBe(0);
  });

  test('ends with the password that it was begun with, and needs it when it begins', () => {
    begin('a');
    const hashes = new Map([['other', passwordOf(2)]]);
    db.run("set_password('ann', 'other');", { scope: 'thingsdb', hashes });
    expect(left()).toBe(0);
    expect(told(begin('b'))).toBe('auth_err');
    expect(told(begin('b', passwordOf(2).salt))).toBe(inSeconds(SESSION_LIMITS.idleMs));
    db.run("rename_user('ann', 'anne'); rename_user('anne', 'ann');", { scope: 'thingsdb' });
    expect(left()).toBe(1);
    db.run("set_password('ann', nil);", { scope: 'thingsdb' });
    expect(left()).toBe(0);
  });

  test('ends with the token that it was begun with, and expires no later', () => {
    const soon = Math.floor(NOW_MS / 1000) + 60;
    const key = String(db.run(`new_token('ann', datetime(${soon}));`, { scope: 'thingsdb' }));
    expect(told(begin('a', keyHash(key)))).toBe(soon);
    const lasting = String(db.run("new_token('ann');", { scope: 'thingsdb' }));
    expect(told(begin('b', keyHash(lasting)))).toBe(inSeconds(SESSION_LIMITS.idleMs));
    db.run(`del_token('${lasting.slice(0, TOKEN_PREFIX_LENGTH)}...');`, { scope: 'thingsdb' });
    expect(left()).toBe(1);
    db.run(`del_token('${key}');`, { scope: 'thingsdb' });
    expect(left()).toBe(0);
  });

  test('is shown with its times, and ended by its id', () => {
    begin('a', passwordOf(1).salt, true);
    db.nowMs += 1000;
    begin('b');
    const iso = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
    expect(db.run("user_info('ann').load().sessions[0]", { scope: 'thingsdb' })).toEqual({
      id: idOf('a'),
      created_on: iso(NOW_MS),
      expiration_time: iso(NOW_MS + SESSION_LIMITS.idleMs),
      read_only: true,
    });
    expect(db.run(`del_sessions('ann', '${idOf('a')}')`, { scope: 'thingsdb' })).toBe(1);
    expect(db.run(`del_sessions('ann', '${idOf('a')}')`, { scope: 'thingsdb' })).toBe(0);
    expect(shown()).toEqual([idOf('b')]);
    expect(told(renew('a'))).toBe('auth_err');
  });

  test('ends with its user, and del_sessions ends those of one', () => {
    begin('a');
    begin('b');
    expect(db.run("del_sessions('ann')", { scope: 'thingsdb' })).toBe(2);
    expect(db.run("del_sessions('ann')", { scope: 'thingsdb' })).toBe(0);
    expect(db.error("del_sessions('nobody')", { scope: 'thingsdb' })).toBe('lookup_err');
    begin('c');
    const { id } = ann();
    db.run("del_user('ann');", { scope: 'thingsdb' });
    expect(db.engine.root.sessions.of(id)).toEqual([]);
    expect(db.engine.root.sessions.byHashOfKey(hashOf('c'))).toBeUndefined();
  });
});

describe('many sessions of one user', () => {
  test('push out the one that was not used for the longest time', () => {
    for (let i = 0; i < SESSIONS_PER_USER; i++) {
      begin(`s${i}`);
      db.nowMs += 10_000;
    }
    db.nowMs += SESSION_LIMITS.idleMs / 6;
    renew('s0');
    expect(told(begin('one more'))).toBe(inSeconds(SESSION_LIMITS.idleMs));
    expect(left()).toBe(SESSIONS_PER_USER);
    expect(told(renew('s1'))).toBe('auth_err');
    expect(told(renew('s0'))).toBe(inSeconds(SESSION_LIMITS.idleMs));
  });

  test('are refused when all were begun within a minute', () => {
    for (let i = 0; i < SESSIONS_PER_USER; i++) begin(`s${i}`);
    expect(told(begin('one more'))).toBe('max_quota_err');
    db.nowMs -= 1000;
    expect(told(begin('after the clock was set back'))).toBe(inSeconds(SESSION_LIMITS.idleMs));
    db.nowMs += 61_000;
    expect(told(begin('a minute later'))).toBe(inSeconds(SESSION_LIMITS.idleMs));
  });
});

describe('the state', () => {
  test('is as before when a change of sessions is taken back', () => {
    begin('a', undefined, true);
    const before = rootLines(db.engine.root);
    for (const change of [
      () => begin('b'),
      () => end('a'),
      () => db.outcome("del_user('ann');", { scope: 'thingsdb' }),
      () => db.outcome("set_password('ann', nil);", { scope: 'thingsdb' }),
    ]) {
      const outcome = change();
      if (outcome.kind !== 'value' || outcome.change === null) throw new Error('nothing changed');
      expect(rootLines(db.engine.root)).not.toEqual(before);
      takeBack(outcome.change.undo);
      expect(rootLines(db.engine.root)).toEqual(before);
    }
  });

  test('is the same on a node that follows, and on one that starts again', () => {
    const follower = new RootGroup();
    const outcome = begin('a', undefined, true);
    if (outcome.kind !== 'value' || outcome.change === null) throw new Error('nothing changed');
    follower.apply(outcome.change.effects);
    expect(follower.sessions.all).toEqual(db.engine.root.sessions.all);
    const restarted = new RootGroup();
    restarted.loadRecord(RecordKind.SESSIONS, ann().id, recordOf(RecordKind.SESSIONS));
    expect(restarted.sessions.all).toEqual(db.engine.root.sessions.all);
  });

  test('has no sessions after a restore', () => {
    begin('a');
    const restored = new RootGroup();
    for (const kind of [RecordKind.USER, RecordKind.SESSIONS]) {
      restored.restoreRecord({ kind, id: ann().id, part: 0, value: recordOf(kind) });
    }
    expect(restored.usersByName.has('ann')).toBe(true);
    expect(restored.sessions.all.size).toBe(0);
  });
});

/** The record that the next checkpoint would write for ann. */
function recordOf(kind: RecordKind): Uint8Array {
  const value = db.engine.root.dirty.pending(kind, ann().id, 0)?.value;
  if (!value) throw new Error('there is no such record');
  return value;
}

describe('a password that came as a hash of ThingsDB', () => {
  const own = new Uint8Array(32).fill(9);
  const rehash = (proof: Uint8Array): Outcome => ask({ act: 'rehash', hash: own, proof });

  beforeEach(() => {
    const { root } = db.engine;
    root.putUser({ ...ann(), password: { ...passwordOf(1), thingsdbSalt: '12345678$1' } });
  });

  test('gets a hash of its own with the first login, which ends no session and is no event', () => {
    begin('one');
    const { events } = db.engine.root;
    events.splice(0);
    expect(changed(rehash(passwordOf(1).salt))).toBe(true);
    expect(ann().password).toEqual({ ...passwordOf(1), hash: own });
    expect([left(), events]).toEqual([1, []]);
    expect(changed(rehash(passwordOf(1).salt))).toBe(false);
  });

  test('keeps its hash when another password was set meanwhile', () => {
    expect(changed(rehash(passwordOf(2).salt))).toBe(false);
    expect(ann().password?.thingsdbSalt).toBe('12345678$1');
  });
});
