import { describe, expect, test } from '@jest/globals';
import type { Node } from './ast.js';
import { LanguageError } from './error.js';
import { parse, parseClosure } from './parse.js';
import { INVALID, VALID } from './testing/corpus.js';
import { withoutPlaces } from './testing/equal.js';

/** The tree of a text with one statement, without places. */
function tree(text: string): unknown {
  const { statements } = parse(text);
  expect(statements).toHaveLength(1);
  return withoutPlaces(statements[0]);
}

function errorOf(run: () => unknown): LanguageError {
  try {
    run();
  } catch (error) {
    if (error instanceof LanguageError) return error;
    throw error;
  }
  throw new Error('no error');
}

const int = (value: number) => ({ kind: 'int', value });
const variable = (name: string) => ({ kind: 'variable', name });

describe('parse', () => {
  test('gives the statements of a query with their places', () => {
    const program = parse('a; 12 ;');
    expect(program).toEqual({
      kind: 'program',
      start: 0,
      end: 7,
      source: 'a; 12 ;',
      statements: [
        { kind: 'variable', start: 0, end: 1, name: 'a' },
        { kind: 'int', start: 3, end: 5, value: 12 },
      ],
    });
  });

  test('accepts a query without statements', () => {
    expect(parse(' // nothing').statements).toEqual([]);
  });

  test('keeps operators of one level in one flat node, tighter levels inside looser ones', () => {
    expect(tree('1 + 2 - 3 * 4 * 5 == 6 || x')).toEqual({
      kind: 'or',
      operands: [
        {
          kind: 'operation',
          ops: ['=='],
          operands: [
            {
              kind: 'operation',
              ops: ['+', '-'],
              operands: [
                int(1),
                int(2),
                { kind: 'operation', ops: ['*', '*'], operands: [int(3), int(4), int(5)] },
              ],
            },
            int(6),
          ],
        },
        variable('x'),
      ],
    });
  });

  test('lets bitwise operators bind tighter than comparisons', () => {
    expect(tree('a == b & c')).toEqual({
      kind: 'operation',
      ops: ['=='],
      operands: [variable('a'), { kind: 'operation', ops: ['&'], operands: [variable('b'), variable('c')] }],
    });
  });

  test('lets an assignment take everything to its right', () => {
    expect(tree('1 + x = 2 * y')).toEqual({
      kind: 'operation',
      ops: ['+'],
      operands: [
        int(1),
        {
          kind: 'assign',
          name: 'x',
          op: '=',
          value: { kind: 'operation', ops: ['*'], operands: [int(2), variable('y')] },
        },
      ],
    });
  });

  test('gives a sign directly before a digit to the number', () => {
    expect(tree('-5')).toEqual(int(-5));
    expect(tree('- 5')).toEqual({ kind: 'prefix', ops: '-', operand: int(5) });
    expect(tree('5--5')).toEqual({ kind: 'operation', ops: ['-'], operands: [int(5), int(-5)] });
    expect(tree('~~-!x')).toEqual({ kind: 'prefix', ops: '~~-!', operand: variable('x') });
  });

  test('tries a thing before a block', () => {
    expect(tree('{}')).toEqual({ kind: 'thing', entries: [] });
    expect(tree('{a:}')).toEqual({ kind: 'thing', entries: [{ key: 'a', value: null }] });
    expect(tree('{a}')).toEqual({ kind: 'block', statements: [variable('a')] });
    expect(tree('{a ? b : c}')).toMatchObject({ kind: 'block', statements: [{ kind: 'ternary' }] });
  });

  test('tells instances and enum members from variables', () => {
    expect(tree('P{x:}')).toMatchObject({ kind: 'instance', name: 'P', thing: { kind: 'thing' } });
    expect(tree('P {A}')).toEqual({ kind: 'enum', name: 'P', member: 'A', closure: null });
    expect(tree('P{|| x}')).toMatchObject({
      kind: 'enum',
      name: 'P',
      member: null,
      closure: { kind: 'closure' },
    });
  });

  test('puts the links of a chain in one list', () => {
    expect(tree('..a.b(1)[2]..c[::-1].d += 3')).toEqual({
      kind: 'chain',
      head: null,
      links: [
        { kind: 'property', optional: true, name: 'a' },
        { kind: 'method', optional: false, name: 'b', args: [int(1)] },
        { kind: 'index', index: int(2) },
        { kind: 'property', optional: true, name: 'c' },
        { kind: 'slice', from: null, to: null, step: int(-1) },
        { kind: 'assign_property', optional: false, name: 'd', op: '+=', value: int(3) },
      ],
    });
  });

  test('goes on with a chain behind an assigned block', () => {
    expect(tree('.a = {b}[0]')).toMatchObject({
      kind: 'chain',
      links: [{ kind: 'assign_property', value: { kind: 'block' } }, { kind: 'index' }],
    });
  });

  test.each([
    ['a property', '.fun = || {\nnil;\n}\n.fun;', '.fun = || {nil;}; .fun;'],
    ['a variable, and a call', 'f = |x| {x}\nf(1)', 'f = |x| {x}; f(1)'],
    ['a list', '.f = || {1} // comment\n[1, 2].len()', '.f = || {1}; [1, 2].len()'],
    ['a closure in a closure', '|| || {1}\n.a', '|| || {1}; .a'],
    ['an assignment to an item', 'x[0] = || {1}\n\nx[0].call()', 'x[0] = || {1}; x[0].call()'],
    ['both in a block', 'if (a) {.f = || {1}\n.g = || {2}\n}', 'if (a) {.f = || {1}; .g = || {2}}'],
    ['a branch of a ternary', 'a ? || {1}\n: || {2}\n.b', 'a ? || {1} : || {2}; .b'],
    ['a branch of an if', 'if (a) x = || {1}\nelse x = || {2}\n.b', 'if (a) x = || {1} else x = || {2}; .b'],
  ])('lets a statement follow a closure that ended with the line: %s', (_what, text, same) => {
    expect(withoutPlaces(parse(text).statements)).toEqual(withoutPlaces(parse(same).statements));
  });

  test.each([
    ['an operator', '.f = || {1}\n+ 2'],
    ['an argument', 'f(|| {1}\n, || {2}\n)'],
    ['a link on the same line', '.f = || {1}.g'],
    ['a link behind the arguments', 'l.map(|x| {x}\n)\n.len()'],
    ['a link of a thing', '|| {a: 1}\n.a'],
    ['a link of an instance', '|| T{a: 1}\n.a'],
  ])('goes on behind a closure with %s', (_what, text) => {
    expect(parse(text).statements).toHaveLength(1);
  });

  test.each([
    '.f = || {1} .g = 2 f()',
    'f = || {1} f()',
    'f = |x| x\nf()',
    'if (a) {b}\nc',
    '{b}\nc',
    'f(|| {1}\n.a)',
  ])('a statement ends with a semicolon otherwise: %s', (text) => {
    expect(() => parse(text)).toThrow(LanguageError);
  });

  test('reads empty brackets and lone colons as slices', () => {
    const slice = { kind: 'slice', from: null, to: null, step: null };
    for (const text of ['x[]', 'x[:]', 'x[::]']) {
      expect(tree(text)).toEqual({ kind: 'chain', head: variable('x'), links: [slice] });
    }
    expect(tree('x[1:] = y')).toMatchObject({ links: [{ kind: 'assign_slice', from: int(1), op: '=' }] });
  });

  test('keeps the text of templates and puts the code between', () => {
    expect(tree('` // {x}``{{ {`b`}`')).toEqual({
      kind: 'template',
      parts: [' // ', variable('x'), '`{ ', { kind: 'template', parts: ['b'] }],
    });
  });

  test('binds else to the nearest if', () => {
    const [outer] = parse('if (a) if (b) c else d').statements;
    if (outer?.kind !== 'if') throw new Error('no if');
    expect(outer.otherwise).toBeNull();
    expect(withoutPlaces(outer.then)).toMatchObject({ kind: 'if', otherwise: variable('d') });
  });

  test('reads up to three values behind return', () => {
    expect(tree('return')).toEqual({ kind: 'return', value: null, deep: null, flags: null });
    expect(tree('return 1, 2, 3')).toEqual({ kind: 'return', value: int(1), deep: int(2), flags: int(3) });
    expect(tree('[return 1, 2]')).toMatchObject({ kind: 'list', items: [{ kind: 'return', deep: int(2) }] });
  });

  test('marks the place of a closure from its first bar to the end of its body', () => {
    const source = 'f =  |a, b|   a  + 1 /* end */;';
    const [statement] = parse(source).statements;
    const closure: Node | null = statement?.kind === 'assign' ? statement.value : null;
    expect(closure).toMatchObject({ kind: 'closure', params: [{ name: 'a' }, { name: 'b' }] });
    expect(source.slice(closure?.start, closure?.end)).toBe('|a, b|   a  + 1');
  });
});

describe('literals', () => {
  const value = (text: string): unknown => {
    const [node] = parse(text).statements;
    return node !== undefined && 'value' in node ? node.value : undefined;
  };

  test('ints are numbers while they are safe, else bigints, null outside int64', () => {
    expect(value('-0')).toBe(0);
    expect(Object.is(value('-0'), 0)).toBe(true);
    expect(value('0042')).toBe(42);
    expect(value('-0x1F')).toBe(-31);
    expect(value('0b101')).toBe(5);
    expect(value('0o17')).toBe(15);
    expect(value('9007199254740991')).toBe(9007199254740991);
    expect(value('9007199254740993')).toBe(9007199254740993n);
    expect(value('-9223372036854775808')).toBe(-(2n ** 63n));
    expect(value('9223372036854775807')).toBe(2n ** 63n - 1n);
    expect(value('9223372036854775808')).toBeNull();
    expect(value('-9223372036854775809')).toBeNull();
    expect(value('0x8000000000000000')).toBeNull();
    expect(value('-0x8000000000000000')).toBe(-(2n ** 63n));
    expect(value(`000000000000000000000000${'0'.repeat(1000)}7`)).toBe(7);
    expect(value('0x00000000000000000000')).toBe(0);
  });

  test('floats may overflow and underflow', () => {
    expect(value('.75')).toBe(0.75);
    expect(Object.is(value('-0.0'), -0)).toBe(true);
    expect(value('25.0e-1')).toBe(2.5);
    expect(value('1.0e+400')).toBe(Number.POSITIVE_INFINITY);
    expect(value('1.0e-400')).toBe(0);
    expect(value('2.0e-310')).toBe(2e-310);
    expect(value('nan')).toBeNaN();
    expect(value('inf')).toBe(Number.POSITIVE_INFINITY);
  });

  test('strings have no escape but the doubled quote', () => {
    expect(value("'it''s'")).toBe("it's");
    expect(value('"""x"""')).toBe('"x"');
    expect(value("'a\\n\nb'")).toBe('a\\n\nb');
    expect(value("''''")).toBe("'");
    expect(value("''")).toBe('');
  });

  test('a regex ends at its first slash without a backslash before it, or at the last of the line', () => {
    expect(tree('/a\\/b/gi')).toEqual({ kind: 'regex', body: 'a\\/b', flags: 'gi' });
    expect(tree('/\\\\/')).toEqual({ kind: 'regex', body: '\\\\', flags: '' });
    expect(tree('/\\\\/ + /x')).toEqual({ kind: 'regex', body: '\\\\/ + ', flags: 'x' });
  });
});

describe('limits', () => {
  test('a name has at most 255 characters', () => {
    const name = 'n'.repeat(255);
    expect(parse(`${name} = .${name}; {${name}: 1}`).statements).toHaveLength(2);
    for (const text of [`${name}n`, `.${name}n`, `{${name}n: 1}`, `x.${name}n()`]) {
      expect(errorOf(() => parse(text))).toMatchObject({ code: 'syntax_err' });
    }
  });

  test('half a surrogate pair is bad data', () => {
    const error = errorOf(() => parse("x = '\ud83d'"));
    expect(error).toMatchObject({ code: 'bad_data_err', offset: 5, line: 1, column: 6 });
    expect(parse("'\ud83d\ude42'").statements).toHaveLength(1);
  });
});

describe('errors', () => {
  test('say where, what was found and what would have fitted', () => {
    const error = errorOf(() => parse("x = 1;\n'🙂' + ;"));
    expect(error.message).toBe('unexpected ";", expected an expression (line 2, column 7)');
    expect(error).toMatchObject({ code: 'syntax_err', offset: 14, line: 2, column: 7 });
  });

  test('every text that does not fit gets one, within the text', () => {
    for (const text of INVALID) {
      const error = errorOf(() => parse(text));
      expect(error.code).toBe('syntax_err');
      expect(error.offset).toBeLessThanOrEqual(text.length);
      expect(error.message).toMatch(/^unexpected .+, expected .+ \(line \d+, column \d+\)$/);
    }
  });

  test.each([
    ['1.', 'digits must follow the dot'],
    ['7.len()', 'write (7).name'],
    ['1e5', 'an exponent needs a dot and a sign'],
    ['1.5e3', 'an exponent is written with a sign'],
    ['1_000', 'without "_"'],
    ['0XFF', 'small letters'],
    ['0b12', 'digits 0 and 1'],
    ['12abc', 'a name cannot begin with a digit'],
    ["'it\\'s'", 'a backslash does not escape'],
    ["'open", 'the string is not closed'],
    ['`open {x}', 'the template is not closed'],
    ['`a } b`', 'is written twice'],
    ['`{}`', 'one expression must stand between'],
    ['1 /* open', 'the comment is not closed'],
    ['/open', 'the regular expression is not closed'],
    ['/[/]/', 'a slash is always written \\/'],
    ['{1} 2', 'a ";" is needed between statements, also behind a block'],
    ['if (a) {b} c', 'a ";" is needed between statements, also behind a block'],
    ['a b', 'statements are separated by ";"'],
    ['while (a < b) {c}', 'there is no while'],
    ['x++', 'there is no ++'],
    ['f()()', '.call(...)'],
    ['(|x| x)(1)', '.call(...)'],
    ['l[0](1)', '.call(...)'],
    ['for = 1', 'a reserved word cannot be a variable'],
    ['nil = 1', 'a reserved word cannot be a variable'],
    ['|in| 1', 'a reserved word cannot be a variable'],
    ['if (a) b; else c', 'no ";" may stand before else'],
    ['(x) = 3', 'only variables, properties and items can be assigned to'],
    ["{'a': 1}", 'names without quotes'],
    ['(1; 2)', 'parentheses hold one statement'],
    ['x ||= 2', 'there is no such assignment'],
    ['a ?? b', 'there is no ??'],
    ['not x', 'negation is written !x'],
    ['x => 1', 'a closure is written'],
    ['!|x| x', 'put the operand of a prefix operator in parentheses'],
    ['!~x', 'all "~" stand before'],
    ['for x in [1] x', 'stands in parentheses'],
  ])('%s', (text, hint) => {
    expect(errorOf(() => parse(text)).message).toContain(hint);
  });
});

describe('parseClosure', () => {
  test('accepts one closure', () => {
    expect(parseClosure('|a| a;').params).toMatchObject([{ name: 'a', definition: null }]);
    expect(parseClosure(' || {1; 2} // end').body.kind).toBe('block');
  });

  test('refuses everything else', () => {
    expect(errorOf(() => parseClosure('')).code).toBe('bad_data_err');
    expect(errorOf(() => parseClosure('|| 1; 2')).code).toBe('bad_data_err');
    expect(errorOf(() => parseClosure('1 + 1')).code).toBe('lookup_err');
    expect(errorOf(() => parseClosure('(|| 1)')).code).toBe('lookup_err');
    expect(errorOf(() => parseClosure('|| 1 +')).code).toBe('syntax_err');
  });
});

describe('the corpus', () => {
  test('the corpus of valid texts parses', () => {
    for (const text of VALID) expect(() => parse(text)).not.toThrow();
  });
});
