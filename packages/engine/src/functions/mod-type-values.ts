import { eachInstance, looseInstances } from '../run/instances.js';
import type { Runtime } from '../run/runtime.js';
import { storedCopyOf } from '../run/structure.js';
import { type Definition, isScalarDefinition } from '../schema/definition.js';
import type { Field, Type } from '../schema/type.js';
import { snapshot } from '../state/migrate.js';
import { Closure } from '../value/closure.js';
import { List, ThingSet } from '../value/containers.js';
import { Member } from '../value/member.js';
import { Room } from '../value/room.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { Wrap } from '../value/wrap.js';

/** Gives instances values of a property that they have just got. */
export function fill(
  rt: Runtime,
  name: string,
  values: readonly { readonly thing: Thing; readonly value: Value }[],
): void {
  for (const { thing, value } of values) {
    const field = fieldOf(rt, thing, name);
    rt.transaction.placeField(thing, field, value);
  }
}

export function fieldOf(rt: Runtime, thing: Thing, name: string): Field {
  rt.load(thing);
  const field = thing.field(name);
  if (field === undefined) throw new Error(`an instance has no property ${name}`);
  return field;
}

/** Takes a value that refers to things, or lies in pages, out of all instances: what is left can be forgotten at any time. */
export function releaseValues(rt: Runtime, type: Type, name: string): void {
  const field = type.shape?.fields.find((other) => other.name === name);
  if (field === undefined || isScalarDefinition(field.definition)) return;
  const things = isStoredNowhere(rt, field.definition) ? looseInstances(rt, type) : eachInstance(rt, type);
  for (const thing of things) {
    // Memory is left to what is in use: most have nothing here.
    if (thing.id !== 0 && rt.store?.restsFlat(thing, field.id) === true) continue;
    rt.load(thing);
    const value = thing.get(name);
    if (value !== undefined && !isPlainScalar(value)) rt.transaction.placeUnchecked(thing, name, null);
  }
}

/**
 * True if nothing that is stored holds a value of a definition, besides nil and what is empty: instances of another type of which there are
 * none, members of an enum that nothing refers to, rooms where there is none, sets and lists of these. No instance has to be read to know that.
 */
function isStoredNowhere(rt: Runtime, { base }: Pick<Definition, 'base'>): boolean {
  const { schema, store } = rt;
  // A list of many nils lies in pages, which have to be given up.
  if (base.kind === 'list')
    return base.item !== null && !base.item.nillable && isStoredNowhere(rt, base.item);
  if (base.kind === 'set') return base.item !== null && isStoredNowhere(rt, base.item);
  if (base.kind === 'type') return schema.type(base.id).instances.size === 0;
  if (base.kind === 'enum') return schema.enum(base.id).members.every(({ refs }) => refs === 0);
  return base.kind === 'plain' && base.name === 'room' && store?.rooms.byId.size === 0;
}

/** Restricts the things that a property holds, if its definition demands that. */
export function adopt(rt: Runtime, type: Type, name: string): void {
  const field = type.shape?.fields.find((other) => other.name === name);
  const restriction = field?.rule.restriction ?? null;
  if (restriction === null) return;
  for (const thing of eachInstance(rt, type)) {
    rt.load(thing);
    const value = thing.get(name);
    if (value instanceof Thing) rt.transaction.demandRestriction(value, restriction);
  }
}

/** Puts a value back, unless it is there. */
export function restore(rt: Runtime, thing: Thing, name: string, value: Value): void {
  rt.load(thing);
  const now = thing.get(name);
  if (now === undefined || now === value) return;
  rt.chargeFill(now);
  if (isSame(now, value)) return;
  const field = fieldOf(rt, thing, name);
  if (field.relation === null) rt.transaction.placeUnchecked(thing, name, value);
  else rt.transaction.placeField(thing, field, value);
}

function isSame(a: Value, b: Value): boolean {
  if (a instanceof List && b instanceof List) {
    return a.length === b.length && a.items.every((item, i) => item === b.items[i]);
  }
  if (!(a instanceof ThingSet) || !(b instanceof ThingSet) || a.size !== b.size) return false;
  for (const member of a.members) if (!b.members.has(member)) return false;
  return true;
}

/** True if a value can lie in the type instead of in each instance: it refers to no thing, member, room or piece of a list. */
export function isFlat(value: Value): boolean {
  if (value instanceof List) return value.items.every(isPlainScalar);
  if (value instanceof ThingSet) return value.size === 0;
  return isPlainScalar(value);
}

function isPlainScalar(value: Value): boolean {
  return !(
    value instanceof Thing ||
    value instanceof List ||
    value instanceof ThingSet ||
    value instanceof Member ||
    value instanceof Room ||
    value instanceof Wrap
  );
}

/** A list or set of one's own; other values are shared. */
export function ownCopy(rt: Runtime, value: Value): Value {
  if (value instanceof Closure) return storedCopyOf(rt, value);
  rt.chargeFill(value);
  return snapshot(value);
}
