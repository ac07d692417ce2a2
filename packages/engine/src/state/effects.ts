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
 *                | 20 name:text created:varint source:text    new or modified procedure
 *                | 21 name:text                               delete procedure
 *                | 22 from:text to:text                       rename procedure
 *                | 30 kind:u8 id:varint part:varint length:varint bytes    a record of a backup
 *                | 40 and above: effects of the root scope, see `admin/root-effects.ts`
 *
 * `properties` is described in `thing-record.ts`, `value` in `value-codec.ts`.
 */
import { type ByteReader, FormatError } from '../bytes.js';
import { List, ThingSet } from '../value/containers.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import type { Run, Store } from './store.js';
import { readProperties } from './thing-record.js';
import { readValue } from './value-codec.js';

export const Effect = {
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
  PUT_PROCEDURE: 0x20,
  DELETE_PROCEDURE: 0x21,
  RENAME_PROCEDURE: 0x22,
  RESTORE: 0x30,
} as const;

/** Applies one effect on things. Returns false when the operation is not one of these. */
export function applyThingEffect(operation: number, input: ByteReader, store: Store): boolean {
  const thingOfId = (id: number): Thing => store.thingOfId(id);
  const thing = (): Thing => thingOfId(input.varint());
  switch (operation) {
    case Effect.NEW_THINGS:
      newThings(input, store);
      return true;
    case Effect.SET: {
      const target = thing();
      const key = input.text();
      store.put(target, key, readValue(input, thingOfId));
      return true;
    }
    case Effect.DELETE:
      store.drop(thing(), input.text());
      return true;
    case Effect.RENAME:
      store.rename(thing(), input.text(), input.text());
      return true;
    case Effect.CLEAR:
      store.clear(thing());
      return true;
    case Effect.RESTRICT: {
      const target = thing();
      const restriction = input.text();
      store.restrict(target, restriction === '' ? null : restriction);
      return true;
    }
    case Effect.SPLICE: {
      const list = listAt(input, store);
      const start = input.varint();
      const removed = input.varint();
      store.splice(list, start, removed, readItems(input, thingOfId));
      return true;
    }
    case Effect.FILL: {
      const list = listAt(input, store);
      const value = readValue(input, thingOfId);
      store.splice(list, 0, list.length, new Array<Value>(list.length).fill(value));
      return true;
    }
    case Effect.ADD_MEMBERS:
      store.addMembers(setAt(input, store), readThings(input, store));
      return true;
    case Effect.REMOVE_MEMBERS:
      store.removeMembers(setAt(input, store), readThings(input, store));
      return true;
    case Effect.REMOVE_THINGS:
      removeThings(readThings(input, store), store);
      return true;
    case Effect.REMOVE_ITEMS: {
      const list = listAt(input, store);
      store.removeItems(list, readRuns(input, list));
      return true;
    }
    default:
      return false;
  }
}

/**
 * Removes things that refer to each other, perhaps. All must be in memory before the first goes: one that was read later
 * would find others that are no more.
 */
export function removeThings(things: readonly Thing[], store: Store): void {
  for (const thing of things) store.load(thing);
  for (const thing of things) store.remove(thing);
}

/** All new things exist before any gets its properties: they may refer to each other in any order. */
function newThings(input: ByteReader, store: Store): void {
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

function readItems(input: ByteReader, thingOfId: (id: number) => Thing): Value[] {
  const count = input.varint();
  if (count > input.remaining) throw new FormatError(`${count} items in ${input.remaining} bytes`);
  const items: Value[] = [];
  for (let i = 0; i < count; i++) items.push(readValue(input, thingOfId));
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
