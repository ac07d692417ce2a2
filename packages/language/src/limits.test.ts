/** Sizes: what must be accepted, what must be refused, and that neither takes too much stack or time. */
import { describe, expect, test } from '@jest/globals';
import { analyse } from './analyse.js';
import type { Rules } from './analysis.js';
import { compactClosure } from './compact.js';
import { LanguageError } from './error.js';
import { NESTING_MAX } from './limits.js';
import { parse, parseClosure } from './parse.js';
import { prettySource } from './pretty.js';

const rules: Rules = { func: () => undefined, method: () => undefined, checkRegex: () => null };

/** Everything the package does with a text. */
function workWith(body: string): void {
  analyse(parse(body), rules);
  const text = `|| {${body}}`;
  const closure = parseClosure(text);
  compactClosure(closure, text);
  prettySource(closure, text);
}

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof LanguageError) return error.code;
    throw error;
  }
  return '';
}

/** Texts with statements nested n times, and how many statements each step adds. */
const NESTED: readonly [name: string, text: (n: number) => string][] = [
  ['parentheses', (n) => `${'('.repeat(n)}1${')'.repeat(n)}`],
  ['lists', (n) => `${'['.repeat(n)}1${']'.repeat(n)}`],
  ['blocks', (n) => `${'{'.repeat(n)}1${'}'.repeat(n)}`],
  ['things', (n) => `${'-{a: '.repeat(n)}1${'}'.repeat(n)}`],
  ['anonymous types', (n) => `${'&{a: '.repeat(n)}1${'}'.repeat(n)}`],
  ['instances', (n) => `${'1 * -X{a: '.repeat(n)}1${'}'.repeat(n)}`],
  ['enums', (n) => `${'1 * -X{|a| '.repeat(n)}1${'}'.repeat(n)}`],
  ['calls', (n) => `${'f(1, '.repeat(n)}1${')'.repeat(n)}`],
  ['methods', (n) => `${'1 + !a.b.c(1, '.repeat(n)}1${')'.repeat(n)}`],
  ['indexes', (n) => `${'a[b + '.repeat(n)}1${']'.repeat(n)}`],
  ['slices', (n) => `${'a[:'.repeat(n)}1${']'.repeat(n)}`],
  ['ternaries to the right', (n) => `${'a ? b : '.repeat(n)}1`],
  ['ternaries inside', (n) => `${'a ? '.repeat(n)}1${' : b'.repeat(n)}`],
  ['assignments', (n) => `${'a = '.repeat(n)}1`],
  ['property assignments', (n) => `${'.a.b = '.repeat(n)}1`],
  ['index assignments', (n) => `${'1 + a[0] = '.repeat(n)}1`],
  ['else branches', (n) => `${'if (a) b else '.repeat(n)}1`],
  ['then branches', (n) => `${'if (a) '.repeat(n)}1`],
  ['conditions', (n) => `${'if ('.repeat(n)}1${') 1'.repeat(n)}`],
  ['loops', (n) => `${'for (a in b) '.repeat(n)}1`],
  ['closures', (n) => `${'|a| '.repeat(n)}1`],
  ['returns', (n) => `${'return '.repeat(n)}1`],
  ['templates', (n) => `${'`{'.repeat(n)}1${'}`'.repeat(n)}`],
  [
    'every level of operators',
    (n) => `${'a || b && c == d | e ^ f & g << h + i * - .j('.repeat(n)}1${')'.repeat(n)}`,
  ],
];

describe('nesting', () => {
  test.each(NESTED)('nesting of %s has a limit', (_, text) => {
    expect(codeOf(() => parse(text(NESTING_MAX)))).toBe('');
    expect(codeOf(() => parse(text(NESTING_MAX + 1)))).toBe('syntax_err');
    expect(codeOf(() => parse(text(20_000)))).toBe('syntax_err');
    expect(codeOf(() => workWith(text(NESTING_MAX - 2)))).toBe('');
  });

  test.each([
    ['a list', '[', ']'],
    ['a thing', '{a: ', '}'],
  ])('counts %s that holds nothing, and an assignment around it', (_, open, close) => {
    const innermost = `${open[0]}${close}`;
    const text = (n: number) => `${open.repeat(n - 1)}${innermost}${close.repeat(n - 1)}`;
    expect(codeOf(() => parse(text(NESTING_MAX)))).toBe('');
    expect(codeOf(() => parse(text(NESTING_MAX + 1)))).toBe('syntax_err');
    expect(codeOf(() => parse(`x = ${text(NESTING_MAX - 1)}`))).toBe('');
    expect(codeOf(() => parse(`x = ${text(NESTING_MAX)}`))).toBe('syntax_err');
    expect(codeOf(() => parse(`.x += ${text(NESTING_MAX)}`))).toBe('syntax_err');
  });

  test('fits on the stack of a caller that has used up a third of it', () => {
    const whole = stackLeft();
    for (const [, text] of NESTED) {
      const source = text(NESTING_MAX - 2);
      deepInTheStack(whole * (2 / 3), () => workWith(source));
    }
  });
});

describe('flat texts have no limit', () => {
  const N = 100_000;
  test.each([
    ['operands', `${'1+'.repeat(N)}1`],
    ['operands of several levels', `${'a * b + c || d && e & '.repeat(N / 5)}f`],
    ['statements', 'x;'.repeat(N)],
    ['semicolons', `1${';'.repeat(N)}`],
    ['list items', `[${'1,'.repeat(N)}]`],
    ['arguments', `f(${'1,'.repeat(N)})`],
    ['entries', `{${'a:1,'.repeat(N)}}`],
    ['parameters', `|${'a,'.repeat(N)}| 1`],
    ['loop variables', `for (a${',a'.repeat(N)} in x) 1`],
    ['links', `x${'.a'.repeat(N)}`],
    ['optional links', `x${'..a'.repeat(N)}`],
    ['calls', `x${'.a(1)'.repeat(N)}`],
    ['indexes', `x${'[0]'.repeat(N)}`],
    ['minus signs', `${'-'.repeat(N)}x`],
    ['exclamation marks', `${'!'.repeat(N)}x`],
    ['tildes', `${'~'.repeat(N)}x`],
    ['parts of a template', `\`${'{x}a'.repeat(N)}\``],
    ['doubled quotes', `'${"''".repeat(N)}'`],
    ['digits', '7'.repeat(N).replace(/^.*(?=.)/, (digits) => '0'.repeat(digits.length))],
    ['comments', `1${'/*x*/'.repeat(N)}`],
    ['slashes in a regex', `/${'\\/'.repeat(N)}/`],
  ])('%s', (_, text) => {
    expect(codeOf(() => workWith(text))).toBe('');
  });
});

describe('texts that do not fit are refused in linear time', () => {
  const D = 240;
  const M = 1_000_000;
  test.each([
    ['values behind return', `${'f(return 1, '.repeat(D)}@`],
    ['three values behind return', `${'[return 1, 2, '.repeat(D)}`],
    ['branches', `${'if (a) '.repeat(D)}b else @`],
    ['branches in branches', `${'if (a) if (a) b else '.repeat(D)}@`],
    ['things', `${'{a: '.repeat(D)}@`],
    ['blocks', `${'{a; {'.repeat(D)}@`],
    ['instances', `${'X{a: '.repeat(D)}@`],
    ['ternaries', `${'a ? '.repeat(D)}@`],
    ['slices', `${'a[b:'.repeat(D)}@`],
    ['templates', `${'`{'.repeat(D)}@`],
    ['assigned properties', `${'.a = {.b[0] = '.repeat(D)}@`],
    ['an open string', `'${'x'.repeat(M)}`],
    ['an open regex', `${'/\\'.repeat(M / 2)}`],
    ['an open template', `\`${'x{1}'.repeat(M / 4)}`],
    ['an open comment in parentheses', `${'('.repeat(D)}1 /*${' /*'.repeat(M / 3)}`],
    ['open comments', '/* '.repeat(M / 3)],
    ['a long number', `${'1'.repeat(M)}.`],
    ['a long name', 'a'.repeat(M)],
    ['operators', '+'.repeat(M)],
    ['bars', '|'.repeat(M)],
    ['brackets', '['.repeat(M)],
    ['backslashes', '\\'.repeat(M)],
    ['an error at the end', `${'x = y.z(1, 2) + 3;\n'.repeat(M / 20)}@`],
  ])(
    '%s',
    (_, text) => {
      expect(codeOf(() => parse(text))).toBe('syntax_err');
    },
    5000,
  );

  test('an int of a million digits is outside of int64', () => {
    expect(codeOf(() => analyse(parse('9'.repeat(M)), rules))).toBe('overflow_err');
  });
});

/** The number of calls of a small function that the stack has room for. */
function stackLeft(): number {
  let calls = 0;
  const call = (): void => {
    calls++;
    call();
  };
  try {
    call();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return calls;
}

/** Runs something where only so much of the stack is left. */
function deepInTheStack(left: number, run: () => void): void {
  const dive = (depth: number): void => {
    if (depth > 0) dive(depth - 1);
    else if (stackLeft() > left) dive(100);
    else run();
  };
  dive(100);
}
