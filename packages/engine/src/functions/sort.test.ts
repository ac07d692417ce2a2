import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Harness } from '../testing/harness.js';

let db = new Harness();
beforeEach(() => {
  db = new Harness();
});

test('arguments are evaluated for two items or more only', () => {
  expect(db.run('[[1].sort(raise(1)), [].sort(1, 2)]')).toEqual([[1], []]);
  expect(db.error('[2, 1].sort(raise(lookup_err()))')).toBe('lookup_err');
});

test('refuses what is no order', () => {
  expect(db.error('[2, 1].sort(true, true)')).toBe('type_err');
  expect(db.error('[2, 1].sort(1)')).toBe('type_err');
  expect(db.error('[2, 1].sort(|a| a, 1)')).toBe('type_err');
  expect(db.error('[2, 1].sort(|| 1)')).toBe('num_arguments_err');
  expect(db.error('[2, 1].sort(|a, b, c| 1)')).toBe('num_arguments_err');
  expect(db.error('[2, 1].sort(|a, b| 1, false)')).toBe('num_arguments_err');
  expect(db.error('[2, 1].sort(|a, b| true)')).toBe('type_err');
  expect(db.error('[2, 1].sort(|a, b| 0.5)')).toBe('type_err');
});

test('refuses what can not be compared', () => {
  for (const items of ['[nil, nil]', '[1, nil]', '[{}, {}]', '[[1], [2]]', "['a', 1]", '[/a/, /b/]']) {
    expect(db.error(`${items}.sort()`)).toBe('type_err');
  }
});

test('members of enums count as their values, beside other values and as what a closure sorts by', () => {
  db.run("set_enum('E', {ONE: 1, TWO: 2})");
  expect(db.run('[E{TWO}, 1.5, E{ONE}].sort().map(|x| str(x))')).toEqual(['1', '1.5', '2']);
  expect(db.run('[5, 6].sort(|x| x == 5 ? E{TWO} : E{ONE})')).toEqual([6, 5]);
  expect(db.run('[E{TWO}, E{ONE}].min().name() + [1.5, E{TWO}, E{ONE}].max().name()')).toBe('ONETWO');
  expect(db.error("[E{ONE}, 'a'].sort()")).toBe('type_err');
  expect(db.error('E{ONE} < E{TWO}')).toBe('type_err');
});

test('no sort inside a sort, but after one that failed', () => {
  expect(db.error('[2, 1].sort(|a| [1].sort())')).toBe('operation_err');
  expect(db.run('try([2, 1].sort(|a| raise(1))); [2, 1].sort()')).toEqual([1, 2]);
  expect(db.run('[2, 1].sort({[4, 3].sort(); |a| a})')).toEqual([1, 2]);
});

describe('stable in both directions', () => {
  const items = '[[1, "a"], [2, "b"], [1, "c"], [2, "d"]]';
  test.each([
    ['|t| t[0]', ['a', 'c', 'b', 'd']],
    ['|t| t[0], true', ['b', 'd', 'a', 'c']],
    ['|t| str(t[0])', ['a', 'c', 'b', 'd']],
    ['|t| str(t[0]), true', ['b', 'd', 'a', 'c']],
    ['|t| t[0] + 9223372036854775800', ['a', 'c', 'b', 'd']],
    ['|t| t[0] + 9223372036854775800, true', ['b', 'd', 'a', 'c']],
    ['|a, b| a[0] - b[0]', ['a', 'c', 'b', 'd']],
    ['|a, b| b[0] - a[0]', ['b', 'd', 'a', 'c']],
  ])('%s', (by, expected) => {
    expect(db.run(`${items}.sort(${by}).map(|t| t[1])`)).toEqual(expected);
  });
});

test('texts are sorted by code points, also beyond U+FFFF', () => {
  expect(db.run("['\uffee', '😀', 'z', 'é', ''].sort()")).toEqual(['', 'z', 'é', '\uffee', '😀']);
  expect(db.run("['b', 'a', 'B', 'ab'].sort(true)")).toEqual(['b', 'ab', 'a', 'B']);
});

test('numbers of all kinds are sorted by value', () => {
  const sorted = db.run('[INT_MAX, 1.5, true, INT_MIN, 9007199254740992, 0.5, -1].sort().map(|n| str(n))');
  expect(sorted).toEqual([
    '-9223372036854775808',
    '-1',
    '0.5',
    'true',
    '1.5',
    '9007199254740992',
    '9223372036854775807',
  ]);
});

test('agrees with a plain sort of any numbers', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -50, max: 50 }), { maxLength: 400 }),
      fc.boolean(),
      (numbers, descending) => {
        const expected = numbers
          .map((n, i) => [n, i] as const)
          .sort((a, b) => (descending ? b[0] - a[0] : a[0] - b[0]));
        const vars = { numbers, descending };
        const code = 'i = [-1]; pairs = numbers.map(|n, i| [n, i]); pairs.sort(|p| p[0], descending)';
        expect(db.run(code, { vars })).toEqual(expected);
      },
    ),
  );
});

test('any closure that compares ends, and loses nothing', () => {
  expect(db.run('range(1000).sort(|a, b| 1).unique().len()')).toBe(1000);
  expect(db.run("range(1000).map(|i| i % 7 == 0 ? float('nan') : i).sort().len()")).toBe(1000);
});
