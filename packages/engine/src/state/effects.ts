/**
 * Effects: what a change did to the state of its scope, in the order in which it did it. A leader writes them while it
 * runs a query; followers, and every node that replays its log, apply them.
 *
 *   effects     := effect*
 *   effect      := 01 base:varint count:varint properties*    new things with the ids base, base + 1, ...
 *                | 02 thing:varint key:text value             set property
 *                | 03 thing:varint key:text                   delete property
 *                | 04 thing:varint from:text to:text          rename property
 *                | 05 thing:varint                            clear thing
 *                | 06 thing:varint restriction:text           restrict
 *                | 07 thing:varint key:text start:varint removed:varint added:varint value*    splice list
 *                | 08 thing:varint key:text value             fill list
 *                | 09 thing:varint key:text count:varint id:varint*    add to set
 *                | 0a thing:varint key:text count:varint id:varint*    remove from set
 *                | 0b count:varint id:varint*                 remove things that nothing refers to
 *                | 0c thing:varint key:text count:varint (gap:varint run:varint)*    remove runs of items from list;
 *                                                           a gap is the number of items between a run and the one before
 *
 * `properties` is described in `thing-record.ts`, `value` in `value-codec.ts`. Effects of parts are in the files of the parts.
 */
import { type ByteReader, type ByteWriter, FormatError } from '../bytes.js';
import { Restriction } from '../schema/restriction.js';
import { List, ThingSet, unitsToDrop } from '../value/containers.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { effect, type Undo } from './effect.js';
import { takeIdsBack } from './ids.js';
import type { Run } from './list-edits.js';
import { RoomEffect } from './parts/rooms.js';
import { placesOf } from './places.js';
import type { Store } from './store.js';
import { one } from './tally.js';
import { readProperties } from './thing-record.js';
import {
  NS_PER_ITEM,
  NS_PER_MEMBER,
  NS_PER_MOVED_ITEM,
  NS_PER_NEW_KEY,
  NS_PER_PUT_BACK,
  NS_PER_THING,
  NS_PER_UNDO,
  NS_PER_UNIT,
  unitsToLeave,
} from './transaction/undo-costs.js';
import { readValue, writeReference, writeValue, writeValues } from './value-codec.js';

/**
 * The effects on things. What a query does most often, `ThingChanges` and `ListChanges` do column by column, several of the
 * same kind at once.
 */
export const ThingEffect = {
  /** New things with ids from `base` on; the properties of each follow, which `read` takes up. */
  NEW_THINGS: effect<Store, [base: number, count: number], number>({
    code: 0x01,
    write: (out, base, count) => {
      out.varint(base);
      out.varint(count);
    },
    read: (input, store) => {
      const base = input.varint();
      const count = input.varint();
      if (count > input.remaining) throw new FormatError(`${count} new things in ${input.remaining} bytes`);
      // All exist before any gets its properties: they may refer to each other in any order.
      for (let i = 0; i < count; i++) store.register(new Thing(0, store.shapes.empty(), []), base + i);
      for (let i = 0; i < count; i++) readProperties(input, store.thingOfId(base + i), store);
      return [base, count];
    },
    apply: (store, base, count) => {
      for (let id = base; id < base + count; id++) store.adopt(store.thingOfId(id));
      return base + count;
    },
    // Takes all back that has ids from `base` on, rooms too. Things below an id have their references counted.
    inverse: (store, base) => (adoptedBelow) => {
      const { nextId, rooms } = store;
      const ids = Array.from({ length: nextId - base }, (_, i) => base + i);
      const things = ids.filter((id) => !rooms.byId.has(id));
      for (const id of things) if (id < adoptedBelow) store.disown(store.thingOfId(id));
      for (const id of things.toReversed()) store.unregister(store.thingOfId(id));
      RoomEffect.PUT.inverse(
        rooms,
        ids.filter((id) => rooms.byId.has(id)),
      )();
      takeIdsBack(store, base);
    },
    cost: (_, __, count) => NS_PER_THING * count,
    counts: (_, __, count) => ['things_added', count],
  }),
  SET: effect<Store, [thing: Thing, key: string, value: Value]>({
    code: 0x02,
    write: (out, thing, key, value) => {
      writeProperty(out, thing, key);
      writeValue(out, value);
    },
    read: (input, store) => [thingAt(input, store), input.text(), readValue(input, store)],
    apply: (store, thing, key, value) => store.put(thing, key, value),
    inverse: (store, thing, key) => {
      const old = thing.get(key);
      if (old !== undefined) return undoOfPut(store, thing, key, old);
      const places = placesOf(thing);
      return () => store.unput(thing, key, places);
    },
    cost: (_, thing, key, value) => {
      const old = thing.get(key);
      const newNs = thing.shape.owned ? NS_PER_NEW_KEY : NS_PER_UNDO;
      const units = unitsToDrop(value) + unitsToDrop(old ?? null);
      return (old === undefined ? newNs : NS_PER_PUT_BACK) + NS_PER_UNIT * units;
    },
    counts: one('properties'),
  }),
  DELETE: effect<Store, [thing: Thing, key: string], Value | undefined>({
    code: 0x03,
    write: writeProperty,
    read: (input, store) => [thingAt(input, store), input.text()],
    apply: (store, thing, key) => store.drop(thing, key),
    inverse: (store, thing, key) => {
      const places = placesOf(thing);
      const slot = slotOf(thing, key);
      return (old) => {
        if (old !== undefined) store.undrop(thing, key, old, slot, places);
      };
    },
    cost: (_, thing, key) => NS_PER_UNDO + NS_PER_UNIT * unitsToDrop(thing.get(key) ?? null),
    counts: one('properties'),
  }),
  RENAME: effect<Store, [thing: Thing, from: string, to: string]>({
    code: 0x04,
    write: (out, thing, from, to) => {
      writeProperty(out, thing, from);
      out.text(to);
    },
    read: (input, store) => [thingAt(input, store), input.text(), input.text()],
    apply: (store, thing, from, to) => store.rename(thing, from, to),
    inverse: (store, thing, from, to) => {
      const places = placesOf(thing);
      const slot = slotOf(thing, from);
      return () => store.unrename(thing, from, to, slot, places);
    },
    cost: () => NS_PER_UNDO,
    counts: one('properties'),
  }),
  CLEAR: effect<Store, [thing: Thing]>({
    code: 0x05,
    write: (out, thing) => out.varint(thing.id),
    read: (input, store) => [thingAt(input, store)],
    apply: (store, thing) => store.clear(thing),
    inverse: (store, thing) => {
      const places = placesOf(thing);
      return () => store.unclear(thing, places);
    },
    cost: (_, thing) => NS_PER_THING + NS_PER_UNIT * unitsToLeave(thing),
    counts: (_, { slots }) => ['properties', slots.length],
  }),
  /** The restriction is null for a thing that accepts everything again. */
  RESTRICT: effect<Store, [thing: Thing, restriction: Restriction | null]>({
    code: 0x06,
    write: (out, thing, restriction) => {
      out.varint(thing.id);
      out.text(restriction?.stored ?? '');
    },
    read: (input, store) => [thingAt(input, store), Restriction.read(input.text(), store.schema)],
    apply: (store, thing, restriction) => store.restrict(thing, restriction),
    inverse: (store, thing) => {
      const { restriction } = thing.shape;
      return () => store.restrict(thing, restriction);
    },
    cost: () => NS_PER_UNDO,
    counts: one('things_retyped'),
  }),
  /** Replaces `removed` items from `start` on by others, which is how items come and go. */
  SPLICE: effect<Store, [list: List, start: number, removed: number, items: readonly Value[]], Value[]>({
    code: 0x07,
    write: (out, list, start, removed, items) => {
      writeSpliceHead(out, list, start, removed, items.length);
      writeValues(out, items);
    },
    read: (input, store) => [
      listAt(input, store),
      input.varint(),
      input.varint(),
      input.list(() => readValue(input, store)),
    ],
    apply: (store, list, start, removed, items) => store.splice(list, start, removed, items),
    inverse: (store, list, start, _, items) => (removed) => store.splice(list, start, items.length, removed),
    cost: (_, list, start, removed, items) => nsOfSplice(list, start, removed, items.length),
    counts: (_, __, ___, removed, items) => ['items', removed + items.length],
  }),
  /** All items become one value. */
  FILL: effect<Store, [list: List, item: Value], Value[]>({
    code: 0x08,
    write: (out, list, item) => {
      writePlace(out, list);
      writeValue(out, item);
    },
    read: (input, store) => [listAt(input, store), readValue(input, store)],
    apply: (store, list, item) =>
      store.splice(list, 0, list.length, new Array<Value>(list.length).fill(item)),
    inverse: (store, list) => (removed) => store.splice(list, 0, removed.length, removed),
    cost: (_, list) => nsOfSplice(list, 0, list.length, list.length),
    counts: (_, { length }) => ['items', length],
  }),
  ADD_MEMBERS: effect<Store, [set: ThingSet, things: readonly Thing[]]>({
    code: 0x09,
    write: writeMembers,
    read: (input, store) => [setAt(input, store), readThings(input, store)],
    apply: (store, set, things) => store.addMembers(set, things),
    inverse: (store, set, things) => () => store.removeMembers(set, things),
    cost: (_, __, things) => nsOfMembers(things.length),
    counts: (_, __, { length }) => ['members', length],
  }),
  REMOVE_MEMBERS: effect<Store, [set: ThingSet, things: readonly Thing[]]>({
    code: 0x0a,
    write: writeMembers,
    read: (input, store) => [setAt(input, store), readThings(input, store)],
    apply: (store, set, things) => store.removeMembers(set, things),
    inverse: (store, set, things) => () => store.addMembers(set, things),
    cost: (_, __, things) => nsOfMembers(things.length),
    counts: (_, __, { length }) => ['members', length],
  }),
  /** Removes things to which nothing refers but each other. */
  REMOVE_THINGS: effect<Store, [things: readonly Thing[]]>({
    code: 0x0b,
    write: writeThings,
    read: (input, store) => [readThings(input, store)],
    apply: (store, things) => {
      // All must be in memory before the first goes: one that was read later would find others that are no more.
      for (const thing of things) store.load(thing);
      for (const thing of things) store.remove(thing);
    },
    inverse: (store, things) => () => {
      for (const thing of things.toReversed()) store.revive(thing);
    },
    cost: (_, things) => NS_PER_UNDO * things.length,
    counts: (_, { length }) => ['things_removed', length],
  }),
  /** Takes the items of some runs, which are in order and apart from each other, out of a list. */
  REMOVE_ITEMS: effect<Store, [list: List, runs: readonly Run[]], Value[]>({
    code: 0x0c,
    write: (out, list, runs) => {
      writePlace(out, list);
      let end = 0;
      out.list(runs, ({ start, count }) => {
        out.varint(start - end);
        out.varint(count);
        end = start + count;
      });
    },
    read: (input, store) => {
      const list = listAt(input, store);
      return [list, readRuns(input, list)];
    },
    apply: (store, list, runs) => store.removeItems(list, runs),
    inverse: (store, list, runs) => (removed) => store.restoreItems(list, runs, removed),
    cost: (_, list, runs) => nsOfSplice(list, 0, countOf(runs), 0),
    counts: (_, __, runs) => ['items', countOf(runs)],
  }),
};

/** Begins the effect of items that are put at the end of a list: they follow, and their number is the last byte of what is written here. */
export function beginAppends(out: ByteWriter, list: List): void {
  out.u8(ThingEffect.SPLICE.code);
  writeSpliceHead(out, list, list.length, 0, 0);
}

/** Writes that things with ids from `base` on were put at the end of a list, which had `start` items. */
export function writeAppendedThings(
  out: ByteWriter,
  list: List,
  start: number,
  base: number,
  count: number,
): void {
  out.u8(ThingEffect.SPLICE.code);
  writeSpliceHead(out, list, start, 0, count);
  for (let id = base; id < base + count; id++) writeReference(out, id);
}

function writeSpliceHead(out: ByteWriter, list: List, start: number, removed: number, added: number): void {
  writePlace(out, list);
  out.varint(start);
  out.varint(removed);
  out.varint(added);
}

/** Time it takes to take back that some items, from a place of a list on, became others, in nanoseconds. */
export function nsOfSplice(list: List, start: number, removed: number, added: number): number {
  const moved = removed === added ? 0 : list.length - removed + added - start;
  return NS_PER_UNDO + NS_PER_MOVED_ITEM * moved + NS_PER_ITEM * (removed + added);
}

/** Time it takes to take back that so many members came or went, in nanoseconds. */
export function nsOfMembers(count: number): number {
  return NS_PER_UNDO + NS_PER_MEMBER * count;
}

/** Gives a property its former value back. */
export function undoOfPut(store: Store, thing: Thing, key: string, old: Value): Undo {
  return () => store.put(thing, key, old);
}

function writeProperty(out: ByteWriter, thing: Thing, key: string): void {
  out.varint(thing.id);
  out.text(key);
}

/** The thing and the key of a list or set that is a property. */
function writePlace(out: ByteWriter, value: List | ThingSet): void {
  if (value.owner === null) throw new Error('a stored list or set has an owner');
  writeProperty(out, value.owner, value.key);
}

/** Reads what names a property. */
export function readPlace(input: ByteReader): { readonly id: number; readonly key: string } {
  return { id: input.varint(), key: input.text() };
}

function writeMembers(out: ByteWriter, set: ThingSet, things: readonly Thing[]): void {
  writePlace(out, set);
  writeThings(out, things);
}

function writeThings(out: ByteWriter, things: readonly Thing[]): void {
  out.list(things, (thing) => out.varint(thing.id));
}

function thingAt(input: ByteReader, store: Store): Thing {
  return store.thingOfId(input.varint());
}

function readThings(input: ByteReader, store: Store): Thing[] {
  return input.list(() => thingAt(input, store));
}

function readRuns(input: ByteReader, list: List): Run[] {
  let end = 0;
  return input.list(() => {
    const start = end + input.varint();
    const count = input.varint();
    end = start + count;
    if (end > list.length) throw new FormatError('an effect removes items behind the end of a list');
    return { start, count };
  });
}

function listAt(input: ByteReader, store: Store): List {
  const value = propertyAt(input, store);
  if (!(value instanceof List)) throw new FormatError('an effect on a list meets something else');
  return value;
}

function setAt(input: ByteReader, store: Store): ThingSet {
  const value = propertyAt(input, store);
  if (!(value instanceof ThingSet)) throw new FormatError('an effect on a set meets something else');
  return value;
}

function propertyAt(input: ByteReader, store: Store): Value | undefined {
  const thing = thingAt(input, store);
  store.load(thing);
  return thing.get(input.text());
}

function slotOf(thing: Thing, key: string): number {
  const slot = thing.shape.index.get(key);
  if (slot === undefined) throw new Error(`no property '${key}'`);
  return slot;
}

function countOf(runs: readonly Run[]): number {
  return runs.reduce((sum, { count }) => sum + count, 0);
}
