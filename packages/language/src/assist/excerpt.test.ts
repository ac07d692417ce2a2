import { expect, test } from '@jest/globals';
import { excerpt } from './excerpt.js';

test('the line of an error is shown with carets under the place', () => {
  const source = 'x = 1;\n.users.fiter(|u| u.age);';
  expect(excerpt(source, { line: 2, column: 8, offset: 14, length: 5 })).toBe(
    '2 | .users.fiter(|u| u.age);\n  |        ^^^^^',
  );
});

test('the end of a text has one caret', () => {
  expect(excerpt('1 +', { line: 1, column: 4, offset: 3, length: 0 })).toBe('1 | 1 +\n  |    ^');
});

test('an excerpt of a long line shows the part around the place', () => {
  const [line, carets] = excerpt(`${'a'.repeat(500)}!${'b'.repeat(500)}`, {
    line: 1,
    column: 501,
    offset: 500,
    length: 1,
  }).split('\n');
  expect(line).toHaveLength('1 | ...'.length + 100);
  expect(line?.[carets?.indexOf('^') ?? -1]).toBe('!');
});

test('a place that the text does not have is its end', () => {
  expect(excerpt('1', { line: 7, column: 9, offset: 90, length: 4 })).toBe('7 | \n  | ^');
});

test('control characters do not reach the terminal', () => {
  expect(excerpt('\u001b[2J!', { line: 1, column: 5, offset: 4, length: 1 })).toBe('1 |  [2J!\n  |     ^');
});
