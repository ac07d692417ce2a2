import { describe, expect, test } from '@jest/globals';
import { PropertyTables, propertyBody } from './properties.js';

/** All code points for which the property of that name holds, as ranges in text form. */
function table(name: string, negated = false) {
  const body = propertyBody(name, negated);
  return body === null ? null : new PropertyTables().table([body]);
}

describe('properties', () => {
  test.each([
    ['Lu', '\\p{Lu}'],
    ['greek', '\\p{scx=Greek}'],
    ['sc:Greek', '\\p{sc=Greek}'],
    ['L&', '[\\p{Lu}\\p{Ll}\\p{Lt}]'],
    ['Any', '[^]'],
    ['alphabetic', '\\p{Alphabetic}'],
    ['Grapheme_Extend', '\\p{Grapheme_Extend}'],
    ['Unknown', '[\\p{Cn}\\p{Co}\\p{Cs}]'],
  ])('%s holds where %s does', (name, native) => {
    const regex = new RegExp(`^${native}$`, 'u');
    const [positive, negative] = [table(name), table(name, true)];
    for (let code = 0; code <= 0x10ffff; code += 1 + (code % 251)) {
      const expected = regex.test(String.fromCodePoint(code));
      if (positive?.test(code) !== expected || negative?.test(code) !== !expected) {
        throw new Error(`U+${code.toString(16)}: should be ${expected}`);
      }
    }
  });

  test('there are no others', () => {
    for (const name of ['Bogus', '', 'gc=Lu', 'Letter', 'IsGreek', 'L\\', 'Lu}', 'constructor'])
      expect(table(name)).toBeNull();
  });

  test('equal ones share a table', () => {
    const tables = new PropertyTables();
    expect(tables.table(['\\p{L}', '\\p{N}'])).toBe(tables.table(['\\p{N}', '\\p{L}', '\\p{L}']));
  });
});
