import { expect, test } from '@jest/globals';
import { fieldsIn, fittingText } from './fields.js';
import { mappingsOf, pathOf } from './plan.js';

test('mappings rename, find, convert and leave out', () => {
  expect(
    mappingsOf(
      'nr=Number,customer=@Customer.email:E mail,created=datetime(Created,"%Y,%m"),at=datetime(At),note=',
    ),
  ).toEqual([
    { kind: 'column', property: 'nr', column: 'Number' },
    { kind: 'reference', property: 'customer', type: 'Customer', index: 'email', column: 'E mail' },
    { kind: 'date', property: 'created', column: 'Created', format: '%Y,%m' },
    { kind: 'date', property: 'at', column: 'At', format: null },
    { kind: 'none', property: 'note' },
  ]);
});

test.each(['=x', 'a b=c', 'x', "a'=b"])('%j is no mapping', (text) => {
  expect(() => mappingsOf(text)).toThrow('--map');
});

test.each(['', 'a b', 'a..b', "a'];x", '1'])('%j is no place for things', (into) => {
  expect(() => pathOf(into)).toThrow('--into');
});

const fields = fieldsIn(
  new Map([
    [
      'fields',
      [
        ['i', 'int?'],
        ['r', 'int<0:10:5>'],
        ['f', 'float'],
        ['b', 'bool'],
        ['s', 'str<1:9>?'],
        ['p', '/^a/'],
        ['l', '[int]'],
        ['d', 'datetime'],
        ['e', 'E'],
        ['y', 'bytes'],
      ],
    ],
  ]),
);

test.each([
  ['i', '-5', -5n],
  ['r', ' 7 ', 7n],
  ['f', '1', 1],
  ['f', '1e3', 1000],
  ['b', 'TRUE', true],
  ['b', '0', false],
  ['s', '12', '12'],
  ['p', 'a1', 'a1'],
  ['l', '[1, 2]', [1n, 2n]],
  ['d', '2024-01-02', '2024-01-02'],
  ['e', '3', 3n],
  ['e', 'open', 'open'],
  ['y', 'AAE=', Buffer.of(0, 1)],
  ['unknown', '5', '5'],
])('the property %s takes the text %j', (name, text, value) => {
  expect(fittingText(text, fields.get(name))).toEqual(value);
});

test.each([
  ['i', '1.5'],
  ['i', ''],
  ['f', 'x'],
  ['b', 'maybe'],
  ['l', '[1'],
])('the property %s refuses the text %j', (name, text) => {
  expect(() => fittingText(text, fields.get(name))).toThrow();
});

test('a definition tells whether nil may be', () => {
  expect([...fields].filter(([, { isNillable }]) => isNillable).map(([name]) => name)).toEqual(['i', 's']);
});
