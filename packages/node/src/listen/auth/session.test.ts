import { ErrorCode, keyHash, QueryError, RootGroup, type User, type UserSession } from '@althing/engine';
import { describe, expect, test } from '@jest/globals';
import { newSaltKey } from '../../base/password-salts.js';
import { ORDINARY_TERMS } from '../../groups/request.js';
import { MiniCluster } from '../../testing/index.js';
import { Session } from './session.js';

/** The saltKey of a session, as its requests carry it. */
function keyOf(session: Session): Uint8Array {
  const { saltKey } = session.ownPassword ?? {};
  if (saltKey === undefined) throw new Error('the login does not depend on a password');
  return saltKey;
}

describe.each([
  ['the leader', 1],
  ['a follower', 2],
])('a login by password at %s', (_, node) => {
  async function begin() {
    const cluster = await MiniCluster.begin(3);
    const { root } = cluster.node(node).engine;
    const set = async (code: string, saltKey?: Uint8Array): Promise<void> => {
      const reply = cluster.node(node).query('/t', code, saltKey === undefined ? {} : { saltKey });
      await cluster.pass(50);
      expect((await reply).ok).toBe(true);
      await cluster.settle();
    };
    const logIn = (): Session => new Session(root, root.usersByName.get('ann') as User, null);
    await set("new_user('ann'); set_password('ann', 'first');");
    return { root, set, logIn };
  }
  const codeOf = (session: Session): number => {
    const checked = session.check(0);
    return checked instanceof QueryError ? checked.code : 0;
  };

  test('outlasts a password that its own request sets, and one in a future; others do not', async () => {
    const { set, logIn } = await begin();
    const own = logIn();
    const other = logIn();
    await set("set_password('ann', 'second');", keyOf(own));
    expect([codeOf(own), codeOf(other)]).toEqual([0, ErrorCode.AUTH]);
    await set("future(|| set_password('ann', 'third'));", keyOf(own));
    expect(codeOf(own)).toBe(0);
    const next = logIn();
    await set("set_password('ann', 'fourth');", keyOf(next));
    expect([codeOf(own), codeOf(next)]).toEqual([ErrorCode.AUTH, 0]);
  });

  test('is not judged by users that are being read from a snapshot', async () => {
    const { root, logIn } = await begin();
    const session = logIn();
    const user = root.usersByName.get('ann') as User;
    root.clear();
    expect(codeOf(session)).toBe(0);
    root.loaded();
    expect(codeOf(session)).toBe(ErrorCode.AUTH);
    root.putUser(user);
    expect(codeOf(session)).toBe(0);
  });

  test('ends with a password that somebody else sets, none, and the user', async () => {
    const { set, logIn } = await begin();
    for (const [code, saltKey] of [
      ["set_password('ann', 'x');", undefined],
      ["set_password('ann', 'x');", newSaltKey()],
      ["set_password('ann', nil);", undefined],
      ["del_user('ann');", undefined],
    ] as const) {
      await set("set_password('ann', 'y');");
      const session = logIn();
      expect(codeOf(session)).toBe(0);
      await set(code, saltKey);
      expect([code, codeOf(session)]).toEqual([code, ErrorCode.AUTH]);
    }
  });
});

describe('a login by a session', () => {
  const KEY = 'ses_AAAAAAAAAAAAAAAAAAAAAA';
  const session = (expiresAt: number, readOnly = false): UserSession => ({
    hash: keyHash(KEY),
    proof: new Uint8Array(),
    createdAt: 0,
    expiresAt,
    readOnly,
  });
  const begin = (readOnly = false) => {
    const root = new RootGroup();
    root.putUser({ id: 1, name: 'ann', createdAt: 0, password: null, tokens: [] });
    root.sessions.set(1, [session(1000, readOnly)]);
    return { root, login: Session.of(root, root.usersByName.get('ann') as User, `Bearer ${KEY}`) };
  };
  const isIn = (login: Session, now: number): boolean => !(login.check(now) instanceof QueryError);

  test('lasts as long as the session, and longer when that is renewed', () => {
    const { root, login } = begin();
    expect([isIn(login, 999), isIn(login, 1000)]).toEqual([true, false]);
    root.sessions.set(1, [session(2000)]);
    expect([isIn(login, 1999), isIn(login, 2000)]).toEqual([true, false]);
    expect(login.ownPassword).toBeNull();
  });

  test('ends with the session', () => {
    const { root, login } = begin();
    root.sessions.set(1, []);
    expect(isIn(login, 0)).toBe(false);
  });

  test('a session that is read-only makes every request so, whatever it asks for', () => {
    const { login } = begin(true);
    expect(login.termsFor(null)).toEqual({ ...ORDINARY_TERMS, readOnly: true });
    const terms = { ...ORDINARY_TERMS, minIndex: 7 };
    expect(login.termsFor(terms)).toEqual({ ...terms, readOnly: true });
    expect([begin().login.termsFor(null), begin().login.termsFor(terms)]).toEqual([null, terms]);
  });
});
