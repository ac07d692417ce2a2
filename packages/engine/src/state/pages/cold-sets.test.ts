/** Sets that are not in memory: their size is known, and members come into memory a page at a time, which is charged before. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { ByteWriter } from '../../bytes.js';
import { Cold } from '../../testing/cold.js';
import { Thing } from '../../value/thing.js';
import { brokenRules } from '../broken-rules.js';
import { Portion } from '../portion.js';
import { Transaction } from '../transaction.js';

const MEMBERS = 100_000;
const PAGES = Math.ceil(MEMBERS / 1024);

/** A collection with two large sets of the same things. Each page that is read takes 6 ms. */
class ColdSets extends Cold {
  constructor() {
    super({ limits: { durationMs: 300 }, monotonic: () => 1000 + 6 * this.pageReads });
    this.db.run('.first = {n: 1}; .l = []; .a = {}; nil;');
    for (let i = 0; i < MEMBERS / 10_000; i++) this.db.run('range(10000).each(|i| .l.push({i: i})); nil;');
    this.db.run('.l.push(.first); .s = set(.l); nil;');
    this.db.run(".u = set(.l); .other = 5; .del('l'); nil;");
    this.db.run('.t = {s: .s}; set_type("S", {s: "{thing}"}); nil;');
    this.reopen();
  }
}

const cold = new ColdSets();
beforeEach(() => cold.open());

describe('a large set that is not in memory', () => {
  test.each([
    ['.s.len()', MEMBERS + 1],
    ['.other', 5],
    ['.s ? 1 : 2', 1],
    ['!.s', false],
    ['.s == set()', false],
    ['.s < .u', false],
    ['.s.restriction()', null],
    ['.x = .s.len()', MEMBERS + 1],
    ['.a.x = 1', 1],
    ['type(.s)', 'set'],
  ])('%s reads none of its pages', (code, value) => {
    expect(cold.db.run(code)).toEqual(value);
    expect(cold.pageReads).toBe(0);
  });

  test.each([
    ['.s.has(.first)', true, 1],
    ['.s.has({})', false, 0],
    ['.s.has(.a)', false, 1],
    ['.s.add(.first)', 0, 1],
    ['.s.add({}, {})', 2, 1],
    ['.s.add(.a); [.s.has(.a), .s.len()];', [true, MEMBERS + 2], 1],
    ['.s.remove(.first).len()', 1, 1],
    ['.s.remove(.a).len()', 0, 1],
    ['.s.add(.a); .s.remove(.a); .s.remove(.first, .a); .s.len();', MEMBERS, 1],
  ])('%s reads a page at most', (code, value, pages) => {
    expect(cold.db.run(code)).toEqual(value);
    expect(cold.pageReads).toBe(pages);
  });

  test.each([
    '.s',
    'for (x in .s) { break; }',
    'x = 0; .s.each(|| x += 1); x;',
    '.s.every(|t| t.id() > 0)',
    '.s.map(|t| 1).len()',
    '.s.map_id().len()',
    '.s.filter(|t| false)',
    '.s.find(|t| t.id() > 5).id()',
    '.s.reduce(|a, t| a + 1, 0)',
    '.s.some(|t| t.id() < 0)',
    '.s.copy().len()',
    '.s == .u',
    '(.s | .u).len()',
    '(.s & set()).len()',
    '(set() - .s).len()',
    '.s <= .u',
    'list(.s).len()',
    '[.s].len()',
    '{n: .s}.len()',
    'x = [1].map(|| .s); x.len();',
    'x = .values(); x.len();',
    'x = .copy(); x.len();',
    'x = .dup(); x.len();',
    'x = .vmap(|v| v); x.len();',
    'x = {}; x.s = .s; x.len();',
    '.equals({s: .u, u: .s, other: 5, first: .first, a: .a})',
    '.a.n = .s; .a.n.len();',
    '.a.set("n", .s).len();',
    '.a.l = []; .a.l.push(.s); .a.l.len();',
    '.search({})',
    '.s.map_wrap(&{n: "any"}).len()',
    'f = |x: "{thing}"| x.len(); f(.s);',
    '.a.l = []; .a.l.extend(list(.s));',
    'json_dump(.s).len()',
    '.s.one().id()',
    ".r = room(); .r.emit('e', .s);",
    'task(datetime(), |t, s| nil, [.s]); 1',
    'future(nil, .s).then(|_, s| s.map_id().len())',
    '[.s].unique().len()',
    '.t.to_type("S"); 1',
    '.t.del("s").len()',
    '.t = 1',
    '.t.clear()',
    '.t.remove(|| true).len()',
    'wse(); .t.assign({s: set()}); .t.s.len();',
    '.del("t"); 1',
    'export({dump: true}).len()',
    '.s.remove(|t| t.i == 5, 1).len()',
    '.s |= set({}); .s.len();',
    '.s ^= .u; .s.len();',
  ])('%s is ended between pages, and gets further when it is asked again', (code) => {
    const { ended, readAtFirst } = cold.runAgain(code);
    expect(ended).toBeGreaterThan(0);
    expect(readAtFirst).toBeLessThan(PAGES);
  });
});

describe('a set of things that are not in memory', () => {
  // Each record that is read takes a millisecond.
  const sets: Cold = new Cold({ limits: { durationMs: 300 }, monotonic: () => 1000 + sets.reads });
  sets.db.run('.l = range(5000).map(|i| {i: i}); .s = set(.l); .a = {n: 1, l: []}; .t = {s: .s}; nil;');
  sets.db.run("set_type('P', {}); set_type('Q', {p: 'P?'}); mod_type('P', 'add', 'qs', '{Q}'); nil;");
  sets.db.run("mod_type('P', 'rel', 'qs', 'p'); .p = P{}; nil;");
  sets.db.run('.all = range(5000).map(|| Q{}); .all.each(|q| .p.qs.add(q)); nil;');
  sets.reopen();
  beforeEach(() => sets.open());

  test('is emptied a page at a time where that is done in slices', () => {
    const { store } = sets.db.collection;
    store.load(store.root);
    const owner = store.root.get('t');
    if (!(owner instanceof Thing)) throw new Error('.t is a thing');
    const transaction = new Transaction(store, true, new ByteWriter(), () => {});
    expect(new Portion(store, transaction).empty(owner)).toBe(true);
    transaction.finish();
    expect(sets.pageReads).toBe(1);
    expect(sets.db.run('[.t.s.len(), .s.len()]')).toEqual([5000 - 1024, 5000]);
    expect(brokenRules(sets.db.collection)).toEqual([]);
  });

  test.each([
    '.p.qs = set(); 1',
    '.p.assign(P{}); 1',
    '.p.qs.clear(); 1',
    '.a.n = .s; 1',
    '.a.set("m", .s); 1',
    '.a.l.extend(list(.s)); 1',
    '.t.del("s"); 1',
    '.t.s = nil; 1',
    '.t.clear(); 1',
    '.t = 1',
    '.del("t"); 1',
    '.s.clear(); 1',
    '.s.remove(|| true); 1',
    '.a.s = set(); .a.s.add(.l[0]); .a.s |= .s; 1',
    '.l.clear(); 1',
    '.l = 1',
  ])('%s is ended while it loads them, and gets further when it is asked again', (code) => {
    let readAtFirst = 0;
    let ended = 0;
    for (; ended < 20; ended++) {
      try {
        expect(sets.db.run(code)).toBe(1);
        break;
      } catch (error) {
        expect(String(error)).toContain('query_duration_limit_ms');
        readAtFirst ||= sets.reads;
      }
    }
    expect(ended).toBeGreaterThan(0);
    expect(ended).toBeLessThan(20);
    expect(readAtFirst).toBeLessThan(2000);
    expect(brokenRules(sets.db.collection)).toEqual([]);
  });
});
