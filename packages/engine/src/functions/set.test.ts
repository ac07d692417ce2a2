import { beforeEach, describe, expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';
import { brokenRules } from '../testing/state-lines.js';

let db = new Harness();
beforeEach(() => {
  db = new Harness();
});

describe('add', () => {
  test('counts the things that are new, and adds nothing when one argument is wrong', () => {
    expect(db.run('t = {}; s = set(t); [s.add(t, {}, t), s.len()]')).toEqual([1, 2]);
    expect(db.run('s = set(); try(s.add({}, 5)); s.len()')).toBe(0);
    expect(db.error('s = set(); s.add([])')).toBe('type_err');
    expect(db.error('set().add()')).toBe('num_arguments_err');
  });

  test('gives ids in a stored set', () => {
    expect(db.run('.s = set(); t = {}; .s.add(t); is_int(t.id())')).toBe(true);
  });
});

describe('remove', () => {
  test('takes things, and returns those that were there in the order of the arguments', () => {
    expect(
      db.run('a = {n: 1}; b = {n: 2}; s = set(a, b); [s.remove(b, {}, a, b).map(|t| t.n), s.len()]'),
    ).toEqual([[2, 1], 0]);
    expect(db.run('a = {}; s = set(a); try(s.remove(a, 1)); s.len()')).toBe(1);
  });

  test('takes a closure and a limit', () => {
    const code = (limit: string) =>
      `s = set({n: 1}, {n: 2}, {n: 3}); r = s.remove(||true${limit}); [r.len(), s.len()]`;
    expect(db.run(code(''))).toEqual([3, 0]);
    expect(db.run(code(', 2'))).toEqual([2, 1]);
    expect(db.run(code(', 0'))).toEqual([0, 3]);
    expect(db.run(code(', -2'))).toEqual([3, 0]);
    expect(db.error('set().remove(||true, 1.0)')).toBe('type_err');
    expect(db.error('set().remove(||true, 1, 2)')).toBe('num_arguments_err');
    expect(db.error('set().remove()')).toBe('num_arguments_err');
  });

  test('an error in the closure removes nothing', () => {
    expect(
      db.run(
        '.s = set({}, {}); n = [0]; try(.s.remove(|| { n[0] += 1; n[0] == 2 ? raise(1) : true })); .s.len()',
      ),
    ).toBe(2);
  });
});

describe('order', () => {
  test('members come in the order in which they were added (decision 7)', () => {
    const members = '{n: 3}, {n: 1}, {n: 2}';
    expect(db.run(`set(${members}).map(|t| t.n)`)).toEqual([3, 1, 2]);
    expect(
      db.run(`.s = set(${members}); t = .s.find(|t| t.n == 3); .s.remove(t); .s.add(t); .s.map(|t| t.n)`),
    ).toEqual([1, 2, 3]);
  });

  test('a failed query leaves it as it was', () => {
    db.run('.s = set({n: 3}, {n: 1}, {n: 2}); nil');
    db.error(".s.remove(|t| t.n != 1); .s.add({n: 4}); x = .s; .s = 5; x.clear(); raise('stop')");
    expect(db.run('.s.map(|t| t.n)')).toEqual([3, 1, 2]);
    expect(brokenRules(db.collection)).toEqual([]);
  });

  test('so are the members of a large one, whatever their order', () => {
    db.run('.s = set(range(2000).map(|i| {n: i})); nil');
    db.error("x = .s; .s = 5; x.remove(|t| t.n % 2 == 0); x.add({n: -1}); raise('stop')");
    db.error(".s.remove(|t| t.n % 2 == 0); .s.add({n: -1}); raise('stop')");
    expect(db.run('[.s.len(), .s.map(|t| t.n).sum()]')).toEqual([2000, 1_999_000]);
    expect(brokenRules(db.collection)).toEqual([]);
  });
});

describe('operators in place', () => {
  test('change the set that every alias sees, loose and stored', () => {
    for (const start of ['s = set(a, b)', 's = .s = set(a, b)']) {
      const code = `a = {}; b = {}; c = {}; ${start}; t = s; s |= set(c); s &= set(b, c); s ^= set(a, b); s -= set(c); [t.len(), t.has(a)]`;
      expect(db.run(`wse(); ${code}`)).toEqual([1, true]);
    }
    expect(brokenRules(db.collection)).toEqual([]);
  });

  test('refuse a stored set without a change, and one in use', () => {
    db.run('.s = set({})');
    expect(db.error('s = .s; s |= set({})')).toBe('operation_err');
    expect(db.error('s = set({}); s.each(|| s |= set({}))')).toBe('operation_err');
  });
});

test('closures get the thing and its id', () => {
  db.run('.s = set({})');
  expect(db.run('.s.map(|t, id| t.id() == id)')).toEqual([true]);
  expect(db.run('set({}).map(|t, id| id)')).toEqual([null]);
  expect(db.run('set({n: 1}, {n: 2}).reduce(|a, t| a + t.n, 10)')).toBe(13);
  expect(db.error('set().reduce(|a, t| a)')).toBe('lookup_err');
  expect(db.run('set().reduce(|a, t| a, nil)')).toBeNull();
});
