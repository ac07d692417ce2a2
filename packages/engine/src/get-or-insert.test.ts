import { expect, test } from '@jest/globals';
import { getOrInsertComputed } from './get-or-insert.js';

test('a value is made once for each key, and kept', () => {
  const map = new Map<string, string[]>();
  const [first, again, other] = ['a', 'a', 'b'].map((key) => getOrInsertComputed(map, key, () => []));
  expect(again).toBe(first);
  expect(other).not.toBe(first);
  expect([...map.keys()]).toEqual(['a', 'b']);
});
