import { beforeEach, describe, expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';

let db: Harness;

beforeEach(() => {
  db = new Harness();
  db.run(`
    set_type('Guest', {name: 'str'}); set_enum('Level', {LOW: 1, HIGH: 2});
    new_procedure('add', |uid: 'int', name: 'str<1:8>', qty: 'pint?', rest| [uid, name, qty, rest]);
    new_procedure('plain', |a, b| [a, b]);`);
});

describe('a parameter with a definition', () => {
  test('takes what fits', () => {
    expect(db.run("add(1, 'tea', 2, nil)")).toEqual([1, 'tea', 2, null]);
    expect(db.run("add(1, 'tea', nil, 'x')")).toEqual([1, 'tea', null, 'x']);
    expect(db.run("run('add', 1, 'tea')")).toEqual([1, 'tea', null, null]);
  });

  test.each([
    ["add('1', 'tea')", 'type_err', 'argument `uid`: expected `int`, got "1"'],
    ["add(1, '')", 'value_err', 'argument `name`: expected `str<1:8>`, got ""'],
    ["add(1, 'tea', 0)", 'value_err', 'argument `qty`: expected `pint?`, got 0'],
    ["add(nil, 'tea')", 'type_err', 'argument `uid`: expected `int`, got nil'],
  ])('refuses %s', (code, name, message) => {
    expect(db.error(code)).toBe(name);
    expect(db.failure(code).message).toBe(message);
  });

  test('is checked whoever calls the closure, also when it runs hot', () => {
    expect(db.error("[1, 'a'].map(|x: 'int'| x)")).toBe('type_err');
    expect(db.run("range(5000).map(|x: 'uint'| x + 1).len()")).toBe(5000);
    expect(db.error("l = range(5000); l.push('a'); l.map(|x: 'uint'| x)")).toBe('type_err');
    expect(db.error("(|a: 'int', b: 'str'| a).call(1, 2)")).toBe('type_err');
  });

  test.each([
    ["f = |g: 'Guest'| g.name; f(Guest{name: 'Ann'})", 'Ann'],
    ["f = |l: 'Level'| l.value(); f(Level{HIGH})", 2],
    ["f = |l: '[int]'| l.len(); f([1, 2])", 2],
    ["f = |t: 'thing<int>'| t.len(); f({a: 1})", 1],
  ])('knows types, enums and lists: %s', (code, value) => expect(db.run(code)).toEqual(value));

  test.each([
    ["f = |g: 'Guest'| g; f({})", 'type_err'],
    ["f = |l: '[int]'| l; f([1, 'a'])", 'value_err'],
    ["f = |g: 'Nobody'| g; f(1)", 'type_err'],
    ["new_procedure('q', |a: 'Nobody'| a)", 'type_err'],
    ["new_procedure('q', |a: 'int>'| a)", 'value_err'],
    ["mod_procedure('add', |a: 'no such'| a)", 'type_err'],
    ["set_procedure('add', |a: 'int', b, a| a)", 'value_err'],
  ])('refuses %s', (code, name) => expect(db.error(code)).toBe(name));

  test('goes by what a name means at the call', () => {
    db.run("new_procedure('greet', |g: 'Guest'| g.name)");
    db.run("rename_type('Guest', 'Old'); set_type('Guest', {n: 'int'});");
    expect(db.error("greet(Old{name: 'a'})")).toBe('type_err');
    expect(db.run('f = |g: "Guest"| g.n; f(Guest{n: 3})')).toBe(3);
  });

  test('survives storing, and shows where the procedure is shown', () => {
    expect(db.run("procedure_info('add').load().definitions")).toEqual(['int', 'str<1:8>', 'pint?', null]);
    expect(db.run("procedure_info('plain').load().has('definitions')")).toBe(false);
    expect(db.run("procedure_info('add').load().definition")).toBe(
      "|uid: 'int', name: 'str<1:8>', qty: 'pint?', rest| [\n\tuid,\n\tname,\n\tqty,\n\trest,\n]",
    );
    expect(db.run(".f = |x: 'int', y| x; .f;")).toBe("|x:'int',y|x");
    expect(db.error(".f('a')")).toBe('type_err');
  });
});

describe('the number of arguments', () => {
  test.each([
    ['add(1)', "procedure 'add' takes (uid, name, qty, rest): 'name' is missing"],
    ['add()', "procedure 'add' takes (uid, name, qty, rest): 'uid' is missing"],
    ["run('add', 1, 'a', 1, 1, 1)", "procedure 'add' takes (uid, name, qty, rest), and got 5 arguments"],
  ])('is checked: %s', (code, message) => {
    expect(db.error(code)).toBe('num_arguments_err');
    expect(db.failure(code).message).toBe(message);
  });

  test('is free for procedures without definitions', () => {
    expect(db.run('plain(1, 2, 3)')).toEqual([1, 2]);
    expect(db.run('plain()')).toEqual([null, null]);
  });
});

test('set_procedure makes a procedure, or gives it another closure', () => {
  expect(db.run("set_procedure('twice', |n: 'int'| n * 2)")).toBe('twice');
  expect(db.run("set_procedure('twice', |n: 'int'| n + n + 0)")).toBe('twice');
  expect(db.run('twice(4)')).toBe(8);
  expect(db.error("set_procedure('!', || 1)")).toBe('value_err');
});
