/**
 * The record of a thing.
 *
 *   thing       := refs:varint restriction:text count:varint property*
 *   property    := key:text value
 *                | key:text 18 list           a list in pieces, see `pieces.ts`
 *                | key:text 19 part:varint    a large value, see `apart.ts`
 *
 * `value` is described in `value-codec.ts`. Effects that store new things have the same properties, all of them whole.
 */
import { ByteReader, ByteWriter, FormatError } from '../bytes.js';
import { List } from '../value/containers.js';
import type { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { APART, liesApart, type PartSink } from './apart.js';
import { readRecord } from './large-record.js';
import { Pieces, readTable } from './pieces.js';
import { RecordKind, type RecordSource } from './records.js';
import type { Store } from './store.js';
import { readValue, visitThings, writeListHead, writeValue } from './value-codec.js';

/** The code of a list in pieces, beside those of values. */
const PIECES = 0x18;

/** Writes the record of a thing; what of it lies in records of its own goes to `sink`. */
export function writeThing(out: ByteWriter, thing: Thing, store: Store, sink: PartSink): void {
  out.varint(thing.refs);
  out.text(thing.shape.restriction ?? '');
  out.varint(thing.shape.size);
  for (const [key, slot] of thing.shape.index) {
    const value = thing.slots[slot] as Value;
    out.text(key);
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
export function readThing(record: Uint8Array, thing: Thing, store: Store): void {
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
  input.bytes(input.varint());
  for (let count = input.varint(); count > 0; count--) {
    input.bytes(input.varint());
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

/**
 * What a thing holds, in a row of bytes that is the same wherever it holds the same: each node cuts large lists into pieces
 * of its own, and has numbers of its own for the records of large values.
 *
 * @throws FormatError
 */
export function* sharedThing(id: number, source: RecordSource): Generator<Uint8Array, void, undefined> {
  const read = (part: number): Uint8Array => {
    const found = readRecord(source, RecordKind.THING, id, part);
    if (found === undefined) throw new FormatError(`record ${part} of thing ${id} is missing`);
    return found.value;
  };
  const record = read(0);
  const input = new ByteReader(record);
  input.varint();
  input.bytes(input.varint());
  let from = 0;
  for (let count = input.varint(); count > 0; count--) {
    input.bytes(input.varint());
    if (input.peek() === APART) {
      yield record.subarray(from, input.offset);
      input.u8();
      yield read(input.varint());
      from = input.offset;
      continue;
    }
    if (input.peek() !== PIECES) {
      visitThings(input, () => {});
      continue;
    }
    yield record.subarray(from, input.offset);
    input.u8();
    const { parts, items } = readTable(input);
    // As it would stand in the record in one piece.
    const head = new ByteWriter(16);
    writeListHead(head, items);
    yield head.take();
    for (const part of parts) yield read(part);
    from = input.offset;
  }
  yield record.subarray(from);
}

/** The restriction and the properties, as in the effect that stores a new thing. */
export function writeProperties(out: ByteWriter, thing: Thing): void {
  out.text(thing.shape.restriction ?? '');
  out.varint(thing.shape.size);
  const { keys, index } = thing.shape;
  if (keys === null) {
    for (const [key, slot] of index) writeProperty(out, key, thing.slots[slot] as Value);
  } else {
    for (let i = 0; i < keys.length; i++) writeProperty(out, keys[i] as string, thing.slots[i] as Value);
  }
}

function writeProperty(out: ByteWriter, key: string, value: Value): void {
  out.text(key);
  writeValue(out, value);
}

export function readProperties(input: ByteReader, thing: Thing, store: Store): void {
  const restriction = input.text();
  const count = input.varint();
  let shape = store.shapes.empty(restriction === '' ? null : restriction);
  const slots = new Array<Value>(count);
  const thingOfId = (id: number): Thing => store.thingOfId(id);
  for (let i = 0; i < count; i++) {
    const key = input.text();
    shape = shape.with(key, i);
    if (input.peek() === PIECES) {
      input.u8();
      slots[i] = Pieces.read(input, thing, store);
    } else if (input.peek() === APART) {
      input.u8();
      slots[i] = readApart(input, key, thing, store);
    } else {
      slots[i] = readValue(input, thingOfId);
    }
  }
  thing.shape = shape;
  thing.slots = slots;
}

function readApart(input: ByteReader, key: string, thing: Thing, store: Store): Value {
  const part = input.varint();
  const value = readValue(new ByteReader(store.readPart(thing, part)), (id) => store.thingOfId(id));
  store.makeApart(thing).found(key, part, value);
  return value;
}

/** The pieces of a list that has or should have them, else null. */
function piecesOf(list: List, owner: Thing, store: Store): Pieces | null {
  if (list.backing instanceof Pieces) return list.backing;
  return Pieces.suit(list) ? Pieces.cut(list, owner, store) : null;
}
