import { expect, test } from '@jest/globals';
import { goneNodes } from './gone.js';

test('a removed node is turned away when it is in the list of members no more', () => {
  expect(goneNodes([], [{ nodeId: 1 }])).toEqual([]);
  expect(goneNodes([2], [{ nodeId: 1 }])).toEqual([2]);
});

test('a group may need the vote of a removed node as long as that is in its list: two of three were removed, one after the other', () => {
  expect(goneNodes([2, 3], [{ nodeId: 1 }, { nodeId: 3 }])).toEqual([2]);
});
