/** A change is applied when all that it is about is in memory, which comes there a slice at a time. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { Cold } from '../testing/cold.js';
import { brokenRules } from './broken-rules.js';
import { stateLines } from './describe.js';
import { Preparation } from './preparation.js';

const THINGS = 3000;

/** Records that a slice reads at most: some more where pages of sets and properties count as several. */
const SLICE_READS_MAX = 260;

class Followed extends Cold {
  constructor() {
    super({ limits: { durationMs: 600_000 } });
    const { db } = this;
    db.run("set_type('T', {child: 'thing'}); .l = []; .p = {}; .q = {}; .one = {}; .text = 'x'; nil;");
    for (let from = 0; from < THINGS; from += 1000) {
      db.run(`range(${from}, ${from + 1000}).each(|i| {
        t = T{child: {i: i}};
        .l.push(t);
        .p[\`k{i}\`] = t;
        .q[\`k{i}\`] = i;
      }); nil;`);
    }
    db.run('.s = set(.l); .only = set(range(2000).map(|i| {c: {d: i}})); .t = [.one, .l[0]]; nil;');
    this.reopen();
  }
}

const cold = new Followed();
beforeEach(() => cold.open());

/** All that is stored, in lines. */
function contents(): string[] {
  return stateLines(cold.db.collection);
}

function slicesOf(effects: Uint8Array): Iterator<void, void> {
  const slices = new Preparation().of(cold.db.collection, effects);
  if (slices === null) throw new Error('there is nothing to bring into memory');
  return slices;
}

describe('a change on a node where nothing is in memory', () => {
  test.each([
    ['loses a set, of which things go, and what they hold', ".del('only')"],
    ['loses a set whose members stay', ".del('s')"],
    ['replaces a list', '.l = nil'],
    ['replaces a list by one of other things', '.l = list(.s)'],
    ['makes a thing that refers to others', '.n = {s: set(.l)}'],
    ['cuts a list', '.l.splice(100, 2000)'],
    ['takes items out of a list', '.l.remove(|x| x.child.i % 2 == 0)'],
    ['takes members out of a set', '.s.remove(|x| x.child.i % 2 == 0)'],
    ['puts members into a set', '.new = set(); .s.add(.one); .only |= .s'],
    ['empties a set', '.only.clear()'],
    ['fills a list', '.l.fill(.one)'],
    ['empties a thing', '.p.clear()'],
    ['changes a property of a thing of many', ".q.k7 = 'x'"],
    ['gives a property of a thing of many another name', ".q.ren('k7', 'k0007')"],
    ['restricts a thing of many properties', ".q.restrict('int')"],
    ['loses a type', "del_type('T')"],
    ['has a task with it', "task(datetime(2030, 1, 1), |t, x| x, [.one]); .del('only')"],
  ])('%s: %s', (_, code) => {
    const effects = cold.db.effects(code);
    const { db } = cold;
    const expected = contents();
    cold.open();
    const steps = slicesOf(effects);
    let slices = 0;
    for (let before = cold.reads; steps.next().done !== true; before = cold.reads) {
      slices += 1;
      expect(cold.reads - before).toBeLessThan(SLICE_READS_MAX);
    }
    expect(slices).toBeGreaterThan(0);
    expect(brokenRules(db.collection)).toEqual([]);
    cold.open();
    for (const _ of new Preparation().of(db.collection, effects) ?? []);
    const { reads } = cold;
    db.collection.apply(effects);
    expect(cold.reads - reads).toBeLessThan(10);
    expect(contents()).toEqual(expected);
    expect(brokenRules(db.collection)).toEqual([]);
  });

  test('is prepared without a pause where it is about little', () => {
    for (const code of ['.text = 5', '.one.a = {}', '.l.push(.one)', '.l[7].child.i = 1', '.s.add(.one)']) {
      const effects = cold.db.effects(code);
      cold.open();
      expect(slicesOf(effects).next().done).toBe(true);
      // All that it is about is in memory then.
      expect(new Preparation().of(cold.db.collection, effects)).toBe(null);
    }
  });

  test('is about things that may leave memory between two slices, but for those that it goes through', () => {
    const effects = cold.db.effects(".del('only'); .p.clear(); .l.splice(0, 1000);");
    const { db } = cold;
    cold.open();
    for (const _ of new Preparation(1).of(db.collection, effects) ?? []) {
      db.engine.collections.evict(0, Number.POSITIVE_INFINITY);
    }
    db.collection.apply(effects);
    expect(brokenRules(db.collection)).toEqual([]);
    expect(db.run('[.l.len(), .p.len()]')).toEqual([THINGS - 1000, 0]);
  });
});
