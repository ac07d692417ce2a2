import { describe, expect, test } from '@jest/globals';
import { successiveMatches } from './operations.js';
import { Budget, compileRegex, RegexBudgetError, RegexSyntaxError, STEP_LIMIT, Subject } from './regex.js';

/** The steps that finding all matches takes, and how many there are. */
function cost(pattern: string, text: string): { steps: number; matches: number } {
  const budget = new Budget();
  const found = [...successiveMatches(compileRegex(pattern, ''), new Subject(text), budget)];
  return { steps: STEP_LIMIT - budget.steps, matches: found.length };
}

describe('the search is linear in the text', () => {
  const size = 5_000;
  test.each([
    ['^(a+)+$', 'a', 'b'],
    ['(a+)+$', 'a', 'b'],
    ['(a*)*b', 'a', ''],
    ['(a|aa)+$', 'a', 'b'],
    ['(a|a)*b', 'a', ''],
    ['(.*)*x', 'a', ''],
    ['(x+x+)+y', 'x', ''],
    ['a+b', 'a', ''],
    ['.*?b', 'a', ''],
    ['.*.*.*b', 'a', ''],
    ['a++b', 'a', ''],
    ['(?:(?:(?:a?)*)*)*b', 'a', ''],
    ['(?:a(?=b)|a)+c', 'a', ''],
    ['(\\w+\\s?)*$', 'word ', '!'],
    ['(?:.{3}|.{7})*x', 'abc', ''],
    ['(🙂+)+$', '🙂', 'b'],
    // Finds many matches, of which each looks far ahead.
    ['(?:a+)+b|a', 'a', ''],
    ['a(?:a*c)?', 'a', ''],
  ])('%s', (pattern, unit, end) => {
    const small = cost(pattern, unit.repeat(size) + end);
    const large = cost(pattern, unit.repeat(4 * size) + end);
    expect(large.steps).toBeLessThan(4.5 * small.steps + 10_000);
    expect(large.steps).toBeLessThan(100 * size * unit.length);
  });

  test('also with 100,000 characters and nested quantifiers', () => {
    expect(cost('^(a+)+$', `${'a'.repeat(100_000)}b`).matches).toBe(0);
    expect(cost('^(a+)+$', 'a'.repeat(100_000)).matches).toBe(1);
  });

  test('a deterministic loop over a long text needs no stack', () => {
    expect(cost('^(?:(a)|(b))*$', 'ab'.repeat(250_000))).toMatchObject({ matches: 1 });
  });
});

describe('patterns that can not be linear end at the step limit', () => {
  test.each([
    ['(a+)+\\1$', `${'a'.repeat(40)}b`],
    ['(a*)*\\1b', 'a'.repeat(1000)],
    ['(?:(?=a+b)a)+c', 'a'.repeat(100_000)],
    ['(?>(a|aa)+)$', `${'a'.repeat(100_000)}b`],
    ['a{1,30000}b', 'a'.repeat(100_000)],
    ['(a{50000})\\1b', 'a'.repeat(500_000)],
    [`${'()'.repeat(30_000)}\\w`, ' '.repeat(100_000)],
  ])('%s', (pattern, text) => {
    const regex = compileRegex(pattern, '');
    const budget = new Budget(1_000_000);
    expect(() => regex.exec(new Subject(text), 0, budget)).toThrow(RegexBudgetError);
    expect(budget.steps).toBe(0);
  });

  test('the step limit is ten million unless another one is given', () => {
    const budget = new Budget();
    expect(budget.steps).toBe(10_000_000);
    expect(() => compileRegex('(a+)+\\1$', '').exec(new Subject(`${'a'.repeat(40)}b`), 0, budget)).toThrow(
      /too many steps/,
    );
  });

  test('one budget serves all searches of an operation', () => {
    const regex = compileRegex('(a+)+\\1$', '');
    const subject = new Subject(`${'a'.repeat(12)}b`);
    const budget = new Budget(20_000);
    regex.exec(subject, 0, budget);
    const once = 20_000 - budget.steps;
    expect(once).toBeGreaterThan(1000);
    expect(() => {
      for (let i = 0; i < 20_000 / once; i++) regex.exec(subject, 0, budget);
    }).toThrow(RegexBudgetError);
  });

  test('the steps are told while a search goes on, and whoever is told can end it', () => {
    const counted: number[] = [];
    const budget = new Budget(1_000_000, (steps) => counted.push(steps));
    const regex = compileRegex('(a+)+\\1$', '');
    const subject = new Subject(`${'a'.repeat(40)}b`);
    expect(() => regex.exec(subject, 0, budget)).toThrow(RegexBudgetError);
    budget.countSteps();
    expect(counted.reduce((sum, steps) => sum + steps)).toBe(1_000_000);
    expect(Math.max(...counted)).toBeLessThan(6000);

    const ended = new Budget(1_000_000, () => {
      throw new Error('the time is over');
    });
    expect(() => regex.exec(subject, 0, ended)).toThrow('the time is over');
    expect(ended.steps).toBeGreaterThan(990_000);
  });

  test('the memory of open choices is bounded', () => {
    const regex = compileRegex('^(?:(.)\\1?)*.$', 's');
    expect(() => regex.exec(new Subject('ab'.repeat(1_500_000)), 0, new Budget(1e9))).toThrow(/memory/);
  });
});

const NAMES =
  `Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co Cn Greek Latin Han`.split(
    ' ',
  );

describe('the compiler is bounded', () => {
  test.each([
    ['nesting', `${'('.repeat(251)}${')'.repeat(251)}`],
    ['length', 'a'.repeat(65_537)],
    ['repeats of repeats', '(?:(?:(?:ab){100}){100}){100}'],
    ['empty repeats of repeats', `${'(?:'.repeat(250)}${'){65535}'.repeat(250)}`],
    ['optional repeats', `${'(?:'.repeat(200)}a?${'){2,3}'.repeat(200)}`],
    [
      'different sets of properties',
      Array.from({ length: 33 }, (_, i) => `[\\p{L}\\p{${NAMES[i]}}]`).join(''),
    ],
  ])('%s', (_what, pattern) => {
    expect(() => compileRegex(pattern, '')).toThrow(RegexSyntaxError);
  });

  test.each([
    ['nesting', `${'('.repeat(250)}a${')*'.repeat(250)}`, 'aa'],
    ['length', 'a'.repeat(65_536), 'a'.repeat(65_536)],
    ['many stars', 'a*'.repeat(30_000), 'aa'],
    ['many branches', 'ab|'.repeat(21_000), 'ab'],
    ['many classes', `[a-${'za-'.repeat(20_000)}z]`, 'a'],
    ['many groups', '()'.repeat(32_000), ''],
    ['many look-behinds', `a${'(?<=a)'.repeat(10_000)}`, 'a'],
    ['a long repeat of a character', 'a{65535}', 'a'.repeat(65_535)],
    ['a long repeat of a group', '(?:ab){20000}', 'ab'.repeat(20_000)],
  ])('%s just within the limits works', (_what, pattern, text) => {
    const match = compileRegex(pattern, '').exec(new Subject(text), 0, new Budget());
    expect([match?.start, match?.end]).toEqual([0, text.length]);
  });
});
