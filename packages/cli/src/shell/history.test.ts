import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ENTRIES_MAX, History, historyPath, mayBeKept } from './history.js';

let folder = '';
let path = '';
const warnings: string[] = [];
const open = (place: string | null = path): History => new History(place, (line) => warnings.push(line));

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'history-'));
  path = join(folder, 'deep', 'history');
  warnings.length = 0;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('entries of several lines come back in order, for the owner alone', () => {
  const history = open();
  for (const entry of ['1;', '.a = {\n  b: 1\n};', '\u001b π']) history.add(entry);
  expect(open().entries).toEqual(['1;', '.a = {\n  b: 1\n};', '\u001b π']);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('two shells see what each other added', () => {
  const one = open();
  const two = open();
  one.add('one');
  two.add('two');
  one.reload();
  expect(one.entries).toEqual(['one', 'two']);
});

test('the same text in turn is kept once', () => {
  const history = open();
  for (const entry of ['a', 'a', 'b', 'a']) history.add(entry);
  expect(history.entries).toEqual(['a', 'b', 'a']);
});

test('a line that a crash tore is passed over', () => {
  open().add('whole');
  appendFileSync(path, '"torn');
  expect(open().entries).toEqual(['whole']);
});

test('the file is cut when it has grown', () => {
  open().add('x');
  writeFileSync(path, Array.from({ length: 2 * ENTRIES_MAX + 1 }, (_, i) => `"${i}"\n`).join(''));
  expect(open().entries).toHaveLength(ENTRIES_MAX);
  expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(ENTRIES_MAX + 1);
  expect(open().entries.at(-1)).toBe(String(2 * ENTRIES_MAX));
});

test('a history that can not be kept is a warning', () => {
  open('/dev/null/history').add('x');
  expect(warnings.join()).toContain('/dev/null/history');
});

test('a history without a place is kept in memory', () => {
  const history = open(null);
  history.add('x');
  expect(history.entries).toEqual(['x']);
});

describe('kept lines', () => {
  test.each([
    ['.a = 1;', true],
    [' .a = 1;', false],
    ["set_password('ann', 'secret');", false],
    ["x = |n| new_token('ann', {name: n});", false],
    ["set_password('ann', 'secret'", false],
    ["'set_password';", true],
    ['', false],
    ['x'.repeat(100_000), false],
  ])('%j: %p', (entry, expected) => {
    expect(mayBeKept(entry)).toBe(expected);
  });
});

test.each([
  [{ XDG_STATE_HOME: '/state', HOME: '/users/ann' }, '/state/althing/history'],
  [{ XDG_STATE_HOME: 'relative', HOME: '/users/ann' }, '/users/ann/.local/state/althing/history'],
  [{}, null],
])('%j has its history in %p', (environment, expected) => {
  expect(historyPath(environment)).toBe(expected);
});
