import { describe, expect, test } from '@jest/globals';
import { groupTexts, matchRegex, replaceMatches, splitAtMatches, testRegex } from './operations.js';
import { Budget, compileRegex, Subject } from './regex.js';

const match = (pattern: string, flags: string, text: string) =>
  matchRegex(compileRegex(pattern, flags), new Subject(text), new Budget());

const split = (pattern: string, text: string, limit?: number) =>
  splitAtMatches(compileRegex(pattern, ''), new Subject(text), new Budget(), limit);

/** Replaces by what `show` makes of the arguments that a closure gets: groups, match, start and end. */
function replace(
  pattern: string,
  text: string,
  show: (args: (string | number)[]) => string,
  limit = Infinity,
): string {
  const subject = new Subject(text);
  return replaceMatches(compileRegex(pattern, ''), subject, new Budget(), limit, (found) =>
    show([...groupTexts(found, subject), subject.slice(found.start, found.end), found.start, found.end]),
  );
}

describe('test', () => {
  test('has no state, whatever the flags', () => {
    const regex = compileRegex('o', 'g');
    const subject = new Subject('foo');
    expect([1, 2, 3].map(() => testRegex(regex, subject, new Budget()))).toEqual([true, true, true]);
  });
});

describe('match', () => {
  test('gives the whole match and the groups', () => {
    expect(match('(\\w+)@(\\w+)', '', 'mail bo@home now')).toEqual(['bo@home', 'bo', 'home']);
    expect(match('zz', '', 'abc')).toBeNull();
    expect(match('b+', '', 'abbb')).toEqual(['bbb']);
    expect(match('x*', '', 'abc')).toEqual(['']);
  });

  test('leaves out the groups behind the last that took part', () => {
    expect(match('(x)?(y)?(z)', '', 'z')).toEqual(['z', '', '', 'z']);
    expect(match('(z)(y)?(x)?', '', 'z')).toEqual(['z', 'z']);
  });

  test('gives all matches under g, and ends with an empty one in its place', () => {
    expect(match('(\\d)(\\d)', 'g', '12 345 6789')).toEqual(['12', '34', '67', '89']);
    expect(match('zz', 'g', 'abc')).toEqual([]);
    expect(match('b*', 'g', 'bbabb')).toEqual(['bb', '']);
    expect(match('x*', 'g', 'abc')).toEqual(['']);
    expect(match('$', 'g', 'abc')).toEqual(['', '']);
  });
});

describe('replace', () => {
  test('replaces all, or as many as asked for', () => {
    expect(replace('\\d+', 'a1b22c333', () => '#')).toBe('a#b#c#');
    expect(replace('\\d+', 'a1b22c333', () => '#', 2)).toBe('a#b#c333');
    expect(replace('\\d+', 'a1b22c333', () => '#', 0)).toBe('a1b22c333');
    expect(replace('\\d', 'abc', () => '#')).toBe('abc');
  });

  test('takes the replacement literally', () => {
    expect(replace('(\\d)', 'a1', () => '<$1\\1$&>')).toBe('a<$1\\1$&>');
  });

  test('hands over the groups up to the last that took part, and code point positions', () => {
    const show = (args: (string | number)[]) => `<${args.join('|')}>`;
    expect(replace('(\\d+)-(\\d+)', '2021-03', show)).toBe('<2021|03|2021-03|0|7>');
    expect(replace('(a)?(b)', 'b', show)).toBe('<|b|b|0|1>');
    expect(replace('(a)(b)?', 'a.', show)).toBe('<a|a|0|1>.');
    expect(replace('b', '🙂b', show)).toBe('🙂<b|1|2>');
  });

  test('ends at an empty match in its place; one further on is found twice', () => {
    expect(replace('x*', 'abc', () => '-')).toBe('-abc');
    expect(replace('$', 'abc', () => '!')).toBe('abc!!');
    expect(replace('(?=b)', 'abab', () => '|')).toBe('a||bab');
    expect(replace('x*', '', () => '')).toBe('');
  });

  test('knows look-arounds and the moved start', () => {
    expect(replace('(?<=b)1', 'a1 b1', () => 'X')).toBe('a1 bX');
    expect(replace('foo\\Kbar', 'foobar', () => 'X')).toBe('fooX');
  });

  test('an error of the replacement is passed on', () => {
    const failing = () => {
      throw new TypeError('not a str');
    };
    expect(() => replace('a', 'aaa', failing)).toThrow(TypeError);
  });
});

describe('split', () => {
  test('gives the parts between the matches', () => {
    expect(split('\\d+', 'one1two22three')).toEqual(['one', 'two', 'three']);
    expect(split('\\d', '1a2')).toEqual(['', 'a', '']);
    expect(split('\\d', 'abc')).toEqual(['abc']);
    expect(split(',', '')).toEqual(['']);
    expect(split(',', 'a,b,c', 1)).toEqual(['a', 'b,c']);
    expect(split(',', 'a,b,c', 0)).toEqual(['a,b,c']);
  });

  test('adds the groups', () => {
    expect(split('\\s*(\\d)(\\d)?\\s*', 'one1two22three')).toEqual(['one', '1', 'two', '2', '2', 'three']);
    expect(split('(,)|( )', 'a b')).toEqual(['a', '', ' ', 'b']);
  });

  test('ends at an empty match in its place', () => {
    expect(split('x*', 'abc')).toEqual(['', 'abc']);
    expect(split('(?=\\d)', 'a1b2')).toEqual(['a', '', '1b2']);
  });
});
