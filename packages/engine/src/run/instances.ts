/** All instances of a type: the stored ones by the index of the type, and loose ones that variables hold. */
import type { Type } from '../schema/type.js';
import { List, ThingSet } from '../value/containers.js';
import { Member } from '../value/member.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { Wrap } from '../value/wrap.js';
import type { Runtime } from './runtime.js';

/** Stored instances, in the order of their ids. */
export function storedInstances(rt: Runtime, type: Type): Thing[] {
  const { store } = rt;
  if (store === null) return [];
  rt.charge(UNITS_PER_INSTANCE * type.instances.size);
  const things: Thing[] = [];
  type.instances.forEach((id) => {
    things.push(store.thingOfId(id));
  });
  return things;
}

/** Stored and loose instances, as they are now: for who does not look into them, which may mean to read them. */
export function allInstances(rt: Runtime, type: Type): Thing[] {
  const things = storedInstances(rt, type);
  for (const thing of looseInstances(rt, type)) things.push(thing);
  return things;
}

/**
 * The same, one by one, for who does look into them. Each is charged for as a thing that has to be read from disk, so that the limits
 * of the query are looked at every few milliseconds.
 */
export function* eachInstance(rt: Runtime, type: Type): Generator<Thing, void, undefined> {
  for (const thing of allInstances(rt, type)) {
    rt.charge(UNITS_PER_READ);
    yield thing;
  }
}

/** How many instances there are, stored and loose. */
export function countInstances(rt: Runtime, type: Type): number {
  return type.instances.size + looseInstances(rt, type).length;
}

/** Loose instances that variables hold, also through lists, sets, wraps and other loose things. */
export function looseInstances(rt: Runtime, type: Type): Thing[] {
  return looseThings(rt).filter((thing) => thing.type === type);
}

/** All loose things that variables hold. */
export function looseThings(rt: Runtime): Thing[] {
  return [...walkVariables(rt, () => {})];
}

/** Whether a variable holds a member of an enum. */
export function isHeldByVariable(rt: Runtime, member: Member): boolean {
  let found = false;
  walkVariables(rt, (other) => {
    if (other === member) found = true;
  });
  return found;
}

/** The loose things that variables hold; calls `visitMember` for each member of an enum that they hold. */
function walkVariables(rt: Runtime, visitMember: (member: Member) => void): Set<Thing> {
  const found = new Set<Thing>();
  const open: Value[] = rt.symbols.values();
  const visit = (value: Value): void => {
    if (typeof value !== 'object' || value === null) return;
    if (value instanceof Thing) {
      if (value.id !== 0 || found.has(value)) return;
      found.add(value);
      open.push(value);
    } else if (value instanceof List) {
      rt.charge(UNITS_PER_INSTANCE + value.length);
      for (const item of value.items) visit(item);
    } else if (value instanceof ThingSet) {
      rt.charge(UNITS_PER_INSTANCE + value.members.size);
      for (const member of value.members) visit(member);
    } else if (value instanceof Wrap) visit(value.thing);
    else if (value instanceof Member) visitMember(value);
  };
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (!(value instanceof Thing) || value.id !== 0 || !found.has(value)) {
      visit(value);
      continue;
    }
    rt.charge(UNITS_PER_INSTANCE);
    rt.load(value);
    value.forEach((_, property) => {
      visit(property);
    });
  }
  return found;
}

/** Units charged for an instance that is looked into. */
export const UNITS_PER_READ = 4096;

/** Units charged for an instance, or for looking into a list or set. */
const UNITS_PER_INSTANCE = 64;
