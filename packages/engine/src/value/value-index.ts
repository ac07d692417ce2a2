import { isUtf8 } from 'node:buffer';
import type { List } from './containers.js';
import { type AnyKind, equals, type KindColumn, type ObjectValue } from './kinds.js';
import { Bytes, Float } from './scalars.js';
import { Tag } from './tag.js';
import type { Value } from './value.js';

/** Counts work; see `Runtime.charge`. */
export interface Meter {
  charge(units: number): void;
}

const itself = (): undefined => undefined;

/**
 * A set of values in which those that are `==` count as one, for telling duplicates in one pass. Most values are their
 * own key. What is equal without being the same, and what can't be told by a key alone, shares a text as key, and the
 * values of one text are compared one by one.
 */
export class ValueIndex {
  private readonly exact = new Set<unknown>();
  private readonly groups = new Map<string, Value[]>();
  private readonly numbers = new Map<object, number>();

  constructor(private readonly meter: Meter) {}

  /** Adds a value; returns false when an equal one was there. */
  add(value: Value): boolean {
    if (value instanceof Bytes) this.meter.charge(UNITS_PER_BYTES + value.data.length);
    const key = exactKey(value);
    if (key === undefined) return this.addToGroup(value, this.text(value));
    if (typeof key === 'object' && key !== null) {
      const text = ValueIndex.texts[key.tag](key, this);
      if (text !== undefined) return this.addToGroup(value, text);
    }
    const { size } = this.exact;
    return this.exact.add(key).size > size;
  }

  private addToGroup(value: Value, text: string | null): boolean {
    // A nan equals nothing, and neither does what holds one.
    if (text === null) return true;
    this.meter.charge(text.length + UNITS_PER_TEXT);
    const group = this.groups.get(text);
    if (group === undefined) {
      this.groups.set(text, [value]);
      return true;
    }
    for (const other of group) {
      this.meter.charge(text.length + UNITS_PER_COMPARISON);
      if (equals(other, value)) return false;
    }
    group.push(value);
    return true;
  }

  /** Equal values have equal texts; null for what equals nothing. */
  private text(value: Value): string | null {
    switch (typeof value) {
      case 'string':
        return `s${value.length}:${value}`;
      case 'number':
      case 'bigint':
      case 'boolean':
        return `n${Number(value)};`;
      default:
        return value === null ? '0;' : this.textOfObject(value);
    }
  }

  private textOfObject(value: ObjectValue): string | null {
    const text = ValueIndex.texts[value.tag](value, this);
    return text === undefined ? `o${this.numberOf(value)};` : text;
  }

  /** A number that stands for an object, among those that this index has seen. */
  private numberOf(value: object): number {
    let number = this.numbers.get(value);
    if (number === undefined) {
      number = this.numbers.size;
      this.numbers.set(value, number);
    }
    return number;
  }

  /** The column of the table of kinds that this is about: see `text`. Undefined for what equals nothing but itself. */
  private static readonly texts: AnyKind<[index: ValueIndex], string | null | undefined> = {
    [Tag.FLOAT]: ({ value }) => (Number.isNaN(value) ? null : `n${value};`),
    [Tag.BYTES]: (bytes) => {
      const text = textOfBytes(bytes);
      return text === null ? `b${Buffer.from(bytes.data).toString('latin1')};` : `s${text.length}:${text}`;
    },
    [Tag.REGEX]: ({ text }) => `r${text.length}:${text}`,
    [Tag.DATETIME]: ({ time }) => `d${time.moment};`,
    [Tag.TIMEVAL]: ({ time }) => `d${time.moment};`,
    [Tag.ERROR]: ({ code }) => `e${code};`,
    [Tag.CLOSURE]: itself,
    [Tag.LIST]: (list, index) => index.textOfList(list),
    [Tag.TUPLE]: (list, index) => index.textOfList(list),
    [Tag.SET]: ({ size }) => `m${size};`,
    [Tag.THING]: itself,
    [Tag.MPDATA]: itself,
    [Tag.MEMBER]: itself,
    [Tag.WRAP]: ({ thing }, index) => `w${index.numberOf(thing)};`,
    [Tag.ANONYMOUS]: ({ bytes }) => `a${Buffer.from(bytes).toString('latin1')};`,
    [Tag.FUTURE]: itself,
    [Tag.TASK]: ({ id }) => (id === 0 ? undefined : `t${id};`),
    [Tag.MODULE]: itself,
    [Tag.ROOM]: itself,
  } satisfies KindColumn<[index: ValueIndex], string | null | undefined>;

  private textOfList({ items }: List): string | null {
    let text = `l${items.length}:`;
    for (const item of items) {
      const itemText = this.text(item);
      if (itemText === null) return null;
      text += itemText;
    }
    return text;
  }
}

/** Units that who uses an index charges for each value, and for each item in it, before it is put in. */
export const UNITS_PER_INDEXED = 128;

/** Units charged for a value that is told by a text, which was laid out, beyond those for its length. */
const UNITS_PER_TEXT = 256;

/** Units charged for making the text that stands for bytes, beyond those for their length. */
const UNITS_PER_BYTES = 256;

/** Units charged for a comparison, beyond those for its length. */
const UNITS_PER_COMPARISON = 64;

/**
 * Stand-in for a value in a Set, so that equal values have the same: for an object that is itself, unless it has a text to be told by.
 * Undefined when nothing does.
 */
function exactKey(value: Value): Value | undefined {
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'bigint') return undefined;
  if (value instanceof Float)
    return Math.abs(value.value) <= Number.MAX_SAFE_INTEGER ? value.value : undefined;
  return value instanceof Bytes ? (textOfBytes(value) ?? undefined) : value;
}

/** The str that equals some bytes; null when there is none. */
function textOfBytes({ data }: Bytes): string | null {
  return isUtf8(data) ? Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString() : null;
}
