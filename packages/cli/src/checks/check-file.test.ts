import { expect, test } from '@jest/globals';
import { CheckFileError, checkStatements } from './check-file.js';

test('closures are checks by the text that they begin with, others are what stands before them', () => {
  const source = `.n = 1;\n  || { "It is one."; assert(.n == 1); };\n|| assert(true);`;
  expect(checkStatements(source, 'file')).toEqual([
    { name: null, code: '.n = 1;' },
    { name: 'It is one.', code: '\n (|| { "It is one."; assert(.n == 1); }).call(); wse();' },
    { name: 'line 3', code: '\n\n(|| assert(true)).call(); wse();' },
  ]);
});

test('a text that is not of the language is refused with its place', () => {
  expect(() => checkStatements('|| {', 'file')).toThrow(CheckFileError);
  expect(() => checkStatements('|| {', 'file')).toThrow(/^file: .*line 1/);
});
