import {
  keyHash,
  type PasswordHash,
  RootGroup,
  type Token,
  type User,
  type UserSession,
} from '@althing/engine';
import { describe, expect, test } from '@jest/globals';
import { PasswordHasher, TooManyLoginsError } from '../../requests/password.js';
import { basic, until } from '../../testing/index.js';
import { Authenticator, type Login } from './authenticator.js';
import { Backoff } from './backoff.js';

const KEY = 'abcdefghij0123456789+/';
const HERE = '10.0.0.1';
const THERE = '10.0.0.2';

/** A hasher that compares in no time, and counts. */
class QuickHasher extends PasswordHasher {
  checks = 0;
  busy = false;
  /** Why no hash can be computed; null: it can. */
  problem: Error | null = null;
  /** Work while the next hash is computed. */
  meanwhile: () => void = () => {};

  override verify(password: string, expected: PasswordHash | null): Promise<boolean> {
    this.checks += 1;
    if (this.problem !== null) return Promise.reject(this.problem);
    if (this.busy) return Promise.reject(new TooManyLoginsError('busy'));
    const { meanwhile } = this;
    this.meanwhile = () => {};
    meanwhile();
    return Promise.resolve(expected !== null && Buffer.from(expected.hash).toString() === password);
  }
}

function hashOf(password: string): PasswordHash {
  return { salt: new Uint8Array(16), hash: Buffer.from(password), logN: 15, r: 8, p: 1 };
}

function tokenOf(key: string, expiresAt: number | null = null): Token {
  return { prefix: key.slice(0, 6), hash: keyHash(key), createdAt: 0, expiresAt, description: '' };
}

function setUp({ delayMs = 0, cacheMs = 60_000 } = {}) {
  const root = new RootGroup();
  root.putUser({ id: 1, name: 'admin', createdAt: 0, password: hashOf('pass'), tokens: [] });
  const clock = { now: 1_000_000 };
  const delays: { readonly ms: number; readonly callback: () => void }[] = [];
  const hasher = new QuickHasher();
  const defects: unknown[] = [];
  const foreign: string[] = [];
  const others = { freshen: async (): Promise<boolean> => true };
  const authenticator = new Authenticator({
    root,
    freshen: () => others.freshen(),
    hasher,
    backoff: new Backoff(
      { delayMs, delayMaxMs: 30_000, waitingMax: 4, checkingMax: 32, keysMax: 100 },
      () => clock.now,
    ),
    cacheMs,
    onForeignHash: ({ name }, password) => foreign.push(`${name} ${password}`),
    onDefect: (error) => defects.push(error),
    now: () => clock.now,
    clock: {
      after: (ms, callback) => {
        if (ms === 0) callback();
        else delays.push({ ms, callback });
        return () => {};
      },
    },
  });
  const admin = (): User => {
    const user = root.usersByName.get('admin');
    if (user === undefined) throw new Error('no admin');
    return user;
  };
  const change = (changes: Partial<User>) => root.putUser({ ...admin(), ...changes });
  const login = (header: string, address = HERE) =>
    new Promise<Login>((resolve) => authenticator.login(header, address, { done: resolve }));
  return { defects, foreign, others, root, clock, delays, hasher, authenticator, admin, change, login };
}

describe('passwords', () => {
  test('are checked slowly once, then known for a while', async () => {
    const { authenticator, login, hasher, clock } = setUp();
    const header = basic('admin', 'pass');
    expect(authenticator.known(header)).toBeNull();
    expect(await login(header)).toMatchObject({ kind: 'user', user: { name: 'admin' } });
    expect(authenticator.known(header)?.user.name).toBe('admin');
    clock.now += 60_000;
    expect(authenticator.known(header)?.user.name).toBe('admin');
    clock.now += 1;
    expect(authenticator.known(header)).toBeNull();
    expect(hasher.checks).toBe(1);
  });

  test('passwords that came as hashes of ThingsDB are told, once they are right, so that they get hashes of their own', async () => {
    const { foreign, change, login } = setUp();
    await login(basic('admin', 'pass'));
    change({ password: { ...hashOf('pass'), thingsdbSalt: '12345678$1' } });
    await login(basic('admin', 'wrong'));
    expect(foreign).toEqual([]);
    await login(basic('admin', 'pass'));
    expect(foreign).toEqual(['admin pass']);
  });

  test('are checked every time when nothing is to be remembered', async () => {
    const { authenticator, login } = setUp({ cacheMs: 0 });
    await login(basic('admin', 'pass'));
    expect(authenticator.known(basic('admin', 'pass'))).toBeNull();
  });

  test('passwords that were changed, removed, or whose user is gone are known no more, at once', async () => {
    for (const end of [
      ({ change }: ReturnType<typeof setUp>) => change({ password: hashOf('other') }),
      // The same password again has another hash.
      ({ change }: ReturnType<typeof setUp>) => change({ password: hashOf('pass') }),
      ({ change }: ReturnType<typeof setUp>) => change({ password: null }),
      ({ root, admin }: ReturnType<typeof setUp>) => root.deleteUser(admin().id),
    ]) {
      const parts = setUp();
      const header = basic('admin', 'pass');
      await parts.login(header);
      expect(parts.authenticator.known(header)).not.toBeNull();
      expect(parts.authenticator.remembered(header)?.user.name).toBe('admin');
      end(parts);
      expect(parts.authenticator.remembered(header)).toBeNull();
      expect(parts.authenticator.known(header)).toBeNull();
    }
  });

  test('passwords that were changed and checked again are known at once', async () => {
    const { authenticator, login, change, hasher } = setUp();
    const header = basic('admin', 'pass');
    await login(header);
    expect(authenticator.known(header)?.user.name).toBe('admin');
    change({ password: hashOf('pass') });
    expect(authenticator.known(header)).toBeNull();
    await login(header);
    expect(authenticator.known(header)?.user.name).toBe('admin');
    expect(hasher.checks).toBe(2);
  });

  test('are forgotten as they are after a second, whether more requests come or not', async () => {
    const { authenticator, login, delays } = setUp();
    const header = basic('admin', 'pass');
    await login(header);
    const { recent } = authenticator as unknown as { recent: ReadonlyMap<string, unknown> };
    for (let second = 1; second <= 2; second++) {
      for (let i = 0; i < 3; i++) expect(authenticator.known(header)?.user.name).toBe('admin');
      expect([...recent.keys()]).toEqual([header]);
      expect(delays).toHaveLength(second);
      expect(delays.at(-1)?.ms).toBe(1000);
      delays.at(-1)?.callback();
      expect(recent.size).toBe(0);
    }
  });

  test('are kept as they are in bounded number', async () => {
    const { authenticator, root, login } = setUp();
    const { recent } = authenticator as unknown as { recent: ReadonlyMap<string, unknown> };
    for (let i = 0; i < 1100; i++) {
      root.putUser({ id: 10 + i, name: `user${i}`, createdAt: 0, password: hashOf('pass'), tokens: [] });
      const header = basic(`user${i}`, 'pass');
      await login(header);
      expect(authenticator.known(header)?.user.name).toBe(`user${i}`);
      expect(recent.size).toBeLessThanOrEqual(1000);
      expect(recent.has(header)).toBe(true);
    }
  });

  test('are known by the name they were given with only', async () => {
    const { authenticator, login, change } = setUp();
    await login(basic('admin', 'pass'));
    change({ name: 'renamed' });
    expect(authenticator.known(basic('admin', 'pass'))).toBeNull();
    expect(await login(basic('admin', 'pass'))).toEqual({ kind: 'refused' });
    expect(await login(basic('renamed', 'pass'))).toMatchObject({ kind: 'user' });
  });

  test('passwords of a user who gets a token stay known', async () => {
    const { authenticator, login, change } = setUp();
    await login(basic('admin', 'pass'));
    change({ tokens: [tokenOf(KEY)] });
    expect(authenticator.known(basic('admin', 'pass'))?.user.tokens).toHaveLength(1);
  });

  test('passwords that change while they are checked do not let anybody in', async () => {
    const { login, change } = setUp();
    const checked = login(basic('admin', 'pass'));
    change({ password: hashOf('other') });
    expect(await checked).toEqual({ kind: 'refused' });
  });

  test('passwords that many requests bring at once are checked once', async () => {
    const { login, hasher } = setUp();
    const right = Array.from({ length: 1000 }, () => login(basic('admin', 'pass')));
    const wrong = Array.from({ length: 1000 }, () => login(basic('admin', 'wrong')));
    for (const outcome of await Promise.all(right)) expect(outcome).toMatchObject({ kind: 'user' });
    for (const outcome of await Promise.all(wrong)) expect(outcome).toEqual({ kind: 'refused' });
    expect(hasher.checks).toBe(2);
  });

  test.each([
    ['a wrong password', basic('admin', 'nope')],
    ['an empty password', basic('admin', '')],
    ['an unknown user', basic('nobody', 'pass')],
    ['a name in another case', basic('Admin', 'pass')],
    ['a name of objects', basic('__proto__', 'pass')],
  ])('%s is refused after the same work', async (_what, header) => {
    const { login, hasher, authenticator } = setUp();
    expect(await login(header)).toEqual({ kind: 'refused' });
    expect(hasher.checks).toBe(1);
    expect(authenticator.known(header)).toBeNull();
  });

  test('a user without a password is refused, also with an empty one', async () => {
    const { login, change } = setUp();
    change({ password: null });
    expect(await login(basic('admin', ''))).toEqual({ kind: 'refused' });
    expect(await login(basic('admin', 'pass'))).toEqual({ kind: 'refused' });
  });

  test('passwords that can not be checked now are no failure', async () => {
    const { login, hasher } = setUp({ delayMs: 100 });
    hasher.busy = true;
    expect(await login(basic('admin', 'pass'))).toEqual({ kind: 'busy' });
    hasher.busy = false;
    expect(await login(basic('admin', 'pass'))).toMatchObject({ kind: 'user' });
  });

  test('passwords whose hash fails for another reason are put off, and the reason is told', async () => {
    const { login, hasher, defects } = setUp();
    hasher.problem = new Error('no memory for the hash');
    expect(await login(basic('admin', 'pass'))).toEqual({ kind: 'busy' });
    expect(defects).toEqual([hasher.problem]);
    hasher.problem = null;
    expect(await login(basic('admin', 'pass'))).toMatchObject({ kind: 'user' });
  });
});

describe('tokens', () => {
  test.each(['Bearer', 'bearer', 'Token', 'TOKEN'])('%s KEY is known at once', (scheme) => {
    const { authenticator, change, hasher } = setUp();
    change({ tokens: [tokenOf(KEY)] });
    expect(authenticator.known(`${scheme} ${KEY}`)?.user.name).toBe('admin');
    expect(hasher.checks).toBe(0);
  });

  test('a deleted one is known no more, at once', () => {
    const { authenticator, change, root, admin } = setUp();
    change({ tokens: [tokenOf(KEY)] });
    change({ tokens: [] });
    expect(authenticator.known(`Bearer ${KEY}`)).toBeNull();
    change({ tokens: [tokenOf(KEY)] });
    root.deleteUser(admin().id);
    expect(authenticator.known(`Bearer ${KEY}`)).toBeNull();
  });

  test('one that expires is good through its last second', () => {
    const { authenticator, change, clock } = setUp();
    change({ tokens: [tokenOf(KEY, 1000)] });
    clock.now = 1_000_999;
    expect(authenticator.known(`Bearer ${KEY}`)).not.toBeNull();
    clock.now = 1_001_000;
    expect(authenticator.known(`Bearer ${KEY}`)).toBeNull();
  });

  test('one that was used before is looked at again whenever users change, and at its end', () => {
    const { authenticator, change, clock } = setUp();
    const known = (): number | undefined => authenticator.known(`Bearer ${KEY}`, () => HERE)?.user.createdAt;
    const remembered = (): number | undefined => authenticator.remembered(`Bearer ${KEY}`)?.user.createdAt;
    change({ tokens: [tokenOf(KEY, 1000)] });
    clock.now = 900_000;
    expect(remembered()).toBeUndefined();
    expect([known(), known(), known(), remembered()]).toEqual([0, 0, 0, 0]);
    change({ createdAt: 1 });
    expect(remembered()).toBeUndefined();
    expect([known(), known(), known(), remembered()]).toEqual([1, 1, 1, 1]);
    clock.now = 1_001_000;
    expect([remembered(), known()]).toEqual([undefined, undefined]);
    clock.now = 900_000;
    expect([remembered(), known(), known()]).toEqual([1, 1, 1]);
    change({ tokens: [] });
    expect([remembered(), known()]).toEqual([undefined, undefined]);
  });

  test.each([
    ['the shortened form', `${KEY.slice(0, 6)}...`],
    ['the beginning', KEY.slice(0, 6)],
    ['another end', `${KEY.slice(0, 21)}x`],
    ['more than the key', `${KEY}x`],
    ['another case', KEY.toUpperCase()],
    ['nothing', ''],
  ])('%s lets nobody in', async (_what, key) => {
    const { authenticator, change, login } = setUp();
    change({ tokens: [tokenOf(KEY)] });
    expect(authenticator.known(`Bearer ${key}`)).toBeNull();
    expect(await login(`Bearer ${key}`)).toEqual({ kind: 'refused' });
  });
});

describe('failures', () => {
  const wrong = (i: number) => basic('admin', `wrong${i}`);

  test('are answered later and later; a success is not delayed, and the next failures begin anew', async () => {
    const { login, delays } = setUp({ delayMs: 100 });
    for (let i = 0; i < 3; i++) {
      void login(wrong(i), `10.0.1.${i}`);
      await until(() => delays.length === i + 1, 'the failure is noted');
    }
    expect(delays.map(({ ms }) => ms)).toEqual([100, 100, 100]);
    void login(wrong(3), '10.0.1.0');
    await until(() => delays.length === 4, 'the failure is noted');
    expect(delays[3]?.ms).toBe(200);
    expect(await login(basic('admin', 'pass'), '10.0.1.0')).toMatchObject({ kind: 'user' });
  });

  test('checks that wait are bounded; then attempts are put off without a check', async () => {
    const { login, delays, hasher } = setUp({ delayMs: 100 });
    for (let i = 0; i < 4; i++) void login(wrong(i));
    await until(() => delays.length === 4, 'all are noted');
    const checks = hasher.checks;
    for (let i = 0; i < 1000; i++) expect(await login(wrong(100 + i))).toEqual({ kind: 'busy' });
    expect(hasher.checks).toBe(checks);
  });

  test('shut nobody out who comes from elsewhere, or is known', async () => {
    const { login, delays, authenticator, change } = setUp({ delayMs: 100 });
    change({ tokens: [tokenOf(KEY)] });
    await login(basic('admin', 'pass'));
    for (let i = 0; i < 4; i++) void login(wrong(i));
    await until(() => delays.length === 4, 'all are noted');
    expect(authenticator.known(basic('admin', 'pass'))).not.toBeNull();
    expect(authenticator.known(`token ${KEY}`)).not.toBeNull();
    expect(await login(basic('admin', 'pass'), THERE)).toMatchObject({ kind: 'user' });
  });

  test('failures of one address are not covered up by a good account', async () => {
    const { login, delays } = setUp({ delayMs: 100 });
    for (let i = 0; i < 3; i++) {
      void login(basic(`user${i}`, 'x'));
      await until(() => delays.length === i + 1, 'the failure is noted');
      expect(await login(basic('admin', 'pass'))).toMatchObject({ kind: 'user' });
    }
    expect(delays.map(({ ms }) => ms)).toEqual([100, 200, 400]);
  });

  test('are all answered at once when the node stops', async () => {
    const { login, delays, authenticator } = setUp({ delayMs: 100 });
    const answers = [login(wrong(1)), login(wrong(2))];
    await until(() => delays.length === 2, 'both are noted');
    authenticator.hurry();
    expect(await Promise.all(answers)).toEqual([{ kind: 'refused' }, { kind: 'refused' }]);
    for (const { callback } of delays) callback();
    expect(await login(wrong(3))).toEqual({ kind: 'refused' });
  });

  test('texts that are no credential cost nothing', async () => {
    const { login, hasher, delays } = setUp({ delayMs: 100 });
    for (const header of ['', 'Basic ====', 'Digest x', 'Bearer']) {
      expect(await login(header)).toEqual({ kind: 'refused' });
    }
    expect(hasher.checks).toBe(0);
    expect(delays).toEqual([]);
  });
});

describe('a credential that this node does not know yet', () => {
  test('a token and a password that were made at another node work once this node has them', async () => {
    const { others, login, change } = setUp();
    others.freshen = async () => {
      change({ password: hashOf('new'), tokens: [tokenOf(KEY)] });
      return true;
    };
    expect(await login(`Bearer ${KEY}`)).toMatchObject({ kind: 'user' });
    expect(await login(basic('admin', 'new'))).toMatchObject({ kind: 'user' });
  });

  test('a user and a password that come while the hash is computed work', async () => {
    const { root, hasher, login, change } = setUp();
    hasher.meanwhile = () =>
      root.putUser({ id: 2, name: 'iris', createdAt: 0, password: hashOf('secret'), tokens: [] });
    expect(await login(basic('iris', 'secret'))).toMatchObject({ kind: 'user', user: { name: 'iris' } });
    hasher.meanwhile = () => change({ password: hashOf('new') });
    expect(await login(basic('admin', 'new'))).toMatchObject({ kind: 'user' });
  });

  test('is asked about once, and only then refused', async () => {
    const { others, login, hasher } = setUp();
    let asked = 0;
    others.freshen = async () => {
      asked += 1;
      return true;
    };
    expect(await login(basic('admin', 'wrong'))).toEqual({ kind: 'refused' });
    expect(asked).toBe(1);
    expect(hasher.checks).toBe(1);
    expect(await login(basic('admin', 'pass'))).toMatchObject({ kind: 'user' });
    expect(asked).toBe(1);
  });

  test('is not refused when nobody can be asked', async () => {
    const { others, login } = setUp();
    others.freshen = async () => false;
    expect(await login(`Bearer ${KEY}`)).toEqual({ kind: 'unsure' });
  });
});

describe('sessions', () => {
  const SESSION = `ses_${KEY}`;
  const session = (changes: Partial<UserSession> = {}): UserSession => ({
    hash: keyHash(SESSION),
    proof: new Uint8Array(16),
    createdAt: 0,
    expiresAt: 2_000_000,
    readOnly: false,
    ...changes,
  });

  test('are known as long as they last, and from when they are renewed', () => {
    const { authenticator, root, clock } = setUp();
    const header = `Bearer ${SESSION}`;
    expect(authenticator.known(header)).toBeNull();
    root.sessions.set(1, [session()]);
    for (const now of [1_000_000, 1_999_999]) {
      clock.now = now;
      expect(authenticator.known(header)?.user.name).toBe('admin');
      expect(authenticator.remembered(header)?.user.name).toBe('admin');
    }
    clock.now = 2_000_000;
    expect([authenticator.known(header), authenticator.remembered(header)]).toEqual([null, null]);
    root.sessions.set(1, [session({ expiresAt: 3_000_000 })]);
    expect(authenticator.known(header)?.user.name).toBe('admin');
  });

  test('tell whether they may change nothing', () => {
    const { authenticator, root } = setUp();
    for (const readOnly of [true, false]) {
      root.sessions.set(1, [session({ readOnly })]);
      expect(authenticator.known(`Bearer ${SESSION}`)?.readOnly).toBe(readOnly);
    }
  });

  test('are known no more at once when they end, or their user is gone', () => {
    const { authenticator, root } = setUp();
    root.sessions.set(1, [session()]);
    expect(authenticator.known(`token ${SESSION}`)?.user.name).toBe('admin');
    root.sessions.set(1, []);
    expect(authenticator.known(`token ${SESSION}`)).toBeNull();
    root.sessions.set(1, [session()]);
    root.deleteUser(1);
    expect(authenticator.known(`token ${SESSION}`)).toBeNull();
  });
});
