import { lookupError, operationError, type QueryError, typeError, valueError } from '../../error.js';
import { type Item, itemText } from '../../schema/definition.js';
import { Restriction } from '../../schema/restriction.js';
import { inWords, refusal } from '../../schema/rule.js';
import type { Field, Type } from '../../schema/type.js';
import { Closure } from '../../value/closure.js';
import {
  assertMembers,
  chargeFill,
  chargeOwn,
  copyList,
  isLoose,
  List,
  sizeOf,
  ThingSet,
  unitsToDrop,
} from '../../value/containers.js';
import { Future } from '../../value/future.js';
import { Module } from '../../value/module.js';
import type { Shape } from '../../value/shape.js';
import { isReservedKey, Thing } from '../../value/thing.js';
import { typeName, type Value } from '../../value/value.js';
import { attach, attachAll, detach } from '../attach.js';
import { perform } from '../effect.js';
import { ThingEffect, undoOfPut } from '../effects.js';
import { SchemaEffect } from '../parts/schema.js';
import { placesOf, reshape } from '../places.js';
import { Relations } from '../relations.js';
import type { Store } from '../store.js';
import { SetChanges } from './sets.js';
import {
  chargeDrop,
  chargeLeave,
  chargeLoads,
  NS_PER_PROPERTY,
  NS_PER_PUT_BACK,
  NS_PER_THING,
  NS_PER_UNIT,
} from './undo-costs.js';
import { conversionRefusal } from './unique.js';

/** Changes of properties of things, which must fit restrictions and the definitions of types. */
export class ThingChanges extends SetChanges {
  private keptRelations: Relations | null = null;

  /**
   * Sets a property. Lists and sets that something else may refer to are copied, tuples become lists, closures take
   * their stored form.
   *
   * @returns the value as it is stored
   * @throws QueryError value_err for a reserved key, type_err for what a restriction refuses, operation_err for a
   *   present list or set that is in use
   */
  setProperty(thing: Thing, key: string, value: Value): Value {
    const { shape } = thing;
    if (shape.stale !== null) {
      shape.stale.load(thing);
      return this.setProperty(thing, key, value);
    }
    if (shape.type !== null) {
      const slot = shape.index.get(key);
      if (slot === undefined) throw noField(shape, key);
      return this.setField(thing, shape.fields[slot]!, value);
    }
    const old = thing.get(key);
    if (old === undefined) {
      if (isReservedKey(key)) throw valueError(`the key '${key}' is reserved`);
    } else {
      this.assertReplaceable(old);
    }
    if (shape.restriction?.inForce === true) this.checkRestriction(shape.restriction, value);
    return this.place(thing, key, value);
  }

  /**
   * Sets a property of an instance.
   *
   * @param thing loaded, in the present form of its type
   * @param field of its shape
   * @throws as `setProperty`
   */
  setField(thing: Thing, field: Field, value: Value): Value {
    const { slot, rule } = field;
    this.assertReplaceable(thing.slots[slot]);
    const isQuick = typeof value === 'number' && value >= rule.leastInt && value <= rule.greatestInt;
    if (!isQuick && (typeof value === 'object' || !rule.fits(value))) this.checkField(field, value);
    if (field.relation !== null || rule.restriction !== null) return this.placeField(thing, field, value);
    return this.placeAt(thing, slot, field.name, value);
  }

  /** Throws unless a property may go. Items of a list that refer to something come into memory for that, which is charged before. */
  private assertReplaceable(old: Value | undefined): void {
    if (!isContainer(old)) return;
    if (old.lock !== 0) throw operationError('the list or set of this property is in use');
    if (old.owner?.id !== 0) chargeDrop(old, this.counting);
  }

  /**
   * Throws unless a property of an instance may have a value.
   *
   * @throws QueryError type_err or value_err
   */
  checkField(field: Field, value: Value): void {
    if (typeof value === 'object' && value !== null) {
      chargeFill(value, this.counting);
      this.count(sizeOf(value));
    }
    if (!field.rule.fits(value)) throw refusal(field, value, this.labels);
  }

  /** Sets a property to a value that fits. Relations are kept. */
  placeField(thing: Thing, field: Field, value: Value): Value {
    if (field.relation !== null) {
      chargeFill(thing.slots[field.slot] ?? null, this.counting);
      if (thing.id !== 0) this.checkUnique((check) => this.relations.planAssign(check, thing, field, value));
      return this.inParts(() => this.relations.assign(thing, field, value));
    }
    const { restriction } = field.rule;
    if (restriction !== null && value instanceof Thing) this.demandRestriction(value, restriction);
    return this.place(thing, field.name, value);
  }

  /** Restricts a thing as a property of an instance demands. */
  demandRestriction(thing: Thing, item: Item): void {
    if (thing.restriction === null) this.restrict(thing, new Restriction(item, this.needStore().schema));
  }

  private checkRestriction(restriction: Restriction, value: Value): void {
    if (restriction.fits(value)) return;
    throw typeError(
      `the thing accepts '${itemText(restriction.item, this.labels)}' only, and not ${inWords(value)}`,
    );
  }

  /**
   * Sets every property that another thing has. Replaces present lists and sets also while they are in use.
   *
   * @param source loaded; may be the same thing
   * @throws QueryError type_err when a restriction refuses one of the values
   */
  assign(thing: Thing, source: Thing): void {
    const entries = source.entries().map(([key]): [string, Value] => [key, source.read(key) ?? null]);
    const { restriction } = thing;
    const { type } = thing.shape;
    if (type !== null) {
      this.assignFields(thing, source, entries);
      return;
    }
    if (restriction !== null) for (const [, value] of entries) this.checkRestriction(restriction, value);
    if (thing.id !== 0)
      this.checkUnique((check) => {
        for (const [, value] of entries) check.storeAll(value);
      });
    this.inParts(() => {
      for (const [key, value] of entries) this.place(thing, key, value);
    });
  }

  /** Assigns what a plain thing has, all of it checked first, or everything that an instance of the same type has. */
  private assignFields(thing: Thing, source: Thing, entries: readonly (readonly [string, Value])[]): void {
    const { shape } = thing;
    const isSameType = source.shape.type === shape.type;
    if (!isSameType && source.shape.type !== null) {
      throw typeError(
        `an instance of \`${typeName(source)}\` can not be assigned to one of \`${typeName(thing)}\``,
      );
    }
    const fields = entries.map(([key]) => thing.field(key));
    for (const [i, [key, value]] of entries.entries()) {
      const field = fields[i];
      if (field === undefined) throw lookupError(`type \`${shape.type?.name}\` has no property '${key}'`);
      if (!isSameType && field.relation !== null) {
        throw typeError(
          `type \`${typeName(thing)}\`, property \`${key}\`: it is in a relation, and can not be assigned from a plain thing`,
        );
      }
      this.checkField(field, value);
    }
    if (thing.id !== 0)
      this.checkUnique((check) => {
        for (const [i, [, value]] of entries.entries()) {
          const field = fields[i]!;
          if (field.relation === null) check.set(thing, field.slot, value);
          else this.relations.planAssign(check, thing, field, value);
        }
      });
    this.inParts(() => {
      for (const [i, [, value]] of entries.entries()) this.placeField(thing, fields[i]!, value);
    });
  }

  private place(thing: Thing, key: string, value: Value): Value {
    const slot = thing.shape.index.get(key);
    if (slot !== undefined) return this.placeAt(thing, slot, key, value);
    assertMembers(thing.shape.size + 1);
    if (thing.shape.owned) this.count(UNITS_PER_NEW_KEY);
    const own = this.ownOf(value);
    if (thing.id === 0) {
      thing.put(key, own);
      attach(thing, key, own);
      return own;
    }
    if (typeof own === 'object') chargeLoads(own, this.counting);
    const ns = ThingEffect.SET.cost(this.needStore(), thing, key, own);
    this.lookAhead(ns);
    const store = this.recordSet(thing, key, own);
    const undo = ThingEffect.SET.inverse(store, thing, key, own);
    store.put(thing, key, own);
    this.undoBy(undo, ns);
    return own;
  }

  /** Sets a property that there is, at its slot. */
  private placeAt(thing: Thing, slot: number, key: string, value: Value): Value {
    const old = thing.slots[slot] as Value;
    const own = this.ownOf(value);
    if (thing.id === 0) {
      thing.slots[slot] = own;
      detach(old);
      attach(thing, key, own);
      return own;
    }
    const { indexes } = this.needStore();
    if (indexes.uniques > 0 && thing.shape.type !== null)
      this.checkUnique((check) => check.set(thing, slot, own));
    if (old instanceof ThingSet) chargeFill(old, this.counting);
    if (typeof old === 'object') chargeLoads(old, this.counting);
    if (typeof own === 'object') chargeLoads(own, this.counting);
    const ns = NS_PER_PUT_BACK + NS_PER_UNIT * (unitsToDrop(old) + unitsToDrop(own));
    this.lookAhead(ns);
    const store = this.recordSet(thing, key, own);
    if (thing.shape.late?.has(slot) === true) store.noteGiven(thing, thing.shape.fields[slot]!.id);
    store.putAt(thing, slot, key, own);
    this.noteDetached(old);
    this.undoBy(undoOfPut(store, thing, key, old), ns);
    if (indexes.count > 0) this.countEntries(2 * indexes.countAt(thing, slot));
    return own;
  }

  /** The form of a value as a property; a copy counts as work. */
  private ownOf(value: Value): Value {
    if (typeof value === 'object') chargeOwn(value, this.counting);
    return toProperty(value);
  }

  /** Records that a stored thing gets a property, whose things become stored. */
  private recordSet(thing: Thing, key: string, own: Value): Store {
    this.assertWritable(thing);
    const store = this.needStore();
    this.storeAll(own);
    const { effects } = this;
    const { length } = effects;
    effects.u8(ThingEffect.SET.code);
    ThingEffect.SET.write(effects, thing, key, own);
    this.tally?.add(ThingEffect.SET.counts(store, thing, key, own));
    this.countWritten(length);
    return store;
  }

  /** Deletes a property that exists; returns its value, which is loose then. */
  deleteProperty(thing: Thing, key: string): Value {
    const [old] = this.deleteProperties(thing, [key]);
    if (old === undefined) throw new Error(`no property '${key}' to delete`);
    return old;
  }

  /** Deletes properties that exist; returns their values, which are loose then. */
  deleteProperties(thing: Thing, keys: readonly string[]): Value[] {
    // Looking up each of very many keys takes long, and mostly all values may go in any case.
    const areMost = keys.length > thing.slots.length / 16;
    if (!areMost || thing.slots.some(isContainer)) {
      this.count(UNITS_PER_LOOK_UP * keys.length);
      for (const key of keys) this.assertReplaceable(thing.get(key));
    }
    return keys.map((key) => {
      this.count(UNITS_PER_DROPPED);
      return this.drop(thing, key);
    });
  }

  private drop(thing: Thing, key: string): Value {
    const old = thing.get(key);
    if (old === undefined) throw new Error(`no property '${key}' to delete`);
    if (old instanceof Thing) chargeLoads(old, this.counting);
    if (thing.id === 0) {
      thing.drop(key);
      detach(old);
      return old;
    }
    this.assertWritable(thing);
    this.keepOrder(thing);
    perform(this, ThingEffect.DELETE, this.needStore(), thing, key);
    this.noteDetached(old);
    return old;
  }

  /** Renames a property; `to` must be free. */
  renameProperty(thing: Thing, from: string, to: string): void {
    if (isReservedKey(to)) throw valueError(`the key '${to}' is reserved`);
    if (thing.id === 0) {
      const value = thing.drop(from);
      if (value === undefined) return;
      thing.put(to, value);
      attach(thing, to, value);
      return;
    }
    this.assertWritable(thing);
    this.keepOrder(thing);
    perform(this, ThingEffect.RENAME, this.needStore(), thing, from, to);
  }

  /** Deletes all properties. */
  clearThing(thing: Thing): void {
    if (thing.shape.size === 0) return;
    if (thing.id === 0) {
      thing.forEach((_, value) => {
        detach(value);
      });
      thing.shape = thing.shape.cleared();
      thing.slots = [];
      return;
    }
    this.assertWritable(thing);
    chargeLeave(thing, this.counting);
    thing.forEach((_, value) => {
      this.noteDetached(value);
    });
    perform(this, ThingEffect.CLEAR, this.needStore(), thing);
  }

  /** Restricts which values a plain thing accepts. The present values must have been checked. */
  restrict(thing: Thing, restriction: Restriction | null): void {
    if (thing.shape.restriction?.stored === restriction?.stored) return;
    if (thing.id === 0) {
      thing.shape = thing.shape.restricted(restriction);
      return;
    }
    this.assertWritable(thing);
    perform(this, ThingEffect.RESTRICT, this.needStore(), thing, restriction);
  }

  /** Makes a plain thing an instance, or an instance plain. It must have the properties of the type, with values that fit. */
  convert(thing: Thing, type: Type | null): void {
    const store = this.needStore();
    if (thing.id === 0) {
      const places = placesOf(thing);
      reshape(thing, type, store.shapes);
      this.undoBy(
        () => {
          places.restore(thing);
          attachAll(thing);
        },
        NS_PER_THING + NS_PER_PROPERTY * thing.slots.length,
      );
      return;
    }
    this.assertWritable(thing);
    if (type !== null) this.checkConversion(thing, type, (name) => thing.get(name) ?? null);
    perform(this, SchemaEffect.CONVERT, store, thing, type);
  }

  /**
   * Throws duplicate_err when a plain thing can't become an instance.
   *
   * @param valueNamed gives the value that it will have under a name
   */
  checkConversion(thing: Thing, type: Type, valueNamed: (name: string) => Value): void {
    const store = this.needStore();
    if (thing.id === 0 || store.indexes.uniques === 0) return;
    const refused = conversionRefusal(
      store,
      thing,
      type,
      valueNamed,
      (units) => this.count(units),
      this.tellsValues,
    );
    if (refused !== null) throw this.isPartial ? refused.asFatal() : refused;
  }

  /** Sets a property whatever its definition says: for a definition that is about to change. */
  placeUnchecked(thing: Thing, key: string, value: Value): void {
    this.place(thing, key, value);
  }

  protected get relations(): Relations {
    this.keptRelations ??= new Relations(this.needStore().schema, this);
    return this.keptRelations;
  }
}

/** Units charged for a property that is looked up among very many, and for one that is deleted, before that is done. */
const UNITS_PER_LOOK_UP = 128;
const UNITS_PER_DROPPED = 320;

/** Units of giving a key its place in a shape of its own. */
const UNITS_PER_NEW_KEY = 256;

function isContainer(value: Value | undefined): value is List | ThingSet {
  return value instanceof List || value instanceof ThingSet;
}

/** The form of a value that is assigned to a property. */
export function toProperty(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof List) {
    return isLoose(value) && !value.tuple ? value : copyList(value);
  }
  if (value instanceof ThingSet) return isLoose(value) ? value : new ThingSet(value.members);
  if (value instanceof Closure) value.store();
  return value instanceof Future || value instanceof Module ? null : value;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The error for a key that is no field of the type. */
function noField({ type }: Shape, key: string): QueryError {
  if (!NAME.test(key)) return valueError(`'${key}' is no name of a property`);
  return lookupError(`type \`${type?.name}\` has no property \`${key}\``);
}
