import { expect, test } from '@jest/globals';
import { scriptParts } from './script.js';

test('a file is one query', () => {
  expect(scriptParts('\n.a = 1;\n\n.b = 2;\n')).toEqual([
    { kind: 'query', text: '.a = 1;\n\n.b = 2;\n', line: 2 },
  ]);
});

test('lines that begin with a backslash are commands, and end the query before them', () => {
  expect(scriptParts('#!/usr/bin/env althing\n.a = 1;\n\\g\n\\timing on\n\n.b;')).toEqual([
    { kind: 'query', text: '.a = 1;', line: 2 },
    { kind: 'command', text: '\\g', line: 3 },
    { kind: 'command', text: '\\timing on', line: 4 },
    { kind: 'query', text: '.b;', line: 6 },
  ]);
});

test('within a text or a comment such a line is part of it', () => {
  const query = ".a = 'one\n\\two\n'; /*\n\\three */ `\n\\four`;";
  expect(scriptParts(query)).toEqual([{ kind: 'query', text: query, line: 1 }]);
});

test.each(['', '\n \n', '\\q'])('%j has no query', (source) => {
  expect(scriptParts(source).filter(({ kind }) => kind === 'query')).toEqual([]);
});
