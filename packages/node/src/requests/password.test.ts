import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { PasswordHasher, TooManyLoginsError } from './password.js';
import { thingsdbHash } from './thingsdb-hash.js';

const from = (network: string, isSuspect = false) => ({ network, isSuspect });

describe('hashes of passwords', () => {
  test('tell a password from others', async () => {
    const hasher = new PasswordHasher();
    const hash = await hasher.hash('secret');
    expect(await hasher.verifyOwn('secret', hash)).toBe(true);
    expect(await hasher.verifyOwn('Secret', hash)).toBe(false);
    expect(await hasher.verifyOwn('', hash)).toBe(false);
    expect(await hasher.verifyOwn('secret', null)).toBe(false);
  });

  test('hashes of the default password, which everybody knows, are computed once', async () => {
    let computed = 0;
    const newHasher = (): PasswordHasher =>
      new PasswordHasher(2, 8, async (password, { salt }) => {
        computed += 1;
        return createHash('sha256').update(salt).update(password).digest();
      });
    const [hasher, anew] = [newHasher(), newHasher()];
    const [made, stored, other] = [
      await hasher.hash('pass'),
      await hasher.hash('pass'),
      await hasher.hash('x'),
    ];
    computed = 0;
    expect([await hasher.verifyOwn('pass', made), await hasher.verify('pass', stored, from('a'))]).toEqual([
      true,
      true,
    ]);
    expect(computed).toBe(0);
    for (let i = 0; i < 3; i++) expect(await anew.verifyOwn('pass', stored)).toBe(true);
    expect(computed).toBe(1);
    // All else is computed, and no hash is taken for another.
    for (const [password, hash] of [
      ['x', made],
      ['pass', other],
      ['pass', null],
      ['x', other],
    ] as const)
      expect(await hasher.verifyOwn(password, hash)).toBe(password === 'x' && hash === other);
    expect(computed).toBe(5);
  });

  test('are slow, salted, and hold nothing of the password', async () => {
    const hasher = new PasswordHasher();
    const [one, two] = await Promise.all([hasher.hash('secret'), hasher.hash('secret')]);
    expect(one).toMatchObject({ logN: 15, r: 8, p: 1 });
    expect(one.salt).toHaveLength(16);
    expect(one.hash).toHaveLength(32);
    expect(Buffer.from(one.hash).equals(two.hash)).toBe(false);
  });

  test('tell a password of which only the hash of ThingsDB came, and become its own with the same salt', async () => {
    const hasher = new PasswordHasher();
    const foreign = thingsdbHash('secret', '12345678$1') ?? '';
    const wrapped = { ...(await hasher.hash(foreign)), thingsdbSalt: '12345678$1' };
    expect(await hasher.verifyOwn('secret', wrapped)).toBe(true);
    for (const wrong of ['Secret', '', foreign]) expect(await hasher.verifyOwn(wrong, wrapped)).toBe(false);
    expect(await hasher.verifyOwn('secret', await hasher.hashWith('secret', wrapped.salt))).toBe(true);
  });

  test('few are computed at once, a bounded number waits, and the rest is turned away', async () => {
    const hasher = new PasswordHasher(1, 2);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 5 }, () => hasher.verify('x', null, from('a'))),
    );
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
    ]);
    expect(outcomes[4]).toMatchObject({ reason: expect.any(TooManyLoginsError) });
    expect(await hasher.verify('x', null, from('a'))).toBe(false);
  });

  test('a new password goes before those that are only to be checked', async () => {
    const hasher = new PasswordHasher(1, 2);
    const done: string[] = [];
    const checks = [1, 2, 3].map((i) =>
      hasher.verify('x', null, from('a')).then(() => done.push(`check ${i}`)),
    );
    const hash = hasher.hash('new').then(() => done.push('hash'));
    await Promise.all([...checks, hash]);
    expect(done).toEqual(['check 1', 'hash', 'check 2', 'check 3']);
  });

  test('senders take turns, and the one with most waiting makes room', async () => {
    const hasher = new PasswordHasher(1, 4);
    const done: string[] = [];
    const check = (name: string, network: string) =>
      hasher.verify('x', null, from(network)).then(
        () => done.push(name),
        () => done.push(`${name} given up`),
      );
    const all = ['a1', 'a2', 'a3', 'a4', 'a5'].map((name) => check(name, 'a'));
    all.push(check('b1', 'b'), check('a6', 'a'), check('c1', 'c'));
    await Promise.all(all);
    expect(done.filter((name) => name.endsWith('up')).sort()).toEqual([
      'a4 given up',
      'a5 given up',
      'a6 given up',
    ]);
    expect(done.filter((name) => !name.endsWith('up'))).toEqual(['a1', 'a2', 'b1', 'c1', 'a3']);
  });

  test('suspects come last, and never take the last place', async () => {
    const hasher = new PasswordHasher(2, 8);
    const done: string[] = [];
    const check = (name: string, isSuspect: boolean) =>
      hasher.verify('x', null, from(name, isSuspect)).then(() => done.push(name));
    const suspects = ['s1', 's2', 's3'].map((name) => check(name, true));
    const good = ['g1', 'g2'].map((name) => check(name, false));
    await Promise.all(good);
    // One of the two places was theirs all the time.
    expect(done).not.toContain('s3');
    await Promise.all(suspects);
  });

  test('a hash that waits is given up when there is no time left', async () => {
    const hasher = new PasswordHasher(1, 8);
    const checks = [1, 2, 3].map(() => hasher.verify('x', null, from('a')));
    hasher.hurry();
    const outcomes = await Promise.allSettled([...checks, hasher.verify('x', null, from('a'))]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected']);
  });

  test('checks of the node itself are never given up, however many networks log in, and while it stops', async () => {
    const hasher = new PasswordHasher(2, 4);
    const hash = await hasher.hash('secret');
    const storm = Array.from({ length: 64 }, (_, i) => hasher.verify('x', null, from(`n${i}`)));
    const own = [1, 2, 3].map(() => hasher.verifyOwn('secret', hash));
    hasher.hurry();
    own.push(hasher.verifyOwn('secret', hash));
    await Promise.allSettled(storm);
    expect(await Promise.all(own)).toEqual([true, true, true, true]);
  });
});
