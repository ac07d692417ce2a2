/** Lists that are not in memory: they come into memory a page at a time, which is charged before, and single items come alone. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { Cold } from '../../testing/cold.js';
import { List } from '../../value/containers.js';

const ITEMS = 400_000;
const PAGES = Math.ceil(ITEMS / 256);

/** A collection with two large lists. Three pages that are read take a millisecond. */
class ColdLists extends Cold {
  constructor() {
    super({ limits: { durationMs: 100 }, monotonic: () => 1000 + this.pageReads / 3 });
    this.db.run('.a = range(100000); nil;');
    for (const key of ['l', 'm']) {
      this.db.run(`.${key} = []; nil;`);
      for (let i = 0; i < ITEMS / 100_000; i++) this.db.run(`.${key}.extend(.a); nil;`);
    }
    this.reopen();
  }
}

const cold = new ColdLists();
beforeEach(() => cold.open());

describe('a large list that is not in memory', () => {
  test.each([
    ['.l.len()', ITEMS],
    ['.l.first()', 0],
    ['.l.last()', 99_999],
    ['.l[150000]', 50_000],
    ['is_int(.l.choice())', true],
    ['.l[200000:200003]', [0, 1, 2]],
    ['.l[-2:]', [99_998, 99_999]],
    ['.l[5:5]', []],
    ['x = .l.splice(1000, 2); .l.splice(1000, 0, x[0], x[1]); x;', [1000, 1001]],
    ['x = .l.pop(); .l.push(x); x;', 99_999],
  ])('%s reads little of it', (code, value) => {
    expect(cold.db.run(code)).toEqual(value);
    expect(cold.reads).toBeLessThan(12);
  });

  test.each([
    '.l.has(-1)',
    '.l.map(|x| x)',
    '.l.max()',
    '.l.sort()',
    '.l[::2]',
    '.l[1:399999]',
    'for (x in .l) { break; }',
    '.l.clear()',
    '.l.splice(0, 400000)',
    '.n = .l',
    '.a.extend(.l)',
    '.a[0:1] = .l',
    '[.l]; nil',
    '{n: .l}; nil',
    '.l == .m',
    'x = .l.copy(); nil',
    '.l.each(|| nil)',
    '.l.reduce(|a, b| a, 0)',
    '.l',
    '.l[0:399998] = [1]',
    ".del('a'); .search({})",
    ".del('a'); x = .copy(); nil",
    ".del('a'); x = .dup(1); nil",
    ".del('a'); x = .values(); nil",
    ".del('a'); x = .map(|k, v| v); nil",
    ".del('a'); x = .vmap(|v| v); nil",
    'x = [1].map(|| .l); nil',
    'x = set({}).map(|| .l); nil',
    "x = .remove(|k| k == 'l'); nil",
    'export({dump: true})',
  ])('%s is ended between pages, and gets further when it is asked again', (code) => {
    const { ended, readAtFirst } = cold.runAgain(code);
    expect(ended).toBeGreaterThan(0);
    expect(readAtFirst).toBeLessThan(PAGES);
  });

  test.each(['.x = .l.len();', ".del('m'); .del('l'); nil;", '.m = nil;'])('%s reads heads only', (code) => {
    cold.db.run(code);
    expect(cold.reads).toBe(1);
  });
});

test('a large list leaves no record behind when its property is dropped from the type', () => {
  const cold = new ColdLists();
  const { db, records } = cold;
  db.run("set_type('T', {n: 'int', l: '[int]'}); .t = T{}; .t.l.extend(range(5000)); .id = .t.id(); nil;");
  cold.reopen();
  const thing = `${db.run('.id')}:`;
  const names = (): string[] => [...records.keys()].filter((name) => name.startsWith(thing));
  expect(names().length).toBeGreaterThan(10);
  db.run("mod_type('T', 'del', 'l'); nil;");
  cold.reopen();
  db.run('.t.n = 1; nil;');
  cold.reopen();
  expect(names()).toEqual([`${thing}0`]);
});

describe('a large list of things that is not in memory', () => {
  test('is read as far as it refers to something when it goes, and nothing else remains', () => {
    const db = new ColdLists();
    db.db.run('.l = range(3000); .l.push({}); .l.extend(range(3000)); nil;');
    db.reopen();
    db.db.run(".del('l'); nil;");
    // The head, the one page that holds the thing, and the thing.
    expect(db.reads).toBe(3);
    expect(db.db.collection.store.thingCount).toBe(1);
    db.reopen();
    expect(db.db.run(".has('l')")).toBe(false);
  });
});

test('a large list that a query knows still when its thing has left memory holds nothing by what is read then', () => {
  const things = new Cold();
  things.db.run('.l = range(3000).map(|i| {i: i}); nil;');
  things.reopen();
  const { store } = things.db.collection;
  store.load(store.root);
  const list = store.root.get('l');
  if (!(list instanceof List)) throw new Error('.l is a list');
  list.at(0);
  store.unload(store.root, false);
  expect(list.items).toHaveLength(3000);
  const holders = new Set([...store.table.inOrder()].map((thing) => thing.holders));
  expect([...holders]).toEqual([0]);
});
