/** All instances of a type: the stored ones by the index of the type, and loose ones that the running call holds. */
import type { Type } from '../schema/type.js';
import type { Member } from '../value/member.js';
import type { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { goneThings } from './gone.js';
import { heldThings, thingsIn } from './held.js';
import { ID_INDEX } from './index-range.js';
import type { Runtime } from './runtime.js';

/** Stored instances, in the order of their ids. */
export function storedInstances(rt: Runtime, type: Type): Thing[] {
  const { store } = rt;
  if (store === null) return [];
  rt.charge(UNITS_PER_INSTANCE * type.instances.size);
  if (rt.profile !== null) rt.profile.noteLookUp(type.name, ID_INDEX).entries += type.instances.size;
  const things: Thing[] = [];
  type.instances.forEach((id) => {
    things.push(store.thingOfId(id));
  });
  return things;
}

/**
 * Stored and loose instances, as they are now: for who does not look into them, which may mean to read them.
 *
 * @param gone stored things that do not count: see `goneThings`
 */
export function allInstances(rt: Runtime, type: Type, gone: ReadonlySet<Thing>): Thing[] {
  const stored = storedInstances(rt, type);
  const things = gone.size === 0 ? stored : stored.filter((thing) => !gone.has(thing));
  for (const thing of looseInstances(rt, type)) things.push(thing);
  return things;
}

/**
 * The same, one by one, for who does look into them. Each is charged for as a thing that has to be read from disk, so that the limits
 * of the query are looked at every few milliseconds.
 */
export function* eachInstance(
  rt: Runtime,
  type: Type,
  gone: ReadonlySet<Thing> = NONE,
): Generator<Thing, void, undefined> {
  for (const thing of allInstances(rt, type, gone)) {
    rt.charge(UNITS_PER_READ);
    yield thing;
  }
}

/** The number of instances, stored and loose, without what is gone. */
export function countInstances(rt: Runtime, type: Type): number {
  return type.instances.size - goneInstances(rt, type).length + looseInstances(rt, type).length;
}

/** Instances that are stored and gone for the rest of the query: see `goneThings`. */
export function goneInstances(rt: Runtime, type: Type): Thing[] {
  return [...goneThings(rt)].filter(({ id }) => type.instances.has(id));
}

/** Loose instances that the running call holds, also through lists, sets, wraps and other loose things. */
export function looseInstances(rt: Runtime, type: Type): Thing[] {
  return looseThings(rt).filter((thing) => thing.type === type);
}

/** Loose instances that a value holds, or is. */
export function looseInstancesIn(rt: Runtime, type: Type, value: Value): Thing[] {
  return [...thingsIn(rt, [value])].filter((thing) => thing.type === type);
}

/** All loose things that the running call holds. */
export function looseThings(rt: Runtime): Thing[] {
  return [...heldThings(rt)];
}

/** True if the running call holds a member of an enum. */
export function isHeldByCall(rt: Runtime, member: Member): boolean {
  let found = false;
  heldThings(rt, undefined, (other) => {
    if (other === member) found = true;
  });
  return found;
}

/** Units charged for an instance that is looked into. */
export const UNITS_PER_READ = 4096;

/** Units charged for an instance. */
const UNITS_PER_INSTANCE = 64;

const NONE: ReadonlySet<Thing> = new Set();
