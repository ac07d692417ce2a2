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
 */
import { type ByteReader, type ByteWriter, FormatError } from '../bytes.js';
import { fromStored } from '../datetime/index.js';
import { compileRegex } from '../regex/index.js';
import { Closure } from '../value/closure.js';
import { List, ThingSet, toItem } from '../value/containers.js';
import { DateTimeValue } from '../value/datetime-value.js';
import { toIntValue } from '../value/numbers.js';
import { RegexValue } from '../value/regex-value.js';
import { Bytes, ErrorValue, Float, MpData } from '../value/scalars.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';

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
} as const;

const ZIGZAG_MAX = 2 ** 52 - 1;

/** Finds or makes the thing of an id that a value mentions. */
export type ThingOfId = (id: number) => Thing;

/** Writes a value. Things in it must be stored and closures in their stored form. */
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

function writeObject(
  out: ByteWriter,
  value: Exclude<Value, null | string | number | bigint | boolean>,
): void {
  if (value instanceof Thing) {
    out.u8(Code.THING);
    out.varint(value.id);
  } else if (value instanceof Float) {
    out.u8(Code.FLOAT);
    out.f64(value.value);
  } else if (value instanceof List) {
    writeListHead(out, value.length, value.tuple);
    for (const item of value.items) writeValue(out, item);
  } else if (value instanceof ThingSet) {
    out.u8(Code.SET);
    out.varint(value.members.size);
    for (const thing of value.members) out.varint(thing.id);
  } else if (value instanceof Bytes) {
    out.u8(Code.BYTES);
    out.blob(value.data);
  } else if (value instanceof DateTimeValue) {
    writeDateTime(out, value);
  } else if (value instanceof RegexValue) {
    out.u8(Code.REGEX);
    out.text(value.pattern);
    out.text(value.flags);
  } else if (value instanceof ErrorValue) {
    out.u8(Code.ERROR);
    out.zigzag(value.code);
    out.text(value.message);
  } else if (value instanceof Closure) {
    out.u8(Code.CLOSURE);
    out.text(value.store());
  } else {
    out.u8(Code.MPDATA);
    out.blob(value.data);
  }
}

/** What stands before the items of a list. */
export function writeListHead(out: ByteWriter, length: number, isTuple = false): void {
  out.u8(isTuple ? Code.TUPLE : Code.LIST);
  out.varint(length);
}

function writeDateTime(out: ByteWriter, value: DateTimeValue): void {
  const { kind, moment, zone, offsetMinutes } = value.time;
  out.u8(Code.DATETIME);
  out.u8(kind === 'datetime' ? 0 : 1);
  out.i64(BigInt(moment));
  out.text(zone?.name ?? '');
  out.zigzag(offsetMinutes);
}

export function readValue(input: ByteReader, thingOfId: ThingOfId): Value {
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
      return readList(input, thingOfId, code === Code.TUPLE);
    case Code.SET:
      return readSet(input, thingOfId);
    case Code.THING:
      return thingOfId(input.varint());
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
      input.bytes(8);
      return;
    case Code.STR:
    case Code.BYTES:
    case Code.CLOSURE:
    case Code.MPDATA:
      input.bytes(input.varint());
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
      input.bytes(input.varint());
      input.bytes(input.varint());
      return;
    case Code.DATETIME:
      input.bytes(9);
      input.bytes(input.varint());
      input.varint();
      return;
    case Code.ERROR:
      input.varint();
      input.bytes(input.varint());
      return;
    default:
      throw new FormatError(`unknown value code ${code} at byte ${input.offset - 1}`);
  }
}

function readList(input: ByteReader, thingOfId: ThingOfId, tuple: boolean): List {
  const count = input.varint();
  if (count > input.remaining) throw new FormatError(`list of ${count} items in ${input.remaining} bytes`);
  const list = new List(new Array<Value>(count), tuple);
  for (let i = 0; i < count; i++) list.items[i] = toItem(readValue(input, thingOfId), list);
  return list;
}

function readSet(input: ByteReader, thingOfId: ThingOfId): ThingSet {
  const count = input.varint();
  if (count > input.remaining) throw new FormatError(`set of ${count} things in ${input.remaining} bytes`);
  const set = new ThingSet();
  for (let i = 0; i < count; i++) set.members.add(thingOfId(input.varint()));
  return set;
}

function readDateTime(input: ByteReader): DateTimeValue {
  const kind = input.u8() === 0 ? 'datetime' : 'timeval';
  const moment = toIntValue(input.i64());
  const zone = input.text();
  return new DateTimeValue(fromStored(kind, moment, zone, input.zigzag()));
}
