import type { Type } from '../schema/type.js';
import type { CollectionGroup } from './collection-group.js';

/** Instances of the one type that has the most, from which on a walk over them takes so long that it pays to get ready for it. */
const INSTANCES_MIN = 8192;
/** Instances that are loaded at most: V8 has compiled by then what loads them. */
const LOADS_MAX = 4096;
/** Memory that they may take. */
const BYTES_MAX = 4 * 1024 * 1024;

/**
 * Loads some instances of the type that has the most, as a walk over all does, one at each step: so V8 has compiled what does so
 * before the first walk, which takes a third longer otherwise. Nothing is done where all types have few.
 *
 * @throws what reading a record does
 */
export function* warmUp(groups: Iterable<CollectionGroup>): Generator<void, void, undefined> {
  const largest = largestOf(groups);
  if (largest === null) return;
  const { store } = largest.group;
  const { instances } = largest.type;
  const before = store.bytes;
  for (const id of firstOf(largest.type)) {
    // It may have been removed meanwhile.
    if (!instances.has(id)) continue;
    store.load(store.thingOfId(id));
    if (store.bytes > before + BYTES_MAX) return;
    yield;
  }
}

interface Largest {
  readonly group: CollectionGroup;
  readonly type: Type;
}

function largestOf(groups: Iterable<CollectionGroup>): Largest | null {
  let largest: Largest | null = null;
  let most = INSTANCES_MIN - 1;
  for (const group of groups) {
    for (const type of group.store.schema.allTypes()) {
      if (type.instances.size <= most) continue;
      most = type.instances.size;
      largest = { group, type };
    }
  }
  return largest;
}

function firstOf({ instances }: Type): number[] {
  const ids: number[] = [];
  instances.eachAbove(0, (id) => ids.push(id) < LOADS_MAX);
  return ids;
}
