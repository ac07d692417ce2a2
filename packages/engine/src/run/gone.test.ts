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

test('in the end nothing is left of it', () => {
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
