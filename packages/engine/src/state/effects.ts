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
 * `properties` is described in `thing-record.ts`, `value` in `value-codec.ts`. Each effect has its writer here, and beside it the
 * reader that applies it; effects of parts have theirs in the files of the parts.
 */
import { type ByteReader, type ByteWriter, FormatError } from '../bytes.js';
import { Restriction } from '../schema/restriction.js';
import { List, ThingSet } from '../value/containers.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import type { Run } from './list-edits.js';
import type { Store } from './store.js';
import { readProperties } from './thing-record.js';
import { readValue, writeReference, writeValue } from './value-codec.js';

const Effect = {
  NEW_THINGS: 0x01,
  SET: 0x02,
  DELETE: 0x03,
  RENAME: 0x04,
  CLEAR: 0x05,
  RESTRICT: 0x06,
  SPLICE: 0x07,
  FILL: 0x08,
  ADD_MEMBERS: 0x09,
  REMOVE_MEMBERS: 0x0a,
  REMOVE_THINGS: 0x0b,
  REMOVE_ITEMS: 0x0c,
} as const;

/** Applies one effect on things. Returns false when the operation is not one of these. */
export function applyThingEffect(operation: number, input: ByteReader, store: Store): boolean {
  const apply = READERS[operation];
  if (apply === undefined) return false;
  apply(input, store);
  return true;
}

type Apply = (input: ByteReader, store: Store) => void;

const READERS: readonly (Apply | undefined)[] = readersOf({
  [Effect.NEW_THINGS]: applyNewThings,
  [Effect.SET]: applySet,
  [Effect.DELETE]: applyDelete,
  [Effect.RENAME]: applyRename,
  [Effect.CLEAR]: applyClear,
  [Effect.RESTRICT]: applyRestrict,
  [Effect.SPLICE]: applySplice,
  [Effect.FILL]: applyFill,
  [Effect.ADD_MEMBERS]: applyAddMembers,
  [Effect.REMOVE_MEMBERS]: applyRemoveMembers,
  [Effect.REMOVE_THINGS]: applyRemoveThings,
  [Effect.REMOVE_ITEMS]: applyRemoveItems,
});

function readersOf(readers: Readonly<Record<(typeof Effect)[keyof typeof Effect], Apply>>): Apply[] {
  const list: Apply[] = [];
  for (const [operation, apply] of Object.entries(readers)) list[Number(operation)] = apply;
  return list;
}

/** Begins the effect of new things, with ids from `base` on: the properties of each follow, see `writeProperties` in `thing-record.ts`. */
export function writeNewThings(out: ByteWriter, base: number, count: number): void {
  out.u8(Effect.NEW_THINGS);
  out.varint(base);
  out.varint(count);
}

/** All new things exist before any gets its properties: they may refer to each other in any order. */
function applyNewThings(input: ByteReader, store: Store): void {
  const base = input.varint();
  const count = input.varint();
  if (count > input.remaining) throw new FormatError(`${count} new things in ${input.remaining} bytes`);
  const things: Thing[] = [];
  for (let i = 0; i < count; i++) {
    const thing = new Thing(0, store.shapes.empty(), []);
    store.register(thing, base + i);
    things.push(thing);
  }
  for (const thing of things) {
    readProperties(input, thing, store);
    store.adopt(thing);
  }
}

export function writeSet(out: ByteWriter, thing: Thing, key: string, value: Value): void {
  writeHead(out, Effect.SET, thing, key);
  writeValue(out, value);
}

function applySet(input: ByteReader, store: Store): void {
  const thing = thingAt(input, store);
  const key = input.text();
  store.put(thing, key, readValue(input, store));
}

export function writeDelete(out: ByteWriter, thing: Thing, key: string): void {
  writeHead(out, Effect.DELETE, thing, key);
}

function applyDelete(input: ByteReader, store: Store): void {
  store.drop(thingAt(input, store), input.text());
}

export function writeRename(out: ByteWriter, thing: Thing, from: string, to: string): void {
  writeHead(out, Effect.RENAME, thing, from);
  out.text(to);
}

function applyRename(input: ByteReader, store: Store): void {
  store.rename(thingAt(input, store), input.text(), input.text());
}

export function writeClear(out: ByteWriter, thing: Thing): void {
  out.u8(Effect.CLEAR);
  out.varint(thing.id);
}

function applyClear(input: ByteReader, store: Store): void {
  store.clear(thingAt(input, store));
}

/** The restriction is null for a thing that accepts everything again. */
export function writeRestrict(out: ByteWriter, thing: Thing, restriction: Restriction | null): void {
  out.u8(Effect.RESTRICT);
  out.varint(thing.id);
  out.text(restriction?.stored ?? '');
}

function applyRestrict(input: ByteReader, store: Store): void {
  const thing = thingAt(input, store);
  store.restrict(thing, Restriction.read(input.text(), store.schema));
}

/** Writes that `removed` items of a stored list from `start` on are replaced by others. */
export function writeSplice(
  out: ByteWriter,
  list: List,
  start: number,
  removed: number,
  items: readonly Value[],
): void {
  writeSpliceHead(out, list, start, removed, items.length);
  for (const item of items) writeValue(out, item);
}

/** The same for one item at the end of the list. */
export function writeAppend(out: ByteWriter, list: List, item: Value): void {
  writeSpliceHead(out, list, list.length, 0, 1);
  writeValue(out, item);
}

/** Begins the effect of items that are put at the end of a list: they follow, and their number is the last byte of what is written here. */
export function beginAppends(out: ByteWriter, list: List): void {
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
  writeSpliceHead(out, list, start, 0, count);
  for (let id = base; id < base + count; id++) writeReference(out, id);
}

function writeSpliceHead(out: ByteWriter, list: List, start: number, removed: number, added: number): void {
  writePlace(out, Effect.SPLICE, list);
  out.varint(start);
  out.varint(removed);
  out.varint(added);
}

function applySplice(input: ByteReader, store: Store): void {
  const list = listAt(input, store);
  const start = input.varint();
  const removed = input.varint();
  store.splice(list, start, removed, readItems(input, store));
}

/** Writes that all items of a stored list become one value. */
export function writeFill(out: ByteWriter, list: List, item: Value): void {
  writePlace(out, Effect.FILL, list);
  writeValue(out, item);
}

function applyFill(input: ByteReader, store: Store): void {
  const list = listAt(input, store);
  const value = readValue(input, store);
  store.splice(list, 0, list.length, new Array<Value>(list.length).fill(value));
}

export function writeAddMembers(out: ByteWriter, set: ThingSet, things: readonly Thing[]): void {
  writePlace(out, Effect.ADD_MEMBERS, set);
  writeThings(out, things);
}

function applyAddMembers(input: ByteReader, store: Store): void {
  store.addMembers(setAt(input, store), readThings(input, store));
}

export function writeRemoveMembers(out: ByteWriter, set: ThingSet, things: readonly Thing[]): void {
  writePlace(out, Effect.REMOVE_MEMBERS, set);
  writeThings(out, things);
}

function applyRemoveMembers(input: ByteReader, store: Store): void {
  store.removeMembers(setAt(input, store), readThings(input, store));
}

/** Writes that things go away to which nothing refers but each other. */
export function writeRemoveThings(out: ByteWriter, things: readonly Thing[]): void {
  out.u8(Effect.REMOVE_THINGS);
  writeThings(out, things);
}

/** All must be in memory before the first goes: one that was read later would find others that are no more. */
function applyRemoveThings(input: ByteReader, store: Store): void {
  const things = readThings(input, store);
  for (const thing of things) store.load(thing);
  for (const thing of things) store.remove(thing);
}

/** Writes that the items of some runs, which are in order and apart from each other, are taken out of a stored list. */
export function writeRemoveItems(out: ByteWriter, list: List, runs: readonly Run[]): void {
  writePlace(out, Effect.REMOVE_ITEMS, list);
  out.varint(runs.length);
  let end = 0;
  for (const { start, count } of runs) {
    out.varint(start - end);
    out.varint(count);
    end = start + count;
  }
}

function applyRemoveItems(input: ByteReader, store: Store): void {
  const list = listAt(input, store);
  store.removeItems(list, readRuns(input, list));
}

function writeHead(out: ByteWriter, operation: number, thing: Thing, key: string): void {
  out.u8(operation);
  out.varint(thing.id);
  out.text(key);
}

/** The thing and the key of a list or set that is a property. */
function writePlace(out: ByteWriter, operation: number, value: List | ThingSet): void {
  if (value.owner === null) throw new Error('a stored list or set has an owner');
  writeHead(out, operation, value.owner, value.key);
}

function thingAt(input: ByteReader, store: Store): Thing {
  return store.thingOfId(input.varint());
}

function writeThings(out: ByteWriter, things: readonly Thing[]): void {
  out.varint(things.length);
  for (const thing of things) out.varint(thing.id);
}

function readItems(input: ByteReader, store: Store): Value[] {
  const count = input.varint();
  if (count > input.remaining) throw new FormatError(`${count} items in ${input.remaining} bytes`);
  const items: Value[] = [];
  for (let i = 0; i < count; i++) items.push(readValue(input, store));
  return items;
}

function readThings(input: ByteReader, store: Store): Thing[] {
  const count = input.varint();
  const things: Thing[] = [];
  for (let i = 0; i < count; i++) things.push(store.thingOfId(input.varint()));
  return things;
}

function readRuns(input: ByteReader, list: List): Run[] {
  const count = input.varint();
  const runs: Run[] = [];
  for (let i = 0, end = 0; i < count; i++) {
    const start = end + input.varint();
    const run = { start, count: input.varint() };
    end = start + run.count;
    if (end > list.length) throw new FormatError('an effect removes items behind the end of a list');
    runs.push(run);
  }
  return runs;
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
  const thing = store.thingOfId(input.varint());
  store.load(thing);
  return thing.get(input.text());
}
