/**
 * The table of kinds of objects: one row a kind. A tag without a row, and a row without a column, do not compile.
 *
 * Two columns lie where what they need is: the form in effects and records in `state/value-codec.ts`, what a client gets in
 * `pack/walk.ts`. Each is a `KindColumn`, so that they can't miss a kind either. nil, bool, int and str are bare JavaScript values,
 * which `typeof` tells apart before anybody looks here.
 *
 * Frequent kinds (things, lists, floats) may be decided in front of the table: a tag is read by a call that the compiler can't inline.
 */
import { toIso } from '@althing/datetime';
import type { Closure } from './closure.js';
import { type Charge, chargeFill, List, ThingSet } from './containers.js';
import { DateTimeValue, withDates } from './datetime-value.js';
import type { Member } from './member.js';
import { RegexValue } from './regex-value.js';
import type { Room } from './room.js';
import { compareNumeric, compareRaw, equalBytes, equalNumeric } from './scalar-compare.js';
import { Bytes, ErrorValue, Float, type MpData } from './scalars.js';
import { Tag } from './tag.js';
import type { Task } from './task.js';
import { formatFloat } from './text.js';
import { Thing } from './thing.js';
import { bytesToText } from './utf8.js';
import type { Value } from './value.js';
import { Anonymous, Wrap } from './wrap.js';

export type ObjectValue = Exclude<Value, null | boolean | number | bigint | string>;

export type ObjectTag = Exclude<Tag, typeof Tag.NIL | typeof Tag.BOOL | typeof Tag.INT | typeof Tag.STR>;

/** The objects that can have a tag. */
export type ObjectOf<T extends ObjectTag, V = ObjectValue> = V extends { readonly tag: infer Tags }
  ? T extends Tags
    ? V
    : never
  : never;

/** A function for each kind of object. */
export type KindColumn<Rest extends readonly unknown[], Result> = {
  readonly [T in ObjectTag]: OfKind<ObjectOf<T>, Rest, Result>;
};

/** One of a column, picked by the tag of the object that it is called with. */
export type AnyKind<Rest extends readonly unknown[], Result> = Readonly<
  Record<ObjectTag, OfKind<ObjectValue, Rest, Result>>
>;

/** The type of a method: what takes one kind of object may stand where any is given, since the tag decided before. */
type OfKind<V, Rest extends readonly unknown[], Result> = { of(value: V, ...rest: Rest): Result }['of'];

/** Texts and bytes beyond this length are charged. */
export const LONG_LENGTH = 1000;

/** A row of the table of kinds. */
export interface Kind<V extends ObjectValue> {
  /** The answer of `type(v)` where `nameOf` does not say better. */
  readonly name: string;
  /** The name of the type of one value; null where all have the same. */
  readonly nameOf: { of(value: V): string | null }['of'] | null;
  isTruthy(value: V): boolean;
  /** True if `value == other`. */
  equals(value: V, other: Value, charge: Charge | undefined): boolean;
  /** Negative, zero, positive, or NaN; undefined for what it has no order with. */
  compare(value: V, other: Value): number | undefined;
  /** The answer of `str(v)`; undefined for kinds without a text. */
  text(value: V): string | undefined;
  /** Bytes in memory, roughly, without those of the things that it refers to. */
  bytes(value: V): number;
  /** Calls `visit` for each thing and `visitOther` for whatever else is counted that it refers to; null where there are none. */
  readonly eachReference: { of(value: V, visit: Visit, visitOther?: VisitOther): void }['of'] | null;
}

export type Visit = (thing: Thing) => void;
/** Called for each member of an enum and each room. */
export type VisitOther = (other: Member | Room) => void;

/** Bytes of an object with a few properties that are small. */
const OBJECT_BYTES = 100;
const CONTAINER_BYTES = 120;
/** Bytes of a member in a set, without those of the thing. */
export const BYTES_PER_MEMBER = 40;
const FLOAT_BYTES = 24;

const always = (): boolean => true;
const never = (): boolean => false;
const none = (): undefined => undefined;
const small = (): number => OBJECT_BYTES;
const same = (value: ObjectValue, other: Value): boolean => value === other;

const LIST: Kind<List> = {
  name: 'list',
  nameOf: null,
  isTruthy: (list) => list.length > 0,
  equals: (list, other, charge) => equalLists(list, other, charge),
  compare: none,
  text: none,
  bytes: bytesOfList,
  eachReference: eachReferenceOfList,
};

const DATETIME: Kind<DateTimeValue> = {
  name: 'datetime',
  nameOf: null,
  isTruthy: always,
  equals: ({ time }, other) => other instanceof DateTimeValue && time.moment === other.time.moment,
  compare: ({ time }, other) => {
    if (!(other instanceof DateTimeValue)) return undefined;
    return time.moment < other.time.moment ? -1 : time.moment > other.time.moment ? 1 : 0;
  },
  text: ({ time }) => withDates(() => toIso(time)),
  bytes: small,
  eachReference: null,
};

const KINDS: { readonly [T in ObjectTag]: Kind<ObjectOf<T>> } = {
  [Tag.FLOAT]: {
    name: 'float',
    nameOf: null,
    isTruthy: ({ value }) => value !== 0,
    equals: equalNumeric,
    compare: compareNumeric,
    text: ({ value }) => formatFloat(value),
    bytes: () => FLOAT_BYTES,
    eachReference: null,
  },
  [Tag.BYTES]: {
    name: 'bytes',
    nameOf: null,
    isTruthy: ({ data }) => data.length > 0,
    equals: (bytes, other, charge) => {
      // A str knows how to compare itself with bytes.
      if (typeof other === 'string') return equals(other, bytes, charge);
      if (charge !== undefined && bytes.data.length > LONG_LENGTH) charge(bytes.data.length);
      return other instanceof Bytes && equalBytes(bytes.data, other.data);
    },
    compare: compareRaw,
    text: ({ data }) => bytesToText(data),
    bytes: ({ data }) => CONTAINER_BYTES + data.length,
    eachReference: null,
  },
  [Tag.REGEX]: {
    name: 'regex',
    nameOf: null,
    isTruthy: always,
    equals: (regex, other) => other instanceof RegexValue && regex.text === other.text,
    compare: none,
    text: (regex) => regex.text,
    bytes: small,
    eachReference: null,
  },
  [Tag.DATETIME]: DATETIME,
  [Tag.TIMEVAL]: { ...DATETIME, name: 'timeval' },
  [Tag.ERROR]: {
    name: 'error',
    nameOf: null,
    isTruthy: never,
    equals: (error, other) => other instanceof ErrorValue && error.code === other.code,
    compare: none,
    text: ({ message }) => message,
    bytes: small,
    eachReference: null,
  },
  [Tag.CLOSURE]: {
    name: 'closure',
    nameOf: null,
    isTruthy: always,
    equals: same,
    compare: none,
    text: (closure: Closure) => closure.pretty(),
    bytes: small,
    eachReference: null,
  },
  [Tag.LIST]: LIST,
  [Tag.TUPLE]: { ...LIST, name: 'tuple' },
  [Tag.SET]: {
    name: 'set',
    nameOf: null,
    isTruthy: ({ size }) => size > 0,
    equals: equalSets,
    compare: none,
    text: none,
    bytes: ({ present }: ThingSet) => CONTAINER_BYTES + BYTES_PER_MEMBER * present,
    eachReference: ({ members }, visit) => {
      for (const thing of members) visit(thing);
    },
  },
  [Tag.THING]: {
    name: 'thing',
    nameOf: ({ type }) => (type === null ? null : type.name),
    isTruthy: hasProperties,
    equals: same,
    compare: none,
    text: (thing) => `${thing.type === null ? 'thing' : thing.type.name}:${idText(thing)}`,
    bytes: small,
    eachReference: (thing, visit) => visit(thing),
  },
  [Tag.MPDATA]: {
    name: 'mpdata',
    nameOf: null,
    isTruthy: always,
    equals: (data: MpData, other) => data === other,
    compare: none,
    text: none,
    bytes: small,
    eachReference: null,
  },
  [Tag.MEMBER]: {
    name: 'enum',
    nameOf: (member) => member.enum.name,
    isTruthy: (member) => isTruthy(member.value),
    equals: same,
    compare: none,
    text: (member) => textOf(member.value),
    bytes: small,
    eachReference: (member, _, visitOther) => visitOther?.(member),
  },
  [Tag.WRAP]: {
    name: '<thing>',
    nameOf: (wrap) => wrap.typeName,
    isTruthy: ({ thing }) => isTruthy(thing),
    equals: ({ thing, by }, other) =>
      other instanceof Wrap && thing === other.thing && isSameWrapping(by, other.by),
    compare: none,
    text: (wrap) => `${wrap.typeName}:${idText(wrap.thing)}`,
    bytes: small,
    eachReference: ({ thing }, visit) => visit(thing),
  },
  [Tag.ANONYMOUS]: {
    name: '<anonymous>',
    nameOf: null,
    isTruthy: always,
    equals: (type, other) => other instanceof Anonymous && isSameWrapping(type, other),
    compare: none,
    text: () => '<anonymous>',
    bytes: small,
    eachReference: null,
  },
  [Tag.FUTURE]: {
    name: 'future',
    nameOf: null,
    isTruthy: always,
    equals: same,
    compare: none,
    text: none,
    bytes: small,
    eachReference: null,
  },
  [Tag.TASK]: {
    name: 'task',
    nameOf: null,
    isTruthy: ({ scheduled }: Task) => scheduled,
    equals: (task, other) => task.equals(other),
    compare: none,
    text: ({ text }) => text,
    bytes: small,
    // A task lives without being referred to, and a reference keeps none alive.
    eachReference: null,
  },
  [Tag.MODULE]: {
    name: 'module',
    nameOf: null,
    isTruthy: always,
    equals: same,
    compare: none,
    text: none,
    bytes: small,
    eachReference: null,
  },
  [Tag.ROOM]: {
    name: 'room',
    nameOf: null,
    isTruthy: ({ id }: Room) => id !== 0,
    equals: same,
    compare: none,
    text: ({ text }) => text,
    bytes: small,
    eachReference: (room, _, visitOther) => visitOther?.(room),
  },
};

const ROWS: Readonly<Record<ObjectTag, Kind<ObjectValue>>> = KINDS;

export function kindOf(value: ObjectValue): Kind<ObjectValue> {
  return ROWS[value.tag];
}

export function kindOfTag(tag: ObjectTag): Kind<ObjectValue> {
  return ROWS[tag];
}

/** Truth of a value: nil, false, zero, errors and everything empty are false. */
export function isTruthy(value: Value): boolean {
  switch (typeof value) {
    case 'boolean':
      return value;
    case 'number':
      return value !== 0;
    case 'string':
      return value !== '';
    case 'bigint':
      return true;
    default:
      if (value === null) return false;
      if (value instanceof Thing) return hasProperties(value);
      if (value instanceof List) return value.length > 0;
      if (value instanceof Float) return value.value !== 0;
      return kindOf(value).isTruthy(value);
  }
}

/** True if a thing has properties. */
export function hasProperties(thing: Thing): boolean {
  if (thing.shape.stale !== null) thing.shape.stale.load(thing);
  return thing.shape.size > 0;
}

/**
 * `a == b`: never an error.
 *
 * @param charge called for long texts and bytes, also within lists
 */
export function equals(a: Value, b: Value, charge?: Charge): boolean {
  if (typeof a === 'string') {
    const { length } = a;
    if (charge !== undefined && length > LONG_LENGTH) charge(length);
    if (typeof b === 'string') return a === b;
    // A unit is one to three bytes.
    if (!(b instanceof Bytes) || b.data.length < length || b.data.length > 3 * length) return false;
    return equalBytes(Buffer.from(a), b.data);
  }
  if (a === null) return b === null;
  if (typeof a !== 'object' || a instanceof Float) return equalNumeric(a, b);
  if (a instanceof Thing) return a === b;
  return kindOf(a).equals(a, b, charge);
}

/** `equals` of a list or tuple. */
function equalLists(a: List, b: Value, charge: Charge | undefined): boolean {
  if (!(b instanceof List) || a.length !== b.length) return false;
  if (charge !== undefined) for (const list of [a, b]) chargeFill(list, charge);
  const left = a.items;
  const right = b.items;
  for (let i = 0; i < left.length; i++) {
    if (!equals(left[i] as Value, right[i] as Value, charge)) return false;
  }
  return true;
}

/** `equals` of a set. */
function equalSets(a: ThingSet, b: Value, charge: Charge | undefined): boolean {
  if (a === b) return true;
  if (!(b instanceof ThingSet) || a.size !== b.size) return false;
  if (charge !== undefined) for (const set of [a, b]) chargeFill(set, charge);
  return isSubset(a.members, b.members);
}

/** True if all members of `a` are in `b`. */
export function isSubset(a: ReadonlySet<Thing>, b: ReadonlySet<Thing>): boolean {
  for (const thing of a) if (!b.has(thing)) return false;
  return true;
}

/** The text of a value, as templates give it; undefined for what has none. */
export function textOf(value: Value): string | undefined {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      return value === null ? 'nil' : kindOf(value).text(value);
  }
}

/**
 * Calls `visit` for each thing that a property value refers to directly, through lists, tuples, sets and wraps, and `visitOther` for
 * each member of an enum and each room.
 */
export function eachThing(value: Value, visit: Visit, visitOther?: VisitOther): void {
  if (typeof value !== 'object' || value === null) return;
  if (value instanceof Thing) visit(value);
  else if (value instanceof List) eachReferenceOfList(value, visit, visitOther);
  else if (!(value instanceof Float)) kindOf(value).eachReference?.(value, visit, visitOther);
}

function eachReferenceOfList(list: List, visit: Visit, visitOther?: VisitOther): void {
  for (const item of list.items) eachThing(item, visit, visitOther);
}

/** True if a value has no parts and refers to nothing, and is stored as it is. Not all that are, but those that are frequent. */
export function isScalar(value: Value): boolean {
  return (
    typeof value !== 'object' || value === null || value instanceof Float || value instanceof DateTimeValue
  );
}

/** Bytes of a string in memory without its characters, roughly. */
export const STRING_BYTES = 24;

/** Estimated bytes of a value in memory, without those of the things in it. */
export function bytesOfValue(value: Value): number {
  switch (typeof value) {
    case 'string':
      return STRING_BYTES + value.length;
    case 'bigint':
      return 32;
    case 'object':
      if (value === null) return 0;
      if (value instanceof List) return bytesOfList(value);
      if (value instanceof Float) return FLOAT_BYTES;
      return value instanceof Thing ? OBJECT_BYTES : kindOf(value).bytes(value);
    default:
      return 0;
  }
}

function bytesOfList(list: List): number {
  let bytes = CONTAINER_BYTES + 8 * list.length;
  if (list.backing !== null) return bytes + list.backing.bytes;
  for (const item of list.held) bytes += bytesOfValue(item);
  return bytes;
}

function idText({ id }: Thing): string {
  return id === 0 ? 'nil' : String(id);
}

function isSameWrapping(a: Wrap['by'], b: Wrap['by']): boolean {
  if (!(a instanceof Anonymous) || !(b instanceof Anonymous)) return a === b;
  return a === b || equalBytes(a.bytes, b.bytes);
}

/** The kind of a value that a member may have, all of an enum the same; null for a value that none has. */
export function kindOfMember(value: Value): 'int' | 'float' | 'str' | 'bytes' | 'thing' | null {
  if (typeof value === 'number' || typeof value === 'bigint') return 'int';
  if (typeof value === 'string') return 'str';
  if (value instanceof Float) return 'float';
  if (value instanceof Bytes) return 'bytes';
  return value instanceof Thing ? 'thing' : null;
}
