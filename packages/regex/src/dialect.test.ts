import { describe, expect, test } from '@jest/globals';
import { Budget, compileRegex, RegexSyntaxError, Subject } from './regex.js';

/** The texts of the first match and of all groups (null for one that took no part); null without a match. */
function find(pattern: string, text: string, flags = '', start = 0): (string | null)[] | null {
  const regex = compileRegex(pattern, flags);
  const subject = new Subject(text);
  const match = regex.exec(subject, start, new Budget());
  if (match === null) return null;
  const texts: (string | null)[] = [];
  for (let group = 0; group <= regex.groupCount; group++) {
    const from = match.groupStart(group);
    texts.push(from < 0 ? null : subject.slice(from, match.groupEnd(group)));
  }
  return texts;
}

const matches = (pattern: string, text: string, flags = ''): boolean => find(pattern, text, flags) !== null;

function refusal(pattern: string, flags = ''): RegexSyntaxError {
  try {
    compileRegex(pattern, flags);
  } catch (error) {
    if (error instanceof RegexSyntaxError) return error;
    throw error;
  }
  throw new Error(`/${pattern}/${flags} compiles`);
}

describe('characters', () => {
  test('the unit is a code point', () => {
    expect(find('^.$', 'ü')).toEqual(['ü']);
    expect(find('^.$', '🙂')).toEqual(['🙂']);
    expect(find('[🙂-🙄]+', 'a🙂🙃b')).toEqual(['🙂🙃']);
    expect(find('(.)(.)$', 'a🙂b')).toEqual(['🙂b', '🙂', 'b']);
  });

  test('the dot leaves out the newline only', () => {
    expect(matches('^a.b$', 'a\rb')).toBe(true);
    expect(matches('^a.b$', 'a\u2028b')).toBe(true);
    expect(matches('a.b', 'a\nb')).toBe(false);
    expect(matches('a.b', 'a\nb', 's')).toBe(true);
    expect(matches('a\\Nb', 'a\nb', 's')).toBe(false);
    expect(matches('^\\N{3}$', 'abc')).toBe(true);
  });

  test.each([
    ['\\w', 'é'],
    ['\\d', '٣'],
    ['\\s', '\u00a0'],
    ['[[:alpha:]]', 'é'],
    ['É', 'é'],
    ['(?i)[É]', 'é'],
    ['(?i)k', '\u212a'],
    ['\\bé\\b', 'é'],
  ])('%s is about ASCII only: it does not match %s', (pattern, text) => {
    expect(matches(pattern, text, 'i')).toBe(false);
  });

  test('white space is space, tab, newline, vertical tab, form feed and carriage return', () => {
    expect(matches('^\\s{6}$', ' \t\n\v\f\r')).toBe(true);
    expect(matches('\\S', ' \t\n\v\f\r')).toBe(false);
  });

  test('ASCII letters ignore case under i', () => {
    expect(matches('STRASSE', 'strasse', 'i')).toBe(true);
    expect(matches('^[a-f]+$', 'aBcDeF', 'i')).toBe(true);
    expect(matches('[^a]', 'A', 'i')).toBe(false);
    expect(matches('^[[:upper:]][[:lower:]]$', 'aB', 'i')).toBe(true);
    expect(matches('[@`{]', '[', 'i')).toBe(false);
    expect(matches('@', '`', 'i')).toBe(false);
  });

  test.each([
    ['\\x41', 'A'],
    ['\\x{1F642}', '🙂'],
    ['\\x4g', '\x04g'],
    ['\\x', '\0'],
    ['\\o{101}', 'A'],
    ['\\101', 'A'],
    ['\\0', '\0'],
    ['\\08', '\x008'],
    ['\\777', '\u01ff'],
    ['\\e\\a\\f\\n\\r\\t', '\x1b\x07\f\n\r\t'],
    ['\\cA\\ca\\c[\\c?', '\x01\x01\x1b\x7f'],
    ['\\N{U+E9}', 'é'],
    ['\\/\\-\\_\\é\\ ', '/-_é '],
    ['a{,3}', 'a{,3}'],
    ['a{1', 'a{1'],
    ['a{ 1}', 'a{ 1}'],
    ['{}]', '{}]'],
    ['\\Qa.b*\\E', 'a.b*'],
    ['\\Qa\\Eb\\Q(', 'ab('],
    ['a\\Eb', 'ab'],
  ])('%s stands for text', (pattern, text) => {
    expect(find(`^(?:${pattern.endsWith('\\Q(') ? `${pattern}\\E` : pattern})$`, text)).toEqual([text]);
  });

  test.each([
    ['\\h', '\t \u00a0\u3000', '\n\v'],
    ['\\H', '\nx', '\t\u2003'],
    ['\\v', '\n\v\f\r\u0085\u2028\u2029', '\t x'],
    ['\\V', ' x', '\n\u2029'],
    ['\\p{L}', 'aéя漢', '1_ '],
    ['\\P{L}', '1_ ', 'aé'],
    ['\\p{^L}', '1_ ', 'aé'],
    ['\\pN', '1٣', 'a'],
    ['\\p{Lu}', 'AÉ', 'aé1'],
    ['\\p{L&}', 'aA', '漢1'],
    ['\\p{ l_u }', 'AÉ', 'a'],
    ['\\p{Greek}', 'αΩ\u0342', 'a'],
    ['\\p{sc:Greek}', 'αΩ', 'a\u0342'],
    ['\\p{script=Cyrl}', 'я', 'α'],
    ['\\p{Han}', '漢', 'あ'],
    ['\\p{Any}', 'a\n🙂', ''],
    ['\\p{Xan}', 'é٣', '_ '],
    ['\\P{Xan}', '_ ', 'é٣'],
    ['\\p{White_Space}', ' \u00a0', 'a'],
    ['[\\p{Lu}\\d_]', 'É1_', 'é '],
    ['[^\\p{Lu}\\d_]', 'é ', 'É1_'],
    ['[\\P{L}b]', '1b', 'a'],
    ['[]x]', ']x', 'a'],
    ['[^]x]', 'a', ']x'],
    ['[a-]', 'a-', 'b'],
    ['[-a]', 'a-', 'b'],
    ['[a-c-e]', 'abc-e', 'd'],
    ['[\\d-]', '1-', 'a'],
    ['[\\]\\-]', ']-', 'a'],
    ['[\\b]', '\b', 'b'],
    ['[\\1\\8]', '\x018', '1'],
    ['[a\\Q-c\\E]', 'a-c', 'b'],
    ['[a-\\Qc\\E]', 'abc', '-d'],
    ['[[:digit:][:^space:]]', '1a', ' '],
    ['[[:punct:]]', '!~_', 'a1 '],
    ['[[:alpha]', '[:alph', 'z'],
    ['[a[]', 'a[', ']'],
    ['(?xx)[a b]', 'ab', ' '],
  ])('%s matches each of %j and none of %j', (pattern, members, others) => {
    const regex = compileRegex(`\\A${pattern}\\z`, '');
    const has = (text: string) => regex.exec(new Subject(text), 0, new Budget()) !== null;
    expect([...members].filter((one) => !has(one))).toEqual([]);
    expect([...others].filter(has)).toEqual([]);
  });

  test('\\R is a line end of any kind, \\X what a reader takes for one character', () => {
    expect(find('a\\Rb', 'a\r\nb')).toEqual(['a\r\nb']);
    expect(find('^\\R\\n', '\r\n')).toBeNull();
    expect(find('^\\X$', 'e\u0301\u0302')).toEqual(['e\u0301\u0302']);
    expect(find('^\\X', '👩‍👩‍👧x')).toEqual(['👩‍👩‍👧']);
    expect(find('^\\X', '🇩🇪🇫🇷')).toEqual(['🇩🇪']);
    expect(find('^\\X', '\u1112\u1161\u11ab\u1100')).toEqual(['\u1112\u1161\u11ab']);
    expect(find('^\\X', '\r\n')).toEqual(['\r\n']);
    expect(find('^\\X', 'ab')).toEqual(['a']);
  });
});

describe('assertions', () => {
  test('$ without m holds at the very end only, \\Z also before a final newline', () => {
    expect(matches('end$', 'end')).toBe(true);
    expect(matches('end$', 'end\n')).toBe(false);
    expect(matches('end\\z', 'end\n')).toBe(false);
    expect(matches('end\\Z', 'end\n')).toBe(true);
    expect(matches('end\\Z', 'end\n\n')).toBe(false);
  });

  test('under m only the newline ends a line, and none begins behind a final one', () => {
    expect(matches('^b$', 'a\nb\nc', 'm')).toBe(true);
    expect(matches('^b', 'a\rb', 'm')).toBe(false);
    expect(matches('a$', 'a\n', 'm')).toBe(true);
    expect(matches('\\n^', 'a\n', 'm')).toBe(false);
    expect(matches('\\n$', 'a\n', 'm')).toBe(true);
    expect(matches('\\Ab', 'a\nb', 'm')).toBe(false);
  });

  test('word boundaries', () => {
    expect(matches('\\bcat\\b', 'a cat!')).toBe(true);
    expect(matches('\\bcat\\b', 'concat')).toBe(false);
    expect(matches('\\Bcat', 'concat')).toBe(true);
    expect(find('[[:<:]]\\w+[[:>:]]', '- ab -')).toEqual(['ab']);
  });

  test('\\G holds where the search began', () => {
    expect(find('\\Gb', 'ab', '', 1)).toEqual(['b']);
    expect(find('\\Gb', 'ab', '', 0)).toBeNull();
    expect(find('a|\\Gb', 'cb', '', 0)).toBeNull();
  });

  test('look-ahead and look-behind', () => {
    expect(find('\\d+(?= EUR)', '5 USD 70 EUR')).toEqual(['70']);
    expect(find('(?<=#)\\w+', 'a #tag')).toEqual(['tag']);
    expect(find('(?<!\\d)7', '17')).toBeNull();
    expect(find('q(?!u)', 'quqa')).toEqual(['q']);
    expect(find('(?<=ab|c)d', 'abd')).toEqual(['d']);
    expect(find('(?<=^|,)b', 'a,b')).toEqual(['b']);
    expect(find('(?<=a(?=bc))b', 'abd abc')).toEqual(['b']);
    expect(find('(?<!ab)c', 'c')).toEqual(['c']);
  });

  test('groups in a look-ahead keep their values; those in a negative one do not', () => {
    expect(find('(?=(a+))a', 'aab')).toEqual(['a', 'aa']);
    expect(find('(?!(a)b)a', 'ac')).toEqual(['a', null]);
    expect(find('(?=(a+))a*b\\1', 'baaabac')).toEqual(['aba', 'a']);
  });

  test('assertions may be repeated, to no effect', () => {
    expect(find('(?=a)*b', 'b')).toEqual(['b']);
    expect(find('(?=(a))?b', 'ab')).toEqual(['b', null]);
    expect(find('(?<=a)+b', 'b')).toBeNull();
  });

  test('\\K moves the start of the match', () => {
    expect(find('foo\\Kbar', 'foobar')).toEqual(['bar']);
    expect(find('(foo\\K)?bar', 'foobar')).toEqual(['bar', 'foo']);
    expect(find('a\\Kx|ab', 'ab')).toEqual(['ab']);
  });
});

describe('groups and references', () => {
  test('a group keeps its value over the iterations of a loop', () => {
    expect(find('(?:(a)|b)*', 'ab')).toEqual(['ab', 'a']);
    expect(find('(?:(a)|(b))+', 'aba')).toEqual(['aba', 'a', 'b']);
    expect(find('(a(b)?)+', 'aba')).toEqual(['aba', 'a', 'b']);
  });

  test('an alternative that is undone leaves no trace in groups', () => {
    expect(find('(?:(a)b|a(c))', 'ac')).toEqual(['ac', null, 'c']);
    expect(find('(?:(a)*b|.*)', 'aac')).toEqual(['aac', null]);
  });

  test('a reference to a group without a value fails', () => {
    expect(find('(a)?\\1b', 'b')).toBeNull();
    expect(find('(?:(a)|b)*\\1', 'aba')).toEqual(['aba', 'a']);
    expect(find('\\1(a)', 'aa')).toBeNull();
  });

  test.each([
    '(\\w)\\1',
    '(\\w)\\g1',
    '(\\w)\\g{1}',
    '(\\w)\\g{-1}',
    '(\\w)\\g-1',
    '(?<n>\\w)\\k<n>',
    "(?'n'\\w)\\k'n'",
    '(?P<n>\\w)(?P=n)',
    '(?<n>\\w)\\k{n}',
    '(?<n>\\w)\\g{n}',
  ])('%s finds the same character twice', (pattern) => {
    expect(find(pattern, 'letter')).toEqual(['tt', 't']);
    expect(find(pattern, 'later')).toBeNull();
  });

  test('references of several digits', () => {
    const ten = '(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)';
    expect(find(`${ten}\\10`, 'abcdefghijj')?.[0]).toBe('abcdefghijj');
    expect(matches('(a)\\11', 'a\t')).toBe(true);
  });

  test('inside its own group a reference means the earlier value', () => {
    expect(find('(a|b\\1)+', 'aba')).toEqual(['aba', 'ba']);
    expect(find('(a\\1)', 'aa')).toBeNull();
  });

  test('references ignore case under i', () => {
    expect(find('(ab)\\1', 'abAB', 'i')).toEqual(['abAB', 'ab']);
    expect(find('(ab)(?i)\\1', 'abAB')).toEqual(['abAB', 'ab']);
    expect(find('(ab)\\1', 'abAB')).toBeNull();
  });

  test('under J a name may stand for several groups', () => {
    expect(find('(?J)(?:(?<n>a)|(?<n>b))\\k<n>', 'abb')).toEqual(['bb', null, 'b']);
    expect(compileRegex('(?<year>\\d+)-(?<month>\\d+)', '').groupsByName).toEqual(
      new Map([
        ['year', [1]],
        ['month', [2]],
      ]),
    );
  });
});

describe('repeats', () => {
  test('greedy, lazy, bounded', () => {
    expect(find('<.+>', '<a><b>')).toEqual(['<a><b>']);
    expect(find('<.+?>', '<a><b>')).toEqual(['<a>']);
    expect(find('a{2,3}', 'aaaa')).toEqual(['aaa']);
    expect(find('a{2,3}?', 'aaaa')).toEqual(['aa']);
    expect(find('(?:ab){2}', 'ababab')).toEqual(['abab']);
    expect(find('(?:ab|c){2,}?c', 'abccc')).toEqual(['abcc']);
    expect(find('x(?:ab){0}y', 'xy')).toEqual(['xy']);
    expect(find('(?U)a+', 'aaa')).toEqual(['a']);
    expect(find('(?U)a+?', 'aaa')).toEqual(['aaa']);
  });

  test('possessive and atomic give nothing back', () => {
    expect(matches('a++a', 'aaa')).toBe(false);
    expect(matches('(?>a+)a', 'aaa')).toBe(false);
    expect(matches('a++b', 'aab')).toBe(true);
    expect(matches('^(?:ab|a)?+b', 'ab')).toBe(false);
    expect(matches('(?>a|ab)c', 'abc')).toBe(false);
    expect(find('(?>b*?)b', 'bb')).toEqual(['b']);
    expect(find('(?>(a+))b', 'aab')).toEqual(['aab', 'aa']);
  });

  test('an iteration that matches nothing is accepted and is the last', () => {
    expect(find('(a|)*', 'aab')).toEqual(['aa', '']);
    expect(find('(?:|a)*', 'aa')).toEqual(['']);
    expect(find('(a*)*', 'b')).toEqual(['', '']);
    expect(find('(a*)+b', 'aab')).toEqual(['aab', '']);
    expect(find('(?:|a)+?b', 'aab')).toEqual(['aab']);
    expect(find('(?:a|(?:)|d)(?:|c)+', 'ad')).toEqual(['a']);
    expect(find('(?:(?:a|(?:)|d)(?:|c))+', 'ad')).toEqual(['a']);
    expect(find('(?:()|a)+b', 'aab')).toEqual(['aab', '']);
  });
});

describe('inline flags and layout', () => {
  test('flags hold to the end of their group, over the bars', () => {
    expect(matches('(?i)abc', 'ABC')).toBe(true);
    expect(matches('a(?i:b)c', 'aBc')).toBe(true);
    expect(matches('a(?i:b)c', 'aBC')).toBe(false);
    expect(matches('(?-i)a', 'A', 'i')).toBe(false);
    expect(matches('^(?:a(?i)b|c)d$', 'Cd')).toBe(true);
    expect(matches('^(?:a(?i)b|c)d$', 'cD')).toBe(false);
    expect(matches('(?s-i:a.)', 'a\n', 'i')).toBe(true);
    expect(matches('(?^:a)', 'A', 'i')).toBe(false);
    expect(matches('(?m)^b', 'a\nb')).toBe(true);
  });

  test('extended layout', () => {
    expect(find('(?x) a  b # comment', 'ab')).toEqual(['ab']);
    expect(find('(?x) a # first\n b', 'ab')).toEqual(['ab']);
    expect(find('(?x) a + [ ] \\ ', 'aa  ')).toEqual(['aa  ']);
    expect(find('(?x) a {2}', 'aa')).toEqual(['aa']);
    expect(find('a(?#comment)+', 'aaa')).toEqual(['aaa']);
    expect(find('a\\Q\\E+', 'aaa')).toEqual(['aaa']);
    expect(find('\\Qab\\E+', 'abb')).toEqual(['abb']);
  });

  test('n makes plain parentheses not capture', () => {
    expect(find('(?n)(a)(?<x>b)', 'ab')).toEqual(['ab', 'b']);
  });

  test('(*UTF) at the start has no effect', () => {
    expect(find('(*UTF)é', 'é')).toEqual(['é']);
  });

  test('an empty pattern matches nothing at the start', () => {
    expect(find('', 'abc')).toEqual(['']);
    expect(find('', '')).toEqual(['']);
  });
});

describe('refused patterns', () => {
  test.each([
    // Escapes.
    ['\\u0041', 0],
    ['\\L', 0],
    ['\\i', 0],
    ['a\\y', 1],
    ['a\\', 1],
    ['\\x{110000}', 0],
    ['\\x{d800}', 0],
    ['\\x{}', 3],
    ['\\x{4g}', 4],
    ['\\o{8}', 3],
    ['\\o', 0],
    ['\\cé', 0],
    ['\\p{Bogus}', 0],
    ['\\p{L', 0],
    ['\\N{LATIN SMALL LETTER A}', 0],
    ['\\C', 0],
    ['[\\i]', 1],
    ['[\\R]', 1],
    ['[\\B]', 1],
    // Quantifiers.
    ['+a', 0],
    ['a**', 2],
    ['a{2}{3}', 4],
    ['^*', 1],
    ['\\b+', 2],
    ['(|*)', 2],
    ['(?i)*', 4],
    ['a{65536}', 1],
    ['a{3,2}', 1],
    // Classes.
    ['[z-a]', 4],
    ['[\\d-x]', 3],
    ['[a-\\d]', 5],
    ['[[:foo:]]', 1],
    ['[[.a.]]', 1],
    ['[:alpha:]', 0],
    ['[a', 0],
    ['[]', 0],
    // References and names.
    ['\\1', 0],
    ['(a)\\2', 3],
    ['(a)\\g{-2}', 3],
    ['\\k<n>', 0],
    ['(?P=n)', 0],
    ['(?<n>a)(?<n>b)', 7],
    ['(?<1a>b)', 3],
    ['(?<n', 4],
    [`(?<${'n'.repeat(33)}>a)`, 3],
    // Groups.
    ['(', 0],
    ['(?', 0],
    ['a)', 1],
    ['(?z)', 2],
    ['(?i', 0],
    ['(?#', 0],
    ['(?<=a*)b', 0],
    ['(?<=ab(c|de))x', 0],
    ['(?<=\\X)x', 0],
    ['(?<=(a)|\\1\\R)x', 0],
    ['(?=a\\K)b', 4],
    // Features that this language leaves out.
    ['(?R)', 0],
    ['(?1)(a)', 0],
    ['(?-1)(a)', 0],
    ['(?&n)', 0],
    ['(?P>n)', 0],
    ['\\g<1>(a)', 0],
    ['(?(1)a|b)', 0],
    ['(?|a|b)', 0],
    ['(?C1)a', 0],
    ['(*ACCEPT)', 0],
    ['a(*UTF)', 1],
    ['(?*a)', 0],
  ])('%s, at position %i', (pattern, position) => {
    expect(refusal(pattern)).toMatchObject({ name: 'RegexSyntaxError', position });
  });

  test.each(['x', 'u', 'I', ' ', 'é', 'gx'])('the flags %j', (flags) => {
    expect(refusal('a', flags).position).toBe(flags.length - 1);
  });

  test('flags may repeat', () => {
    expect(compileRegex('a', 'ggiissmm').global).toBe(true);
  });

  test('positions count code points', () => {
    expect(refusal('🙂🙂)').position).toBe(2);
  });
});
