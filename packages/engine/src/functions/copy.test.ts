import { beforeEach, expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';

let db = new Harness();
beforeEach(() => {
  db = new Harness();
});

test('a depth counts levels of things', () => {
  const code = (deep: number) =>
    `x = {l: [{n: 1}], t: {t: {}}}; y = x.copy(${deep}); [y == x, y.l == x.l, y.t == x.t, y.t.t == x.t.t]`;
  expect(db.run(code(0))).toEqual([true, true, true, true]);
  expect(db.run(code(1))).toEqual([false, true, true, true]);
  expect(db.run(code(2))).toEqual([false, false, false, true]);
  expect(db.run(code(3))).toEqual([false, false, false, false]);
});

test('lists and sets are always new, at every level', () => {
  expect(db.run('x = {l: [1], s: set()}; y = x.copy(); y.l.push(2); y.s.add({}); [x.l, x.s.len()]')).toEqual([
    [1],
    0,
  ]);
  expect(db.run('x = [[1]]; y = x.copy(); [is_list(y), type(y[0]), type(x[0].copy())]')).toEqual([
    true,
    'tuple',
    'list',
  ]);
});

test('things in nested tuples are copied', () => {
  expect(db.run('t = {}; x = [[[t]]]; [x.copy()[0][0][0] == t, x.copy(1)[0][0][0] == t]')).toEqual([
    true,
    false,
  ]);
  expect(db.run('x = [[1, [2]], 3].copy(5); [x, type(x[0]), type(x[0][1])]')).toEqual([
    [[1, [2]], 3],
    'tuple',
    'tuple',
  ]);
});

test('a cycle becomes a cycle of copies as far as the depth goes', () => {
  expect(db.run('x = {}; x.me = x; y = x.copy(1); z = x.copy(2); [y.me == x, z.me == z]')).toEqual([
    true,
    true,
  ]);
  expect(db.run('x = {a: {}}; x.a.x = x; y = x.copy(2); z = x.copy(3); [y.a.x == x, z.a.x == z]')).toEqual([
    true,
    true,
  ]);
});

test('a thing that is reached twice is copied twice', () => {
  expect(db.run('t = {}; x = {a: t, b: t}.copy(2); x.a == x.b')).toBe(false);
  expect(db.run('t = {}; set(t, {}).copy(1).has(t)')).toBe(false);
});

test('copy drops a restriction, dup keeps it, at every level', () => {
  const code = (name: string) =>
    `x = {t: {n: 1}.restrict('int')}.restrict('thing'); y = x.${name}(2); [y.restriction(), y.t.restriction()]`;
  expect(db.run(code('copy'))).toEqual([null, null]);
  expect(db.run(code('dup'))).toEqual(['thing', 'int']);
});

test('copies of things with many properties do not share their keys', () => {
  const many = "x = {}; range(50).each(|i| x.set('k' + str(i), i)); x.del('k7')";
  expect(
    db.run(`${many}; y = x.copy(); y.del('k8'); y.z = 1; x.del('k9'); [x.len(), y.len(), y.has('k9')]`),
  ).toEqual([48, 49, true]);
  const restricted = `${many}; x.restrict('int'); y = x.copy(); y.a = ''; y.del('k0'); [x.len(), x.has('a')]`;
  expect(db.run(restricted)).toEqual([49, false]);
});

test('results are loose, and can be stored', () => {
  expect(
    db.run(
      '.t = {l: [{}]}; x = .t.copy(2); i = x.id(); .u = x; [i, is_int(x.id()), x.l[0].id() == .t.l[0].id()]',
    ),
  ).toEqual([null, true, false]);
});

test.each([
  ['{}.copy(128)', 'value_err'],
  ['[].copy(-1)', 'value_err'],
  ['set().dup(1.0)', 'type_err'],
  ['{}.copy(1, 2)', 'num_arguments_err'],
])('%s is refused', (code, error) => {
  expect(db.error(code)).toBe(error);
});

test('deep nesting of tuples inside things ends with an error, not with the stack', () => {
  const code =
    'x = {}; for (j in range(127)) { y = [x]; for (i in range(400)) y = [y]; x = {l: y}; }; x.copy(127); nil';
  expect(db.error(code)).toBe('operation_err');
  expect(db.run('{a: {b: 1}}.copy(127)')).toEqual({ a: {} });
});
