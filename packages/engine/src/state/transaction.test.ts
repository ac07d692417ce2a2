import { beforeEach, describe, expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';
import { brokenRules, newGroup, stateLines } from '../testing/state-lines.js';

let db = new Harness();
beforeEach(() => {
  db = new Harness();
});

/** Runs a query that fails at its end, and expects the state to be as it was. */
function expectTakenBack(code: string): void {
  const before = stateLines(db.collection);
  expect(db.error(`${code}; raise('stop')`)).toBe('err');
  expect(stateLines(db.collection)).toEqual(before);
  expect(brokenRules(db.collection)).toEqual([]);
}

describe('a query that fails changes nothing (decision 1)', () => {
  test.each([
    "x = .l; .del('l'); x.push({n: 9})",
    'x = .l; .l = 5; x.clear()',
    'x = .l; .clear(); x.remove(|v, i| i == 0); x.fill(3)',
    'x = .l; .assign({l: 5}); x[0] = 4; x[0:2] = []',
    "x = .l; .del('l'); .m = x; .m.push(1); x.push(2)",
    "y = {l: .del('l')}; y.l.pop(); .y = y; .y.l.shift()",
    "x = .s; .del('s'); x.add({}); x.remove(|| true)",
    'x = .s; .s = 1; x |= set({}); x &= set()',
    "x = .s; .remove(|k| k == 's'); x.clear()",
    "x = .l; .ren('l', 'm'); x.push(1); .m.push(2)",
  ])('also for lists and sets that were properties when it began: %s', (code) => {
    db.run('.l = [{n: 1}, [2], 3]; .s = set({n: 4}, {n: 5})');
    expectTakenBack(code);
  });

  test('whatever happens to the keys of a thing with many', () => {
    db.run(".t = {}; range(60).each(|i| .t.set('k' + str(i), [i]))");
    expectTakenBack(".t.remove(|k| k != 'k7')");
    expectTakenBack(".t.del('k0'); .t.del('k59'); .t.k0 = 1; .t.ren('k30', 'x'); .t.del('x')");
    expectTakenBack(".t.restrict('[]'); .t.del('k3'); .t.restrict(nil); .t.del('k4'); .t.k3 = 1");
    expectTakenBack('.t.clear(); .t.a = 1; .t.assign({b: 2})');
  });

  test('quickly, however many properties were removed', () => {
    db.run(".t = {}; range(30000).each(|i| .t.set('k' + str(i), i))");
    const start = performance.now();
    expectTakenBack('.t.remove(|| true)');
    expectTakenBack('.t.keys().each(|k, i| { if (i % 2 == 0) .t.del(k) })');
    expect(performance.now() - start).toBeLessThan(5000);
  });

  test.each([
    'for (i in range(100)) .l.push({i: i})',
    'for (i in range(100)) .l.push({i: i, in: {l: [{}]}})',
    '.l.push({a: 1}); .l.push({b: 2}); .l.pop(); .l.push({c: 3}, {d: 4}); .m = .l.pop(); .l.push({e: 5})',
    'x = {}; .l.push(x); x.a = {}; .l.push(x, x.a); .m = x; .l.push({}); .l.shift(); .l.push({})',
    '.l.push({}); .k.push({}); .l.push({}); .k.push(1, {}); .k.shift(); .l.push({})',
    '.l.push({}); .l.unshift({}); .l.push({}); .l = [{}]; .l.push({}); .l.push({})',
  ])('also what is appended again and again: %s', (code) => {
    db.run('.l = [{n: 1}, [2], 3]; .k = [{}]');
    expectTakenBack(code);
  });

  test.each([
    '.l.remove(|| true).unshift({})',
    '.l.splice(0, 2).push(.l[0], 1)',
    '.l.splice(0, 2, 5).clear()',
    '.s.remove(|| true).push(.l[0])',
    'x = .l; .l = 1; x.remove(|| true).push({}); x.splice(0, 1).push(5)',
  ])('also when what it took out is changed: %s', (code) => {
    db.run('.l = [{n: 1}, [2], 3]; .s = set({}, {})');
    expectTakenBack(code);
  });

  test('a query that a limit ends in the middle of storing things changes nothing', () => {
    const hasty = new Harness({ limits: { durationMs: 30 }, realTime: true });
    hasty.run('.a = 1');
    const before = stateLines(hasty.collection);
    expect(
      hasty.error(
        "t = {}; for (i in range(100)) { u = {}; for (j in range(1000)) u.set('k' + str(j), {}); t.set(str(i), u); }; .t = t",
      ),
    ).toBe('timeout');
    expect(
      hasty.error(
        'x = [1]; for (i in range(22)) x = [x, x]; t = {x: x}; u = {}; for (i in range(99)) u.set(str(i), {t: {x: x}}); .u = u',
      ),
    ).toBe('timeout');
    expect(stateLines(hasty.collection)).toEqual(before);
    expect(brokenRules(hasty.collection)).toEqual([]);
  });
});

test('a change that succeeded in a try before the error stays', () => {
  expect(db.run("try({ .a = 1; .l = [1]; .l.push(2); raise('no') }); [.a, .l]")).toEqual([1, [1, 2]]);
});

describe('one operation that fails changes nothing, inside a try either', () => {
  test.each([
    ["try(.l.push(1, 2, {a: 1}['b']))", '.l', [1]],
    ["try(.l.splice(0, 1, 5, raise('no')))", '.l', [1]],
    ["try(.t.assign({a: 5, b: ''}))", '.t.a', 1],
    ["try(.s.add({}, 'no'))", '.s.len()', 0],
    ["try(.l[0] += 'a')", '.l', [1]],
  ])('%s', (code, look, expected) => {
    db.run(".l = [1]; .t = {a: 1}.restrict('int'); .s = set()");
    expect(db.run(`${code}; ${look}`)).toEqual(expected);
  });
});

describe('effects', () => {
  test('effects of a query that changes nothing in the end are none', () => {
    db.run('.l = []; .s = set(); .t = {}');
    for (const code of [
      '.l.clear()',
      '.l.extend([])',
      '.l.fill(1)',
      '.l.remove(||true)',
      '.s.clear()',
      '.t.assign({})',
      '.t.remove(||true)',
      '.t.restrict(nil)',
    ]) {
      const outcome = db.outcome(code);
      expect([code, outcome.kind === 'value' && outcome.change]).toEqual([code, null]);
    }
  });

  test('effects of removing every second item are positions, not items', () => {
    db.run(".l = range(1000).map(|i| 'some long text ' + str(i))");
    const { length } = db.effects('.l.remove(|x, i| i % 2 == 0); nil');
    expect(length).toBeGreaterThan(500);
    expect(length).toBeLessThan(1100);
  });

  test.each([
    ['ints', '.l.push(i)', 900],
    ['texts', ".l.push('abc')", 1600],
    ['floats', '.l.push(1.5)', 3000],
    ['new things', '.l.push({n: i})', 3000],
    ['new things with floats', '.l.push({n: 1.5})', 5000],
    ['things that are there', '.l.push(.t)', 1000],
  ])('effects of appending %s one by one are some that grow', (_, push, bytes) => {
    db.run('.l = []; .t = {}');
    expect(db.effects(`for (i in range(300)) ${push}; nil`).length).toBeLessThan(bytes);
  });

  test.each([
    'for (i in range(140)) .l.push(i)',
    'for (i in range(140)) .l.push({n: i})',
    'for (i in range(140)) .l.push(i % 3 == 0 ? {n: i} : i % 3 == 1 ? .t : [i])',
    'for (i in range(140)) .l.push(i % 3 == 0 ? 1.5 : {f: 0.5, at: datetime(2020, 1, 1)})',
    "for (i in range(140)) .l.push(i % 2 == 0 ? {n: i} : {in: {n: [i]}, text: 'a'})",
    'for (i in range(140)) { .l.push({n: i}); .k.push({m: i}) }',
    'for (i in range(140)) { .l.push({n: i}); .l[-1].n += 1 }',
    'for (i in range(140)) { .l.push(i); if (i % 5 == 4) .l.pop(); if (i % 7 == 6) .l.shift() }',
    'for (i in range(140)) { x = {n: i}; .l.push(x); .l.push(x); x.n = 5; .l.push(x) }',
    'for (i in range(140)) { .l.push({n: i}); if (i % 50 == 0) { .t.l = .l; .l = [i] } }',
    'x = .l; for (i in range(140)) { x.push({n: i}); if (i == 70) .l = 1; if (i == 90) .l = x; if (i == 95) x = .l }',
    'for (i in range(140)) { .l.push({n: i}); if (i % 9 == 0) room() }',
    'for (i in range(140)) { .l.push({n: i}); if (i % 90 == 0) { .r = room(); .l.push({r: room()}) } }',
    'for (i in range(20)) { .l.push({n: i}); task(datetime(2090, 1, 1), || nil) }',
    "for (i in range(140)) { .l.push(P{n: i}); if (i == 99) try(mod_type('P', 'add', 'more', 'int', 3)) }",
    "for (i in range(140)) { .o.l.push(i % 9); try(.o.l.push(-i)); try(.o.l.push('a')) }",
    "for (i in range(140)) { .o.p.push(P{n: i}); try(.o.p.push({n: i})); if (i == 50) try(mod_type('O', 'mod', 'p', '[]', |o| o.p)) }",
    '.l.push({n: 1}); .l.push({n: 2}); .l.push(.l[0]); .l.remove(|x| x.n == 2); .l.push({n: 3})',
  ])('effects of appending one by one say it to another node: %s', (code) => {
    const replica = newGroup();
    const setup = `set_type('P', {n: 'int'}); set_type('O', {l: '[uint]', p: '[P]'});
      .l = []; .k = []; .t = {}; .o = O{};`;
    for (const text of [setup, code, '.k.push(1)', code]) {
      const outcome = db.outcome(text);
      if (outcome.kind === 'value' && outcome.change !== null) replica.apply(outcome.change.effects);
      expect([text, outcome.kind]).toEqual([text, 'value']);
      expect(stateLines(replica)).toEqual(stateLines(db.collection));
      expect(brokenRules(replica)).toEqual([]);
      expect(brokenRules(db.collection)).toEqual([]);
    }
    expectTakenBack(code);
  });

  test('effects of a value that a list refuses in between are none', () => {
    db.run("set_type('O', {l: '[uint]'}); .o = O{}");
    expect(db.run('.o.l.push(1); .o.l.push(2); [try(.o.l.push(-10)), .o.l.push(3)][1]; .o.l')).toEqual([
      1, 2, 3,
    ]);
    expect(db.run('.o.l')).toEqual([1, 2, 3]);
  });

  test('let another node count the tuples of a list as this one does', () => {
    const replica = newGroup();
    for (const code of [
      '.l = []',
      '.l.push([[1]], 2)',
      '.l[1:1] = [[[[3]]]]',
      '.l.remove(|x, i| i == 0)',
      '.l.fill([1])',
    ]) {
      const outcome = db.outcome(code);
      if (outcome.kind === 'value' && outcome.change !== null) replica.apply(outcome.change.effects);
      expect(stateLines(replica)).toEqual(stateLines(db.collection));
      expect(brokenRules(replica)).toEqual([]);
    }
  });
});

test('ids are given depth first, the thing before what is in it', () => {
  db.run('x = {}; .t = {a: {b: x}, l: [{}, [{}]], x: x, s: set({})}');
  expect(
    db.run('r = .t.id(); [.t.a, .t.x, .t.l[0], .t.l[1][0], .t.s.one()].map_id().map(|i| i - r)'),
  ).toEqual([1, 2, 3, 4, 5]);
});

test('ids that a failed query took are not given again', () => {
  db.error(".a = {b: {}}; raise('stop')");
  db.run('.a = {}');
  expect(db.run('.a.id() - root().id()')).toBe(3);
});
