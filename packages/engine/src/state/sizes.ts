/** Sizes of the things of a collection, by type: estimated from samples, so that a large collection costs no more than a small one. */
import type { Type } from '../schema/type.js';
import { ThingBit } from '../value/thing.js';
import { bytesOf, STUB_BYTES } from './evictor.js';
import type { Store } from './store.js';

/** The instances of a type, or plain things. */
export interface TypeSize {
  /** `thing` for plain ones. */
  readonly name: string;
  readonly instances: number;
  readonly memoryBytes: number;
  /** Bytes of their records, without large lists, sets and values, which have records of their own. */
  readonly diskBytes: number;
}

/** Pages of things in memory that are looked at, and instances of a type whose records are. */
const MEMORY_PAGES = 8;
const RECORDS = 32;

/** Plain things are looked for at so many ids. */
const PLAIN_PROBES = 512;

/** Units charged for a thing that is looked at, and for a record that is read. */
const UNITS_PER_THING = 1;
const UNITS_PER_RECORD = 32;

/** @param charge called with units of work */
export function typeSizes(store: Store, charge: (units: number) => void): readonly TypeSize[] {
  const inMemory = memoryByType(store, charge);
  const types = [...store.schema.allTypes()].sort((a, b) => a.id - b.id);
  const sizes = types.map(
    (type): TypeSize => ({
      name: type.name,
      instances: type.instances.size,
      memoryBytes: Math.round(inMemory.get(type) ?? 0),
      diskBytes: diskBytes(store, type.instances.sample(RECORDS), type.instances.size, charge),
    }),
  );
  const plain = store.thingCount - sizes.reduce((sum, { instances }) => sum + instances, 0);
  return [
    {
      name: 'thing',
      instances: plain,
      memoryBytes: Math.round(inMemory.get(null) ?? 0),
      diskBytes: diskBytes(store, plainIds(store, types, charge), plain, charge),
    },
    ...sizes,
  ];
}

/**
 * Some pages of the table of things stand for all of it, but for the one with the lowest ids, which stands for itself: there are the few things that
 * hold all others, and are large.
 */
function memoryByType(store: Store, charge: (units: number) => void): ReadonlyMap<Type | null, number> {
  const [first, ...others] = store.table.pageNumbers().sort((a, b) => a - b);
  const total = new Map<Type | null, number>();
  if (first === undefined) return total;
  const firstCount = addPage(store, first, charge, total);
  const sample = new Map<Type | null, number>();
  const step = Math.max(1, Math.floor(others.length / MEMORY_PAGES));
  let count = 0;
  for (let i = 0; i < others.length; i += step) count += addPage(store, others[i]!, charge, sample);
  for (const [type, bytes] of sample) {
    total.set(type, (total.get(type) ?? 0) + (bytes * (store.table.size - firstCount)) / count);
  }
  return total;
}

/** Adds the bytes of the things of a page; gives how many they are. */
function addPage(
  store: Store,
  page: number,
  charge: (units: number) => void,
  sums: Map<Type | null, number>,
): number {
  const things = store.table.inPage(page);
  charge(UNITS_PER_THING * things.length);
  let count = 0;
  for (const thing of things) {
    if (thing === undefined) continue;
    count += 1;
    const bytes = (thing.bits & ThingBit.LOADED) === 0 ? STUB_BYTES : bytesOf(thing);
    const { type } = thing.shape;
    sums.set(type, (sums.get(type) ?? 0) + bytes);
  }
  return count;
}

/** @param all how many things there are of which some are looked at */
function diskBytes(
  store: Store,
  ids: readonly number[],
  all: number,
  charge: (units: number) => void,
): number {
  let bytes = 0;
  let found = 0;
  for (const id of ids) {
    charge(UNITS_PER_RECORD);
    const record = store.recordBytes(id);
    if (record === 0) continue;
    bytes += record;
    found += 1;
  }
  return found === 0 ? 0 : Math.round((bytes * all) / found);
}

/** Ids over the whole range that are no instances; some may be of things that are gone. */
function plainIds(store: Store, types: readonly Type[], charge: (units: number) => void): readonly number[] {
  const step = Math.max(1, Math.floor(store.nextId / PLAIN_PROBES));
  const ids: number[] = [];
  for (let id = 1; id < store.nextId && ids.length < PLAIN_PROBES; id += step) {
    charge(types.length);
    if (!types.some(({ instances }) => instances.has(id))) ids.push(id);
  }
  return ids;
}
