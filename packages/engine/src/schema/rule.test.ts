import { describe, expect, test } from '@jest/globals';
import { ErrorCode } from '../error.js';
import { Harness } from '../testing/harness.js';
import type { Value } from '../value/value.js';
import { PLAIN_NAMES, type PlainName } from './definition.js';
import { refusal } from './rule.js';
import type { Field } from './type.js';

const HARNESS = new Harness();
HARNESS.run(`
  set_type('T', {}); set_type('U', {}); set_enum('E', {A: 1, B: 2}); set_enum('F', {A: 1});
  restricted = {a: 1}; restricted.restrict('int');
  .v = {
    nothing: nil, yes: true, no: false,
    zero: 0, one: 1, neg: -1, big: 9223372036854775807,
    whole: 1.0, half: -0.5, nan: nan, inf: inf,
    empty: '', text: 'abc', wide: 'é🙂', mail: 'a@b.c', link: 'http://x.y', phone: '+123 456 789',
    data: bytes('abc'), re: /a/, date: datetime(0), moment: timeval(0), call: |a| a, bad: err(),
    list: [], ints: [1, 2], negs: [1, -1], holes: [1, nil], texts: ['a'], things: [{}], instances: [T{}],
    set: set(), things_set: set({}), ts: set(T{}), mixed_set: set(T{}, {}),
    plain: {}, numbers: {a: 1}, words: {a: 'x'}, restricted: restricted, t: T{}, u: U{},
    e: E{A}, f: F{A}, wrapped: {}.wrap('T'),
  };
`);
const { schema: SCHEMA, root: ROOT } = HARNESS.collection.store;

const VALUES = valuesOf('v');
const NAMES = VALUES.map(([name]) => name);
const INTS = ['zero', 'one', 'neg', 'big'];
const FLOATS = ['whole', 'half', 'nan', 'inf'];
const STRS = ['empty', 'text', 'wide', 'mail', 'link', 'phone'];
const THINGS = ['plain', 'numbers', 'words', 'restricted', 't', 'u'];
const LISTS = ['list', 'ints', 'negs', 'holes', 'texts', 'things', 'instances'];
const SETS = ['set', 'things_set', 'ts', 'mixed_set'];

interface Verdict {
  readonly fits: readonly string[];
  /** Values of the right type that are refused. */
  readonly valueErr: readonly string[];
}

function fits(names: readonly string[], valueErr: readonly string[] = []): Verdict {
  return { fits: names, valueErr };
}

/** The values that fit each definition that is a name alone. Everything else is refused as a value of the wrong type. */
const PLAIN: Readonly<Record<PlainName, Verdict>> = {
  any: fits(NAMES),
  str: fits(STRS),
  utf8: fits(STRS),
  raw: fits([...STRS, 'data']),
  bytes: fits(['data']),
  bool: fits(['yes', 'no']),
  int: fits(INTS),
  uint: fits(['zero', 'one', 'big'], ['neg']),
  pint: fits(['one', 'big'], ['zero', 'neg']),
  nint: fits(['neg'], ['zero', 'one', 'big']),
  float: fits(FLOATS),
  number: fits([...INTS, ...FLOATS]),
  datetime: fits(['date']),
  timeval: fits(['moment']),
  regex: fits(['re']),
  closure: fits(['call']),
  error: fits(['bad']),
  room: fits([]),
  task: fits([]),
  email: fits(['empty', 'mail'], STRS),
  url: fits(['empty', 'link'], STRS),
  tel: fits(['empty', 'phone'], STRS),
  thing: fits(THINGS),
  enum: fits(['nothing', 'e', 'f']),
};

const OTHERS: Readonly<Record<string, Verdict>> = {
  'int<0:5>': fits(['zero', 'one'], INTS),
  'int<-1:>': fits(INTS),
  'int<:-0>': fits(['zero'], INTS),
  'float<-1:1>': fits(['whole', 'half'], FLOATS),
  'float<0:>': fits(['whole', 'inf'], FLOATS),
  'str<0:2>': fits(['empty', 'wide'], STRS),
  'str<2:3>': fits(['text', 'wide'], STRS),
  'utf8<1:>': fits(['text', 'wide', 'mail', 'link', 'phone'], STRS),
  'bool<true>': fits(['yes', 'no']),
  'email<x@y.z>': fits(['mail'], STRS),
  'url<http://a.b>': fits(['link'], STRS),
  'tel<+123 456 789>': fits(['phone'], STRS),
  '/^A/i<a>': fits(['text', 'mail'], STRS),
  T: fits(['t']),
  U: fits(['u']),
  E: fits(['e']),
  'E{B}': fits(['e']),
  '[]': fits(LISTS),
  '[any]': fits(LISTS),
  '[int]': fits(['list', 'ints', 'negs']),
  '[int?]': fits(['list', 'ints', 'negs', 'holes']),
  '[uint]': fits(['list', 'ints'], ['negs']),
  '[email]': fits(['list'], ['texts']),
  '[thing]': fits(['list', 'things', 'instances']),
  '[T]': fits(['list', 'instances']),
  '{}': fits(SETS),
  '{thing}': fits(SETS),
  '{T}': fits(['set', 'ts']),
  'thing<any>': fits(THINGS),
  'thing<int>': fits(['plain', 'numbers', 'restricted']),
  'thing<str>': fits(['plain', 'words'], ['restricted']),
};

const LISTED = new Set(NAMES);

describe.each([...PLAIN_NAMES.map((name) => [name, PLAIN[name]] as const), ...Object.entries(OTHERS)])(
  '%s',
  (text, verdict) => {
    test('accepts and refuses what it should', () => {
      expect([...verdict.fits, ...verdict.valueErr].filter((name) => !LISTED.has(name))).toEqual([]);
      expect(verdicts(text)).toEqual(expected(verdict));
    });

    test('accepts nil besides where it is nillable', () => {
      expect(verdicts(`${text}?`)).toEqual({ ...expected(verdict), nothing: 'fits' });
    });
  },
);

test('a refusal says which type and property, what was expected and what came', () => {
  const message = (text: string, name: string): string =>
    refusal(fieldOf(text), valueNamed(name), SCHEMA).message;
  expect(message('uint', 'neg')).toBe('type `Guest`, property `age`: expected `uint`, got -1');
  expect(message('T', 'u')).toBe('type `Guest`, property `age`: expected `T`, got an instance of `U`');
  expect(message('E', 'f')).toBe('type `Guest`, property `age`: expected `E`, got the member `F{A}`');
  expect(message('int', 'whole')).toBe('type `Guest`, property `age`: expected `int`, got the float 1');
  expect(message('[uint]', 'negs')).toBe('type `Guest`, property `age`: expected items `uint`, got -1');
  expect(message('{T}', 'things_set')).toBe('type `Guest`, property `age`: expected items `T`, got thing');
  expect(message('int<0:9>', 'text')).toBe('type `Guest`, property `age`: expected `int<0:9>`, got "abc"');
});

type Outcome = 'fits' | 'type_err' | 'value_err';

function expected({ fits: accepted, valueErr }: Verdict): Record<string, Outcome> {
  const outcome = (name: string): Outcome => {
    if (accepted.includes(name)) return 'fits';
    return valueErr.includes(name) ? 'value_err' : 'type_err';
  };
  return Object.fromEntries(NAMES.map((name) => [name, outcome(name)]));
}

function verdicts(text: string): Record<string, Outcome> {
  const field = fieldOf(text);
  const outcome = (value: Value): Outcome => {
    if (field.rule.fits(value)) return 'fits';
    const { code } = refusal(field, value, SCHEMA);
    expect([ErrorCode.TYPE, ErrorCode.VALUE]).toContain(code);
    return code === ErrorCode.TYPE ? 'type_err' : 'value_err';
  };
  return Object.fromEntries(VALUES.map(([name, value]) => [name, outcome(value)]));
}

/** A property `age` of a type `Guest` with this definition. */
function fieldOf(text: string): Field {
  HARNESS.run("if (has_type('Guest')) del_type('Guest'); set_type('Guest', {age: definition});", {
    vars: { definition: text },
  });
  const field = SCHEMA.typeNamed('Guest')?.shape?.fields[0];
  if (field === undefined) throw new Error(`'${text}' is no definition`);
  return field;
}

function valueNamed(name: string): Value {
  const found = VALUES.find(([key]) => key === name);
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found[1];
}

function valuesOf(key: string): readonly (readonly [string, Value])[] {
  const of = ROOT.get(key);
  if (typeof of !== 'object' || of === null || !('entries' in of)) throw new Error('it is a thing');
  return of.entries();
}
