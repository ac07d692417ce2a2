import { describe, expect, test } from '@jest/globals';
import { type Catalogue, complete } from './complete.js';
import { contextAt } from './context.js';
import type { FunctionInfo } from './function-info.js';

/** The text without the bar that marks the cursor, and the place of it. */
function at(marked: string): [source: string, offset: number] {
  const offset = marked.indexOf('¦');
  return [marked.replace('¦', ''), offset];
}

function info(name: string, on: readonly string[] | null, ...params: string[]): FunctionInfo {
  return {
    name,
    on,
    params: params.map((each) => ({
      name: each.replace('?', ''),
      type: 'a str',
      optional: each.endsWith('?'),
    })),
    rest: null,
    doc: `Does ${name}.`,
    scopes: ['collection'],
    changes: null,
  };
}

const CATALOGUE: Catalogue = {
  functions: [
    info('range', null, 'start', 'stop?'),
    info('rand', null),
    info('type_info', null, 'type'),
    info('filter', ['list', 'set', 'thing'], 'closure'),
    info('upper', ['str']),
    info('len', ['str', 'list']),
    info('set', ['thing'], 'name', 'value'),
  ],
  procedures: [{ name: 'add_user', arguments: ['name', 'age'], doc: 'Adds a user.' }],
  types: [{ name: 'User', fields: ['name', 'age'] }],
  enums: [{ name: 'Color', members: ['RED', 'GREEN'] }],
  keys: (path) => (path.length === 0 ? ['users', 'orders'] : path.join('.') === 'users' ? ['ann'] : null),
  texts: (call, argument) => (call === 'type_info' && argument === 0 ? ['User'] : []),
};

function labels(marked: string): string[] {
  return complete(...at(marked), CATALOGUE).items.map(({ label }) => label);
}

describe('names wanted at a place', () => {
  test.each([
    ['¦', { kind: 'name' }],
    ['x = ra¦', { kind: 'name' }],
    ['.us¦', { kind: 'member', receiver: { kind: 'path', path: [] } }],
    ['.users.a¦', { kind: 'member', receiver: { kind: 'path', path: ['users'] } }],
    ['1 + .a..b.¦', { kind: 'member', receiver: { kind: 'path', path: ['a', 'b'] } }],
    ['x.y.¦', { kind: 'member', receiver: { kind: 'unknown' } }],
    ['f().¦', { kind: 'member', receiver: { kind: 'unknown' } }],
    [".a['x'].b.¦", { kind: 'member', receiver: { kind: 'unknown' } }],
    ["'text'.¦", { kind: 'member', receiver: { kind: 'type', type: 'str' } }],
    ['[1, 2].le¦', { kind: 'member', receiver: { kind: 'type', type: 'list' } }],
    ['x[0].¦', { kind: 'member', receiver: { kind: 'unknown' } }],
    ['User{na¦', { kind: 'field', of: 'User', isFirst: true }],
    ['User{name: f(1, 2), ¦', { kind: 'field', of: 'User', isFirst: false }],
    ['User{name: ¦', { kind: 'name' }],
    ['f(1, ¦', { kind: 'name' }],
    ["type_info('U¦')", { kind: 'text', call: { name: 'type_info', isMethod: false, argument: 0 } }],
    ["f(1, 'U¦", { kind: 'text', call: { name: 'f', isMethod: false, argument: 1 } }],
    ["x = 'U¦'", { kind: 'nothing' }],
    ["x = 'U'¦", { kind: 'name' }],
    ['// us¦', { kind: 'nothing' }],
    ['/* us¦ */', { kind: 'nothing' }],
    ['12¦', { kind: 'nothing' }],
    ['`text ¦ `', { kind: 'nothing' }],
    ['`text {us¦} `', { kind: 'name' }],
  ])('%s', (marked, wanted) => {
    expect(contextAt(...at(marked)).wanted).toEqual(wanted);
  });
});

describe('completion', () => {
  test.each([
    ['.us¦', ['users']],
    ['.¦', ['users', 'orders', 'filter', 'set']],
    ['.users.a¦', ['ann']],
    ["'x'.¦", ['upper', 'len']],
    ['[1].l¦', ['len']],
    ['[1].ft¦', ['filter']],
    ['ran¦', ['range', 'rand']],
    ['count = 1; co¦', ['count', 'continue', 'Color']],
    ['Us¦', ['User']],
    ['us¦', ['User']],
    ['User{¦', ['name', 'age']],
    ['Color{G¦', ['GREEN']],
    ["type_info('¦", ['User']],
    ['add¦', ['add_user']],
    ['zzz¦', []],
  ])('%s', (marked, expected) => {
    const found = labels(marked);
    expect(found.slice(0, expected.length)).toEqual(expected);
    if (expected.length === 0) expect(found).toEqual([]);
  });

  test('a completion replaces the word that the cursor is in', () => {
    const { from, to, items } = complete(...at('x = ra¦ng + 1'), CATALOGUE);
    expect([from, to, items[0]?.insert]).toEqual([4, 8, 'range(']);
  });

  test('the call that the cursor is in is told with the number of the argument', () => {
    const { call } = complete(...at('range(f(1, 2), ¦'), CATALOGUE);
    expect([call?.info.name, call?.argument]).toEqual(['range', 1]);
    expect(complete(...at('add_user(¦'), CATALOGUE).call?.info.params.map(({ name }) => name)).toEqual([
      'name',
      'age',
    ]);
    expect(complete(...at('(1, ¦'), CATALOGUE).call).toBeNull();
  });

  test('words that are typed are no variables of their own', () => {
    expect(labels('abcdef¦')).toEqual([]);
  });
});
