/**
 * The record of a thing.
 *
 *   thing       := refs:varint head:text count:varint property*
 *                | refs:varint head:text ...     of many properties, whose head begins with `*`, see `pages/property-pages.ts`
 *   property    := key stored            the value, as in `stored-value.ts`
 *   key         := key:text              of a plain thing, whose head is its restriction, empty for none
 *                | field:varint          of an instance, whose head is `=` and the id of its type
 *
 * Effects that store new things have the same properties, all of them whole.
 */
import { type ByteReader, type ByteWriter, FormatError } from '../bytes.js';
import { Restriction } from '../schema/restriction.js';
import type { Field, Type } from '../schema/type.js';
import type { Charge } from '../value/containers.js';
import type { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import type { ThingMemory } from './memory.js';
import { missingValue, rescueValue } from './migrate.js';
import type { PageSink } from './pages/page-table.js';
import { PAGED_HEAD, PropertyPages } from './pages/property-pages.js';
import { readStored, writeStored } from './stored-value.js';
import { noteProgress, visitThings, writeValue } from './value-codec.js';

/**
 * Writes the first record of a thing, and freezes its pages.
 *
 * An instance that was not touched since its type changed is written with the fields that it has, of which those that the type lost are
 * dropped when the record is read. Fields whose adding was taken back are left out: later ones may have their ids.
 */
export function writeThing(out: ByteWriter, thing: Thing, store: ThingMemory, sink: PageSink): void {
  const home = store.homeOf(thing);
  home?.freeze(sink);
  out.varint(thing.refs);
  const properties = store.propertyPagesOf(thing, sink);
  if (properties !== null) {
    out.text(PAGED_HEAD + headOf(thing));
    properties.write(out, sink);
  } else writeAll(out, thing, store, sink);
  store.homeOf(thing)?.values?.endRecord(sink);
}

/** Writes the properties into the first record. */
function writeAll(out: ByteWriter, thing: Thing, store: ThingMemory, sink: PageSink): void {
  out.text(headOf(thing));
  const { fields, size, stale } = thing.shape;
  const undone = stale === null ? 0 : fields.filter(({ mark }) => mark.isUndone).length;
  const successor = successorIn(thing);
  out.varint(size - undone + (successor === null ? 0 : 1));
  for (const [key, slot] of thing.shape.index) {
    const field = fields[slot];
    if (field?.mark.isUndone === true) continue;
    if (field === undefined) out.text(key);
    else out.varint(field.id);
    writeStored(out, key, thing.slots[slot] as Value, thing, store, null, sink);
  }
  if (successor === null) return;
  out.varint(successor.id);
  writeStored(out, successor.name, thing.slots[successor.slot] ?? null, thing, store, null, sink);
}

/** The successor of a field of which an instance has a value; null for none. */
function successorIn({ shape: { successor }, slots }: Thing): Field | null {
  return successor === null || successor.mark.isUndone || slots.length <= successor.slot ? null : successor;
}

/**
 * Fills a stub from its record, and from its pages, if it has some.
 *
 * @param charge told of each page before it is read; may throw, and what was read until then is not read again
 */
export function readThing(input: ByteReader, thing: Thing, store: ThingMemory, charge: Charge): void {
  thing.refs = input.varint();
  const type = readTypeHead(input);
  if (type >= 0) {
    readFields(input, input.varint(), thing, store.schema.type(type), store);
    return;
  }
  const head = input.text();
  if (!head.startsWith(PAGED_HEAD)) {
    readPropertiesOf(head, input, thing, store);
    return;
  }
  const home = store.pagesOf(thing);
  const restriction = Restriction.read(head.slice(PAGED_HEAD.length), store.schema);
  home.properties = PropertyPages.read(input, store.shapes.empty(restriction).own(), thing, home, charge);
}

/** The head and the properties, as in the effect that stores a new thing. */
export function writeProperties(out: ByteWriter, thing: Thing): void {
  out.text(headOf(thing));
  out.varint(thing.shape.size);
  let from = out.length;
  const { keys, index, type, fields } = thing.shape;
  if (type !== null) {
    for (let i = 0; i < fields.length; i++) {
      out.varint(fields[i]!.id);
      writeValue(out, thing.slots[i] as Value);
      from = noteProgress(out, from);
    }
  } else if (keys === null) {
    for (const [key, slot] of index) {
      writeProperty(out, key, thing.slots[slot] as Value);
      from = noteProgress(out, from);
    }
  } else {
    for (let i = 0; i < keys.length; i++) {
      writeProperty(out, keys[i]!, thing.slots[i] as Value);
      from = noteProgress(out, from);
    }
  }
}

function writeProperty(out: ByteWriter, key: string, value: Value): void {
  out.text(key);
  writeValue(out, value);
}

export function readProperties(input: ByteReader, thing: Thing, store: ThingMemory): void {
  const type = readTypeHead(input);
  if (type >= 0) readFields(input, input.varint(), thing, store.schema.type(type), store);
  else readPropertiesOf(input.text(), input, thing, store);
}

/** Reads past what `writeProperties` wrote, and calls `visit` with the id of each thing that the properties refer to. */
export function visitThingsOfNew(input: ByteReader, visit: (id: number) => void): void {
  const isPlain = readTypeHead(input) < 0;
  if (isPlain) input.skipBlob();
  for (let left = input.varint(); left > 0; left--) {
    if (isPlain) input.skipBlob();
    else input.varint();
    visitThings(input, visit);
  }
}

/** The properties of a plain thing. */
function readPropertiesOf(head: string, input: ByteReader, thing: Thing, store: ThingMemory): void {
  const count = input.varint();
  let shape = store.shapes.empty(Restriction.read(head, store.schema));
  const slots = new Array<Value>(count);
  for (let i = 0; i < count; i++) {
    // Mostly the keys are those of the thing that was read before, and need not be decoded.
    const likely = shape.lastKey;
    const key = likely !== null && input.takeText(likely) ? likely : input.text();
    shape = shape.with(key, i);
    slots[i] = readStored(input, key, thing, store, null);
  }
  thing.shape = shape;
  thing.slots = slots;
}

/** The values of an instance, for its type as it is now: the record may be older than the type's last change. */
function readFields(input: ByteReader, count: number, thing: Thing, type: Type, store: ThingMemory): void {
  const { shape } = type;
  if (shape === null) throw new FormatError(`thing ${thing.id} is an instance of a type that is not there`);
  const { fields } = shape;
  const slots = new Array<Value>(fields.length);
  // Mostly the fields are the same in the same order.
  let read = 0;
  for (; read < count; read++) {
    const field = fields[read];
    if (field === undefined || !input.takeVarint(field.id)) break;
    slots[read] = readStored(input, field.name, thing, store, null);
  }
  const isSame = read === count && count === fields.length;
  thing.slots = isSame ? slots : readOtherFields(input, count, slots.slice(0, read), thing, type, store);
  thing.shape = shape;
}

/**
 * The values of an instance whose record was written for another form of its type.
 *
 * @param first those of the first fields, which are read already
 */
function readOtherFields(
  input: ByteReader,
  count: number,
  first: readonly Value[],
  thing: Thing,
  type: Type,
  store: ThingMemory,
): Value[] {
  const { fields = [], successor = null } = type.shape ?? {};
  const values: (Value | undefined)[] = [...first];
  const rescue = type.rescue?.deref();
  for (let i = first.length; i < count; i++) {
    const id = input.varint();
    const field = successor?.id === id ? successor : fields.find((other) => other.id === id);
    const value = readStored(input, field?.name ?? `=${id}`, thing, store, null);
    if (field !== undefined) values[field.slot] = value;
    else if (rescue !== undefined) rescueValue(thing, id, value, rescue);
  }
  const slots = fields.map((field) => {
    const value = values[field.slot];
    return value === undefined ? missingValue(thing, field, rescue) : value;
  });
  const succeeding = successor === null ? undefined : values[successor.slot];
  return succeeding === undefined ? slots : [...slots, succeeding];
}

/** The character in front of the id of a type, in the head of an instance. */
export const INSTANCE_HEAD = '=';

function headOf({ shape, restriction }: Thing): string {
  return shape.type === null ? (restriction?.stored ?? '') : `${INSTANCE_HEAD}${shape.type.id}`;
}

/** Reads the head of an instance, without making a text of it: the id of its type; -1, and nothing is read, for a plain thing. */
function readTypeHead(input: ByteReader): number {
  return input.takeNumberedText(INSTANCE_HEAD);
}
