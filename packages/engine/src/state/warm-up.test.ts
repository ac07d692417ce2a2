import { expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';
import { ThingBit } from '../value/thing.js';
import { warmUp } from './warm-up.js';

/** A collection with two types, nothing of which is in memory. */
function shop(products: number, name: string): Harness {
  const harness = new Harness({ evicts: true });
  harness.run("set_type('Product', {name: 'str'}); set_type('Owner', {name: 'str'}); .all = set(); nil;");
  const code = `range(${products}).each(|| .all.add(Product{name:})); range(100).each(|| .all.add(Owner{name:})); nil;`;
  harness.run(code, { vars: { name } });
  return harness;
}

/** The names of the types of which instances are loaded. */
function loadedTypes({ collection: { store } }: Harness): Set<string | undefined> {
  const things = [...store.table.inOrder()].filter(({ bits }) => (bits & ThingBit.LOADED) !== 0);
  return new Set(things.map(({ shape }) => shape.type?.name).filter((name) => name !== undefined));
}

test('instances of the type that has the most are loaded, one at each step', () => {
  const harness = shop(9000, 'a');
  const { collection } = harness;
  const before = collection.store.misses;
  const loads = warmUp([collection]);
  loads.next();
  expect(collection.store.misses - before).toBe(1);
  for (const _ of loads);
  expect(collection.store.misses - before).toBe(4096);
  expect(loadedTypes(harness)).toEqual(new Set(['Product']));
});

test('nothing is loaded where no type has many', () => {
  const { collection } = shop(8000, 'a');
  const before = collection.store.misses;
  expect(warmUp([collection]).next().done).toBe(true);
  expect(collection.store.misses).toBe(before);
});

test('large instances are loaded until they take some memory', () => {
  const { collection } = shop(9000, 'a'.repeat(3000));
  const before = collection.store.bytes;
  for (const _ of warmUp([collection]));
  const bytes = collection.store.bytes - before;
  expect(bytes).toBeGreaterThan(4 * 1024 * 1024);
  expect(bytes).toBeLessThan(4.1 * 1024 * 1024);
});

test('instances that are removed meanwhile are passed over', () => {
  const harness = shop(9000, 'a');
  const loads = warmUp([harness.collection]);
  loads.next();
  expect(harness.run('.all.clear(); type_count("Product");')).toBe(0);
  expect(loads.next().done).toBe(true);
});
