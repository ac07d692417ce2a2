import { describe, expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';
import type { Value } from '../value/value.js';
import { mapsDefinition, mapsValue } from './mapping.js';
import { parseDefinition } from './parse-definition.js';
import { nestedDefinition } from './structure.js';

const HARNESS = new Harness();
HARNESS.run(`
  set_type('T', {}); set_type('U', {});
  set_enum('E', {A: 1, B: 2}); set_enum('S', {A: 'a'}); set_enum('O', {A: {}});
  .v = {
    nothing: nil, yes: true, zero: 0, neg: -1, half: 0.5, text: 'a', mail: 'a@b.c', data: bytes('a'),
    list: [], ints: [1, 2], holes: [1, nil], things: [{}, {}], mixed: [{}, 1], instances: [T{}],
    set: set({}), plain: {}, numbers: {a: 1}, texts: {a: 'x'}, t: T{}, u: U{},
    e: E{A}, s: S{A}, o: O{A}, es: [E{A}], moment: timeval(0),
  };
`);
const SCHEMA = HARNESS.collection.store.schema;

function definition(text: string): ReturnType<typeof parseDefinition> {
  return parseDefinition(text, SCHEMA);
}

const STRUCTURE = { idName: null, fields: [], methods: new Map() };
const NESTED = nestedDefinition(STRUCTURE, false);
const NESTED_LIST = nestedDefinition(STRUCTURE, true);

const THINGS = ['thing', 'thing<int>', 'T', 'U'];
const SETS = ['{}', '{T}'];
/** Definitions of the properties of instances. */
const OWN = [
  'any',
  'raw',
  'str',
  'utf8',
  'str<0:9>',
  'str<2:5>',
  'bytes',
  'bool',
  'bool<true>',
  'int',
  'uint',
  'pint',
  'nint',
  'int<0:9>',
  'int<2:5>',
  'float',
  'float<0:9>',
  'number',
  'datetime',
  'timeval',
  'closure',
  'email',
  'email<a@b.c>',
  'email<c@d.e>',
  'url',
  '/a*/',
  '/b*/',
  'enum',
  'E',
  'E{B}',
  'S',
  'O',
  ...THINGS,
  '[]',
  '[int]',
  '[int?]',
  '[uint]',
  '[str]',
  '[thing]',
  '[T]',
  '[T?]',
  '[E]',
  ...SETS,
];

/** An enum counts as what its members are: E int, S str, O things. */
const ENUMS = ['enum', 'E', 'E{B}', 'S', 'O'];

/** Definitions of an instance's property that show, for each definition of the type that wraps. */
const SHOWN: Readonly<Record<string, readonly string[]>> = {
  any: OWN,
  thing: [...THINGS, 'O'],
  T: [...THINGS, 'O'],
  'thing<int>': [...THINGS, 'O'],
  '[]': ['[]', '[int]', '[int?]', '[uint]', '[str]', '[thing]', '[T]', '[T?]', '[E]', ...SETS],
  '[int]': ['[int]', '[uint]', '[E]'],
  '[int?]': ['[int]', '[int?]', '[uint]', '[E]'],
  '[uint]': ['[uint]'],
  '[str]': ['[str]'],
  '*[str]': ['[str]', '[E]'],
  '[thing]': ['[thing]', '[T]', ...SETS],
  '[T]': ['[thing]', '[T]', ...SETS],
  '[T?]': ['[thing]', '[T]', '[T?]', ...SETS],
  '[E]': ['[E]'],
  '{}': SETS,
  '{T}': SETS,
  E: ['E', 'E{B}'],
  'E{B}': ['E', 'E{B}'],
  enum: ENUMS,
  int: ['int', 'uint', 'pint', 'nint', 'int<0:9>', 'int<2:5>', 'E', 'E{B}'],
  uint: ['uint', 'pint', 'int<0:9>', 'int<2:5>'],
  'int<0:9>': ['int<0:9>', 'int<2:5>'],
  number: [
    'number',
    'int',
    'uint',
    'pint',
    'nint',
    'int<0:9>',
    'int<2:5>',
    'float',
    'float<0:9>',
    'E',
    'E{B}',
  ],
  float: ['float', 'float<0:9>'],
  str: [
    'str',
    'utf8',
    'str<0:9>',
    'str<2:5>',
    'email',
    'email<a@b.c>',
    'email<c@d.e>',
    'url',
    '/a*/',
    '/b*/',
    'S',
  ],
  '*str': [
    'str',
    'utf8',
    'str<0:9>',
    'str<2:5>',
    'email',
    'email<a@b.c>',
    'email<c@d.e>',
    'url',
    '/a*/',
    '/b*/',
    'E',
    'E{B}',
    'S',
    'O',
  ],
  raw: [
    'raw',
    'bytes',
    'str',
    'utf8',
    'str<0:9>',
    'str<2:5>',
    'email',
    'email<a@b.c>',
    'email<c@d.e>',
    'url',
    '/a*/',
    '/b*/',
    'S',
  ],
  utf8: ['utf8'],
  'str<0:9>': ['str<0:9>', 'str<2:5>'],
  bytes: ['bytes'],
  bool: ['bool', 'bool<true>'],
  datetime: ['datetime'],
  closure: ['closure'],
  email: ['email'],
  'email<a@b.c>': ['email<a@b.c>', 'email<c@d.e>'],
  '/a*/': ['/a*/'],
};

describe('a property of an instance shows by the two definitions', () => {
  test.each(Object.entries(SHOWN))('%s', (to, shown) => {
    const found = OWN.filter((from) => mapsDefinition(definition(to), definition(from), SCHEMA));
    expect(new Set(found)).toEqual(new Set(shown));
  });

  test.each(Object.keys(SHOWN))('%s: nil shows where it is accepted', (to) => {
    const acceptsNil = to === 'any';
    for (const from of OWN) {
      const shows = mapsDefinition(definition(to), definition(from), SCHEMA);
      const ofNillable = mapsDefinition(definition(to), definition(`${from}?`), SCHEMA);
      expect([from, ofNillable]).toEqual([from, acceptsNil && shows]);
      expect([from, mapsDefinition(definition(`${to}?`), definition(`${from}?`), SCHEMA)]).toEqual([
        from,
        shows,
      ]);
    }
  });

  test('a nested structure shows things, and that of a list things in lists and sets', () => {
    const shows = (to: typeof NESTED): string[] =>
      OWN.filter((from) => mapsDefinition(to, definition(from), SCHEMA));
    expect(shows(NESTED)).toEqual(THINGS);
    expect(shows(NESTED_LIST)).toEqual(['[thing]', '[T]', ...SETS]);
    expect(mapsDefinition(NESTED, definition('T?'), SCHEMA)).toBe(true);
  });
});

const THING_VALUES = ['plain', 'numbers', 'texts', 't', 'u'];

/** Values of plain things that show. */
const SHOWN_VALUES: Readonly<Record<string, readonly string[]>> = {
  'int?': ['nothing', 'zero', 'neg', 'e'],
  int: ['zero', 'neg', 'e'],
  uint: ['zero', 'e'],
  'int<1:9>': ['e'],
  number: ['zero', 'neg', 'half', 'e'],
  bool: ['yes'],
  str: ['text', 'mail', 's'],
  '*str': ['text', 'mail', 'e', 's', 'o'],
  email: ['mail'],
  raw: ['text', 'mail', 'data', 's'],
  timeval: ['moment'],
  thing: [...THING_VALUES, 'o'],
  T: [...THING_VALUES, 'o'],
  'thing<int>': ['plain', 'numbers', 'o'],
  enum: ['nothing', 'e', 's', 'o'],
  E: ['e'],
  '[]': ['list', 'ints', 'holes', 'things', 'mixed', 'instances', 'set', 'es'],
  '[int]': ['list', 'ints', 'es'],
  '[int?]': ['list', 'ints', 'holes', 'es'],
  '*[str]': ['list', 'es'],
  '[T]': ['list', 'things', 'instances', 'set'],
  '[E]': ['list', 'es'],
  '{T}': ['set'],
};

describe('a property of a plain thing shows by its value', () => {
  const values = valuesOf('v');

  test.each(Object.entries(SHOWN_VALUES))('%s', (to, shown) => {
    const found = [...values].filter(([, value]) => mapsValue(definition(to), value)).map(([name]) => name);
    expect(new Set(found)).toEqual(new Set(shown));
  });

  test('any shows all', () => {
    for (const [, value] of values) expect(mapsValue(definition('any'), value)).toBe(true);
  });

  test('a nested structure shows things, and that of a list things in lists and sets', () => {
    const shows = (to: typeof NESTED): string[] =>
      [...values].filter(([, value]) => mapsValue(to, value)).map(([name]) => name);
    expect(shows(NESTED)).toEqual(THING_VALUES);
    expect(shows(NESTED_LIST)).toEqual(['list', 'things', 'instances', 'set']);
  });
});

function valuesOf(key: string): readonly (readonly [string, Value])[] {
  const of = HARNESS.collection.store.root.get(key);
  if (typeof of !== 'object' || of === null || !('entries' in of)) throw new Error('it is a thing');
  return of.entries();
}
