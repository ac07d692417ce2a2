import { beforeEach, describe, expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';

let db = new Harness();
beforeEach(() => {
  db = new Harness();
});

describe('properties', () => {
  test('keep the order in which they were added, with any keys, after deletes, renames and rollback (decision 7)', () => {
    expect(db.run("x = {b: 1, a: 2}; x['9 z'] = 3; x.c = 4; x.b = 5; x.keys()")).toEqual([
      'b',
      'a',
      '9 z',
      'c',
    ]);
    expect(
      db.run("x = {a: 1, b: 2, c: 3}; x.del('a'); x.set('a', 4); x.ren('b', 'd'); x.map(|k, v| [k, v])"),
    ).toEqual([
      ['c', 3],
      ['a', 4],
      ['d', 2],
    ]);
    db.run(".t = {}; range(50).each(|i| .t.set('k' + str(i), i))");
    const keys = db.run('.t.keys()');
    expect(
      db.error(
        "range(50).each(|i| { if (i % 3 == 0) .t.del('k' + str(i)) }); .t.ren('k1', 'x'); raise('stop')",
      ),
    ).toBe('err');
    expect(db.run('.t.keys()')).toEqual(keys);
  });

  test('get evaluates the alternative only when it is needed', () => {
    expect(db.run("t = {a: nil}; [t.get('a', raise('no')), t.get('b'), t.get('b', 7)]")).toEqual([
      null,
      null,
      7,
    ]);
    expect(db.error("{}.get('b', raise(lookup_err()))")).toBe('lookup_err');
  });

  test('every reserved key is never there and can not be set', () => {
    for (const key of ' !"#$%&\'()*+,-./') {
      const vars = { key };
      expect(db.run('[{a: 1}.has(key), {a: 1}.get(key)]', { vars })).toEqual([false, null]);
      expect(db.error('{a: 1}.set(key, 1)', { vars })).toBe('value_err');
      expect(db.error("{a: 1}.ren('a', key)", { vars })).toBe('value_err');
      expect(db.error("{a: 1}.ren(key, 'b')", { vars })).toBe('lookup_err');
    }
  });

  test('ren looks at the new name first', () => {
    expect(db.error("{a: 1, b: 2}.ren('x', 'b')")).toBe('lookup_err');
    expect(db.error("{a: 1}.ren('a', 'a')")).toBe('lookup_err');
    expect(db.error("{a: 1}.ren('x', '#')")).toBe('value_err');
  });

  test('a property that is renamed keeps its list', () => {
    expect(db.run(".l = [1]; x = .l; .ren('l', 'm'); x.push(2); .m")).toEqual([1, 2]);
  });
});

describe('remove', () => {
  test('returns the values in order, lists and sets as tuples', () => {
    const code =
      'x = {a: [1], b: 2, c: set(), d: 3}; r = x.remove(|k| k != "b"); [r, r.map(|v| type(v)), x.keys()]';
    expect(db.run(code)).toEqual([[[1], [], 3], ['tuple', 'tuple', 'int'], ['b']]);
  });

  test('stops calling at the limit', () => {
    const code = (limit: number) =>
      `n = []; x = {a: 1, b: 2, c: 3}; x.remove(|k| { n.push(k); true }, ${limit}); [n, x.keys()]`;
    expect(db.run(code(2))).toEqual([['a', 'b'], ['c']]);
    expect(db.run(code(0))).toEqual([[], ['a', 'b', 'c']]);
    expect(db.run(code(-1))).toEqual([['a', 'b', 'c'], []]);
  });

  test('removes nothing when one of the values is in use', () => {
    expect(db.run('.a = 1; .l = [1]; .l.each(|| try(.remove(||true))); .keys()')).toEqual(['a', 'l']);
  });
});

describe('assign', () => {
  test('copies lists, shares things, and may be given the thing itself', () => {
    expect(db.run('s = {l: [1], t: {}}; x = {}.assign(s); x.l.push(2); [s.l, x.t == s.t]')).toEqual([
      [1],
      true,
    ]);
    expect(db.run('x = {a: 1, l: [2]}; y = x.l; x.assign(x); y.push(3); x')).toEqual({ a: 1, l: [2] });
  });

  test('sets nothing when one value does not fit', () => {
    expect(db.run(".x = {a: 1}.restrict('int'); try(.x.assign({a: 2, b: 's'})); .x.a")).toBe(1);
  });

  test('replaces a list that is in use, as set does not', () => {
    expect(db.run('.l = [1]; .l.each(|| .assign({l: [5]})); .l')).toEqual([5]);
    expect(db.error('.l = [1]; .l.each(|| .set("l", [5]))')).toBe('operation_err');
  });
});

describe('equals', () => {
  test('compares things inside down to a depth', () => {
    const equal = (deep: string) => db.run(`{a: {b: {c: 1}}}.equals({a: {b: {c: 2}}}${deep})`);
    expect([equal(''), equal(', 2'), equal(', 3'), equal(', 0')]).toEqual([true, true, false, true]);
  });

  test('is false for what is no thing, and ends on cycles', () => {
    expect(db.run('{}.equals(1, 0)')).toBe(false);
    expect(db.run('x = {}; x.x = x; y = {}; y.x = y; x.equals(y, 127)')).toBe(true);
  });
});

describe('copies know what they hold (decision 10)', () => {
  test('values gives lists and sets as tuples of their own, and they can be stored', () => {
    expect(
      db.run('x = {l: [1], s: set({})}; v = x.values(); x.l.push(2); [v.map(|e| type(e)), v[0]]'),
    ).toEqual([['tuple', 'tuple'], [1]]);
    db.run('x = {l: [{n: 1}]}; .v = x.values()');
    expect(db.run('is_int(.v[0][0].id())')).toBe(true);
  });

  test('vmap and filter give things with lists of their own', () => {
    expect(
      db.run('x = {l: [1]}; y = x.vmap(|v| v); y.l.push(2); z = x.filter(||true); z.l.push(3); [x, y, z]'),
    ).toEqual([{ l: [1] }, { l: [1, 2] }, { l: [1, 3] }]);
  });
});

test('an empty thing calls no closure, not even one that needs a change', () => {
  db.run('.c = || .x = 1; .e = {}; nil');
  expect(db.run('c = .c; .e.each(c); .e.map(c)')).toEqual([]);
  expect(db.error('c = .c; .each(c)')).toBe('operation_err');
});

test('methods without a change refuse stored things, and modify loose ones', () => {
  db.run('.t = {a: [1]}');
  expect(db.error('x = .t.a; x.push(2)')).toBe('operation_err');
  expect(db.run('x = .t.copy(); x.a.len()')).toBe(1);
  expect(db.run('x = []; x.push(2)')).toBe(1);
});

test('del makes a change in the root scope too', () => {
  expect(db.run("x = {a: 1}; x.del('a'); is_int(change_id())", { scope: 'thingsdb' })).toBe(true);
  expect(db.run("x = {a: 1}; x.set('a', 2); change_id()", { scope: 'thingsdb' })).toBeNull();
});
