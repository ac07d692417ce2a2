import { ThingBit } from '../../value/thing.js';
import type { CollectionGroup } from '../collection-group.js';
import type { ThingChange } from './change.js';

/**
 * The id of the type that a thing has now; null for a plain one, undefined where there is no such thing any more. Brings nothing into
 * memory: changes of long ago are read, too, of things that nobody asks for.
 */
export function typeIdOf({ store }: CollectionGroup, id: number): number | null | undefined {
  const thing = store.table.get(id);
  if (thing !== undefined && (thing.bits & ThingBit.LOADED) !== 0) return thing.shape.type?.id ?? null;
  for (const type of store.schema.allTypes()) if (type.instances.has(id)) return type.id;
  return store.dirty.isRemoved(id) || store.recordBytes(id) === 0 ? undefined : null;
}

/** A thing whole, as the state has it, which may not be committed; null where there is none of that id. */
export function presentThing({ store }: CollectionGroup, id: number): ThingChange | null {
  const thing = store.find(id);
  if (thing === undefined) return null;
  store.load(thing);
  return { op: 'thing', id, type: thing.shape.type?.id ?? null, values: thing.entries() };
}
