import { beforeEach, describe, expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';
import { brokenRules } from '../testing/state-lines.js';
import { Float } from '../value/scalars.js';

let db = new Harness();
beforeEach(() => {
  db = new Harness();
});

describe('splice', () => {
  test.each([
    ['1, 1', [1], [0, 2, 3]],
    ['-1, 5, 9', [3], [0, 1, 2, 9]],
    ['-6, 3', [0], [1, 2, 3]],
    ['-9, 2, 9', [], [9, 0, 1, 2, 3]],
    ['7, 1, 9', [], [0, 1, 2, 3, 9]],
    ['2, -1, 8, 9', [], [0, 1, 8, 9, 2, 3]],
    ['9223372036854775807, 1, 9', [], [0, 1, 2, 3, 9]],
    ['-9223372036854775808, 9223372036854775807, 9', [], [9, 0, 1, 2, 3]],
    ['0, 9223372036854775807', [0, 1, 2, 3], []],
  ])('splice(%s)', (args, removed, left) => {
    expect(db.run(`x = [0, 1, 2, 3]; [x.splice(${args}), x]`)).toEqual([removed, left]);
  });
});

describe('remove', () => {
  test.each([
    ['', [1, 3, 5], [0, 2, 4]],
    [', 2', [1, 3], [0, 2, 4, 5]],
    [', -2', [3, 5], [0, 1, 2, 4]],
    [', 0', [], [0, 1, 2, 3, 4, 5]],
    [', -9223372036854775808', [1, 3, 5], [0, 2, 4]],
  ])('removes the odd ones%s', (limit, removed, left) => {
    for (const start of ['x = range(6)', 'x = .l = range(6)']) {
      expect(db.run(`${start}; [x.remove(|v, i| v == i && i % 2 == 1${limit}), x]`)).toEqual([removed, left]);
    }
  });

  test('calls no more than it needs, from the end for a negative limit', () => {
    expect(db.run('n = []; [5, 6, 7].remove(|v| { n.push(v); true }, -2); n')).toEqual([7, 6]);
    expect(db.run('n = []; [5, 6, 7].remove(|v| { n.push(v); true }, 1); n')).toEqual([5]);
  });

  test('remove of a long stored list is one small effect', () => {
    db.run('.l = range(100000)');
    const { length } = db.effects('.l.remove(|v| v % 2 == 0).len()');
    expect(length).toBeGreaterThan(50_000);
    expect(length).toBeLessThan(250_000);
    expect(db.run('[.l.len(), .l[0], .l[-1]]')).toEqual([50_000, 1, 99_999]);
  });

  test('an error in the closure removes nothing', () => {
    expect(db.run('x = [1, 2, 3]; try(x.remove(|v| v == 3 ? raise(1) : true)); x')).toEqual([1, 2, 3]);
  });
});

describe('equality', () => {
  test('unique, has, index_of, count and extend_unique use ==', () => {
    expect(db.run("[1, 1.0, true, 'a', bytes('a'), nil, [1], [true]].unique()")).toEqual([1, 'a', null, [1]]);
    expect(db.run("['a'].has(bytes('a'))")).toBe(true);
    expect(db.run('[0, [2]].index_of([2.0])')).toBe(1);
    expect(db.run('[1, 1.0, true, 2].count(1)')).toBe(3);
    expect(db.run('x = [1, 1]; [x.extend_unique([true, 2, 2.0, [2], [2]]), x]')).toEqual([4, [1, 1, 2, [2]]]);
  });

  test('nan equals nothing', () => {
    expect(db.run("n = float('nan'); [[n, n].is_unique(), [n].has(n), [n, n].unique().len()]")).toEqual([
      true,
      false,
      2,
    ]);
  });

  test('a closure is compared by has, and called by count', () => {
    expect(db.run('c = |x| x > 1; [[c].has(c), [1, 2, 3].count(c)]')).toEqual([true, 2]);
  });

  test('long lists give what short ones give', () => {
    const items = 'range(3000).map(|i| i % 2 == 0 ? i % 1000 : [i % 700])';
    expect(db.run(`x = ${items}; [x.unique().len(), x.is_unique(), x.unique().is_unique()]`)).toEqual([
      850,
      false,
      true,
    ]);
    expect(db.run(`x = range(500); x.extend_unique(range(400).map(|i| i + 300))`)).toBe(700);
  });
});

describe('sum', () => {
  test('is exact for ints and a float from the first float on', () => {
    expect(db.run('[[].sum(), [true, 2].sum(), [1, 2.5].sum(), [9223372036854775807, -1].sum()]')).toEqual([
      0,
      3,
      new Float(3.5),
      9223372036854775806n,
    ]);
    expect(db.run('[9007199254740991, 1, 1].sum()')).toBe(9007199254740993n);
  });

  test('overflows at any step, and takes numbers only', () => {
    expect(db.error('[INT_MAX, 1, -1].sum()')).toBe('overflow_err');
    expect(db.error("[1, 'a'].sum()")).toBe('type_err');
    expect(db.error("[1.0, 'a'].sum()")).toBe('type_err');
    expect(db.error('[1].sum(1)')).toBe('type_err');
  });
});

test('max and min start with the last item and take better ones from left to right', () => {
  expect(db.run('[[1, true, 1.0].max(), [1, true, 1.0].min(), [true, 2, 2.0].max()]')).toEqual([
    new Float(1),
    new Float(1),
    new Float(2),
  ]);
  expect(db.run('[[nil].max(), [{}].min()]')).toEqual([null, {}]);
  expect(db.error('[1, nil].max()')).toBe('type_err');
  expect(db.error('[].min()')).toBe('lookup_err');
});

test('flat spreads tuples down to a depth', () => {
  const x = '[1, [2, [3, [4]]]]';
  expect(
    db.run(`[${x}.flat(), ${x}.flat(2), ${x}.flat(9223372036854775807), ${x}.flat(0), ${x}.flat(-1)]`),
  ).toEqual([
    [1, 2, [3, [4]]],
    [1, 2, 3, [4]],
    [1, 2, 3, 4],
    [1, [2, [3, [4]]]],
    [1, [2, [3, [4]]]],
  ]);
});

test('map_id gives the ids of wrapped things, tasks and rooms, too', () => {
  const store = new Harness();
  store.run(
    ".t = {}; .wa = .t.wrap(&{a: 'any'}); .ti = task(datetime(2050, 1, 1), || nil); .ro = room(); nil;",
  );
  const ids = store.run('[.t.id(), .t.id(), .ti.id(), .ro.id(), nil, nil];');
  expect(store.run("[.t, .wa, .ti, .ro, {}.wrap(&{a: 'any'}), room()].map_id();")).toEqual(ids);
  expect(store.error("[.t, 'text'].map_id();")).toBe('lookup_err');
});

describe('join', () => {
  test('looks at the separator only for two items or more', () => {
    expect(db.run("[[].join(raise(1)), ['a'].join(5), ['a', 'b'].join('-'), ['a', 'b'].join()]")).toEqual([
      '',
      'a',
      'a-b',
      'ab',
    ]);
    expect(db.error("['a', 'b'].join(5)")).toBe('type_err');
    expect(db.error("['a', bytes('b')].join()")).toBe('type_err');
    expect(db.error('[1].join()')).toBe('type_err');
  });

  test('the result counts against the size of a value before it is made', () => {
    const small = new Harness({ limits: { valueBytes: 1000 } });
    expect(small.error("range(100).map(|| 'aaaaaaaaaa').join(',')")).toBe('max_quota_err');
  });
});

describe('choice', () => {
  test('gives each item now and then', () => {
    expect(db.run('range(200).map(|| [1, 2, 3].choice()).unique().sort()')).toEqual([1, 2, 3]);
    expect(db.error('[].choice()')).toBe('lookup_err');
  });

  test('is the same for the same seed', () => {
    const code = 'range(9).map(|| range(100).choice())';
    expect(new Harness({ seed: 3 }).run(code)).toEqual(new Harness({ seed: 3 }).run(code));
  });
});

describe('lists inside lists are tuples, however they get there (decision 10)', () => {
  test.each([
    'x = []; x.push([1])',
    'x = []; x.unshift([1])',
    'x = []; x.splice(0, 0, [1])',
    'x = [0]; x.fill([1])',
    'x = [0]; x[0] = [1]',
    'x = []; x[0:0] = [[1]]',
    'x = []; x.extend([[1]])',
    'x = []; x.extend_unique([[1]])',
    'x = [0].map(|| [1])',
    'x = {a: 1}.map(|| [1])',
    'x = set({}).map(|| [1])',
    'x = {a: [1]}.values()',
    'x = {a: [1]}.remove(||true)',
    'x = [[1]][:]',
    'x = [[1]].reverse()',
    'x = [[1]].sort()',
    'x = [[1]].filter(||true)',
    'x = [[1]].copy()',
  ])('%s', (code) => {
    expect(db.run(`${code}; [type(x[0]), x[0] == [1], is_list(x)]`)).toEqual(['tuple', true, true]);
  });

  test.each([
    '.l[:]',
    '.l.reverse().reverse()',
    '.l.filter(||true)',
    '.l.copy()',
    '.l.sort(|t| t.n)',
    '.l.unique()',
    '.l.splice(0, 2)',
    '.l.remove(||true)',
    '[.l].flat()',
  ])('a list that %s gives can be stored, and its things stay', (code) => {
    db.run('.l = [{n: 1}, {n: 2}]');
    db.run(`.m = ${code}; .del('l')`);
    expect(db.run('.m.map(|t| t.n)')).toEqual([1, 2]);
    expect(brokenRules(db.collection)).toEqual([]);
  });
});

describe('limits', () => {
  test('a list that nests itself over and over is refused before it is walked', () => {
    expect(db.error('x = [1]; for (i in range(100)) x = [x, x]; x == x')).toBe('operation_err');
    expect(db.error('x = [1]; for (i in range(600)) x = [x]')).toBe('operation_err');
  });

  test('a refused item leaves the list as it was', () => {
    const deep = 'y = [1]; for (i in range(499)) y = [y]';
    expect(db.run(`${deep}; x = []; x.push(y); z = [1]; try(z.push(x)); [z, [z].len()]`)).toEqual([[1], 1]);
  });

  test.each([
    ['x = range(100000); for (i in range(100000)) x.has(-1)'],
    ['x = range(100000); for (i in range(100000)) x == x'],
    ['x = range(100000); for (i in range(100000)) {a: x}'],
    ['x = range(100000); for (i in range(100000)) x.unshift(0)'],
    ['t = {}; for (i in range(60)) t = {a: t, b: t}; .t = t.copy(127)'],
    [
      't = {}; for (i in range(60)) t = {a: t, b: t}; u = {}; for (i in range(60)) u = {a: u, b: u}; t.equals(u, 127)',
    ],
    ['t = {}; for (i in range(60)) t = {a: t, b: t}; t.search({}, {deep: 127})'],
    ['s = set(range(100000).map(|| {})); for (i in range(100000)) s | s'],
  ])('%s ends by the time limit', (code) => {
    const hasty = new Harness({ limits: { durationMs: 50 }, realTime: true });
    const start = performance.now();
    expect(hasty.error(code)).toBe('timeout');
    expect(performance.now() - start).toBeLessThan(2000);
  });
});

test('count and sum take the lock after their argument was evaluated', () => {
  expect(db.run('x = [1]; x.count({x.push(2); |v| v > 0})')).toBe(2);
  expect(db.error('x = [1]; x.count(|v| x.push(2))')).toBe('operation_err');
  expect(db.error('x = [1]; x.sum(|v| x.push(2))')).toBe('operation_err');
  expect(db.run('x = [1]; try(x.count(|v| x.push(2))); x.push(3)')).toBe(2);
});

test('compound and slice assignment are writes like others (decision 9)', () => {
  db.run(".t = {n: 1}.restrict('int'); .l = [1, 2, 3]; nil");
  expect(db.error('.t.n += 0.5')).toBe('type_err');
  expect(db.error("x = .t; x['n'] += 0.5")).toBe('type_err');
  expect(db.error('x = .l; nse(x.each(|v| x.clear()))')).toBe('operation_err');
  expect(db.run('.l[1:2] = [{}, 5]; [is_int(.l[1].id()), .l.len()]')).toEqual([true, 4]);
  expect(db.error('.l.each(|| .l[0:1] = [])')).toBe('operation_err');
  expect(db.run('.t.n')).toBe(1);
});
