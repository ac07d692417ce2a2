import { describe, expect, test } from '@jest/globals';
import { PasswordHasher, TooManyLoginsError } from './password.js';

describe('hashes of passwords', () => {
  test('tell a password from others', async () => {
    const hasher = new PasswordHasher();
    const hash = await hasher.hash('secret');
    expect(await hasher.verify('secret', hash)).toBe(true);
    expect(await hasher.verify('Secret', hash)).toBe(false);
    expect(await hasher.verify('', hash)).toBe(false);
    expect(await hasher.verify('secret', null)).toBe(false);
  });

  test('are slow, salted, and hold nothing of the password', async () => {
    const hasher = new PasswordHasher();
    const [one, two] = await Promise.all([hasher.hash('secret'), hasher.hash('secret')]);
    expect(one).toMatchObject({ logN: 15, r: 8, p: 1 });
    expect(one.salt).toHaveLength(16);
    expect(one.hash).toHaveLength(32);
    expect(Buffer.from(one.hash).equals(two.hash)).toBe(false);
  });

  test('few are computed at once, a bounded number waits, and the rest is turned away', async () => {
    const hasher = new PasswordHasher(1, 2);
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => hasher.verify('x', null)));
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
    ]);
    expect(outcomes[4]).toMatchObject({ reason: expect.any(TooManyLoginsError) });
    expect(await hasher.verify('x', null)).toBe(false);
  });

  test('a new password goes before those that are only to be checked', async () => {
    const hasher = new PasswordHasher(1, 2);
    const done: string[] = [];
    const checks = [1, 2, 3].map((i) => hasher.verify('x', null).then(() => done.push(`check ${i}`)));
    const hash = hasher.hash('new').then(() => done.push('hash'));
    await Promise.all([...checks, hash]);
    expect(done).toEqual(['check 1', 'hash', 'check 2', 'check 3']);
  });
});
