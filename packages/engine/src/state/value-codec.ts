/**
 * Values in effects and in records.
 *
 *   value    := 00                                   nil
 *             | 01 | 02                              false, true
 *             | 03 zigzag                            int, |n| < 2^52
 *             | 04 i64                               any other int
 *             | 05 f64                               float
 *             | 06 text                              str
 *             | 07 blob                              bytes
 *             | 08 count:varint value*               list (tuples inside it are 09)
 *             | 09 count:varint value*               tuple
 *             | 0a count:varint id:varint*           set
 *             | 0b id:varint                         thing, by id
 *             | 0c pattern:text flags:text           regex
 *             | 0d kind:u8 moment:i64 zone:text offset:zigzag    datetime (kind 0) or timeval (kind 1)
 *             | 0e code:zigzag message:text          error
 *             | 0f source:text                       closure, stored form
 *             | 10 blob                              mpdata
 *             | 11 enum:varint member:varint         member of an enum
 *             | 12 thing:varint type:varint          wrap by a type
 *             | 13 thing:varint structure            wrap by an anonymous type
 *             | 14 structure                         anonymous type
 *             | 15 id:varint                         task, by id; 0: an empty one
 *             | 16 id:varint                         room, by id
 *
 * `structure` is described in `schema/structure.ts`.
 */

import { fromStored } from '@althing/datetime';
import { compileRegex } from '@althing/regex';
import { type ByteReader, type ByteWriter, FormatError } from '../bytes.js';
import type { EnumType } from '../schema/enum.js';
import { anonymousOf, readStructure, writeStructure } from '../schema/structure.js';
import type { Type } from '../schema/type.js';
import { Closure } from '../value/closure.js';
import { List, ThingSet, toItem } from '../value/containers.js';
import { DateTimeValue } from '../value/datetime-value.js';
import type { AnyKind, KindColumn, ObjectValue } from '../value/kinds.js';
import { toIntValue } from '../value/numbers.js';
import { RegexValue } from '../value/regex-value.js';
import type { Room } from '../value/room.js';
import { Bytes, ErrorValue, Float, MpData } from '../value/scalars.js';
import { Tag } from '../value/tag.js';
import type { Task } from '../value/task.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { Anonymous, Wrap } from '../value/wrap.js';

const Code = {
  NIL: 0x00,
  FALSE: 0x01,
  TRUE: 0x02,
  INT: 0x03,
  BIG: 0x04,
  FLOAT: 0x05,
  STR: 0x06,
  BYTES: 0x07,
  LIST: 0x08,
  TUPLE: 0x09,
  SET: 0x0a,
  THING: 0x0b,
  REGEX: 0x0c,
  DATETIME: 0x0d,
  ERROR: 0x0e,
  CLOSURE: 0x0f,
  MPDATA: 0x10,
  MEMBER: 0x11,
  WRAP: 0x12,
  ANONYMOUS_WRAP: 0x13,
  ANONYMOUS: 0x14,
  TASK: 0x15,
  ROOM: 0x16,
} as const;

const ZIGZAG_MAX = 2 ** 52 - 1;

/** Finds or makes what a value mentions by id. */
export interface References {
  thingOfId(id: number): Thing;
  typeOf(id: number): Type;
  enumOf(id: number): EnumType;
  taskOf(id: number): Task;
  roomOf(id: number): Room;
  /** Called with the length of each list and set before it is made, where the writer of the bytes is not trusted. */
  noteItems?(count: number): void;
}

/** Writes a value. Things and rooms in it must be stored and closures in their stored form. */
export function writeValue(out: ByteWriter, value: Value): void {
  switch (typeof value) {
    case 'string':
      out.u8(Code.STR);
      out.text(value);
      return;
    case 'number':
      if (value <= ZIGZAG_MAX && value >= -ZIGZAG_MAX) {
        out.u8(Code.INT);
        out.zigzag(value);
      } else {
        out.u8(Code.BIG);
        out.i64(BigInt(value));
      }
      return;
    case 'bigint':
      out.u8(Code.BIG);
      out.i64(value);
      return;
    case 'boolean':
      out.u8(value ? Code.TRUE : Code.FALSE);
      return;
    default:
      if (value === null) out.u8(Code.NIL);
      else writeObject(out, value);
  }
}

function writeObject(out: ByteWriter, value: ObjectValue): void {
  if (value instanceof Thing) writeThing(value, out);
  else if (value instanceof Float) writeFloat(value, out);
  else WRITERS[value.tag](value, out);
}

function writeThing({ id }: Thing, out: ByteWriter): void {
  writeReference(out, id);
}

/** Writes a thing as a value. */
export function writeReference(out: ByteWriter, id: number): void {
  out.u8(Code.THING);
  out.varint(id);
}

function writeFloat({ value }: Float, out: ByteWriter): void {
  out.u8(Code.FLOAT);
  out.f64(value);
}

function writeList(list: List, out: ByteWriter): void {
  writeListHead(out, list.length, list.tuple);
  writeValues(out, list.items);
}

/**
 * Tells who watches when much was written, between two of many values, each of which may be large.
 *
 * @param from the length at the last look
 * @returns the length at the last look from now on
 */
export function noteProgress(out: ByteWriter, from: number): number {
  if (out.length - from <= BYTES_AT_ONCE) return from;
  out.watcher?.noteWritten(from);
  return out.length;
}

/** Writes values one behind the other. */
export function writeValues(out: ByteWriter, values: readonly Value[]): void {
  let from = out.length;
  let left = VALUES_AT_ONCE;
  for (const value of values) {
    from = noteProgress(out, from);
    if (left === 0) {
      out.watcher?.noteWritten(from);
      left = VALUES_AT_ONCE;
    }
    left -= 1;
    writeValue(out, value);
  }
}

/** Values that are written between two looks of who watches, and about how many bytes. */
const VALUES_AT_ONCE = 1024;
const BYTES_AT_ONCE = 1 << 20;

/** The writer of each kind of object; read by `readValue`, and passed over by `visitThings`. */
const WRITERS: AnyKind<[out: ByteWriter], void> = {
  [Tag.FLOAT]: writeFloat,
  [Tag.BYTES]: ({ data }, out) => {
    out.u8(Code.BYTES);
    out.blob(data);
  },
  [Tag.REGEX]: ({ pattern, flags }, out) => {
    out.u8(Code.REGEX);
    out.text(pattern);
    out.text(flags);
  },
  [Tag.DATETIME]: writeDateTime,
  [Tag.TIMEVAL]: writeDateTime,
  [Tag.ERROR]: ({ code, message }, out) => {
    out.u8(Code.ERROR);
    out.zigzag(code);
    out.text(message);
  },
  [Tag.CLOSURE]: (closure, out) => {
    out.u8(Code.CLOSURE);
    out.text(closure.store());
  },
  [Tag.LIST]: writeList,
  [Tag.TUPLE]: writeList,
  [Tag.SET]: ({ members }, out) => {
    out.u8(Code.SET);
    out.varint(members.size);
    for (const thing of members) out.varint(thing.id);
  },
  [Tag.THING]: writeThing,
  [Tag.MPDATA]: ({ data }, out) => {
    out.u8(Code.MPDATA);
    out.blob(data);
  },
  [Tag.MEMBER]: (member, out) => {
    out.u8(Code.MEMBER);
    out.varint(member.enum.id);
    out.varint(member.id);
  },
  [Tag.WRAP]: writeWrap,
  [Tag.ANONYMOUS]: ({ structure }, out) => {
    out.u8(Code.ANONYMOUS);
    writeStructure(out, structure);
  },
  // It is nil wherever it is put.
  [Tag.FUTURE]: (_future, out) => out.u8(Code.NIL),
  [Tag.TASK]: ({ id }, out) => {
    out.u8(Code.TASK);
    out.varint(id);
  },
  [Tag.MODULE]: (_module, out) => out.u8(Code.NIL),
  [Tag.ROOM]: ({ id }, out) => {
    out.u8(Code.ROOM);
    out.varint(id);
  },
} satisfies KindColumn<[out: ByteWriter], void>;

function writeWrap({ thing, by }: Wrap, out: ByteWriter): void {
  const isAnonymous = by instanceof Anonymous;
  out.u8(isAnonymous ? Code.ANONYMOUS_WRAP : Code.WRAP);
  out.varint(thing.id);
  if (isAnonymous) writeStructure(out, by.structure);
  else out.varint(by.id);
}

/** The head of a list, before its items. */
export function writeListHead(out: ByteWriter, length: number, isTuple = false): void {
  out.u8(isTuple ? Code.TUPLE : Code.LIST);
  out.varint(length);
}

function writeDateTime({ time }: DateTimeValue, out: ByteWriter): void {
  const { kind, moment, zone, offsetMinutes } = time;
  out.u8(Code.DATETIME);
  out.u8(kind === 'datetime' ? 0 : 1);
  out.i64(BigInt(moment));
  out.text(zone?.name ?? '');
  out.zigzag(offsetMinutes);
}

export function readValue(input: ByteReader, known: References): Value {
  const code = input.u8();
  switch (code) {
    case Code.NIL:
      return null;
    case Code.FALSE:
      return false;
    case Code.TRUE:
      return true;
    case Code.INT:
      return input.zigzag();
    case Code.BIG:
      return toIntValue(input.i64());
    case Code.FLOAT:
      return new Float(input.f64());
    case Code.STR:
      return input.text();
    case Code.BYTES:
      return new Bytes(input.blob());
    case Code.LIST:
    case Code.TUPLE:
      return readList(input, known, code === Code.TUPLE);
    case Code.SET:
      return readSet(input, known);
    case Code.THING:
      return known.thingOfId(input.varint());
    case Code.REGEX: {
      const pattern = input.text();
      const flags = input.text();
      return new RegexValue(pattern, flags, compileRegex(pattern, flags));
    }
    case Code.DATETIME:
      return readDateTime(input);
    case Code.ERROR:
      return new ErrorValue(input.zigzag(), input.text());
    case Code.CLOSURE: {
      const source = input.text();
      return new Closure(source, null, source);
    }
    case Code.MPDATA:
      return new MpData(input.blob());
    case Code.MEMBER:
      return known.enumOf(input.varint()).member(input.varint());
    case Code.WRAP:
      return new Wrap(known.thingOfId(input.varint()), known.typeOf(input.varint()));
    case Code.ANONYMOUS_WRAP:
      return new Wrap(known.thingOfId(input.varint()), anonymousOf(readStructure(input)));
    case Code.ANONYMOUS:
      return anonymousOf(readStructure(input));
    case Code.TASK:
      return known.taskOf(input.varint());
    case Code.ROOM:
      return known.roomOf(input.varint());
    default:
      throw new FormatError(`unknown value code ${code} at byte ${input.offset - 1}`);
  }
}

/** Reads past a value, and calls `visit` with the id of each thing that it refers to. */
export function visitThings(input: ByteReader, visit: (id: number) => void): void {
  const code = input.u8();
  switch (code) {
    case Code.NIL:
    case Code.FALSE:
    case Code.TRUE:
      return;
    case Code.INT:
      input.varint();
      return;
    case Code.BIG:
    case Code.FLOAT:
      input.skip(8);
      return;
    case Code.STR:
    case Code.BYTES:
    case Code.CLOSURE:
    case Code.MPDATA:
      input.skipBlob();
      return;
    case Code.LIST:
    case Code.TUPLE:
      for (let count = input.varint(); count > 0; count--) visitThings(input, visit);
      return;
    case Code.SET:
      for (let count = input.varint(); count > 0; count--) visit(input.varint());
      return;
    case Code.THING:
      visit(input.varint());
      return;
    case Code.REGEX:
      input.skipBlob();
      input.skipBlob();
      return;
    case Code.DATETIME:
      input.skip(9);
      input.skipBlob();
      input.varint();
      return;
    case Code.ERROR:
      input.varint();
      input.skipBlob();
      return;
    case Code.MEMBER:
      input.varint();
      input.varint();
      return;
    case Code.WRAP:
      visit(input.varint());
      input.varint();
      return;
    case Code.ANONYMOUS_WRAP:
      visit(input.varint());
      readStructure(input);
      return;
    case Code.ANONYMOUS:
      readStructure(input);
      return;
    case Code.TASK:
    case Code.ROOM:
      input.varint();
      return;
    default:
      throw new FormatError(`unknown value code ${code} at byte ${input.offset - 1}`);
  }
}

function readList(input: ByteReader, known: References, tuple: boolean): List {
  const count = input.varint();
  if (count > input.remaining) throw new FormatError(`list of ${count} items in ${input.remaining} bytes`);
  known.noteItems?.(count);
  const list = new List(new Array<Value>(count), tuple);
  for (let i = 0; i < count; i++) list.items[i] = toItem(readValue(input, known), list);
  return list;
}

/** True if a set comes next. */
export function isSetNext(input: ByteReader): boolean {
  return input.peek() === Code.SET;
}

/** Reads far enough to say whether the next value refers to nothing: whether it is a scalar, or an empty list or set. */
export function readIsFlat(input: ByteReader): boolean {
  const code = input.u8();
  switch (code) {
    case Code.LIST:
    case Code.SET:
      return input.varint() === 0;
    case Code.TUPLE:
    case Code.THING:
    case Code.MEMBER:
    case Code.WRAP:
    case Code.ANONYMOUS_WRAP:
    case Code.ROOM:
      return false;
    default:
      return code <= Code.ROOM;
  }
}

/** Writes a set of the things with these ids, in that order. */
export function writeSetOf(out: ByteWriter, ids: readonly number[]): void {
  out.u8(Code.SET);
  out.varint(ids.length);
  for (const id of ids) out.varint(id);
}

function readSet(input: ByteReader, known: References): ThingSet {
  const count = input.varint();
  if (count > input.remaining) throw new FormatError(`set of ${count} things in ${input.remaining} bytes`);
  known.noteItems?.(count);
  const set = new ThingSet();
  for (let i = 0; i < count; i++) set.members.add(known.thingOfId(input.varint()));
  return set;
}

function readDateTime(input: ByteReader): DateTimeValue {
  const kind = input.u8() === 0 ? 'datetime' : 'timeval';
  const moment = toIntValue(input.i64());
  const zone = input.text();
  return new DateTimeValue(fromStored(kind, moment, zone, input.zigzag()));
}
