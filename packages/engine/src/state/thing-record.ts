/**
 * The record of a thing.
 *
 *   thing       := refs:varint head:text count:varint property*
 *   property    := key value
 *                | key 18 list           a list in pieces, see `pieces.ts`
 *                | key 19 part:varint    a large value, see `apart.ts`
 *   key         := key:text              of a plain thing, whose head is its restriction, empty for none
 *                | field:varint          of an instance, whose head is `=` and the id of its type
 *
 * `value` is described in `value-codec.ts`. Effects that store new things have the same properties, all of them whole.
 */
import { ByteReader, ByteWriter, FormatError } from '../bytes.js';
import type { Catalog } from '../schema/catalog.js';
import { Restriction } from '../schema/restriction.js';
import type { Field, Rescue, Type } from '../schema/type.js';
import { List } from '../value/containers.js';
import type { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { APART, liesApart, type PartSink } from './apart.js';
import { readRecord } from './large-record.js';
import type { ThingMemory } from './memory.js';
import { missingValue, rescueValue } from './migrate.js';
import { Pieces, readTable } from './pieces.js';
import { RecordKind, type RecordSource } from './records.js';
import { readValue, visitThings, writeListHead, writeValue } from './value-codec.js';

/** The code of a list in pieces, beside those of values. */
const PIECES = 0x18;

/** Writes the record of a thing; what of it lies in records of its own goes to `sink`. */
export function writeThing(out: ByteWriter, thing: Thing, store: ThingMemory, sink: PartSink): void {
  out.varint(thing.refs);
  out.text(headOf(thing));
  out.varint(thing.shape.size);
  const { fields } = thing.shape;
  for (const [key, slot] of thing.shape.index) {
    const value = thing.slots[slot] as Value;
    const field = fields[slot];
    if (field === undefined) out.text(key);
    else out.varint(field.id);
    const pieces = value instanceof List ? piecesOf(value, thing, store) : null;
    if (pieces !== null) {
      out.u8(PIECES);
      pieces.write(out, sink);
    } else if (liesApart(value)) {
      out.u8(APART);
      out.varint(store.makeApart(thing).write(key, value, sink));
    } else {
      writeValue(out, value);
    }
  }
  store.apartOf(thing)?.finish(sink);
}

/** Fills a stub. */
export function readThing(record: Uint8Array, thing: Thing, store: ThingMemory): void {
  const input = new ByteReader(record);
  thing.refs = input.varint();
  readProperties(input, thing, store);
}

/**
 * Calls `visit` with the id of each thing that the record of a thing refers to.
 *
 * @param readPiece gives the record of a piece of one of its lists
 */
export function visitThingsOfRecord(
  record: Uint8Array,
  visit: (id: number) => void,
  readPiece: (part: number) => Uint8Array,
): void {
  const input = new ByteReader(record);
  input.varint();
  const isInstance = typeOfHead(input.text()) !== null;
  for (let count = input.varint(); count > 0; count--) {
    skipKey(input, isInstance);
    if (input.peek() === APART) {
      input.u8();
      input.varint();
      continue;
    }
    if (input.peek() !== PIECES) {
      visitThings(input, visit);
      continue;
    }
    input.u8();
    for (const part of readTable(input).parts) {
      const piece = new ByteReader(readPiece(part));
      while (piece.remaining > 0) visitThings(piece, visit);
    }
  }
}

/** A text without characters, as records hold it. */
const EMPTY_TEXT = Uint8Array.of(0);

/**
 * What a thing holds, in a row of bytes that is the same wherever it holds the same: each node cuts large lists into pieces
 * of its own, and has numbers of its own for the records of large values; an instance that was not touched since its type
 * changed has a record of before, and so has a thing whose restriction ended with the type or enum that it names.
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
  let from = 0;
  if (Restriction.read(head, schema)?.inForce === false) {
    yield record.subarray(0, headStart);
    yield EMPTY_TEXT;
    from = input.offset;
  }
  for (let count = input.varint(); count > 0; count--) {
    skipKey(input, false);
    const value = placeOfValue(input);
    if (value.kind === 'inside') continue;
    yield record.subarray(from, value.start);
    yield* sharedValue(record, value, read);
    from = input.offset;
  }
  yield record.subarray(from);
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

/** Where a value lies: in the record, in one of its own, or in pieces. */
type PlaceOfValue =
  | { readonly kind: 'inside'; readonly start: number; readonly end: number }
  | { readonly kind: 'apart'; readonly start: number; readonly part: number }
  | {
      readonly kind: 'pieces';
      readonly start: number;
      readonly parts: readonly number[];
      readonly items: number;
    };

function placeOfValue(input: ByteReader): PlaceOfValue {
  const start = input.offset;
  switch (input.peek()) {
    case APART:
      input.u8();
      return { kind: 'apart', start, part: input.varint() };
    case PIECES:
      input.u8();
      return { kind: 'pieces', start, ...readTable(input) };
    default:
      visitThings(input, () => {});
      return { kind: 'inside', start, end: input.offset };
  }
}

/** A value as it would stand in the record in one piece. */
function* sharedValue(
  record: Uint8Array,
  place: PlaceOfValue,
  read: (part: number) => Uint8Array,
): Generator<Uint8Array, void, undefined> {
  switch (place.kind) {
    case 'inside':
      yield record.subarray(place.start, place.end);
      return;
    case 'apart':
      yield read(place.part);
      return;
    case 'pieces': {
      const head = new ByteWriter(16);
      writeListHead(head, place.items);
      yield head.take();
      for (const part of place.parts) yield read(part);
    }
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
  const head = input.text();
  const count = input.varint();
  const type = typeOfHead(head);
  if (type !== null) {
    readFields(input, count, thing, store.schema.type(type), store);
    return;
  }
  let shape = store.shapes.empty(Restriction.read(head, store.schema));
  const slots = new Array<Value>(count);
  for (let i = 0; i < count; i++) {
    const key = input.text();
    shape = shape.with(key, i);
    slots[i] = readProperty(input, key, thing, store);
  }
  thing.shape = shape;
  thing.slots = slots;
}

/** The values of an instance, for its type as it is now: the record may be older than the type's last change. */
function readFields(input: ByteReader, count: number, thing: Thing, type: Type, store: ThingMemory): void {
  const { shape } = type;
  if (shape === null) throw new FormatError(`thing ${thing.id} is an instance of a type that is not there`);
  const { fields } = shape;
  const slots = new Array<Value | undefined>(fields.length).fill(undefined);
  const rescue = type.rescue?.deref();
  for (let i = 0; i < count; i++) {
    const id = input.varint();
    // Mostly the fields are the same in the same order.
    const field = fields[i]?.id === id ? fields[i] : fields.find((other) => other.id === id);
    const value = readProperty(input, field?.name ?? `=${id}`, thing, store);
    if (field !== undefined) slots[field.slot] = value;
    else if (rescue !== undefined) rescueValue(thing, id, value, rescue);
  }
  thing.slots = slots.map((value, i) => value ?? missing(thing, fields[i], value, rescue));
  thing.shape = shape;
}

function missing(
  thing: Thing,
  field: Field | undefined,
  value: Value | undefined,
  rescue: Rescue | undefined,
): Value {
  if (value === null || field === undefined) return null;
  return missingValue(thing, field, rescue);
}

function readProperty(input: ByteReader, key: string, thing: Thing, store: ThingMemory): Value {
  switch (input.peek()) {
    case PIECES:
      input.u8();
      return Pieces.read(input, thing, store);
    case APART:
      input.u8();
      return readApart(input, key, thing, store);
    default:
      return readValue(input, store);
  }
}

function headOf({ shape, restriction }: Thing): string {
  return shape.type === null ? (restriction?.stored ?? '') : `=${shape.type.id}`;
}

/** The id of the type that a head names; null for that of a plain thing. */
function typeOfHead(head: string): number | null {
  return head.startsWith('=') ? Number(head.slice(1)) : null;
}

function skipKey(input: ByteReader, isInstance: boolean): void {
  if (isInstance) input.varint();
  else input.bytes(input.varint());
}

function readApart(input: ByteReader, key: string, thing: Thing, store: ThingMemory): Value {
  const part = input.varint();
  const value = readValue(new ByteReader(store.readPart(thing, part)), store);
  store.makeApart(thing).found(key, part, value);
  return value;
}

/** The pieces of a list that has or should have them, else null. */
function piecesOf(list: List, owner: Thing, store: ThingMemory): Pieces | null {
  if (list.backing instanceof Pieces) return list.backing;
  return Pieces.suit(list) ? Pieces.cut(list, owner, store) : null;
}
