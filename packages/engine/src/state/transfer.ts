/**
 * The things, types and enums of a whole collection as one row of bytes: what a dump holds, and what a change that imports one
 * writes into the log.
 *
 *   contents := next:varint types things rooms enums properties* indexes
 *   types    := count:varint type*           as in `schema/type.ts`, those that are gone too
 *   things   := count:varint gap:varint*     ids, rising, each as the distance to the one before; the root comes first
 *   rooms    := count:varint (gap:varint name:text)*     ids as those of things; an empty name for none
 *   enums    := count:varint enum*           as in `schema/enum.ts`
 *   indexes  := nothing                      where there are none: earlier versions read that
 *             | count:varint index*          as in `schema/index-def.ts`; they are built anew
 *
 * `properties` (of each thing, in that order) as in `thing-record.ts`. `next` is the next free id. References are not written:
 * they are counted when the contents are taken up.
 */
import { ByteReader, ByteWriter, FormatError } from '../bytes.js';
import {
  INDEXES_MAX,
  type IndexDef,
  readIndexDef,
  sortKindOf,
  TYPE_INDEXES_MAX,
  writeIndexDef,
} from '../schema/index-def.js';
import { NAME } from '../schema/name.js';
import type { Type } from '../schema/type.js';
import { Closure, parseCharged } from '../value/closure.js';
import { chargeFill, List, sizeOf, ThingSet } from '../value/containers.js';
import { Room } from '../value/room.js';
import { Task } from '../value/task.js';
import { Thing, ThingBit } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { effect, type Undo } from './effect.js';
import { takeIdsBack } from './ids.js';
import { duplicatesIn } from './index-build.js';
import { UNITS_PER_RECORD } from './memory.js';
import { readEnums, readTypes, writeEnums, writeTypes } from './parts/schema-contents.js';
import type { Store } from './store.js';
import { one } from './tally.js';
import { readProperties, writeProperties } from './thing-record.js';
import type { Charge } from './transaction.js';
import { READY, type TypeIndex } from './type-index.js';

/** Highest id that a thing may have, so that a collection never runs out of ids. */
const ID_MAX = 2 ** 48;

/** Units charged for a thing that is written, read or checked, and for an entry of an index. */
const UNITS_PER_THING = 64;
const UNITS_PER_ENTRY = 512;

/** Units charged for an item of a list or a set before it is written. */
const UNITS_PER_ITEM = 8;

/** Writes all that is in a collection; brings it into memory. */
export function writeContents(store: Store, charge: Charge): Uint8Array {
  const things = [...store.all(charge)];
  const out = new ByteWriter();
  out.varint(store.nextId);
  writeTypes(out, store);
  out.varint(things.length);
  let before = 0;
  for (const { id } of things) {
    out.varint(id - before);
    before = id;
  }
  writeRooms(out, store, charge);
  writeEnums(out, store);
  for (const thing of things) {
    const { length } = out;
    if ((thing.bits & ThingBit.LOADED) === 0) charge(UNITS_PER_RECORD);
    store.load(thing);
    // All that a thing holds is written at once.
    for (const value of thing.slots) chargeFill(value, charge);
    charge(thing.slots.reduce<number>((units, value) => units + unitsToWrite(value), 0));
    writeProperties(out, thing);
    charge(UNITS_PER_THING + out.length - length);
  }
  const indexes = [...store.indexes.byId.values()].filter(({ progress }) => progress.why === null);
  if (indexes.length > 0) out.list(indexes, ({ def }) => writeIndexDef(out, def));
  return out.take();
}

function unitsToWrite(value: Value): number {
  return value instanceof List || value instanceof ThingSet ? UNITS_PER_ITEM * sizeOf(value) : 0;
}

/** Time it takes to take an import back, in nanoseconds for each byte. */
const NS_PER_BYTE = 30;

export const TransferEffect = {
  /** Fills an empty collection. */
  IMPORT: effect<Store, [contents: Uint8Array], Undo>({
    code: 0x31,
    write: (out, contents) => out.blob(contents),
    read: (input) => [input.blobView()],
    apply: (store, contents) => readContents(contents, store),
    inverse: () => (back) => back(),
    cost: (_, { length }) => NS_PER_BYTE * length,
    counts: one('imports'),
  }),
};

/**
 * Takes contents up in a collection in which there is nothing but the root.
 *
 * @param charge told of the work where it is not known who wrote the contents, which are checked then
 * @returns the way back
 * @throws FormatError for what is no contents; the collection is of no use then
 */
export function readContents(contents: Uint8Array, store: Store, charge: Charge | null = null): Undo {
  const input = new ByteReader(contents);
  const { nextId, root } = store;
  const next = input.varint();
  if (next > ID_MAX) throw new FormatError('the next id is too large');
  const untype = readTypes(input, store);
  const things = readIds(input, next, charge).map((id) => {
    if (id === root.id) return root;
    const thing = new Thing(0, store.shapes.empty(), []);
    store.register(thing, id);
    return thing;
  });
  const rooms = readRooms(input, store, next, charge);
  store.touch(root);
  store.guard = charge;
  const unenum = readEnums(input, store);
  for (const thing of things) {
    const { offset } = input;
    readProperties(input, thing, store);
    charge?.(UNITS_PER_THING + input.offset - offset);
  }
  store.guard = null;
  const defs = input.remaining > 0 ? input.list(() => readIndexDef(input)) : [];
  if (input.remaining > 0) throw new FormatError('there is more than contents');
  for (const thing of things) store.adopt(thing);
  // Things that are left of a large circle of garbage wait for a search.
  for (const { id, refs } of things) if (refs === 0) store.suspects.put(id);
  store.nextId = Math.max(next, nextId);
  const indexes = defs.map((def) => readIndex(store, def, next, charge));
  // Things to which only tasks refer that are not taken over go with the change.
  for (const room of rooms) if (room.refs === 0) store.rooms.orphans.add(room);
  if (charge !== null) checkContents(store, things, charge);
  return () => {
    for (const index of indexes) store.indexes.forget(index);
    unenum();
    for (const thing of things) store.disown(thing);
    for (const thing of things) {
      if (thing !== root) store.unregister(thing);
    }
    for (const room of rooms) {
      if (room.name !== null) store.rooms.rename(room, null);
      store.rooms.unregister(room.id);
    }
    store.touch(root);
    root.shape = store.shapes.empty();
    root.slots = [];
    untype();
    takeIdsBack(store, nextId);
  };
}

/** Makes an index of instances that are there. */
function readIndex(store: Store, def: IndexDef, next: number, charge: Charge | null): TypeIndex {
  if (charge !== null) checkIndex(store, def, next, charge);
  const index = store.indexes.make(def, { cursor: 0, why: null });
  store.indexes.add(index);
  store.indexes.build(index, store.schema.type(def.type), READY);
  return index;
}

function checkIndex(store: Store, def: IndexDef, next: number, charge: Charge): void {
  const { schema, indexes } = store;
  const { id, name } = def;
  const refuse = (why: string): never => {
    throw new FormatError(`the index '${name}' can not be: ${why}`);
  };
  const type = schema.stateOfType(def.type) === undefined ? null : schema.type(def.type);
  if (type === null || type.def === null) return refuse('there is no such type');
  if (
    id <= 0 ||
    id >= next ||
    store.table.get(id) !== undefined ||
    store.rooms.byId.has(id) ||
    indexes.byId.has(id)
  )
    refuse(`its id is ${id}`);
  if (!NAME.test(name) || indexes.named(type, name) !== undefined) refuse('its name');
  if (indexes.of(type).length >= TYPE_INDEXES_MAX || indexes.count >= INDEXES_MAX)
    refuse('there are too many');
  for (const [i, field] of def.fields.entries()) {
    const { definition } = type.def.fields.find((other) => other.id === field) ?? refuse('its properties');
    if (sortKindOf(definition) === null || def.fields.indexOf(field) !== i) refuse('its properties');
  }
  charge(UNITS_PER_ENTRY * type.instances.size);
  if (duplicatesIn(store, def, 0, 1, false, charge).found.length > 0)
    refuse('values are equal that must not be');
}

function writeRooms(out: ByteWriter, { rooms }: Store, charge: Charge): void {
  const sorted = [...rooms.byId.values()].sort((a, b) => a.id - b.id);
  charge(UNITS_PER_THING * sorted.length);
  out.varint(sorted.length);
  let before = 0;
  for (const { id, name } of sorted) {
    out.varint(id - before);
    out.text(name ?? '');
    before = id;
  }
}

function readRooms(input: ByteReader, store: Store, next: number, charge: Charge | null): Room[] {
  const count = input.varint();
  if (count > input.remaining) throw new FormatError(`${count} rooms`);
  const rooms: Room[] = [];
  for (let i = 0, id = 0; i < count; i++) {
    const gap = input.varint();
    id += gap;
    charge?.(UNITS_PER_THING);
    if (gap === 0 || id >= next || store.table.get(id) !== undefined) {
      throw new FormatError(`the id ${id} of a room can not be`);
    }
    const name = input.text();
    if (name !== '' && (!NAME.test(name) || store.rooms.byName.has(name))) {
      throw new FormatError(`the name '${name}' of a room can not be`);
    }
    const room = new Room();
    store.rooms.register(room, id);
    if (name !== '') store.rooms.rename(room, name);
    rooms.push(room);
  }
  return rooms;
}

function readIds(input: ByteReader, next: number, charge: Charge | null): number[] {
  const count = input.varint();
  if (count === 0 || count > input.remaining) throw new FormatError(`${count} things`);
  const ids: number[] = [];
  for (let i = 0, id = 0; i < count; i++) {
    const gap = input.varint();
    id += gap;
    // The table of things has places for ids that are not there.
    charge?.(UNITS_PER_THING + Math.min(gap, 1024));
    if (gap === 0 || id >= next || (i === 0 && id !== 1)) throw new FormatError(`the id ${id} can not be`);
    ids.push(id);
  }
  return ids;
}

/**
 * Checks contents that were taken up in a collection of their own: that all is there that they refer to, and that everything fits its
 * type. What could not have come about by queries is refused.
 *
 * @throws FormatError
 */
export function checkContents(store: Store, things: readonly Thing[], charge: Charge): void {
  checkSchema(store, charge);
  for (const thing of things) {
    charge(UNITS_PER_THING);
    thing.forEach((key, value) => {
      charge(1);
      checkValue(key, value, store, charge);
    });
    const { type } = thing;
    if (type !== null) checkInstance(store, thing, type);
  }
}

function checkSchema({ schema }: Store, charge: Charge): void {
  const names = new Set<string>();
  const check = (name: string, among: Set<string>): void => {
    if (!NAME.test(name) || among.has(name)) throw new FormatError(`the name '${name}' can not be`);
    among.add(name);
  };
  for (const { name, def } of schema.allTypes()) {
    check(name, names);
    const own = new Set<string>();
    if (def === null) continue;
    if (def.idName !== null) check(def.idName, own);
    for (const field of def.fields) {
      check(field.name, own);
      if (field.id >= def.nextField)
        throw new FormatError(`the property ${field.name} has the id ${field.id}`);
      if (field.relation === null) continue;
      const { relation } = field;
      const end = schema.type(relation.type).def?.fields.find(({ id }) => id === relation.field);
      if (end?.relation?.type !== def.id || end.relation.field !== field.id) {
        throw new FormatError(`the relation of ${name}.${field.name} has one side only`);
      }
    }
    for (const [method, closure] of def.methods) checkMethod(method, closure, own, check, charge);
    if (new Set(def.fields.map(({ id }) => id)).size !== def.fields.length) {
      throw new FormatError(`two properties of ${name} have the same id`);
    }
  }
  for (const { name, def } of schema.allEnums()) {
    check(name, names);
    const own = new Set<string>();
    if (def === null) continue;
    if (def.members.length === 0) throw new FormatError(`the enum ${name} has no member`);
    for (const member of def.members) {
      check(member.name, own);
      if (member.id >= def.nextMember)
        throw new FormatError(`the member ${member.name} has the id ${member.id}`);
    }
    for (const [method, closure] of def.methods) checkMethod(method, closure, own, check, charge);
  }
}

function checkMethod(
  name: string,
  closure: Closure,
  names: Set<string>,
  check: (name: string, among: Set<string>) => void,
  charge: Charge,
): void {
  check(name, names);
  parseCharged(closure.source, charge);
}

function checkValue(key: string, value: Value, store: Store, charge: Charge): void {
  if (key.length === 1 && !NAME.test(key)) throw new FormatError(`the key '${key}' can not be`);
  checkInside(value, store, charge);
}

/** Lists inside each other at most, which no query reaches. */
const NESTING_MAX = 1000;

/**
 * Checks what is in a value, and may be in a list.
 *
 * @throws FormatError
 */
export function checkInside(value: Value, store: Store, charge: Charge, level = 0): void {
  if (level > NESTING_MAX) throw new FormatError('lists are nested too deeply');
  if (value instanceof Closure) parseCharged(value.source, charge);
  else if (value instanceof Task) {
    if (value.id >= store.nextId) throw new FormatError(`there can not be a task ${value.id}`);
  } else if (value instanceof List) {
    charge(value.length);
    for (const item of value.items) {
      if (item instanceof ThingSet || (item instanceof List && !item.tuple)) {
        throw new FormatError('a list or set inside a list');
      }
      checkInside(item, store, charge, level + 1);
    }
  }
}

function checkInstance(store: Store, thing: Thing, type: Type): void {
  for (const field of type.shape?.fields ?? []) {
    const value = thing.slots[field.slot] ?? null;
    const { rule, relation } = field;
    const refuse = (): never => {
      throw new FormatError(`type ${type.name}, property ${field.name}, thing ${thing.id}: it does not fit`);
    };
    if (!rule.fits(value)) refuse();
    if (rule.item !== null && value instanceof List && !value.items.every(rule.item.fits)) refuse();
    if (rule.item !== null && value instanceof ThingSet && ![...value.members].every(rule.item.fits))
      refuse();
    if (relation === null) continue;
    const end = store.schema.type(relation.type).shape?.fields.find(({ id }) => id === relation.field);
    const partners = value instanceof ThingSet ? [...value.members] : value instanceof Thing ? [value] : [];
    for (const partner of partners) {
      const back = end === undefined ? null : partner.slots[end.slot];
      const isMutual = back instanceof ThingSet ? back.members.has(thing) : back === thing;
      if (partner.type?.id !== relation.type || !isMutual) refuse();
    }
  }
}
