import { describe, expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';
import { brokenRules, stateLines } from '../testing/state-lines.js';

function withTypes(...codes: readonly string[]): Harness {
  const db = new Harness();
  for (const code of codes) db.run(code);
  return db;
}

describe('limits of types', () => {
  test('ids of types are used up', () => {
    const db = withTypes('range(10000).each(|i| new_type(`A{i}`)); nil;');
    expect(db.run('types_info().len();')).toBe(10_000);
    expect(db.error('range(7000).each(|i| new_type(`B{i}`));')).toBe('max_quota_err');
    expect(db.run("has_type('B0');")).toBe(false);
  });

  test('properties of a type', () => {
    const db = withTypes();
    expect(db.error("d = {}; range(4000).each(|i| d.set(`f{i}`, 'int')); set_type('T', d);")).toBe(
      'max_quota_err',
    );
    expect(db.run("has_type('T');")).toBe(false);
  });

  test('types that need each other in circles, and a definition that names its type too often', () => {
    const db = withTypes(
      "['A', 'B', 'C'].each(|n| new_type(n)); set_type('A', {n: 'B'}); set_type('B', {n: 'C'});",
    );
    expect(db.failure("set_type('C', {n: 'A'});").message).toContain('without end');
    db.run("set_type('C', {n: '[A]'});");
    expect(db.error("d = {}; range(256).each(|i| d.set(`f{i}`, 'S?')); set_type('S', d);")).toBe(
      'max_quota_err',
    );
  });
});

describe('a type that set_type makes is in use while its arguments are evaluated', () => {
  test.each([
    [
      'the flags make the type',
      "set_type('Q', {x: 'int'}, {set_type('Q', {y: 'int'}); .q = Q{y: 7}; false});",
    ],
    ['a definition makes the type', "set_type('Q', {x: {set_type('Q', {y: 'int'}); .q = Q{y: 7}; 'int'}});"],
    ['the flags make an instance', "set_type('Q', {x: 'int'}, {Q{}; true});"],
    ['the flags keep an instance', "set_type('Q', {x: 'int'}, {.q = Q(); 0});"],
    ['a definition makes an instance of a thing', "set_type('Q', {x: {.q = new('Q', {}); 'int'}});"],
    ['a definition makes a list of instances', "set_type('Q', {x: {.q = [{}].map_type('Q'); 'int'}});"],
    [
      'the flags make a type that names it',
      "set_type('Q', {x: 'int'}, {set_type('P', {a: 'Q'}, true); true});",
    ],
    ['the flags change the type', "set_type('Q', {x: 'int'}, {mod_type('Q', 'add', 'y', 'int'); 0});"],
    ['the flags delete the type', "set_type('Q', {x: 'int'}, {del_type('Q'); 0});"],
    ['the flags rename the type', "set_type('Q', {x: 'int'}, {rename_type('Q', 'P'); 0});"],
    ['a definition converts a thing', "set_type('Q', {x: {.q = {}; .q.to_type('Q'); 'int'}});"],
    ['a definition restricts a thing', "set_type('Q', {x: {.q = {}; .q.restrict('Q'); 'int'}});"],
  ])('%s: refused, and nothing is made', (_what, code) => {
    const db = withTypes();
    const before = stateLines(db.collection);
    expect(db.error(code)).toBe('operation_err');
    expect(stateLines(db.collection)).toEqual(before);
    // Caught, it is no type either, and the next one of that name is new.
    db.run(`try(${code.replace(/;$/, '')}); nil;`);
    expect(db.run("[has_type('Q'), has_type('P')];")).toEqual([false, false]);
    db.run("set_type('Q', {n: 'int', next: 'Q?'}); .x = Q{};");
    expect(db.run(".n = 1; [.x.n, .x.next, type_count('Q'), type_info('Q').load().modified_at];")).toEqual([
      0,
      null,
      1,
      null,
    ]);
    expect(brokenRules(db.collection)).toEqual([]);
  });

  test('one that a definition is wrong in leaves nothing, also where the error is caught', () => {
    const db = withTypes("set_type('Gone', {n: 'int'}); .w = {n: 5, m: 6}.wrap('Gone'); del_type('Gone');");
    db.run("try(set_type('Gone', {n: 'int', m: 'nonsense'}));");
    expect(db.run("[has_type('Gone'), .w];")).toEqual([false, { '#': 2, n: 5, m: 6 }]);
    db.run("set_type('Gone', {m: 'int'});");
    expect(db.run('.w;')).toEqual({ '#': 2, m: 6 });
    expect(brokenRules(db.collection)).toEqual([]);
  });
});

describe('a wrap-only type that names itself in a nested definition', () => {
  test.each([
    "set_type('W', {nested: {x: 'W'}, list: [{y: '[W]'}]}, true);",
    "new_type('W', WPO); set_type('W', {nested: {x: 'W'}, list: [{y: '[W]'}]});",
    "set_type('W', {nested: {x: 'W'}}, WPO); mod_type('W', 'add', 'list', [{y: '[W]'}]);",
  ])('%s', (code) => {
    const db = withTypes(code);
    const value = '{nested: {x: {nested: {x: {secret: 1}}}}, list: [{y: [{nested: {x: {}}, secret: 1}]}]}';
    expect(db.run(`return ${value}.wrap('W'), 20;`)).toEqual({
      nested: { x: { nested: { x: {} } } },
      list: [{ y: [{ nested: { x: {} } }] }],
    });
    const script = String(db.run('export();'));
    const copy = withTypes(script);
    expect(copy.run('export();')).toBe(script);
    db.run("rename_type('W', 'V');");
    expect(db.run("type_info('V').load().fields;")).toEqual([
      ['nested', { x: 'V' }],
      ['list', [{ y: '[V]' }]],
    ]);
  });
});

describe('mod_type with a closure', () => {
  const setup = ["set_type('M', {n: 'int'}); .a = M{n: 1}; .b = M{n: 2}; nil;"];

  test.each([
    ['throws', "|m| raise('no')", 'operation_err'],
    ['throws at the second', "|m| m.n == 2 ? raise('no') : 'x'", 'operation_err'],
    ['changes the type', "|m| mod_type('M', 'del', 'n')", 'operation_err'],
    ['deletes the type', "|m| del_type('M')", 'operation_err'],
    ['gives what does not fit', '|m| 1.5', 'operation_err'],
    ['gives nil for what does not fit', '|m| nil', 'operation_err'],
    ['makes one that does not fit', "|m| { .c = M{n: 5}; 'x' }", 'operation_err'],
    ['loops', '|m| { for (i in range(100000)) for (j in range(100000)) 1; }', 'timeout'],
  ])('a closure that %s changes nothing', (_what, closure, error) => {
    const db = withTypes(...setup);
    expect(db.error(`mod_type('M', 'mod', 'n', 'str', ${closure});`)).toBe(error);
    expect(db.run("[type_info('M').load().fields, .a.n, .b.n, .has('c')];")).toEqual([
      [['n', 'int']],
      1,
      2,
      false,
    ]);
    // Nor where the error is caught.
    if (error !== 'timeout') {
      db.run(`try(mod_type('M', 'mod', 'n', 'str', ${closure})); nil;`);
      expect(db.run("[type_info('M').load().fields, .a.n, .b.n];")).toEqual([[['n', 'int']], 1, 2]);
      expect(db.run(".a.n = 7; mod_type('M', 'add', 'z', 'int'); .a.z;")).toBe(0);
    }
  });

  test('a closure that fails for an instance puts all of them back', () => {
    const db = withTypes("set_type('M', {l: '[int]', n: 'int'}); .a = M{l: [1]}; .b = M{l: [2]}; nil;");
    db.run(
      "try(mod_type('M', 'all', |m| { m.n = 5; m.l.push(9); .count = 1; m.l[0] == 2 && raise('no'); })); nil;",
    );
    expect(db.run('[.a.n, .a.l, .b.n, .b.l, .has("count")];')).toEqual([0, [1], 0, [2], true]);
  });
});

describe('instances that only an unfinished expression holds', () => {
  test('are valid after their type changed', () => {
    const db = withTypes("set_type('M', {n: 'int'});");
    expect(db.run("[M{}, mod_type('M', 'add', 'a', 'int')][0].a;")).toBe(0);
    expect(db.run("[M{}, mod_type('M', 'add', 't', 'thing')][0].t;")).toEqual({});
    expect(db.run("[M{n: 4}, mod_type('M', 'del', 't'), mod_type('M', 'ren', 'n', 'm')][0].m;")).toBe(4);
    expect(db.run("x = [M{m: 6}, del_type('M')][0]; [type(x), x.m];")).toEqual(['thing', 6]);
  });
});

describe('to_type and to_thing in a query without a change', () => {
  test('work on what is not stored, also for a user who may only query', () => {
    const db = withTypes("set_type('T', {n: 'int', l: '[int]'}); .o = {}; .i = T{}; nil;");
    db.run("new_user('reader'); grant('//stuff', 'reader', QUERY);", { scope: 'thingsdb' });
    const code =
      "nse(); x = {n: 3}; x.to_type('T'); y = T{n: 4}; y.to_thing(); [type(x), x.n, type(y), y.n];";
    expect(db.run(code, { user: 'reader' })).toEqual(['T', 3, 'thing', 4]);
  });

  test('refuse what is stored', () => {
    const db = withTypes(
      "set_type('T', {n: 'int'}); set_type('R', {t: 'thing<int>'}); .o = {}; .i = T{}; nil;",
    );
    expect(db.error("nse(); .o.to_type('T');")).toBe('operation_err');
    expect(db.error('nse(); .i.to_thing();')).toBe('operation_err');
    expect(db.error("nse(); .to_type('T');")).toBe('operation_err');
    // A stored thing inside would be restricted.
    expect(db.error("nse(); x = {t: .o}; x.to_type('R');")).toBe('operation_err');
    expect(db.run('[type(.o), type(.i), .o.restriction()];')).toEqual(['thing', 'T', null]);
  });
});

test('to_type looks whether the thing may be modified before its argument is evaluated, and holds it meanwhile', () => {
  const db = withTypes("set_type('T', {n: 'int'}); .o = {}; nil;");
  expect(db.error('nse(); .o.to_type(raise(lookup_err()));')).toBe('operation_err');
  expect(db.error('.o.a = 1; .o.each(|| .o.to_type(raise(lookup_err())));')).toBe('operation_err');
  expect(db.error("x = {}; x.to_type({x.n = 1; 'T'});")).toBe('operation_err');
  expect(
    db.run("x = {n: 4}; try(x.to_type('None')); x.n = 5; x.to_type('T'); x.n = 6; [type(x), x.n];"),
  ).toEqual(['T', 6]);
});

describe('changes taken back', () => {
  test('a property that was deleted comes back with its values, whether they were touched meanwhile or not', () => {
    const db = withTypes(
      "set_type('M', {n: 'int', t: 'thing', l: '[int]'}); .a = M{n: 1, l: [1]}; .b = M{n: 2}; nil;",
    );
    const all = "mod_type('M', 'del', 'n'); mod_type('M', 'del', 't'); mod_type('M', 'del', 'l'); .a.keys();";
    expect(db.error(`${all} raise('stop');`)).toBe('err');
    expect(db.run('[.a.n, .b.n, .a.l, type(.a.t)];')).toEqual([1, 2, [1], 'thing']);
    expect(db.run(all)).toEqual([]);
  });

  test('a list that was taken out of its property is loose', () => {
    const db = withTypes("set_type('M', {l: '[int]', k: '[int]'}); .a = M{l: [1]}; nil;");
    expect(db.run("x = .a.l; mod_type('M', 'del', 'l'); x.push('any'); x;")).toEqual([1, 'any']);
    expect(db.run("x = .a.k; mod_type('M', 'ren', 'k', 'l'); x.push(5); .a.l;")).toEqual([5]);
    expect(db.error("x = .a.l; mod_type('M', 'ren', 'l', 'k'); x.push('no');")).toBe('type_err');
    expect(db.run("x = .a.l; mod_type('M', 'mod', 'l', '[]'); x.push('now'); .a.l;")).toEqual([5, 'now']);
  });
});

describe('a strict type', () => {
  test.each(['T{a: 1, b: 2}', "new('T', {a: 1, b: 2})", 'T({b: 2})', "[{a: 1}, {b: 2}].map_type('T')"])(
    '%s with a key that it has no property for is an error, and changes nothing',
    (code) => {
      const db = withTypes("set_type('T', {a: 'int'}, STRICT); .n = 0; .keep = [];");
      const failure = db.failure(`.n = 1; .keep.push(${code});`);
      expect(failure.message).toBe(
        "type `T` is strict and has no property `b`: take it out, or add it with mod_type('T', 'add', ...)",
      );
      expect(db.run('[.n, .keep]')).toEqual([0, []]);
    },
  );

  test('is told before anything of the literal is evaluated', () => {
    const db = withTypes("set_type('T', {a: 'int'}, STRICT);");
    expect(db.failure("T{a: raise('evaluated'), b: 1};").message).toContain('no property `b`');
  });

  test('takes what it has properties for, and instances of its own', () => {
    const db = withTypes("new_type('T', STRICT); set_type('T', {a: 'int', c: 'str'});");
    expect(db.run("[T{}, T{a: 1}, new('T', {c: 'x'}), T(T{a: 2})].map(|t| [t.a, t.c])")).toEqual([
      [0, ''],
      [1, ''],
      [0, 'x'],
      [2, ''],
    ]);
  });

  test('is made one, and no longer is one, by mod_type', () => {
    const db = withTypes("set_type('T', {a: 'int'}); new_procedure('make', |x| T{a: x, b: 1}.a);");
    const make = "run('make', 3);";
    expect([db.run(make), db.run("type_info('T').load().strict;")]).toEqual([3, false]);
    db.run("mod_type('T', 'strict', true);");
    expect([db.error(make), db.run("type_info('T').load().strict;")]).toEqual(['lookup_err', true]);
    expect(db.run('export().contains("new_type(\'T\', STRICT);");')).toBe(true);
    db.run("mod_type('T', 'add', 'b', 'int');");
    expect(db.run(make)).toBe(3);
    db.run("mod_type('T', 'del', 'b'); mod_type('T', 'strict', false);");
    expect(db.run(make)).toBe(3);
  });
});
