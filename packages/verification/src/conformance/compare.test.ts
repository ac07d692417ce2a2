import { parseJson, type WireValue } from '@althing/client';
import { describe, expect, test } from '@jest/globals';
import { difference, IdPairs } from './compare.js';
import { fitsJson, substituted, untagged } from './values.js';

const value = (text: string): WireValue => untagged(parseJson(text));
const differ = (expected: string, actual: string, unordered = false) =>
  difference(value(expected), value(actual), new IdPairs(), unordered);

describe('values', () => {
  test.each([
    ['1', '1'],
    ['{"$float": 1.0}', '1.0'],
    ['{"$float": 1}', '1.0'],
    ['{"$float": "nan"}', '{"$float": "nan"}'],
    ['{"$int": "9007199254740993"}', '9007199254740993'],
    ['{"$bytes": "AAE="}', '{"$bytes": "AAE="}'],
    ['{"a": 1, "b": [2]}', '{"b": [2], "a": 1}'],
    ['[null, true, "x"]', '[null, true, "x"]'],
  ])('%s equals %s', (expected, actual) => {
    expect(differ(expected, actual)).toBeUndefined();
  });

  test.each([
    ['1', '1.0', '1.0 instead of 1'],
    ['1', 'true', 'true instead of 1'],
    ['{"$bytes": "YQ=="}', '"a"', '"a" instead of bytes("YQ==")'],
    ['{"$int": "9007199254740993"}', '9007199254740992', '9007199254740992 instead of 9007199254740993'],
    ['[1, 2]', '[1]', '1 items instead of 2'],
    ['[1, [2]]', '[1, [3]]', 'at [1][0]: 3 instead of 2'],
    ['{"a": 1}', '{}', '.a is missing'],
    ['{}', '{"a": 1}', '.a should not be there'],
    ['[]', '{}', '{} instead of []'],
    ['null', '[]', '[] instead of null'],
  ])('%s differs from %s', (expected, actual, why) => {
    expect(differ(expected, actual)).toBe(why);
  });

  test('a map with a tag and something else is a map', () => {
    expect(value('{"$float": 1, "x": 2}')).toEqual(
      new Map([
        ['$float', 1n],
        ['x', 2n],
      ]),
    );
  });
});

describe('ids', () => {
  test('are compared up to a renaming', () => {
    expect(differ('[{"#": 4}, {"#": 5}, {"#": 4}]', '[{"#": 9}, {"#": 4}, {"#": 9}]')).toBeUndefined();
  });

  test('the renaming is one-to-one in both directions', () => {
    expect(differ('[{"#": 4}, {"#": 4}]', '[{"#": 9}, {"#": 8}]')).toContain('the id 8');
    expect(differ('[{"#": 4}, {"#": 5}]', '[{"#": 9}, {"#": 9}]')).toContain('the id 9');
  });

  test('the renaming holds over several comparisons', () => {
    const ids = new IdPairs();
    const one = value('{"#": 1}');
    expect(difference(one, value('{"#": 7}'), ids)).toBeUndefined();
    expect(difference(one, value('{"#": 7}'), ids)).toBeUndefined();
    expect(difference(one, value('{"#": 8}'), ids)).toBeDefined();
  });

  test('other numbers are not ids, and an id is an int', () => {
    expect(differ('[{"#": 4}, 4]', '[{"#": 9}, 9]')).toBe('at [1]: 9 instead of 4');
    expect(differ('{"#": 4}', '{"#": 4.0}')).toBeDefined();
    expect(differ('{"#": "x"}', '{"#": "y"}')).toBeDefined();
  });
});

describe('values without order', () => {
  test('only the outermost list is free', () => {
    expect(differ('[1, 2, 2, [3, 4]]', '[2, [3, 4], 1, 2]', true)).toBeUndefined();
    expect(differ('[1, 2, 2]', '[1, 1, 2]', true)).toBeDefined();
    expect(differ('[[3, 4]]', '[[4, 3]]', true)).toBeDefined();
    expect(differ('1', '1', true)).toBe('both have to be lists');
  });

  test('ids are paired so that all fits, also when the first choice was wrong', () => {
    const expected = '[{"#": 1, "next": {"#": 2}}, {"#": 2, "next": {"#": 3}}, {"#": 3, "next": {"#": 1}}]';
    const actual = '[{"#": 5, "next": {"#": 6}}, {"#": 7, "next": {"#": 5}}, {"#": 6, "next": {"#": 7}}]';
    expect(differ(expected, actual, true)).toBeUndefined();
    const other = '[{"#": 5, "next": {"#": 6}}, {"#": 7, "next": {"#": 7}}, {"#": 6, "next": {"#": 5}}]';
    expect(differ(expected, other, true)).toBeDefined();
  });

  test('a comparison with too many possibilities ends', () => {
    const things = Array.from({ length: 40 }, (_, id) => `{"#": ${id}}`);
    const last = '{"#": 1, "x": {"#": 2}}';
    expect(differ(`[${things}, ${last}]`, `[${things}, {"#": 1, "x": {"#": 99}}]`, true)).toContain(
      'too many',
    );
  });
});

describe('saved answers', () => {
  test('take the place of strings that are exactly their name', () => {
    const saved = new Map<string, WireValue>([['id', 7n]]);
    const given = value('{"a": "$id", "b": ["$id", "$other", "x$id", "$"]}');
    expect(substituted(given, saved)).toEqual(value('{"a": 7, "b": [7, "$other", "x$id", "$"]}'));
  });
});

test('values that JSON can carry', () => {
  expect(fitsJson(value('[1, 1.5, "x", {"a": null}, {"$int": "9223372036854775807"}]'))).toBe(true);
  expect(fitsJson(value('[[{"$bytes": "YQ=="}]]'))).toBe(false);
  expect(fitsJson(value('{"a": {"$float": "inf"}}'))).toBe(false);
  expect(fitsJson(value('{"a": {"$int": "9223372036854775808"}}'))).toBe(false);
});
