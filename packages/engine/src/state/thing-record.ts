/**
 * The record of a thing.
 *
 *   thing       := refs:varint head:text count:varint property*
 *                | refs:varint head:text ...     of many properties, whose head begins with `*`, see `property-pieces.ts`
 *   property    := key stored            the value, as in `stored-value.ts`
 *   key         := key:text              of a plain thing, whose head is its restriction, empty for none
 *                | field:varint          of an instance, whose head is `=` and the id of its type
 *
 * Effects that store new things have the same properties, all of them whole.
 */
import { ByteReader, ByteWriter, FormatError } from '../bytes.js';
import type { Catalog } from '../schema/catalog.js';
import { Restriction } from '../schema/restriction.js';
import type { Field, Type } from '../schema/type.js';
import type { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import type { Apart, PartSink } from './apart.js';
import { readRecord } from './large-record.js';
import type { ThingMemory } from './memory.js';
import { missingValue, rescueValue } from './migrate.js';
import { PIECED_HEAD, PropertyPieces, sharedPieces, visitPieces } from './property-pieces.js';
import { RecordKind, type RecordSource } from './records.js';
import {
  type PlaceOfValue,
  placeOfValue,
  type ReadPart,
  readStored,
  sharedProperties,
  sharedValue,
  visitStored,
  writeStored,
} from './stored-value.js';
import { writeValue } from './value-codec.js';

/**
 * Writes the record of a thing; what of it lies in records of its own goes to `sink`.
 *
 * An instance that was not touched since its type changed is written with the fields that it has, of which those that the type lost are
 * dropped when the record is read. Fields whose adding was taken back are left out: later ones may have their ids.
 */
export function writeThing(out: ByteWriter, thing: Thing, store: ThingMemory, sink: PartSink): void {
  out.varint(thing.refs);
  out.text(headOf(thing));
  const { fields, size, stale } = thing.shape;
  const undone = stale === null ? 0 : fields.filter(({ mark }) => mark.isUndone).length;
  out.varint(size - undone);
  const apart = (): Apart => store.makeApart(thing);
  for (const [key, slot] of thing.shape.index) {
    const field = fields[slot];
    if (field?.mark.isUndone === true) continue;
    if (field === undefined) out.text(key);
    else out.varint(field.id);
    writeStored(out, key, thing.slots[slot] as Value, thing, store, apart, sink);
  }
  store.apartOf(thing)?.finish(sink);
}

/**
 * Fills a stub from its record.
 *
 * @returns its pieces, if it lies in some
 */
export function readThing(input: ByteReader, thing: Thing, store: ThingMemory): PropertyPieces | null {
  thing.refs = input.varint();
  const type = readTypeHead(input);
  if (type >= 0) {
    readFields(input, input.varint(), thing, store.schema.type(type), store);
    return null;
  }
  const head = input.text();
  if (isPieced(head)) return PropertyPieces.read(head.slice(PIECED_HEAD.length), input, thing, store);
  readPropertiesOf(head, input, thing, store);
  return null;
}

/**
 * Calls `visit` with the id of each thing that the record of a thing refers to.
 *
 * @param readPart gives the records of its parts
 */
export function visitThingsOfRecord(
  record: Uint8Array,
  visit: (id: number) => void,
  readPart: ReadPart,
): void {
  const input = new ByteReader(record);
  input.varint();
  const head = input.text();
  if (isPieced(head)) {
    visitPieces(input, visit, readPart);
    return;
  }
  const isInstance = typeOfHead(head) !== null;
  for (let count = input.varint(); count > 0; count--) {
    if (isInstance) input.varint();
    else input.bytes(input.varint());
    visitStored(input, visit, readPart);
  }
}

/** The head of a thing, as records hold it. */
function textOfHead(head: string): Uint8Array {
  const out = new ByteWriter(16);
  out.text(head);
  return out.take();
}

/**
 * What a thing holds, in a row of bytes that is the same wherever it holds the same: each node cuts large lists and things of many
 * properties into pieces of its own, has numbers of its own for the records of large values, and may have the members of a set in another
 * order; an instance that was not touched since its type changed has a record of before, and so has a thing whose restriction ended with the
 * type or enum that it names.
 *
 * @param schema the types of the collection
 * @throws FormatError
 */
export function* sharedThing(
  id: number,
  source: RecordSource,
  schema: Catalog,
): Generator<Uint8Array, void, undefined> {
  const read = (part: number): Uint8Array => {
    const found = readRecord(source, RecordKind.THING, id, part);
    if (found === undefined) throw new FormatError(`record ${part} of thing ${id} is missing`);
    return found.value;
  };
  const record = read(0);
  const input = new ByteReader(record);
  input.varint();
  const headStart = input.offset;
  const head = input.text();
  const type = typeOfHead(head);
  if (type !== null) {
    yield record.subarray(0, input.offset);
    yield* sharedFields(record, input, schema.type(type), read);
    return;
  }
  const isInPieces = isPieced(head);
  const restriction = isInPieces ? head.slice(PIECED_HEAD.length) : head;
  let from = 0;
  if (isInPieces || Restriction.read(restriction, schema)?.inForce === false) {
    yield record.subarray(0, headStart);
    yield textOfHead(Restriction.read(restriction, schema)?.inForce === false ? '' : restriction);
    from = input.offset;
  }
  if (isInPieces) yield* sharedPieces(input, read);
  else yield* sharedProperties(record, input, input.varint(), from, read);
}

/** The values of an instance for its type as it is now. */
function* sharedFields(
  record: Uint8Array,
  input: ByteReader,
  type: Type,
  read: (part: number) => Uint8Array,
): Generator<Uint8Array, void, undefined> {
  const values = new Map<number, PlaceOfValue>();
  for (let count = input.varint(); count > 0; count--) values.set(input.varint(), placeOfValue(input));
  if (type.def === null) throw new FormatError(`an instance of the type ${type.id}, which is not there`);
  for (const { id, initial } of type.def.fields) {
    const value = values.get(id);
    if (value !== undefined) {
      yield* sharedValue(record, value, read);
      continue;
    }
    const out = new ByteWriter(16);
    writeValue(out, initial);
    yield out.take();
  }
}

/** The head and the properties, as in the effect that stores a new thing. */
export function writeProperties(out: ByteWriter, thing: Thing): void {
  out.text(headOf(thing));
  out.varint(thing.shape.size);
  const { keys, index, type, fields } = thing.shape;
  if (type !== null) {
    for (let i = 0; i < fields.length; i++) {
      out.varint((fields[i] as Field).id);
      writeValue(out, thing.slots[i] as Value);
    }
  } else if (keys === null) {
    for (const [key, slot] of index) writeProperty(out, key, thing.slots[slot] as Value);
  } else {
    for (let i = 0; i < keys.length; i++) writeProperty(out, keys[i] as string, thing.slots[i] as Value);
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

/** The properties of a plain thing. */
function readPropertiesOf(head: string, input: ByteReader, thing: Thing, store: ThingMemory): void {
  const count = input.varint();
  const apart = (): Apart => store.makeApart(thing);
  let shape = store.shapes.empty(Restriction.read(head, store.schema));
  const slots = new Array<Value>(count);
  for (let i = 0; i < count; i++) {
    // Mostly the keys are those of the thing that was read before, and need not be decoded.
    const likely = shape.lastKey;
    const key = likely !== null && input.takeText(likely) ? likely : input.text();
    shape = shape.with(key, i);
    slots[i] = readStored(input, key, thing, store, apart);
  }
  thing.shape = shape;
  thing.slots = slots;
}

/** The values of an instance, for its type as it is now: the record may be older than the type's last change. */
function readFields(input: ByteReader, count: number, thing: Thing, type: Type, store: ThingMemory): void {
  const { shape } = type;
  if (shape === null) throw new FormatError(`thing ${thing.id} is an instance of a type that is not there`);
  const { fields } = shape;
  const apart = (): Apart => store.makeApart(thing);
  const slots = new Array<Value>(fields.length);
  // Mostly the fields are the same in the same order.
  let read = 0;
  for (; read < count; read++) {
    const field = fields[read];
    if (field === undefined || !input.takeVarint(field.id)) break;
    slots[read] = readStored(input, field.name, thing, store, apart);
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
  const fields = type.shape?.fields ?? [];
  const values: (Value | undefined)[] = [...first];
  const rescue = type.rescue?.deref();
  const apart = (): Apart => store.makeApart(thing);
  for (let i = first.length; i < count; i++) {
    const id = input.varint();
    const field = fields.find((other) => other.id === id);
    const value = readStored(input, field?.name ?? `=${id}`, thing, store, apart);
    if (field !== undefined) values[field.slot] = value;
    else if (rescue !== undefined) rescueValue(thing, id, value, rescue);
  }
  return fields.map((field) => {
    const value = values[field.slot];
    return value === undefined ? missingValue(thing, field, rescue) : value;
  });
}

/** The character in front of the id of a type, in the head of an instance. */
const INSTANCE_HEAD = '=';

function headOf({ shape, restriction }: Thing): string {
  return shape.type === null ? (restriction?.stored ?? '') : `${INSTANCE_HEAD}${shape.type.id}`;
}

/** Reads the head of an instance, without making a text of it: the id of its type; -1, and nothing is read, for a plain thing. */
function readTypeHead(input: ByteReader): number {
  return input.takeNumberedText(INSTANCE_HEAD);
}

/** The id of the type that a head names; null for that of a plain thing. */
function typeOfHead(head: string): number | null {
  return head.startsWith(INSTANCE_HEAD) ? Number(head.slice(1)) : null;
}

/** Whether a head is that of a thing in pieces. */
function isPieced(head: string): boolean {
  return head.startsWith(PIECED_HEAD);
}
