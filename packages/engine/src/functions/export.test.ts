import { beforeEach, describe, expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';

let db: Harness;

beforeEach(() => {
  db = new Harness();
});

const script = (): string => String(db.run('export()'));

/** Runs a script in an empty collection, and gives the script of that one. */
function again(text: string): string {
  const other = new Harness();
  expect(other.run(text)).toBe('DONE');
  return String(other.run('export()'));
}

describe('a script', () => {
  test('has all sections, also where there is nothing to make', () => {
    expect(script()).toBe("try(commit('Source: collection `stuff`'));\n\n\n\n\n\n\n\n\n'DONE';\n");
  });

  test.each([
    [
      'types',
      "new_type('B'); new_type('A', HID|IDX); set_type('A', {id: '#', b: 'B?', bs: '{B}', n: 'int<0:9>'});",
    ],
    [
      'methods',
      "new_type('A'); set_type('A', {n: 'int', f: |this, x| { if (x) { this.n; } else { x; }; }});",
    ],
    [
      'wraps',
      "new_type('W', WPO); set_type('W', {a: {b: 'any', c: [{d: 'int'}]}, up: |this| this.x.upper()});",
    ],
    [
      'text with quotes',
      `new_type('A'); set_type('A', {s: "/(it's)?/"}); set_enum('E', {A: "it's", B: 'say "x"'});`,
    ],
    [
      'relations',
      "new_type('A'); new_type('B'); set_type('A', {b: 'B?', me: 'A?'}); set_type('B', {as: '{A}'}); mod_type('A', 'rel', 'b', 'as'); mod_type('A', 'rel', 'me', 'me');",
    ],
    [
      'enums',
      "set_enum('N', {ONE: 1, TWO: 2, f: |this| this.value() + 1}); set_enum('F', {X: 1.5}); set_enum('Y', {X: bytes('abc')});",
    ],
    [
      'members that are things',
      "new_type('P'); set_type('P', {x: 'int'}); set_enum('T', {A: {n: 1, l: [1, [2]], deeper: {s: 'x'}}, B: {}});",
    ],
    ['procedures', "new_procedure('b', |x| { 'doc'; x + 1; }); new_procedure('a', || .x = 1);"],
    ['a typed root', "new_type('Root'); set_type('Root', {n: 'int'}); .to_type('Root');"],
  ])('makes %s again', (_, code) => {
    db.run(code);
    expect(again(script())).toBe(script());
  });

  test('leaves data out, and what the language can not write', () => {
    db.run(".secret = 42; set_enum('E', {A: {}}); mod_enum('E', 'mod', 'A', {ok: 1, t: datetime(0)});");
    const text = script();
    expect(text).toContain('ok: 1');
    expect(text).not.toContain('42');
    expect(again(text)).toBe(text);
  });

  test('writes what the things of members hold, so that a copy holds the same', () => {
    db.run(
      "set_type('P', {n: 'int', s: '[float]', me: 'P?'}); mod_type('P', 'rel', 'me', 'me'); set_enum('C', {X: 1, Y: 2});",
    );
    db.run(`set_enum('O', {B: {
      se: set({x: 42}), r: room(), d: datetime(0).to('Europe/Amsterdam'), o: datetime(5).to('-0530'), tv: timeval(-7),
      rx: regex('a/b', 'i'), e: err(-100, "it's"), w: {n: 1}.wrap(&{n: 'int', k: {m: 'int'}}), p: P{n: 3, s: [1.5]}.wrap('P'),
      f: [inf, -inf, nan, 1.0e-9, 1.5e+300, 2.5], an: &{n: 'int'}, m: nil, c: C{Y}, s: set(), l: [[1], set(P{n: 4})],
    }});`);
    const text = script();
    expect(again(text)).toBe(text);
    expect(text).toContain('r: room() /* ');
    const copy = new Harness();
    copy.run(text);
    const look =
      'v = O{B}.value(); return [v.se, v.d, v.o, int(v.tv), v.rx, [v.e.code(), v.e.msg()], v.w, v.p, v.f.map(|f| str(f)), v.an, ' +
      'v.c == C{Y}, v.l[1].map(|p| p.n), v.s.len(), type(v.r), v.r.id() > 0], 5;';
    const plain = (from: Harness): string =>
      JSON.stringify(from.run(look), (key, value: unknown) => (key === '#' ? undefined : value));
    expect(plain(copy)).toBe(plain(db));
  });

  test('says in a comment what it leaves out, of things inside themselves too, and runs all the same', () => {
    db.run("set_type('P', {n: 'int', t: 'thing', me: 'P?', r: 'P?'}); mod_type('P', 'rel', 'r', 'r');");
    db.run(
      'set_enum("R", {A: {}}); v = R{A}.value(); v.me = v; v.l = [v, [v]]; v.s = set(v, {}); v.w = v.wrap("P"); nil;',
    );
    db.run(
      'v = R{A}.value(); v.p = P{}; v.p.t = v; v.p.r = v.p; v.m = R{A}; v.t = task(datetime(2050, 1, 1), || nil); nil;',
    );
    db.run(
      "v = R{A}.value(); v.set('no name', 1); x = v; for (i in range(300)) { x.deeper = {}; x = x.deeper; }; nil;",
    );
    const text = script();
    for (const what of ['a thing inside itself', 'a relation', 'task', 'a key that is no name', 'too deep'])
      expect(text).toContain(what);
    expect(text).toContain('m: R{A},');
    const copy = new Harness();
    expect(copy.run(text)).toBe('DONE');
    expect(copy.run('[R{A}.value().keys(), R{A}.value().s.len(), R{A}.value().m == R{A}];')).toEqual([
      ['me', 'l', 's', 'w', 'p', 'm', 't', 'deeper'],
      1,
      true,
    ]);
  });

  test('announces itself where the collection has a history', () => {
    db.run("new_type('A');");
    const text = script();
    const other = new Harness();
    other.run("set_history('//stuff', true)", { scope: 'thingsdb' });
    expect(other.run(text)).toBe('DONE');
    expect(other.run('history({last: 1})[0].load().message', { scope: 'thingsdb' })).toContain('Source: ');
  });
});

test.each([
  ['.x = 1; export()', 'operation_err'],
  ['export({other: 1})', 'value_err'],
  ['export({dump: 1})', 'type_err'],
  ['export(nil)', 'type_err'],
  ['export({}, {})', 'num_arguments_err'],
])('%s is a %s', (code, error) => {
  expect(db.error(code)).toBe(error);
});
