import { describe, expect, test } from '@jest/globals';
import { WholeTexts } from './whole-texts.js';

describe('the whole texts of an index that is built', () => {
  test('has what was added, and nothing else', () => {
    const known = new WholeTexts(10);
    known.add('key', 'a');
    expect([known.has('key', 'a'), known.has('key', 'b'), known.has('other', 'a')]).toEqual([
      true,
      false,
      false,
    ]);
  });

  test('tells that anything may be there once it is full', () => {
    const known = new WholeTexts(2);
    known.add('key', 'a');
    known.add('key', 'a');
    expect(known.has('key', 'b')).toBe(false);
    known.add('key', 'b');
    known.add('key', 'c');
    expect(known.has('key', 'd')).toBe(true);
  });
});
