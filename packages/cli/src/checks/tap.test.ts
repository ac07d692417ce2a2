import { expect, test } from '@jest/globals';
import { tapLines } from './tap.js';

test('a check is a line, and why it failed stands below', () => {
  expect(tapLines(1, 'It is one.', null)).toBe('ok 1 - It is one.\n');
  expect(tapLines(2, 'It is\r\ntwo.', 'it is\nthree')).toBe('not ok 2 - It is two.\n  # it is\n  # three\n');
});

test.each([
  ['orders # TODO', 'orders \\# TODO'],
  ['a \\# SKIP', 'a \\\\\\# SKIP'],
  ['a\rok 3 - b', 'a ok 3 - b'],
])('a name is no directive, and no line of its own: %j', (name, told) => {
  expect(tapLines(1, name, 'no')).toBe(`not ok 1 - ${told}\n  # no\n`);
});
