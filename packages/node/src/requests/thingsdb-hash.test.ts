import { expect, test } from '@jest/globals';
import { thingsdbHash } from './thingsdb-hash.js';

/** Hashes of the sample of an archive in the package of the engine. */
const ADMIN = 'SXZpnxpN$1jrhSNNQhViSP8SgEziQjpA7QQJM8HzMS4PVRN3RNNQ1MMJJJNJnNN';
const BOB = 'CMaBr0dD$1A6txiXZcsug4h45TCq1dKz5UsuHsBc7LBYKaHbssdZsgETJXg.MRu';

test.each([
  ['pass', ADMIN],
  ['bobs secret', BOB],
])('the hash of %s is the one that ThingsDB wrote', (password, hash) => {
  expect(thingsdbHash(password, hash.slice(0, 10))).toBe(hash);
});

test('another password has another hash, and what is none has none', () => {
  expect(thingsdbHash('Pass', ADMIN.slice(0, 10))).not.toBe(ADMIN);
  expect(thingsdbHash('pass', BOB.slice(0, 10))).not.toBe(ADMIN);
  expect(thingsdbHash('', ADMIN.slice(0, 10))).toBe(null);
  expect(thingsdbHash('x'.repeat(1025), ADMIN.slice(0, 10))).toBe(null);
});
