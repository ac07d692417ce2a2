import { describe, expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';
import { ReadingMemory } from './reading-memory.js';

const COUNT = 5000;
/** The least that all parts take in memory. */
const PARTS_BYTES = 160 * COUNT;
const BYTES_MAX = 800_000;
const SETUP = `
  set_type('Owner', {name: 'str'}); set_type('Part', {n: 'int', owner: 'Owner', tags: '[str]'});
  .owners = range(10).map(|i| Owner{name: str(i)});
  .parts = range(${COUNT}).map(|i| Part{n: i, owner: .owners[i % 10], tags: [str(i)]});
  .box = {inner: {parts: .parts}};`;
const SUM = (COUNT * (COUNT - 1)) / 2;

/** A collection of which nothing is in memory, and the most that was while the next query ran. */
function cold(): { readonly harness: Harness; readonly most: () => number } {
  const harness = new Harness({ evicts: true });
  harness.run(SETUP);
  const { store } = harness.collection;
  let most = 0;
  const { load } = store;
  store.load = (thing) => {
    load.call(store, thing);
    most = Math.max(most, store.bytes);
  };
  return { harness, most: () => most };
}

describe('things leave memory while a query runs that changes nothing', () => {
  test.each([
    ['sum = 0; .parts.each(|p| sum += p.n); sum;', SUM],
    ['sum = 0; for (p in .parts) { sum += p.n }; sum;', SUM],
    ["sum = 0; each_by('Part', '#', |p| sum += p.n); sum;", SUM],
    ['.box.inner.parts.reduce(|sum, p| sum + p.n, 0);', SUM],
    ['.parts.filter(|p| p.owner.name == "3").len();', COUNT / 10],
    ['.parts.map(|p| p.tags).map(|tags| int(tags[0])).sum();', SUM],
    // The thing and the list that a call around the walk is about, and what is held by variables.
    ['p = .parts[7]; tags = p.tags; .parts.each(|q| q.n); [p.n, tags, p == .parts[7]];', [7, ['7'], true]],
    ["range(1).map(|| .box.inner.get({.parts.each(|p| p.n); 'parts'}).len())[0];", COUNT],
    [
      'found = []; .parts.each(|p| { .owners.each(|o| o.name); if (p.n % 2000 == 0) found.push(p); }); found.map(|p| p.n);',
      [0, 2000, 4000],
    ],
  ])('%s', (code, expected) => {
    const { harness, most } = cold();
    expect(harness.run(code)).toEqual(expected);
    expect(most()).toBeLessThan(PARTS_BYTES / 4);
  });

  test('a query that changes nothing gives up as much memory as has to be', () => {
    const { harness } = cold();
    const { store } = harness.collection;
    const ids = harness.run('.parts.map(|p| p.id());') as number[];
    harness.engine.collections.evict(0, Number.POSITIVE_INFINITY);
    let isFull = false;
    const reading = new ReadingMemory(store, BYTES_MAX, () => {
      isFull = true;
    });
    store.reading = reading;
    let [most, calls] = [0, 0];
    for (const id of ids) {
      store.load(store.thingOfId(id));
      most = Math.max(most, store.bytes);
      if (!isFull) continue;
      isFull = false;
      const before = store.bytes;
      reading.leave(0);
      calls += 1;
      expect(before - store.bytes).toBeGreaterThan(0.2 * BYTES_MAX);
    }
    expect(calls).toBeGreaterThan(2);
    expect(most).toBeLessThan(BYTES_MAX);
  });
});
