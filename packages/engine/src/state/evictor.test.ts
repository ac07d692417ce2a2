import { beforeEach, describe, expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';
import { PersistedCollection } from '../testing/persisted.js';
import { List } from '../value/containers.js';
import { Thing, ThingBit } from '../value/thing.js';
import { Evictor } from './evictor.js';

const COUNT = 3000;

let collection: PersistedCollection;
let evictor: Evictor;

/** A list of things under `.list`, each with its number and the list's first thing. */
beforeEach(() => {
  collection = new PersistedCollection();
  const { store } = collection.group;
  collection.change((transaction) => {
    const things = Array.from({ length: COUNT }, () => new Thing(0, store.shapes.empty(), []));
    for (const [i, thing] of things.entries()) {
      transaction.setProperty(thing, 'number', i);
      transaction.setProperty(thing, 'first', things[0] as Thing);
    }
    transaction.setProperty(store.root, 'list', new List(things));
  });
  collection.checkpoint();
  evictor = new Evictor(store);
});

function round(): void {
  while (evictor.step(true));
}

function list(): List {
  const { store } = collection.group;
  store.load(store.root);
  return store.root.get('list') as List;
}

function thingAt(i: number): Thing {
  const thing = list().at(i) as Thing;
  collection.group.store.load(thing);
  return thing;
}

describe('eviction', () => {
  test('leaves what is pinned, also when nothing stored in memory refers to it', () => {
    const { store } = collection.group;
    const thing = thingAt(7);
    store.pin(thing);
    store.pin(thing);
    store.unpin(thing);
    for (let i = 0; i < 4; i++) round();
    expect(store.table.size).toBe(3);
    expect(thingAt(7)).toBe(thing);

    store.unpin(thing);
    for (let i = 0; i < 4; i++) round();
    expect(store.table.size).toBe(1);
  });

  test('takes what is not used out of memory within a few rounds, and it comes back as it was', () => {
    for (let i = 0; i < 4; i++) round();
    expect(collection.group.store.table.size).toBe(1);

    expect(thingAt(COUNT - 1).get('number')).toBe(COUNT - 1);
    expect(thingAt(COUNT - 1).get('first')).toBe(thingAt(0));
    expect(list().length).toBe(COUNT);
  });

  test('spares what was used since the last round', () => {
    round();
    const used = thingAt(7);
    round();
    expect(used.bits & ThingBit.LOADED).not.toBe(0);
    expect(thingAt(7)).toBe(used);
  });

  test('spares what changed since the last checkpoint', () => {
    const changed = thingAt(5);
    collection.change((transaction) => transaction.setProperty(changed, 'number', 'changed'));
    for (let i = 0; i < 4; i++) round();
    expect(thingAt(5)).toBe(changed);

    collection.checkpoint();
    for (let i = 0; i < 4; i++) round();
    expect(changed.bits & ThingBit.LOADED).toBe(0);
    expect(thingAt(5).get('number')).toBe('changed');
  });

  test('takes pages of a list out of memory to which something is added all the time', () => {
    const { store } = collection.group;
    for (let i = 0; i < 6; i++) {
      collection.change((transaction) => transaction.append(list(), i));
      round();
    }
    expect(store.root.bits & (ThingBit.DIRTY_EVEN | ThingBit.DIRTY_ODD)).not.toBe(0);
    expect(store.table.size).toBeLessThan(300);
    expect(list().length).toBe(COUNT + 6);
    expect([list().at(COUNT), list().at(COUNT + 5)]).toEqual([0, 5]);
    expect(thingAt(7).get('number')).toBe(7);
  });

  test('counts the items of large lists as far as they are in memory', () => {
    const text = 'x'.repeat(1000);
    collection.change((transaction) =>
      transaction.spliceList(list(), COUNT, 0, new Array<string>(COUNT).fill(text)),
    );
    while (evictor.step(false));
    expect(evictor.bytes).toBeGreaterThan(COUNT * 1000);
    collection.checkpoint();
    for (let i = 0; i < 4; i++) round();
    expect(evictor.bytes).toBeLessThan(COUNT * 20);
    list().at(COUNT + 1000);
    round();
    expect(evictor.bytes).toBeGreaterThan(200_000);
  });

  test('keeps a stub as long as something in memory refers to it', () => {
    for (let i = 0; i < 4; i++) round();
    const some = thingAt(9);
    const first = some.get('first') as Thing;
    some.bits |= ThingBit.USED;
    round();
    expect(collection.group.store.find(first.id)).toBe(first);
  });

  test('knows about how much memory it works on', () => {
    const before = evictor.bytes;
    for (let i = 0; i < 4; i++) round();
    expect(before).toBeGreaterThan(COUNT * 100);
    expect(evictor.bytes).toBeLessThan(COUNT * 20);
    for (let i = 0; i < COUNT; i++) thingAt(i);
    expect(evictor.bytes).toBeGreaterThan(COUNT * 100);
  });
});

test('things that grow are counted when much of them has changed, whether they are too much or not', () => {
  const db = new Harness({ evicts: false });
  const { engine } = db;
  db.run('.l = []; nil;');
  const add = (): unknown =>
    db.run('.l.extend(range(100).map(|| t)); nil;', { vars: { t: 'x'.repeat(1000) } });
  const [bytesMax, larger] = [100_000, 10_000_000];
  add();
  expect([engine.collections.isOver(larger), engine.collections.isOver(bytesMax)]).toEqual([false, true]);
  expect(engine.collections.bytes).toBeLessThan(50_000);
  expect(engine.collections.evict(bytesMax, Number.POSITIVE_INFINITY)).toBe(false);
  expect(engine.collections.bytes).toBeGreaterThan(100_000);
  for (let i = 0; i < 10; i++) add();
  expect(engine.collections.isOver(larger)).toBe(true);
  engine.collections.evict(larger, Number.POSITIVE_INFINITY);
  expect(engine.collections.isOver(larger)).toBe(false);
  expect(engine.collections.bytes).toBeGreaterThan(1_000_000);
});
