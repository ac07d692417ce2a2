import { describe, expect, test } from '@jest/globals';
import type { Link, Node } from '../ast.js';
import { pushChildren } from '../children.js';
import { parse } from '../parse.js';
import { VALID } from '../testing/corpus.js';
import { FIRST_LINE, tokenize, tokenizeLine } from './tokens.js';

/** `kind:text` of each token. */
function shown(source: string): string[] {
  return tokenize(source).tokens.map(({ kind, start, end }) => `${kind}:${source.slice(start, end)}`);
}

describe('tokens of query code', () => {
  test.each([
    [
      '.users.filter(|u| u.age >= 18);',
      'operator:. property:users operator:. call:filter bracket:( operator:| name:u operator:| name:u operator:. property:age operator:>= number:18 bracket:) operator:;',
    ],
    ["User{name: 'it''s'}", "type:User bracket:{ name:name operator:: string:'it''s' bracket:}"],
    [
      'if (x) return 1 else nil',
      'keyword:if bracket:( name:x bracket:) keyword:return number:1 keyword:else constant:nil',
    ],
    ['{if: 1}.if', 'bracket:{ keyword:if operator:: number:1 bracket:} operator:. property:if'],
    ['a / b / c', 'name:a operator:/ name:b operator:/ name:c'],
    [
      'x = /a\\/b/i; (1) / 2',
      'name:x operator:= regex:/a\\/b/i operator:; bracket:( number:1 bracket:) operator:/ number:2',
    ],
    ['a // b', 'name:a comment:// b'],
    ['.5 + 1.5e+3 - 0x1f', 'number:.5 operator:+ number:1.5e+3 operator:- number:0x1f'],
    ['`a{b + `c{d}`}e`', 'template:`a{ name:b operator:+ template:`c{ name:d template:}` template:}e`'],
    ['`{ {k: 1} }`', 'template:`{ bracket:{ name:k operator:: number:1 bracket:} template:}`'],
    ['1 @ 2', 'number:1 invalid:@ number:2'],
  ])('%s', (source, expected) => {
    expect(shown(source).join(' ')).toBe(expected);
  });

  test.each([
    ["'one", "'", true],
    ['"one', '"', true],
    ['/* one', '*', false],
    ['`one', '`', true],
    ['`one {two', '`{', true],
    ['`one {two({', '`{{', false],
    ['x = {', '', false],
    ['x.y', '', true],
  ])('the state behind %j is open %j', (line, open, isAfterOperand) => {
    expect(tokenizeLine(line, FIRST_LINE).state).toEqual({ open, isAfterOperand });
  });

  test('a line goes on where the one before ended', () => {
    const first = tokenizeLine("x = 'one", FIRST_LINE);
    expect(tokenizeLine("two' / 2", first.state).tokens.map(({ kind }) => kind)).toEqual([
      'string',
      'operator',
      'number',
    ]);
  });

  test.each(VALID)('literals stand where the parser has them: %j', (source) => {
    const { tokens, state } = tokenize(source);
    expect(state.open).toBe('');
    const starts = new Map(tokens.map((token) => [token.start, token]));
    for (const node of literals(parse(source).statements)) {
      const text = source.slice(node.start, node.end);
      // A sign that belongs to a number is an operator to the tokenizer.
      const sign = (node.kind === 'int' || node.kind === 'float') && /^[-+]/.test(text) ? 1 : 0;
      const token = starts.get(node.start + sign);
      expect([source, token?.kind]).toEqual([source, kindOf(node, text.slice(sign))]);
      if (!text.includes('\n') && node.kind !== 'template') expect(token?.end).toBe(node.end);
    }
    expect(tokens.filter(({ kind }) => kind === 'invalid')).toEqual([]);
  });
});

type Literal = Node & { readonly kind: 'str' | 'regex' | 'int' | 'float' | 'template' | 'nil' | 'bool' };

function literals(statements: readonly Node[]): Literal[] {
  const found: Literal[] = [];
  const stack: (Node | Link)[] = [...statements];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (isLiteral(node)) found.push(node);
    pushChildren(stack, node);
  }
  return found;
}

function isLiteral(node: Node | Link): node is Literal {
  return ['str', 'regex', 'int', 'float', 'template', 'nil', 'bool'].includes(node.kind);
}

function kindOf({ kind }: Literal, text: string): string {
  if (kind === 'str') return 'string';
  if (kind === 'regex' || kind === 'template') return kind;
  return /^[a-z]/.test(text) ? 'constant' : 'number';
}
