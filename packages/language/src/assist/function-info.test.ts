import { expect, test } from '@jest/globals';
import { functionInfoOf } from './function-info.js';

test('a row of functions_info() is read', () => {
  const row = new Map<string, unknown>([
    ['name', 'push'],
    ['on', ['list']],
    [
      'params',
      [
        new Map<string, unknown>([
          ['name', 'item'],
          ['type', 'any'],
          ['optional', true],
        ]),
      ],
    ],
    [
      'rest',
      new Map([
        ['name', 'items'],
        ['type', 'any'],
      ]),
    ],
    ['doc', 'Adds items.'],
    ['scopes', ['collection', 'thingsdb']],
    ['changes', 'modifies'],
  ]);
  expect(functionInfoOf(row)).toEqual({
    name: 'push',
    on: ['list'],
    params: [{ name: 'item', type: 'any', optional: true }],
    rest: { name: 'items', type: 'any' },
    doc: 'Adds items.',
    scopes: ['collection', 'thingsdb'],
    changes: 'modifies',
  });
});

test('a part that a node leaves out is not known', () => {
  const nothing = { name: '', on: null, params: [], rest: null, doc: '', scopes: [], changes: null };
  expect(functionInfoOf(new Map([['params', 5]]))).toEqual(nothing);
  expect(functionInfoOf(null)).toEqual(nothing);
});
