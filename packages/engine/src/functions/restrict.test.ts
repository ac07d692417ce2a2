import { beforeEach, describe, expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';

let db = new Harness();
beforeEach(() => {
  db = new Harness();
});

const ACCEPTED: readonly (readonly [
  restriction: string,
  fits: readonly string[],
  doesNot: readonly string[],
])[] = [
  ['str', ["''"], ['1', "bytes('')", 'nil']],
  ['utf8', ["'é'"], ['1']],
  ['bytes', ["bytes('')"], ["''"]],
  ['raw', ["bytes('')", "''"], ['1']],
  ['bool', ['true'], ['1', 'nil']],
  ['int', ['1', '-1', 'INT_MIN'], ['1.0', 'true']],
  ['uint', ['0', 'INT_MAX'], ['-1', 'INT_MIN', '1.0']],
  ['pint', ['1', 'INT_MAX'], ['0', '-1']],
  ['nint', ['-1', 'INT_MIN'], ['0', '1']],
  ['float', ['1.0', "float('nan')"], ['1']],
  ['number', ['1', '1.0'], ['true', "'1'"]],
  ['datetime', ['datetime(0)'], ['timeval(0)', '0']],
  ['timeval', ['timeval(0)'], ['datetime(0)']],
  ['regex', ['/a/'], ["'a'"]],
  ['closure', ['|| 1'], ['1']],
  ['error', ['err()'], ['-100']],
  ['email', ["''", "'a@b.cd'"], ["'a'", '1']],
  ['url', ["''", "'http://a.b'"], ["'a'"]],
  ['tel', ["''", "'+31 6 1234 5678'"], ["'a'"]],
  ['thing', ['{}'], ['[]', 'nil']],
  ['[]', ['[]', '[[1]][0]'], ['set()', '{}']],
  ['{}', ['set()'], ['[]', '{}']],
];

describe.each(ACCEPTED)('%s', (restriction, fits, doesNot) => {
  test.each(fits)('accepts %s', (value) => {
    expect(
      db.run(`x = {a: ${value}}.restrict('${restriction}'); x.b = ${value}; x.set('c', ${value}); x.len()`),
    ).toBe(3);
  });

  test.each(doesNot)('refuses %s', (value) => {
    expect(db.error(`{}.restrict('${restriction}').a = ${value}`)).toBe('type_err');
    expect(db.error(`{}.restrict('${restriction}').set('a', ${value})`)).toBe('type_err');
    expect(db.error(`{}.restrict('${restriction}').assign({a: ${value}})`)).toBe('type_err');
    expect(db.error(`{a: ${value}}.restrict('${restriction}')`)).toBe('value_err');
  });

  test('%s with ? also allows nil, and shows itself', () => {
    expect(db.run(`x = {}.restrict('${restriction}?'); x.a = nil; x.restriction()`)).toBe(`${restriction}?`);
    expect(db.error(`{}.restrict('${restriction}').a = nil`)).toBe('type_err');
  });
});

test.each([
  '',
  '?',
  '??',
  'int??',
  '[int]',
  '{T}',
  'uint<1:2>',
  '/a/',
  'nil',
  'list',
  'set',
  'tuple',
  'future',
  'Nobody',
  'any?',
  'ïnt',
  ' int',
])('there is no restriction %p', (restriction) => {
  expect(db.error('{}.restrict(r)', { vars: { r: restriction } })).toBe('value_err');
});

test('is lifted by nil and any', () => {
  expect(
    db.run("x = {}.restrict('int'); [x.restrict(nil).restriction(), x.restrict('any').restriction()]"),
  ).toEqual([null, null]);
  expect(db.error('{}.restrict(1)')).toBe('type_err');
});

test('renaming and deleting are free, and keep it', () => {
  expect(
    db.run("x = {a: 1, b: 2}.restrict('int'); x.ren('a', 'c'); x.del('b'); x.clear(); x.restriction()"),
  ).toBe('int');
});

test('is stored, and taken back with a failed query', () => {
  db.run(".t = {a: 1}.restrict('int'); .u = {}; nil");
  expect(db.error(".u.restrict('str'); .t.restrict(nil); .t.a = 's'; raise('stop')")).toBe('err');
  expect(db.run('[.t.restriction(), .u.restriction()]')).toEqual(['int', null]);
});

test('lists and sets that are no fields of a type have none; tuples have not even the method', () => {
  expect(db.run('[[].restriction(), set().restriction()]')).toEqual([null, null]);
  expect(db.error('[[1]][0].restriction()')).toBe('lookup_err');
});
