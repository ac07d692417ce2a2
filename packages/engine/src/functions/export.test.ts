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
