import { expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';

const db = new Harness();
const root = { scope: 'thingsdb' } as const;

test('set_feed keeps more of the log of a collection, as collection_info tells, and nil ends it', () => {
  const shown = (): unknown => JSON.parse(db.json("collection_info('stuff');", root)).feed;
  expect(shown()).toBeUndefined();
  db.run("set_feed('stuff', {keep_mb: 64, keep_s: 86400});", root);
  expect(shown()).toEqual({ keep_mb: 64, keep_s: 86_400 });
  expect(db.error("set_feed('stuff', {keep_mb: 1}); raise('stop');", root)).toBe('err');
  expect(shown()).toEqual({ keep_mb: 64, keep_s: 86_400 });
  db.run("set_feed('stuff', nil);", root);
  expect(shown()).toBeUndefined();
});

test.each([
  ["set_feed('stuff', {});", 'type_err'],
  ["set_feed('stuff', {keep_mb: 0});", 'value_err'],
  ["set_feed('stuff', {keep_mb: 1, keep: 2});", 'value_err'],
  ["set_feed('stuff', 7);", 'type_err'],
  ["set_feed('nix', nil);", 'lookup_err'],
])('%s: %s', (code, error) => {
  expect(db.error(code, root)).toBe(error);
});
