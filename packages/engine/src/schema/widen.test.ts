import { expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';
import type { Catalog } from './catalog.js';
import { parseDefinition } from './parse-definition.js';
import { isWider } from './widen.js';

/** A collection with two types and two enums. */
function catalog(): Catalog {
  const harness = new Harness();
  harness.run("set_type('T', {}); set_type('U', {}); set_enum('E', {A: 1, B: 2}); set_enum('F', {A: 1});");
  return harness.collection.store.schema;
}

const SCHEMA = catalog();

const INTS = ['int', 'uint', 'pint', 'nint', 'int<0:9>', 'int<2:5:3>', 'int<-9:-1>', 'int<:>'];
const FLOATS = ['float', 'float<0:9>', 'float<2:5>'];
const STRS = ['str', 'str<0:9>', 'str<2:5:abc>'];
const UTF8S = ['utf8', 'utf8<0:9>', 'utf8<2:5>'];
const FORMS = ['email', 'url', 'tel', 'email<a@b.c>', 'url<http://x.y>', 'tel<+123 456 789>'];
const PATTERNS = ['/a*/', '/b*/i', '/a/<a>'];
const TEXTS = [...STRS, ...UTF8S, ...FORMS, ...PATTERNS];
const BOOLS = ['bool', 'bool<true>', 'bool<false>'];
const ENUMS = ['E', 'E{B}', 'F'];
const ALONE = ['datetime', 'timeval', 'regex', 'closure', 'error', 'room', 'task'];
const THINGS = ['thing', 'thing<>', 'thing<any>', 'thing<int>', 'thing<uint>', 'thing<T?>', 'T', 'U'];
const LISTS = [
  '[]',
  '[any]',
  '[int]',
  '[int?]',
  '[uint]',
  '[thing]',
  '[T]',
  '[T?]',
  '[str]',
  '[E]',
  '[enum]',
];
const SETS = ['{}', '{any}', '{thing}', '{T}', '{U}'];
const ALL = [
  'any',
  'raw',
  'bytes',
  'number',
  'enum',
  ...INTS,
  ...FLOATS,
  ...TEXTS,
  ...BOOLS,
  ...ENUMS,
  ...ALONE,
  ...THINGS,
  ...LISTS,
  ...SETS,
];

/** The definitions whose values each definition takes as they are; everything else needs a closure. */
const WIDER: Readonly<Record<string, readonly string[]>> = {
  any: ALL,
  raw: ['raw', 'bytes', ...TEXTS],
  str: TEXTS,
  'str<0:9>': ['str<0:9>', 'str<2:5:abc>', 'utf8<0:9>', 'utf8<2:5>'],
  'str<2:5:abc>': ['str<2:5:abc>', 'utf8<2:5>'],
  utf8: UTF8S,
  'utf8<0:9>': ['utf8<0:9>', 'utf8<2:5>'],
  'utf8<2:5>': ['utf8<2:5>'],
  bytes: ['bytes'],
  int: INTS,
  uint: ['uint', 'pint', 'int<0:9>', 'int<2:5:3>', 'int<:>'],
  pint: ['pint', 'int<2:5:3>'],
  nint: ['nint', 'int<-9:-1>'],
  'int<0:9>': ['int<0:9>', 'int<2:5:3>'],
  'int<2:5:3>': ['int<2:5:3>'],
  'int<-9:-1>': ['int<-9:-1>'],
  'int<:>': ['int<:>', 'int<0:9>', 'int<2:5:3>'],
  float: FLOATS,
  'float<0:9>': ['float<0:9>', 'float<2:5>'],
  'float<2:5>': ['float<2:5>'],
  number: ['number', ...INTS, ...FLOATS],
  ...Object.fromEntries(BOOLS.map((name) => [name, BOOLS])),
  ...Object.fromEntries(ALONE.map((name) => [name, [name]])),
  email: ['email'],
  url: ['url'],
  tel: ['tel'],
  enum: ['enum', ...ENUMS],
  E: ['E', 'E{B}'],
  'E{B}': ['E', 'E{B}'],
  F: ['F'],
  T: ['T'],
  U: ['U'],
  thing: THINGS,
  'thing<>': THINGS,
  'thing<any>': THINGS,
  'thing<int>': ['thing<int>', 'thing<uint>'],
  'thing<uint>': ['thing<uint>'],
  'thing<T?>': ['thing<T?>'],
  '[]': LISTS,
  '[any]': LISTS,
  '[int]': ['[int]', '[uint]'],
  '[int?]': ['[int]', '[int?]', '[uint]'],
  '[uint]': ['[uint]'],
  '[thing]': ['[thing]', '[T]'],
  '[T]': ['[T]'],
  '[T?]': ['[T]', '[T?]'],
  '[str]': ['[str]'],
  '[E]': ['[E]'],
  '[enum]': ['[E]', '[enum]'],
  '{}': SETS,
  '{any}': SETS,
  '{thing}': SETS,
  '{T}': ['{T}'],
  '{U}': ['{U}'],
};

function wider(to: string, from: string): boolean {
  return isWider(parseDefinition(to, SCHEMA), parseDefinition(from, SCHEMA));
}

test.each(ALL)('%s takes values of narrower definitions as they are', (to) => {
  const taken = ALL.filter((from) => wider(to, from));
  expect(new Set(taken)).toEqual(new Set(WIDER[to] ?? []));
});

test.each(ALL.filter((to) => to !== 'any'))('%s: nil is taken where it is accepted', (to) => {
  for (const from of ALL) {
    const isTaken = wider(to, from);
    // A definition that accepts nil already takes nothing away from it.
    if (from !== 'any') expect([from, wider(`${to}?`, from)]).toEqual([from, isTaken]);
    expect([from, wider(`${to}?`, `${from}?`)]).toEqual([from, isTaken]);
    expect([from, wider(to, `${from}?`)]).toEqual([from, false]);
  }
});

test('any takes what is nil', () => {
  for (const from of ALL) expect(wider('any', `${from}?`)).toBe(true);
});

test('flags and defaults may change freely', () => {
  for (const [to, from] of [
    ['&int', '^int'],
    ['int<0:9:1>', 'int<0:9:2>'],
    ['*E', 'E{B}'],
    ['-[T]', '[T]'],
  ] as const) {
    expect(wider(to, from)).toBe(true);
    expect(wider(from, to)).toBe(true);
  }
});
