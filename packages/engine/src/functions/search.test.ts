import { beforeEach, expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';

let db = new Harness();
beforeEach(() => {
  db = new Harness();
});

test('tells where, and what holds the thing', () => {
  const code = 'n = {}; x = {a: n, l: [1, n], t: [[n]], s: set(n)}; x.search(n, {limit: 9})';
  const found = db.run(`${code}.map(|r| [r.key, r.key_type, r.parent == x, r.parent_type])`);
  expect(found).toEqual([
    ['a', 'thing', true, 'thing'],
    ['l', 'list', true, 'thing'],
    ['t', 'tuple', true, 'thing'],
    ['s', 'set', true, 'thing'],
  ]);
});

test('goes into things as deep as it is told, depth first', () => {
  const code = 'n = {}; x = {a: {b: {c: n}}, l: [{m: n}], z: n};';
  const keys = (options: string) => db.run(`${code} x.search(n, {${options}}).map(|r| r.key)`);
  expect(keys('limit: 9')).toEqual(['z']);
  expect(keys('limit: 9, deep: 2')).toEqual(['m', 'z']);
  expect(keys('limit: 9, deep: 3')).toEqual(['c', 'm', 'z']);
  expect(keys('deep: 3')).toEqual(['c']);
});

test('looks through wraps and members of enums', () => {
  db.run("set_type('W', {a: 'any'}, WPO); set_enum('E', {A: {b: 5}});");
  const code =
    "n = {}; x = {w: n.wrap('W'), l: [n.wrap('W')], d: {in: n}.wrap('W')}; x.search(n, {limit: 9, deep: 2})";
  expect(db.run(`${code}.map(|r| [r.key, r.key_type])`)).toEqual([
    ['w', 'thing'],
    ['l', 'list'],
    ['in', 'thing'],
  ]);
  db.run('E{A}.value().in = {n: 1}; .m = E{A}; .ms = [E{A}];');
  expect(db.run('.search(E{A}.value(), {limit: 9}).map(|r| r.key)')).toEqual(['m', 'ms']);
  expect(db.run('.search(E{A}.value().in, {deep: 2}).map(|r| r.parent == E{A}.value())')).toEqual([true]);
});

test('enters no thing that it is walking, and no thing of a cycle twice on one way', () => {
  expect(db.run('x = {}; x.a = {b: x}; x.search(x, {deep: 127, limit: 9}).map(|r| r.key)')).toEqual(['b']);
});

test('finds things that are being iterated', () => {
  expect(db.run('x = {n: {}}; x.map(|k, v| x.search(v).len())')).toEqual([1]);
});

test.each([
  ['{}.search(1)', 'type_err'],
  ['{}.search({}, 1)', 'type_err'],
  ['{}.search({}, {deep: 1.0})', 'type_err'],
  ['{}.search({}, {limit: 256})', 'value_err'],
  ['{}.search({}, {depth: 1})', 'value_err'],
  ['{}.search()', 'num_arguments_err'],
])('%s is refused', (code, error) => {
  expect(db.error(code)).toBe(error);
});
