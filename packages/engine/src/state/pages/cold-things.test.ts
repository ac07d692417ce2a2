/** Things of many properties that are not in memory: they come a page at a time, which is charged before. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { Cold } from '../../testing/cold.js';
import { brokenRules } from '../broken-rules.js';

const PROPERTIES = 40_000;
const PAGES = Math.ceil(PROPERTIES / 128);

/** A collection with a large thing, each tenth value of which refers to others. Each page that is read takes 5 ms. */
const cold: Cold = new Cold({ limits: { durationMs: 300 }, monotonic: () => 1000 + 5 * cold.pageReads });
cold.db.run('.t = {}; .a = {n: 1}; .l = []; nil;');
cold.db.run(
  `range(${PROPERTIES}).each(|i| .t.set(\`p{i}\`, i % 10 ? i : [{i: i}, .a])); .t.set('s', set({x: 1})); nil;`,
);
cold.reopen();
beforeEach(() => cold.open());

/** Rounds of the eviction clock after which nothing is in memory that may leave. */
function evict(): void {
  for (let i = 0; i < 3; i++) cold.db.engine.collections.evict(0, Number.POSITIVE_INFINITY);
}

describe('a large thing that is not in memory', () => {
  test.each([
    ['.a.n', 1],
    ['.has("t")', true],
  ])('%s reads none of its pages', (code, value) => {
    expect(cold.db.run(code)).toEqual(value);
    expect(cold.pageReads).toBe(0);
  });

  test.each([
    '.t.p7',
    '.t.p10[0].i',
    '.t.len()',
    '.t.has("p5")',
    '.t.keys().len()',
    '.t.p5 = 6; .t.p5',
    '.t.p10[0].i = 5',
    '.t.p20.push(7)',
    '.t.s.add({})',
    '.t.nix = 8',
    '.t.del("p9")',
    '.t.filter(|k, v| v == 5)',
    '.t.copy().len()',
    'json_dump(.t).len()',
    '.del("t"); 1',
    '.remove(|k, v| k == "t").len()',
    '.x = .t; 1',
    '.a.l = [.t]; 1',
    '.a.s = set(.t); 1',
    '.search(.t).len()',
    'type(.t)',
    'str(.t)',
    'task(datetime(), |t, x| nil, [.t]); 1',
    '.t.restrict("any"); 1',
    '.t.remove(|k, v| v == 1); 1',
    '.t = nil; 1',
    '.t.clear(); 1',
    '.search(.t.p10[0])',
    't = .t; t.p11',
    'wse(); .t.assign({p5: 7}); 1',
  ])('%s is ended between pages, and gets further when it is asked again', (code) => {
    const { ended, readAtFirst } = cold.runAgain(code);
    expect(ended).toBeGreaterThan(0);
    expect(readAtFirst).toBeLessThan(PAGES);
    // No page is read twice, but by walks over records.
    if (code.startsWith('.t.')) expect(cold.pageReads).toBeLessThan(PAGES + 20);
    expect(brokenRules(cold.db.collection)).toEqual([]);
  });

  test('leaves memory where it came in part only and nobody asks for it, with all that it holds', () => {
    const { store } = cold.db.collection;
    const before = store.bytes;
    expect(() => cold.db.run('.t.p5')).toThrow('query_duration_limit_ms');
    const read = cold.pageReads;
    expect(store.bytes).toBeGreaterThan(before + 8 * PROPERTIES);
    cold.db.engine.collections.evict(0, Number.POSITIVE_INFINITY);
    expect(() => cold.db.run('.t.p5')).toThrow('query_duration_limit_ms');
    expect(cold.pageReads).toBeGreaterThan(read);
    evict();
    expect(store.bytes).toBeLessThan(before + 8 * PROPERTIES);
    const { value, ended } = cold.runAgain('.t.p10[1] == .a && .t.s.len() == 1 && .t.p30[0].i');
    expect([value, ended > 0]).toEqual([30, true]);
    expect(brokenRules(cold.db.collection)).toEqual([]);
  });

  test('goes on where something that is not charged needs it, in between', () => {
    expect(() => cold.db.run('.t.p5')).toThrow('query_duration_limit_ms');
    const { store } = cold.db.collection;
    store.load(store.root);
    const thing = store.root.get('t');
    store.touch(thing as never);
    expect(cold.db.run('.t.p20[1] == .a && .t.p5 = 4')).toBe(4);
    expect(cold.pageReads).toBe(PAGES);
    evict();
    expect(brokenRules(cold.db.collection)).toEqual([]);
  });
});
