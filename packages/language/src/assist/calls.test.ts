import { expect, test } from '@jest/globals';
import { calledNames } from './calls.js';

test('calls are found wherever they stand', () => {
  expect(calledNames("f(g()); x.h(|a| { `{i(1)}` }); {k: j()}; T{a: l()}; 'm()'; // n()\n f()")).toEqual([
    'f',
    'g',
    'h',
    'i',
    'j',
    'l',
  ]);
});

test('a text that is no query is refused', () => {
  expect(() => calledNames('f(')).toThrow('unexpected end of the text');
});
