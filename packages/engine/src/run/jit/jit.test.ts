import { describe, expect, test } from '@jest/globals';
import { builtIns } from '../../functions/index.js';
import { Harness, randomOf } from '../../testing/harness.js';
import { RandomPrograms, STORED_PLACES } from '../../testing/random-program.js';
import { stateLines } from '../../testing/state-lines.js';
import { FICKLE, trace } from '../../testing/trace.js';

/** A machine that translates what runs for the first time, and one that never does. */
function bothTiers(): { readonly first: Harness; readonly second: Harness } {
  const first = new Harness();
  const second = new Harness();
  first.engine.runtime.hotRuns = Number.POSITIVE_INFINITY;
  second.engine.runtime.hotRuns = 1;
  return { first, second };
}

const seed = Number(process.env.ALTHING_TEST_SEED);
const runs = 700 * Number(process.env.ALTHING_TEST_RUNS_FACTOR);

test(`both tiers do the same with random programs (seed ${seed})`, () => {
  const entries = builtIns().filter(({ name }) => !FICKLE.has(name));
  const programs = new RandomPrograms(randomOf(seed), { entries, stored: true });
  let { first, second } = bothTiers();
  for (let run = 0; run < runs; run++) {
    if (run % 100 === 0) {
      ({ first, second } = bothTiers());
      for (const harness of [first, second]) harness.run(STORED_PLACES);
    }
    const code = programs.program();
    // Twice: a loop is translated as a whole when it begins again.
    for (let round = 0; round < 2; round++) {
      const expected = trace(first, code);
      const found = trace(second, code);
      if (found !== expected) throw new Error(`${code}\n\ngives ${found}\ninstead of ${expected}`);
    }
  }
  expect(stateLines(second.collection)).toEqual(stateLines(first.collection));
});

/** A type, and a closure that makes instances of it, which is warm. */
const POINT = `set_type('Point', {n: 'int<0:9>', s: 'str<2:3>', f: 'float?', x: 'any', b: 'bool', u: 'uint', e: 'email?'});
  make = |n, s, f, x, b, u, e| Point{n:, s:, f:, x:, b:, u:, e:};
  for (i in range(4)) make(1, 'ab', nil, nil, true, 1, nil);`;

describe('both tiers make the same instances', () => {
  test.each([
    "make(9, 'abc', 1.5, 2, false, 0, 'a@b.de')",
    "[try(make(10, 'ab', nil, 0, true, 1, nil)), try(make(-1, 'ab', nil, 0, true, 1, nil))]",
    "[try(make(1.0, 'ab', nil, 0, true, 1, nil)), try(make(1, 'ab', 1, 0, true, 1, nil))]",
    "[try(make(1, '', nil, 0, true, 1, nil)), try(make(1, 'abcd', nil, 0, true, 1, nil))]",
    "[make(1, '😀😀😀', nil, 0, true, 1, nil), try(make(1, '😀😀😀😀', nil, 0, true, 1, nil))]",
    "[try(make(1, '😀', nil, 0, true, 1, nil)), make(1, '😀😀', nil, 0, true, 1, nil)]",
    "[try(make(1, 'ab', nil, 0, 1, 1, nil)), try(make(1, 'ab', nil, 0, true, -1, nil))]",
    "[try(make(1, 'ab', nil, 0, true, 1, 'nobody')), make(1, 'ab', nil, 0, true, 9223372036854775807, nil)]",
    "list = [1]; p = make(1, 'ab', nil, list, true, 1, nil); list.push(2); p.x.push(3); [list, p.x]",
    "p = make(1, 'ab', nil, {k: 1}, true, 1, nil); make(2, 'bb', 2.5, p, true, 1, nil)",
    "try(make(nosuch, '', nil, 0, true, 1, nil))",
    "mod_type('Point', 'add', 'more', 'int', 7); make(1, 'ab', nil, 0, true, 1, nil)",
    "mod_type('Point', 'del', 'x'); make(1, 'ab', nil, 0, true, 1, nil)",
    "mod_type('Point', 'ren', 'x', 'y'); make(1, 'ab', nil, 0, true, 1, nil)",
    "mod_type('Point', 'mod', 'n', 'int<5:9>', |p| 5); [try(make(1, 'ab', nil, 0, true, 1, nil))]",
    "mod_type('Point', 'wpo', true); try(make(1, 'ab', nil, 0, true, 1, nil))",
    "rename_type('Point', 'Place'); try(make(1, 'ab', nil, 0, true, 1, nil))",
    "del_type('Point'); set_type('Point', {n: 'str'}); try(make(1, 'ab', nil, 0, true, 1, nil))",
    'f = |n| Point{n: n + 1}; [f(1), f(2), try(f(9))]',
    "f = |n| Point{n: 1, n: n, s: 'ab', f: nil, x: 0, b: true, u: 1}; [f(2), f(3)]",
    "f = |n| Point{n:, s: mod_type('Point', 'del', 'x') ? 'ab' : 'bb', f: nil, x: 0, b: true, u: 1, e: nil}; [try(f(2)), try(f(3))]",
    "for (i in range(12)) .last = try(make(i, 'ab', nil, 0, true, 1, nil)); .last",
    "for (i in range(9)) .p = Point{n: i, s: 'ab', f: 0.5, x: i, b: i > 3, u: i * 2, e: nil}; .p",
  ])('%s', (code) => {
    const { first, second } = bothTiers();
    for (const harness of [first, second]) harness.run('.last = nil; .p = nil;');
    const program = `${POINT} ${code};`;
    expect(trace(second, program)).toBe(trace(first, program));
    expect(stateLines(second.collection)).toEqual(stateLines(first.collection));
  });
});

describe('both tiers do the same', () => {
  test.each([
    'x = 9007199254740991; f = |n| n + 1; f(x)',
    'f = |n| n * -1; [f(0), f(-0), f(5)]',
    'f = |n| -n; [f(0), f(-9223372036854775808 + 1)]',
    'f = |a, b| a / b; [f(7, 2), f(-7, 2), f(0, -3), f(9007199254740991, 2), try(f(1, 0))]',
    'f = |a, b| a % b; [f(7, 3), f(-7, 3), f(-6, 3), try(f(1, 0))]',
    'f = |a, b| [a & b, a | b, a ^ b, a << 1, a >> 1]; [f(6, 3), f(-1, 1), f(4294967296, 1)]',
    'f = |a, b| [a == b, a != b, a < b, a > b, a <= b, a >= b]; [f(1, 2), f(1.5, 1), f(true, 1)]',
    "f = |a, b| a + b; [f(1, 2), f('a', 'b'), f(1.5, 2), try(f('a', 1)), try(f(nil, 1))]",
    'f = |x| x && nil || x; [f(0), f(1), f([]), f([1])]',
    'f = |x| !x; [f(0), f(1.5), f({})]',
    'f = |x| x ? 1 : 2; [f(0), f([0])]',
    'f = |x| if (x) 5; [f(0), f(1), f(nil)]',
    'f = |x| { if (x > 1) return x; x += 5; x }; [f(0), f(2)]',
    'f = |x| { y = x; z = y; z }; y = 1; [f(2), y]',
    'f = |n| n < 2 ? n : f(n - 1) + f(n - 2); f(12)',
    'f = |n| f(n + 1); try(f(0))',
    'a = 0; f = |x| { a += x; nosuch }; try(f(2)); a',
    'f = |x| x.k1; [f({k1: 5}), try(f({})), try(f(1))]',
    'f = |x| (x = [1]) && x.len(); f(0)',
    's = 0; for (i in range(5)) { if (i == 1) continue; if (i == 4) break; s += i }; s',
    's = []; for (v, k in {k1: 1, k2: [2]}) s.push([v, k]); s',
    's = []; for (v, k, z in set({k1: 1})) s.push([v, k, z]); s',
    's = 0; for (i in 5) s += 1; s',
    "for (i in range('a')) 1",
    'for (i in range(100001)) 1',
    's = 1; for (i in range(0)) s = 2; [s, (for (i in range(0)) 1), (for (i in []) 1)]',
    'f = || { for (i in range(9)) for (j in [i]) if (j == 5) return j; 7 }; f()',
    'l = [1, 2]; try(for (x in l) l.push(x)); l.push(3); l',
    'for (i in range(3)) { x = i; y = |i| i; }; [i, x]',
    'i = 5; f = || { for (i in range(3)) 1; i }; [f(), i]',
    'f = |x| |y| y; l = [1, 2].map(f); l[0] == l[1]',
    'return 1, 2',
    'f = |x| { return {a: {b: {}}}, 2, NO_IDS }; f(1)',
    'x = 5; f = |x| x; f([x = 6][0]) + x',
    'x = 1; x + (x = 5) + x',
    'x = [1]; f = |y| { x = y; x.push(2); y }; [f([7]), x]',
    'f = |x| x += nosuch; f(1)',
    'f = |x| nosuch += x; f(1)',
    'm = set(); f = |x| m |= set(x); f({}); m.len()',
    "f = |x| {name: 'n', age: x, more: [x], x}; f(5)",
    'f = |x| {a: x, a: x + 1}; f(5)',
    'l = [1]; f = |x| {a: l, b: l.push(x), c: l}; [f(2), l]',
    'f = |x| {a: x, b: nosuch}; l = [1]; try(f(l)); l.push(2); l',
    's = {}; f = |x| {a: s, b: {c: s, d: {e: x}}}; f(1).a == f(2).a',
    'f = |x| x.map(|y| {y, z: y * 2}).filter(|t| t.y > 1); f([1, 2, 3])',
    '.l = []; f = |x| .l.push({a: x, b: {c: [x]}}); [f(1), f(2), .l]',
    'f = |x| x.push(x.len()); [f([]), try(f(1)), try(f({push: |y| y}))]',
    'f = |x| x.k1(2).len(); try(f({k1: |y| [y]}))',
    '.l = []; for (i in range(3)) .l.push({i, l: .l.len()}); .l',
    'for (i in range(3)) try(.nosuch.push({i}))',
    '.l = [1, 2]; for (x in .l) try(.l.push({x})); .l',
    '.l = [1]; for (x in .l) try(.l.push(nosuch)); for (i in range(3)) try(.l.push(nosuch)); .l',
    '.l = []; for (i in range(3)) .l.push(.l.len() + i, i); .l.push(.l.push(5)); .l',
    '.l = []; for (i in range(3)) .l.push([i, {i}]); for (x in .l) try(x.push(5)); .l',
    '.l = []; t = {a: {b: 1}}; for (i in range(3)) .l.push({t, c: {d: t.a.b}}); .l.push(t.a.b, t); .l',
    'l = []; for (i in range(3)) l.push({i: i, l}); [l, l.len()]',
    "for (x in ['a', {push: |y| y}, [], set(), nil, 5]) try(x.push({x}))",
    "f = |l| try(l.push('a' + 'b')); [f([]), f([1]), f({push: |y| y}), f(nil), f([[1]][0])]",
    "set_type('Q', {l: '[uint]'}); .q = Q{}; for (i in range(9)) try(.q.l.push(4 - i)); .q.l",
    '.l = []; wse({for (i in range(3)) .l.push({i})}); .l',
  ])('%s', (code) => {
    const { first, second } = bothTiers();
    for (let round = 0; round < 3; round++) expect(trace(second, code)).toBe(trace(first, code));
  });
});

describe('limits hold in the second tier', () => {
  const hasty = new Harness({ limits: { durationMs: 30 }, realTime: true });
  hasty.engine.runtime.hotRuns = 1;

  test.each([
    'for (i in range(100000)) for (j in range(100000)) 1',
    's = 0; range(100000).each(|i| { for (j in range(100000)) s += j })',
    'f = |n| n < 2 ? n : f(n - 1) + f(n - 2); range(1000).map(|| f(20))',
  ])('limits of time hold in the second tier: %s', (code) => {
    for (let round = 0; round < 2; round++) expect(hasty.error(code)).toBe('timeout');
  });

  test('limits of depth hold in the second tier: closures that call each other', () => {
    const names = Array.from({ length: 100 }, (_, i) => `f${i}`);
    const code = names.map((name, i) => `${name} = |x| x + f${(i + 1) % 100}(x + 1) + 1`).join(';');
    for (let round = 0; round < 2; round++) expect(hasty.error(`${code}; f0(1)`)).toBe('operation_err');
  });
});

test('nothing that users write comes into the source: names and texts may be anything', () => {
  const { second } = bothTiers();
  const code = `x = 'a"; throw 1 // \\u0041 \u2028'; constructor = |__proto__| __proto__ + x + "'"; constructor('é') == 'é' + x + "'"`;
  for (let round = 0; round < 2; round++) expect(second.run(code)).toBe(true);
});

test('a text that is too long or nested too deeply stays in the first tier', () => {
  const { second } = bothTiers();
  const wide = `x = 1; f = |y| ${Array.from({ length: 2000 }, () => 'x').join(' + ')}; f(1)`;
  const deep = `x = 1; f = |y| ${'(1 + '.repeat(200)}x${')'.repeat(200)}; f(1)`;
  const blocks = `x = 1; f = |y| ${'{ if (true) '.repeat(100)}x${'}'.repeat(100)}; f(1)`;
  for (let round = 0; round < 2; round++) {
    expect(second.run(wide)).toBe(2000);
    expect(second.run(deep)).toBe(201);
    expect(second.run(blocks)).toBe(1);
  }
});
