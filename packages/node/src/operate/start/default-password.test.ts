import { RootGroup } from '@althing/engine';
import { expect, test } from '@jest/globals';
import { DEFAULT_PASSWORD } from '../../config/index.js';
import { PasswordHasher, TooManyLoginsError } from '../../requests/password.js';
import { hasDefaultPassword } from './bootstrap.js';
import { defaultPasswordUsers } from './default-password.js';

test('a start learns who has the default password while clients of 64 networks log in, and while the node stops', async () => {
  const hasher = new PasswordHasher(2, 8);
  const root = new RootGroup();
  const password = await hasher.hash(DEFAULT_PASSWORD);
  root.putUser({ id: 1, name: 'admin', createdAt: 0, password, tokens: [] });
  root.setAccess('thingsdb', 1, 1);
  const storm = (): Promise<unknown>[] =>
    Array.from({ length: 64 }, (_, i) =>
      hasher.verify('x', null, { network: `n${i}`, isSuspect: false }).catch((error: unknown) => {
        if (!(error instanceof TooManyLoginsError)) throw error;
      }),
    );
  const logins = storm();
  const checks = [defaultPasswordUsers(root, hasher), hasDefaultPassword(root, hasher)];
  hasher.hurry();
  logins.push(...storm());
  expect(await Promise.all(checks)).toEqual([['admin'], true]);
  await Promise.all(logins);
});
