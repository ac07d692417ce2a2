/**
 * Instances whose type changed since they were last touched. A type's change makes a new shape and declares the old one stale; an
 * instance gets the new one when it is next touched, and those that are not in memory when they are read.
 *
 * A value of a field that was dropped is forgotten, except while the change may still be taken back: then it is rescued, and comes
 * back with the field.
 */
import type { Catalog } from '../schema/catalog.js';
import type { Field, FieldDef, Rescue, Type } from '../schema/type.js';
import { copyList, List, ThingSet } from '../value/containers.js';
import type { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { attachAll, detach } from './attach.js';
import type { ThingMemory } from './memory.js';
import { makePlain } from './places.js';

/**
 * Gives a loaded instance the present shape of its type.
 *
 * @param makeDefault makes the values that a loose instance lacks; null where nothing may be made
 */
export function migrate(
  thing: Thing,
  store: ThingMemory,
  makeDefault: Catalog['makeDefault'] = store.schema.makeDefault,
): void {
  // A checkpoint that is under way stands for the type as it was.
  store.dirty.thaw(thing);
  const { shape: old, slots } = thing;
  const shape = old.type?.shape ?? null;
  if (shape === null) {
    // A loose instance of a type that was deleted.
    makePlain(thing, store.shapes);
    return;
  }
  const rescue = old.type?.rescue?.deref();
  const places = new Map<object, number>(old.fields.map(({ mark }, slot) => [mark, slot]));
  if (old.successor !== null && slots.length > old.successor.slot)
    places.set(old.successor.mark, old.successor.slot);
  const moved = shape.fields.map((field) => {
    const place = places.get(field.mark);
    if (place === undefined) return missingIn(thing, field, rescue, makeDefault);
    places.delete(field.mark);
    return fittingIn(thing, field, slots[place] as Value, makeDefault);
  });
  const succeeding = shape.successor === null ? undefined : succeedingOf(shape.successor);
  if (succeeding !== undefined) moved.push(succeeding);
  for (const [mark, place] of places) {
    const value = slots[place] as Value;
    rescue?.values.get(thing)?.set(mark, value) ?? rescue?.values.set(thing, new Map([[mark, value]]));
    detach(value);
  }
  thing.shape = shape;
  thing.slots = moved;
  attachAll(thing);

  /** The value of the successor of a field, if the instance has one. */
  function succeedingOf({ mark }: Field): Value | undefined {
    const place = places.get(mark);
    places.delete(mark);
    return place === undefined ? rescue?.values.get(thing)?.get(mark) : slots[place];
  }
}

/** Gives instances of a type the values that were rescued, now that their fields are back. */
export function bringBack({ values }: Rescue, type: Type, store: ThingMemory): void {
  for (const thing of values.keys()) {
    const { shape } = thing;
    // The parts of a default may be taken back already.
    if (shape.type === type && shape.stale !== null) migrate(thing, store, null);
  }
}

/**
 * The same for one that is in memory. A loose instance that only an unfinished expression holds was not found when a field was added
 * whose default is each instance's own.
 */
function missingIn(
  thing: Thing,
  field: Field,
  rescue: Rescue | undefined,
  makeDefault: Catalog['makeDefault'],
): Value {
  const value = missingValue(thing, field, rescue);
  if (value !== null || thing.id !== 0 || makeDefault === null || field.rule.fits(null)) return value;
  return makeDefault(field.definition);
}

/** A value of one that is in memory. No closure converted that of a loose instance that only an unfinished expression holds. */
function fittingIn(thing: Thing, field: Field, value: Value, makeDefault: Catalog['makeDefault']): Value {
  if (thing.id !== 0 || makeDefault === null || field.rule.fits(value)) return value;
  detach(value);
  return makeDefault(field.definition);
}

/** The value of an instance in a field that it did not have before. */
export function missingValue(thing: Thing, field: FieldDef, rescue: Rescue | undefined): Value {
  const rescued = rescue?.values.get(thing)?.get(field.mark);
  return rescued === undefined ? snapshot(field.initial) : rescued;
}

/** A value that was dropped from a record of a thing while it was read. */
export function rescueValue(thing: Thing, fieldId: number, value: Value, rescue: Rescue): void {
  const field = rescue.fields.findLast(({ id }) => id === fieldId);
  if (field === undefined) return;
  const values = rescue.values.get(thing);
  if (values === undefined) rescue.values.set(thing, new Map([[field.mark, value]]));
  else values.set(field.mark, value);
}

/** A value as it is now: a list or set of its own with the items that it has now. */
export function snapshot(value: Value): Value {
  if (value instanceof List) return copyList(value);
  return value instanceof ThingSet ? new ThingSet(value.members) : value;
}
