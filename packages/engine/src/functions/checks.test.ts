/** The order of errors when several could come: names before what they name, and an argument before those behind it. */
import { describe, expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';

/** Errors of queries, each in a collection with the type `T`, the enum `E` and the room `.r`. */
function expectErrors(rows: readonly (readonly [code: string, error: string])[]): void {
  const db = new Harness();
  db.run("set_type('T', {a: 'int'}); set_enum('E', {A: 1, B: 2}); .r = room(); nil;");
  for (const [code, error] of rows) expect([code, db.error(code)]).toEqual([code, error]);
}

describe('names of types and enums that break the naming rules', () => {
  test.each([
    "enum('!')",
    "enum('', 1 / 0)",
    "enum_info('')",
    "enum_map('a b')",
    "del_enum('')",
    "rename_enum('', 'X')",
    "mod_enum('', 'add', 'A', 1)",
    "type_info('')",
    "type_count('!')",
    "type_all('é')",
    "del_type('')",
    "rename_type('', 'X')",
    "mod_type('', 'add', 'a', 'int')",
    "new('')",
    "{}.wrap('')",
    "[{}].map_wrap('1')",
    "[{}].map_type('')",
    "{}.to_type('')",
    "n = 'a'; range(8).each(|| n += n); type_info(n)",
  ])('%s is a value_err', (code) => {
    expectErrors([[code, 'value_err']]);
  });

  test('well-formed names that nothing has are lookup_errs, and has_type and has_enum answer for both', () => {
    expectErrors([
      ["type_info('X')", 'lookup_err'],
      ["enum('X')", 'lookup_err'],
      ["{}.wrap('closure')", 'lookup_err'],
    ]);
    expect(new Harness().run("[has_type(''), has_enum('!')]")).toEqual([false, false]);
  });
});

describe('the name of a new type or enum', () => {
  test('is looked at before the arguments behind it', () => {
    expectErrors([
      ["new_type('closure', {})", 'value_err'],
      ["new_type('T', {})", 'lookup_err'],
      ["new_type('1', 1 / 0)", 'value_err'],
      ["new_type('N', {})", 'type_err'],
      ["set_enum('closure', 1)", 'value_err'],
      ["set_enum('E', 1 / 0)", 'lookup_err'],
      ["set_enum('N', 1)", 'type_err'],
    ]);
  });

  test('is looked at again when they made what has it', () => {
    expectErrors([
      ["new_type('N', {new_type('N'); 0})", 'lookup_err'],
      ["set_enum('N', {set_enum('N', {A: 1}); {B: 2}})", 'lookup_err'],
    ]);
  });
});

test('definitions with an end but no beginning are value_errs, those with a beginning alone are unknown names', () => {
  const expected = {
    'int>': 'value_err',
    'email>': 'value_err',
    'int 0:5>': 'value_err',
    'T>?': 'value_err',
  };
  const unknown = ['int<', 'thing<', 'int<0:5', 'thing<int', 'T<', 'bool<true?'];
  const rows = [...Object.entries(expected), ...unknown.map((text) => [text, 'type_err'] as const)];
  expectErrors(rows.map(([text, error]) => [`set_type('N', {x: '${text}'})`, error]));
  expectErrors(rows.map(([text, error]) => [`mod_type('T', 'add', 'x', '${text}')`, error]));
});

test('a second name of the id is a lookup_err, at any depth', () => {
  expectErrors([
    ["ano({a: '#', b: '#'})", 'lookup_err'],
    ["&{a: '#', b: '#'}", 'lookup_err'],
    ["&{x: [{a: '#', b: '#'}]}", 'lookup_err'],
    ["set_type('N', {a: '#', b: '#'}, WPO)", 'lookup_err'],
    ["set_type('N', {x: {y: [{a: '#', b: '#'}]}}, WPO)", 'lookup_err'],
    ["new_type('N', WPO); mod_type('N', 'add', 'x', {a: '#', b: '#'})", 'lookup_err'],
  ]);
});

test('nested definitions are refused by types with instances, and above 16 KiB by all', () => {
  const large = 'd = {}; range(2000).each(|i| d.set(`property{i}`, "int?"));';
  expectErrors([
    ["mod_type('T', 'add', 'n', {a: 'int'})", 'value_err'],
    ["mod_type('T', 'add', 'n', [{a: 'int'}])", 'value_err'],
    ["mod_type('T', 'mod', 'a', {a: 'int'})", 'value_err'],
    ["mod_type('T', 'add', 'n', 1)", 'type_err'],
    [`${large} set_type('N', {n: d}, WPO)`, 'value_err'],
    [`${large} set_type('N', {n: [{m: d}]}, WPO)`, 'value_err'],
    [`${large} new_type('N', WPO); mod_type('N', 'add', 'n', d)`, 'value_err'],
    [`${large} ano(d)`, 'value_err'],
  ]);
});

test('a member keeps its value when it gets an equal one, of whatever type', () => {
  const db = new Harness();
  db.run("set_enum('E', {A: 1, B: 2}); set_enum('S', {A: 'x'});");
  db.run("mod_enum('E', 'mod', 'A', 1.0); mod_enum('S', 'mod', 'A', bytes('x'));");
  expect(db.run("[type(E{A}.value()), type(S{A}.value()), enum_info('E').load().modified_at]")).toEqual([
    'int',
    'str',
    null,
  ]);
  expect(db.error("mod_enum('E', 'mod', 'A', 2.0)")).toBe('value_err');
  expect(db.error("mod_enum('E', 'mod', 'A', 3.0)")).toBe('type_err');
});

test('a query that converts a thing of its own behind nse is no change, and has no change id', () => {
  const db = new Harness();
  db.run("set_type('T', {a: 'int'});");
  expect(db.run("nse(); t = {}; t.to_type('T'); [type(t), change_id()]")).toEqual(['T', null]);
});

test('arguments of emit are looked at one by one, the event before those behind it', () => {
  expectErrors([
    [".r.emit('', 1 / 0)", 'value_err'],
    [".r.emit(1, '', 1 / 0)", 'value_err'],
    ['.r.emit(nil, 1 / 0)', 'type_err'],
    ['.r.emit(128, 1 / 0)', 'value_err'],
    [".r.emit('x', 1 / 0)", 'zero_div_err'],
  ]);
});

test('the number of arguments of a future counts before their types', () => {
  expectErrors([
    ['future(|a, b| a + b, 1, 2)', 'num_arguments_err'],
    ['future(|a, b| a + b, 1)', 'type_err'],
  ]);
});

describe('an instance that is given as the value of a new property', () => {
  test.each([
    ['by a variable', 't = T{}; .x = T{};', "'T?', t", '.x.o'],
    ['by nothing else', '.x = T{};', "'T?', T{}", '.x.o'],
    ['in a list', '.x = T{};', "'[T]', [T{}]", '.x.o[0]'],
    ['in a thing', '.x = T{};', "'any', {t: T{}}", '.x.o.t'],
  ])('has the property, too: held %s', (_, make, added, given) => {
    const db = new Harness();
    db.run(`set_type('T', {a: 'int'}); ${make} mod_type('T', 'add', 'o', ${added}); nil;`);
    expect(db.run(`[type(${given}), ${given}.o == nil, type(${given}.o) == type(.x.o)]`)).toEqual([
      'T',
      false,
      true,
    ]);
  });
});
