import { type WireValue, wireMap } from '@althing/client';
import { expect, test } from '@jest/globals';
import { formatValue, type OutputFormat } from './output.js';
import { coloured, colourless } from './style.js';

const shown = (value: WireValue, format: OutputFormat = 'auto', width = 40): string =>
  formatValue(value, format, { width, paint: colourless });

const ann = wireMap({ '#': 1n, name: 'Ann', age: 31n });
const ben = wireMap({ '#': 12n, name: 'Benjamin', score: 0.5 });

test.each<[WireValue, string]>([
  [null, 'nil'],
  [true, 'true'],
  [1n, '1'],
  [1, '1.0'],
  [Number.NaN, 'nan'],
  ['say "hi"\n', '"say ""hi""⏎"'],
  [new Uint8Array([1, 2]), 'bytes("AQI=")'],
  [[], '[]'],
  [wireMap({}), '{}'],
  [[1n, [2n]], '[1, [2]]'],
  [ann, '{#: 1, name: "Ann", age: 31}'],
  [wireMap({ 'a b': 1n, __proto__x: 2n }), '{"a b": 1, __proto__x: 2}'],
])('%p is %s', (value, expected) => {
  expect(shown(value)).toBe(expected);
});

test('a table that is too wide for a line is shown as a tree', () => {
  expect(shown(wireMap({ one: 'x'.repeat(20), two: [1n, 2n], three: 'y'.repeat(20) }))).toBe(
    `{\n  one: "${'x'.repeat(20)}",\n  two: [1, 2],\n  three: "${'y'.repeat(20)}"\n}`,
  );
});

test('things are a table, with a column for each property', () => {
  expect(shown([ann, ben])).toBe(
    [
      '#   name      age  score',
      '──  ────────  ───  ─────',
      ' 1  Ann        31',
      '12  Benjamin         0.5',
    ].join('\n'),
  );
});

test('a table that is too wide shortens its widest columns', () => {
  const wide = [wireMap({ a: 'x'.repeat(50), b: 1n }), wireMap({ a: 'y', b: 2n })];
  const lines = shown(wide, 'table', 20).split('\n');
  expect(lines[2]).toBe(`${'x'.repeat(16)}…  1`);
});

test('things with more columns than a row has room for are a tree, unless a table is asked for', () => {
  const many = [1n, 2n].map((n) =>
    wireMap(Object.fromEntries(['first', 'second', 'third'].map((name) => [`${name}_one`, n]))),
  );
  expect(shown(many, 'auto', 21)).toMatch(/^\[/);
  expect(shown(many, 'table', 21)).toMatch(/^first…/);
  expect(shown(many, 'auto', 22)).toMatch(/^first…/);
});

test('one thing, or things among other values, are no table', () => {
  expect(shown([ann])).toBe('[{#: 1, name: "Ann", age: 31}]');
  expect(shown([ann, 1n], 'table')).toBe('[{#: 1, name: "Ann", age: 31}, 1]');
});

test('control characters and turns of direction are shown, not sent', () => {
  const hostile = '\u001b[31mred\u0007 \u202eback\u009b2J';
  for (const format of ['tree', 'table', 'auto'] as const) {
    const text = shown([wireMap({ [hostile]: hostile }), wireMap({ x: hostile })], format, 200);
    expect(text).not.toMatch(/[\u001b\u0007\u202e\u009b]/);
  }
});

test('colours are those of kinds of values', () => {
  expect(formatValue([1n, 'a'], 'tree', { width: 40, paint: coloured })).toBe(
    '[\u001b[36m1\u001b[0m, \u001b[32m"a"\u001b[0m]',
  );
});

test('JSON is one line, and exact', () => {
  expect(shown([9223372036854775807n, 1, 'é\n'], 'json')).toBe('[9223372036854775807,1.0,"é\\n"]');
});

test('CSV quotes what needs it', () => {
  expect(shown([wireMap({ a: 'x,y', b: null }), wireMap({ a: 'say "hi"', c: [1n] })], 'csv')).toBe(
    'a,b,c\r\n"x,y",,\r\n"say ""hi""",,[1]',
  );
  expect(shown([1n, 'two\nlines', ''], 'csv')).toBe('1\r\n"two\nlines"\r\n""');
});

test('deep and long values are written', () => {
  let deep: WireValue = 1n;
  for (let i = 0; i < 900; i++) deep = [deep];
  expect(shown(deep, 'tree', 80)).toContain('1');
  expect(shown(Array.from({ length: 20_000 }, (_, i) => BigInt(i))).length).toBeGreaterThan(100_000);
});
