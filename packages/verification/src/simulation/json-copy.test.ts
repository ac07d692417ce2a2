import { expect, test } from '@jest/globals';
import { JsonCopy, thingsIn } from './json-copy.js';

test('a copy of an answer is what later answers are, once it was told of all changes', () => {
  const copy = new JsonCopy(
    thingsIn({ '#': 1, n: 1, one: { '#': 2, list: [{ '#': 3, x: true }] } }, new Map([[2, 'T']])),
  );
  expect(copy.lines()[1]).toBe('#2 T {list: [{"#":3}]}');
  const later = { '#': 1, n: 2, one: { '#': 2, list: [] } };
  expect(copy.differenceFrom(later)).toBe(
    '#1 is {n: 1, one: {"#":2}} in the copy, and {n: 2, one: {"#":2}} in the collection',
  );
  copy.take({ op: 'set', id: 1, key: 'n', value: 2 });
  expect(copy.differenceFrom(later)).toContain('#2 is {list: [{"#":3}]} in the copy');
  copy.take({ op: 'splice', id: 2, key: 'list', start: 0, removed: 1, items: [] });
  copy.take({ op: 'gone', ids: [3] });
  expect(copy.differenceFrom(later)).toBeNull();
  expect(copy.differenceFrom({ ...later, e1: { '#': 9, v: 3 } })).toBeNull();
  // Things for which the answer is not deep enough have their ids alone.
  expect(copy.differenceFrom({ '#': 1, n: 2, one: { '#': 2 } })).toBeNull();
});
