import { describe, expect, test } from '@jest/globals';
import { analyse } from './analyse.js';
import type { Analysis, CallRule, Rules } from './analysis.js';
import { LanguageError } from './error.js';
import { parse, parseClosure } from './parse.js';

const rule = (changes: CallRule['changes'], nse = false, unlessDirect = false): CallRule => ({
  changes,
  nse,
  unlessDirect,
  pure: changes === 'none',
});

const FUNCTIONS: Readonly<Record<string, CallRule>> = {
  range: rule('none'),
  nse: { ...rule('none'), role: 'nse' },
  wse: rule('both'),
  try: rule('none'),
  future: { ...rule('none'), role: 'later' },
  thing: { ...rule('none'), pure: false },
  new_type: rule('collection'),
  new_procedure: rule('both'),
  new_user: rule('thingsdb'),
};

const METHODS: Readonly<Record<string, CallRule>> = {
  len: rule('none'),
  get: rule('none'),
  push: { ...rule('collection', true, true), pure: true },
  set: rule('collection', true),
  del: rule('both', true),
  cancel: rule('both'),
};

const LATER = new Set(['then', 'else']);

const rules: Rules = {
  func: (name) => FUNCTIONS[name],
  method: (name) => (LATER.has(name) ? { ...rule('none'), role: 'later' } : METHODS[name]),
  checkRegex: (body, flags) =>
    body.includes('(') || flags.includes('q') ? 'the pattern does not compile' : null,
};

const analysed = (text: string): Analysis => analyse(parse(text), rules);

/** The scopes in which a text is a change. */
function scopesOf(text: string): string {
  const { collection, thingsdb } = analysed(text).changes;
  return [collection ? 'collection' : '', thingsdb ? 'thingsdb' : ''].filter((each) => each !== '').join(' ');
}

function errorOf(text: string): LanguageError {
  try {
    analysed(text);
  } catch (error) {
    if (error instanceof LanguageError) return error;
    throw error;
  }
  throw new Error('no error');
}

describe('static checks', () => {
  test.each([
    'break',
    'x; continue',
    'for (x in break) y',
    'for (x in y) || break',
    '|| {for (x in y) z; break}',
  ])('a jump needs a loop around it in the same closure: %s', (text) => {
    expect(errorOf(text)).toMatchObject({ code: 'syntax_err', offset: text.search(/break|continue/) });
  });

  test.each([
    'for (x in y) break',
    'for (x in y) {if (z) {continue}; [break]}',
    '|| for (x in y) break',
    'for (x in y) for (z in {break; []}) continue',
  ])('a jump inside a loop is fine: %s', (text) => {
    expect(() => analysed(text)).not.toThrow();
  });

  test('an int outside int64 is an overflow', () => {
    expect(errorOf('if (false) 9223372036854775808')).toMatchObject({
      code: 'overflow_err',
      offset: 11,
      column: 12,
    });
  });

  test('a regex is checked by the caller', () => {
    expect(errorOf('|| /(/')).toMatchObject({
      code: 'value_err',
      offset: 3,
      reason: 'the pattern does not compile',
    });
    expect(errorOf('/a/q').code).toBe('value_err');
  });

  test('the first impossible literal in the text counts', () => {
    expect(errorOf('[/(/, 9223372036854775808]').code).toBe('value_err');
    expect(errorOf('[9223372036854775808, /(/]').code).toBe('overflow_err');
    expect(errorOf('x[9223372036854775808] = /(/').code).toBe('overflow_err');
    expect(errorOf('x.f(1)[/(/:9223372036854775808].g(|| 9223372036854775808)').code).toBe('value_err');
  });

  test('a misplaced jump goes before an impossible literal', () => {
    expect(errorOf('/(/; break').code).toBe('syntax_err');
  });
});

describe('changes', () => {
  test.each([
    ['x = 1; x += 1', ''],
    ['.x', ''],
    ['.x = 1', 'collection'],
    ['x.y = 1', 'collection'],
    ['..x += 1', 'collection'],
    ['x[0] = 1', 'collection'],
    ["x['k'] = 1", 'collection'],
    ['x[:] = []', 'collection'],
    ['x.set(1)', 'collection'],
    ['x.del(1)', 'collection thingsdb'],
    ['x.cancel()', 'collection thingsdb'],
    ['new_type(1)', 'collection'],
    ['new_procedure(1)', 'collection thingsdb'],
    ['new_user(1)', 'thingsdb'],
    ['wse()', 'collection thingsdb'],
    ['wse(.x = 1)', 'collection thingsdb'],
    ['if (false) .x = 1', 'collection'],
    ['`{.x = 1}`', 'collection'],
    ['f = || .x = 1', 'collection'],
    ['P{|| .x = 1}', 'collection'],
    ['{a: .x = 1}', 'collection'],
    ['for (a in .x = 1) b', 'collection'],
    ['return a, b, .x = 1', 'collection'],
    ['a ? b : .x = 1', 'collection'],
    ['a || b && c == .x = 1', 'collection'],
    ['-f(.x = 1)', 'collection'],
    ['x.unknown().other()', ''],
    ['unknown()', ''],
  ])('%s: %s', (text, scopes) => {
    expect(scopesOf(text)).toBe(scopes);
  });

  test.each([
    'x.push(1)',
    '[1].push(2)',
    'range(3).push(1)',
    '(x || []).push(1)',
    '({x}).push(1)',
    '(x = y).push(1)',
    '((x)).push(1)',
  ])('a direct receiver: %s', (text) => {
    expect(scopesOf(text)).toBe('');
  });

  test.each([
    '.push(1)',
    '.x.push(1)',
    'x.y.push(1)',
    'x[0].push(1)',
    'x[i].push(1)',
    'x[:].push(1)',
    'x.get(1).push(1)',
    'unknown().push(1)',
    '(x.y).push(1)',
    '((unknown())).push(1)',
  ])('a receiver that may be stored: %s', (text) => {
    expect(scopesOf(text)).toBe('collection');
  });
});

describe('nse', () => {
  test.each([
    ['nse(); .x = 1; x[0] = 1; x.set(1); x.del(1)', ''],
    ['nse(.x = 1)', ''],
    ['nse(); f = || .x = 1', ''],
    ['[|| nse()]; .x = 1', ''],
    ['if (nse()) .x = 1', ''],
    ['x[nse(0)] = 1', ''],
    ['.x = 1; nse()', 'collection'],
    ['.x = nse(1)', 'collection'],
    ['x.set(nse())', 'collection'],
    ['nse(); wse()', 'collection thingsdb'],
    ['nse(wse(.x = 1))', 'collection thingsdb'],
    ['nse(); new_type(1)', 'collection'],
    ['nse(); x.cancel()', 'collection thingsdb'],
  ])('%s: %s', (text, scopes) => {
    expect(scopesOf(text)).toBe(scopes);
  });
});

describe('closures', () => {
  /** For each closure in the text, in its order: is it a change in a collection, where it stands and alone? */
  function closuresOf(text: string): [boolean, boolean][] {
    const found = [...analysed(text).closures].sort(([a], [b]) => a.start - b.start);
    return found.map(([, { changes, alone }]) => [changes.collection, alone.collection]);
  }

  test('have a flag each', () => {
    expect(closuresOf('|| x; || .x = 1; || || .x = 1; || {|| y; .x = 1}')).toEqual([
      [false, false],
      [true, true],
      [true, true],
      [true, true],
      [true, true],
      [false, false],
    ]);
  });

  test('an nse before a closure counts where it stands, but not once it is stored', () => {
    expect(closuresOf('nse(); || .x = 1')).toEqual([[false, true]]);
    expect(closuresOf('|| {nse(); .x = 1}')).toEqual([[false, false]]);
    expect(closuresOf('|| {nse(); || .x = 1}')).toEqual([
      [false, false],
      [false, true],
    ]);
    expect(closuresOf('|| {.x = 1; nse()}; || .y = 1')).toEqual([
      [true, true],
      [false, true],
    ]);
  });

  test.each(['future(|| .x = 1)', 'future(1).then(|| .x = 1)', 'x.y.else(|| .x = 1)'])(
    'given first to future, then and else do not count: %s',
    (text) => {
      expect(scopesOf(text)).toBe('');
      expect(closuresOf(text)).toEqual([[true, true]]);
    },
  );

  test('given elsewhere they count', () => {
    expect(scopesOf('future(f, || .x = 1)')).toBe('collection');
    expect(scopesOf('future(|| 1, .x = 1)')).toBe('collection');
    expect(scopesOf('future((|| .x = 1))')).toBe('collection');
    expect(scopesOf('|| future(|| .x = 1)')).toBe('');
    expect(scopesOf('future(|| || .x = 1)')).toBe('');
  });

  test('an excluded closure is classified for itself: nse passes neither in nor out', () => {
    expect(closuresOf('nse(); future(|| .x = 1)')).toEqual([[true, true]]);
    expect(scopesOf('future(|| nse()); .x = 1')).toBe('collection');
    expect(scopesOf('nse(); future(|| wse()); .x = 1')).toBe('');
  });

  test('can be analysed on their own', () => {
    const text = '|a| {break}';
    expect(() => analyse(parseClosure(text), rules, text)).toThrow('(line 1, column 6)');
    const { changes, closures } = analyse(parseClosure('|a| .x = a'), rules, '|a| .x = a');
    expect(changes).toEqual({ collection: true, thingsdb: false });
    expect([...closures.values()]).toEqual([{ changes, alone: changes }]);
  });
});

describe('usesState', () => {
  test.each([
    '',
    '1 + 1',
    "x = 5; y = x + 1; [x, y, 'z'].len()",
    'x = [1]; x.push(2); x',
    'range(3).len()',
    '{a: 1, b: {c: 2}}',
    '(|a, b| a + b).len()',
    'x = y = 1; x + y; {x:}',
    'for (i, j in range(3)) {k = i; k + j}',
    'n = 1; f = |x| {y = x; x + y + n}; 2',
    '{x = 1; x}',
    '`{1 + 1}`; nil ? true : inf',
  ])('not: %s', (text) => {
    expect(analysed(text).usesState).toBe(false);
  });

  test.each([
    '.x',
    '.x = 1',
    'x',
    'INT_MAX',
    'thing(1)',
    'unknown()',
    'x = 1; x.unknown()',
    'P{a: 1}',
    'E{A}',
    '&{a: 1}',
    '{x:}',
    'x = x',
    'if (true) x = 1; x',
    'try(x = 1); x',
    'for (i in range(3)) nil; i',
    '{x = 1}; x',
    'f = |x| x; f(1)',
    '|a| || a',
    '|| {y = 1; || y}',
    'future(|| 1)',
    'new_type(1)',
    'wse()',
    'x += 1; x',
  ])('possibly: %s', (text) => {
    expect(analysed(text).usesState).toBe(true);
  });
});
