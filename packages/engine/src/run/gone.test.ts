import { beforeEach, describe, expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';
import { brokenRules } from '../testing/state-lines.js';

let db = new Harness();
beforeEach(() => {
  db = new Harness();
  db.run('.t = {k: {k: {n: 1}}}; .i = .t.id(); .j = .t.k.k.id(); nil');
});

describe('a thing without its last reference is gone by the next statement', () => {
  test.each([
    "x = .t; x = nil; .del('t')",
    '.t = nil',
    '.clear(); .i = 2; .j = 4',
    '.remove(|k| k == "t")',
    '.assign({t: 1})',
  ])('%s', (code) => {
    expect(db.error(`i = .i; ${code}; thing(i)`)).toBe('lookup_err');
    expect(db.error(`j = .j; ${code}; thing(j)`)).toBe('lookup_err');
  });
});

describe('it is found as long as something holds it', () => {
  test.each([
    "x = .t; .del('t')",
    "x = [1, [.t]]; .del('t')",
    "x = {a: {b: .t}}; .del('t')",
    "x = set(.t); .del('t')",
    "x = .del('t')",
    "x = {}; x.x = x; x.l = [.del('t')]",
  ])('%s', (code) => {
    expect(db.run(`${code}; [thing(.i).id() == .i, thing(.j).n]`)).toEqual([true, 1]);
  });

  test('the parent is gone, the child that a variable holds is not', () => {
    expect(db.run("x = .t.k; .del('t'); [is_err(try(thing(.i))), thing(.j).n]")).toEqual([true, 1]);
  });

  test('an unfinished expression holds it', () => {
    expect(db.run("nil; [.del('t'), thing(.i).id() == .i][1]")).toBe(true);
  });

  test('it can be attached again', () => {
    expect(db.run("x = .t.k; .del('t'); .u = x; x = nil; [.u.k.id() == .j, thing(.j).n]")).toEqual([true, 1]);
    expect(db.run('thing(.j).n')).toBe(1);
    expect(brokenRules(db.collection)).toEqual([]);
  });
});

test('nothing of it is left in the end', () => {
  db.run("x = .t; .del('t')");
  expect(db.error('thing(.i)')).toBe('lookup_err');
  expect(db.collection.store.thingCount).toBe(1);
});

test('things that only refer to each other stay until the cycle is broken', () => {
  db.run(".t.k.up = .t; .del('t')");
  expect(db.run('thing(.j).n')).toBe(1);
  db.run("thing(.i).k.del('up'); nil");
  expect(db.error('thing(.j)')).toBe('lookup_err');
});

describe('an instance that is no longer reachable in a query is none for the rest of it', () => {
  beforeEach(() => {
    db = new Harness();
    db.run("set_type('X', {n: 'int', in: 'thing'}); .t = X{n: 1}; .x = X{n: 2}; .l = [X{n: 3}]; nil;");
  });

  const LETTING_GO = [
    ['del', ".del('t')"],
    ['an assignment of nil', '.t = nil'],
    ['an assignment of another thing', '.t = {}'],
    ['pop', '.l.push(.t); .t = nil; .l.pop()'],
    ['a variable that is set to nil', "y = .t; .del('t'); y = nil"],
    ['the deletion of what holds it', ".h = {t: .t}; .del('t'); .del('h')"],
  ] as const;

  test.each(LETTING_GO)(
    '%s: it is not counted, not listed, and no callback is called with it',
    (_what, code) => {
      expect(db.run(`${code}; type_count('X');`)).toBe(2);
      db.run('.t = X{n: 1}; nil;');
      expect(db.run(`${code}; type_all('X').map(|x| x.n).sort();`)).toEqual([2, 3]);
      db.run('.t = X{n: 1}; nil;');
      expect(db.run(`${code}; s = []; mod_type('X', 'all', |x| s.push(x.n)); s.sort();`)).toEqual([2, 3]);
      db.run('.t = X{n: 1}; nil;');
      const refusing = "|x| x.n == 1 ? raise('called with what is gone') : str(x.n)";
      db.run(`${code}; mod_type('X', 'mod', 'n', 'str', ${refusing}); nil;`);
      expect(db.run("type_all('X').map(|x| x.n).sort();")).toEqual(['2', '3']);
      db.run(
        `.t = X{n: '1'}; ${code}; mod_type('X', 'add', 'm', 'int', |x| x.n == '1' ? raise('called') : 5); nil;`,
      );
      expect(brokenRules(db.collection)).toEqual([]);
    },
  );

  test('an instance that a procedure makes unreachable is none for the rest of it, too', () => {
    db.run("new_procedure('count', || { .del('t'); type_count('X'); });");
    expect(db.run('wse(count());')).toBe(2);
  });

  test('closures of `mod_type` in a procedure are called with such an instance, and what they make of it may be stored again', () => {
    db.run(
      "new_procedure('convert', || { y = [.del('t'), mod_type('X', 'mod', 'n', 'str', |x| str(x.n))]; .u = y[0]; nil; });",
    );
    db.run('wse(convert());');
    expect(db.run('[.u.n, .x.n];')).toEqual(['1', '2']);
    expect(brokenRules(db.collection)).toEqual([]);
  });

  test('a circle of instances counts until the search for garbage', () => {
    expect(db.run(".t.in.other = .t; .del('t'); type_count('X');")).toBe(3);
  });

  test('a type becomes wrap-only, and one without properties gets some', () => {
    db.run("new_type('V'); .v = V{}; .vs = [V{}]; nil;");
    expect(db.run(".del('v'); .vs.clear(); set_type('V', {n: 'int'}); type_count('V');")).toBe(0);
    db.run(".v = V{}; .del('v'); mod_type('V', 'wpo', true);");
    expect(db.run("type_info('V').load().wrap_only;")).toBe(true);
  });

  test('members that only it holds are not in use', () => {
    db.run("set_enum('E', {A: 1, B: 2, C: 3}); set_type('H', {e: 'E', l: '[E]'});");
    db.run('.h = H{e: E{B}, l: [E{B}, E{C}]}; .p = {m: [E{C}, [E{C}]], n: E{A}}; nil;');
    expect(db.error("mod_enum('E', 'del', 'B');")).toBe('operation_err');
    db.run(".del('h'); mod_enum('E', 'del', 'B');");
    expect(db.error("mod_enum('E', 'del', 'C');")).toBe('operation_err');
    expect(db.error("x = .p; .del('p'); mod_enum('E', 'del', 'C');")).toBe('operation_err');
    db.run("del_type('H'); .p = nil; del_enum('E');");
    expect(brokenRules(db.collection)).toEqual([]);
  });

  test('it counts as long as a variable, a wrap or a future holds it', () => {
    for (const code of ['y = [.t]', "y = .t.wrap('X')", 'y = {a: {b: .t}}', 'future(nil, .t)']) {
      const counted = db.error(`${code}; .del('t'); raise(str(type_count('X')));`);
      expect([code, counted]).toEqual([code, 'err']);
      expect(db.failure(`${code}; .del('t'); raise(str(type_count('X')));`).message).toBe('3');
    }
  });

  test('one that an unfinished expression holds stays valid, whatever is done to its type', () => {
    const back = (change: string) => db.run(`y = [.del('t'), ${change}][0]; .t = y; nil;`);
    back("mod_type('X', 'mod', 'n', 'str', |x| str(x.n))");
    expect(db.run('.t.n;')).toBe('1');
    back("mod_type('X', 'add', 'more', 'thing')");
    expect(db.run('.t.more.id() != nil;')).toBe(true);
    db.run(
      "set_enum('E', {A: 1, B: 2}); set_type('H', {e: 'E', l: '[E]'}); .t = H{e: E{B}, l: [E{B}]}; nil;",
    );
    back("mod_enum('E', 'del', 'B')");
    expect(db.run('[.t.e, .t.l];')).toEqual([1, []]);
    db.run("new_type('V'); .t = V{}; nil;");
    back("set_type('V', {n: 'int'})");
    expect(db.run('.t.n;')).toBe(0);
    back("mod_type('V', 'add', 'more', 'thing')");
    expect(db.run('.t.more.id() != nil;')).toBe(true);
    back("mod_type('V', 'wpo', true)");
    expect(db.run('type(.t);')).toBe('thing');
    expect(brokenRules(db.collection)).toEqual([]);
  });
});

describe('a list or set whose thing is gone is loose', () => {
  const CHANGES = [
    ['l', 'x.push({})', 'x[1]'],
    ['l', 'x.unshift({a: 1})', 'x[0]'],
    ['l', 'x[0] = {}', 'x[0]'],
    ['l', 'x[0:1] = [{}]', 'x[0]'],
    ['deep.l', 'x.push({})', 'x[1]'],
    ['s', 'x.add({})', 'x.one()'],
  ] as const;

  test.each(["del('t')", 't = nil', 't = {}', 'assign({t: 1})', 'clear()'])('.%s', (goes) => {
    for (const [which, change, made] of CHANGES) {
      db.run('.t = {l: [{}], s: set(), deep: {l: [{}]}}; nil');
      expect(db.run(`x = .t.${which}; .${goes}; ${change}; ${made}.id();`)).toBeNull();
      expect(brokenRules(db.collection)).toEqual([]);
    }
  });

  test('one of a type, too; all of it comes back with an error', () => {
    db.run("set_type('T', {l: '[]', n: 'int'}); .t = T{l: [{}], n: 7}; nil");
    expect(db.run("x = .t.l; .del('t'); x.push({}); [x[0].id() > 0, x[1].id()];")).toEqual([true, null]);
    db.run('.t = T{l: [{}], n: 7}; nil');
    expect(db.error("x = .t.l; .del('t'); x.push({}); 1 / 0;")).toBe('zero_div_err');
    expect(db.run('.t.l.len();')).toBe(1);
    expect(brokenRules(db.collection)).toEqual([]);
  });

  test('it is not while something holds the thing', () => {
    expect(db.run(".t.l = []; t = .t; x = t.l; .del('t'); x.push({}); x[0].id() > 0;")).toBe(true);
    expect(db.run(".t = {l: []}; x = .t.l; .u = .t; .del('t'); x.push({}); .u.l[0].id() > 0;")).toBe(true);
  });
});
