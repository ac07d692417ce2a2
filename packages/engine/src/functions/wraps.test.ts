import { beforeEach, describe, expect, test } from '@jest/globals';
import { Harness, type Plain } from '../testing/harness.js';

let db = new Harness();
beforeEach(() => {
  db = new Harness();
});

/** The value of the key `r` as deep as it goes. */
function innermost(value: Plain): Plain {
  let inner = value;
  while (typeof inner === 'object' && inner !== null && 'r' in inner) inner = inner.r ?? null;
  return inner;
}

describe('a computed property shows the text of its error', () => {
  test('a property that gives the wrap of a new thing by its own type without end shows its error', () => {
    db.run("set_type('T', {r: || T{}.wrap('T')});");
    expect(innermost(db.run('T{}.wrap();'))).toMatch(/nested too deeply/);
    expect(innermost(db.run('return T{}.wrap().copy(127), 127;'))).toMatch(/nested too deeply/);
    expect(db.run('json_dump(T{}.wrap());')).toMatch(/nested too deeply/);
  });

  test('a pair of properties that do so is ended by the limits of results', () => {
    db.run("set_type('T', {a: || T{}.wrap('T'), b: || T{}.wrap('T')});");
    expect(db.error('T{}.wrap();')).toBe('result_too_large');
  });

  test('a property whose method leaves a future shows its error, and the future is dropped', () => {
    db.run("set_type('F', {a: || future(nil, 1), b: || { future(|| .x = 1); 5; }, c: || 3});");
    const shown = { a: expect.stringMatching(/futures/), b: expect.stringMatching(/futures/), c: 3 };
    expect(db.run('F{}.wrap();')).toEqual(shown);
    expect(db.run("wse(future(|| .w = F{}.wrap().copy())); nil; .has('x');")).toBe(false);
    expect(db.run('.w;')).toMatchObject(shown);
  });
});

describe('a thing behind a member of an enum', () => {
  const db = new Harness();
  db.run("set_enum('E', {A: {x: 1, y: 2}}); set_type('V', {x: 'int'});");
  db.run("set_type('W', {m: 'V?', l: '[V]', s: '{V}'}, WPO);");

  test('shows what the type of the property shows, in a list as well', () => {
    expect(db.run("return {m: E{A}, l: [E{A}, {x: 3, y: 4}]}.wrap('W'), 3;")).toEqual({
      m: { '#': 2, x: 1 },
      l: [{ '#': 2, x: 1 }, { x: 3 }],
    });
  });

  test('shows all of it without a wrap', () => {
    expect(db.run('return {m: E{A}}, 3;')).toEqual({ m: { '#': 2, x: 1, y: 2 } });
  });
});
