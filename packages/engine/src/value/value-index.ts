import { isUtf8 } from 'node:buffer';
import { List } from './containers.js';
import { DateTimeValue } from './datetime-value.js';
import { equals } from './kinds.js';
import { RegexValue } from './regex-value.js';
import { Bytes, ErrorValue, Float } from './scalars.js';
import type { Value } from './value.js';

/** Counts work; see `Runtime.charge`. */
export interface Meter {
  charge(units: number): void;
}

/**
 * A set of values in which those that are `==` count as one, for telling duplicates in one pass. Most values are their
 * own key. What is equal without being the same, and what can't be told by a key alone, shares a text as key, and the
 * values of one text are compared one by one.
 */
export class ValueIndex {
  private readonly exact = new Set<unknown>();
  private readonly groups = new Map<string, Value[]>();
  private readonly numbers = new Map<object, number>();
  private readonly meter: Meter;

  constructor(meter: Meter) {
    this.meter = meter;
  }

  /** Adds a value; returns false when an equal one was there. */
  add(value: Value): boolean {
    const key = exactKey(value);
    if (key === undefined) return this.addToGroup(value);
    const { size } = this.exact;
    return this.exact.add(key).size > size;
  }

  private addToGroup(value: Value): boolean {
    const text = this.text(value);
    // A nan equals nothing, and neither does what holds one.
    if (text === null) return true;
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

  private textOfObject(value: Exclude<Value, null | boolean | number | bigint | string>): string | null {
    if (value instanceof Float) return Number.isNaN(value.value) ? null : `n${value.value};`;
    if (value instanceof Bytes) {
      const text = textOfBytes(value);
      return text === null ? `b${Buffer.from(value.data).toString('latin1')};` : `s${text.length}:${text}`;
    }
    if (value instanceof ErrorValue) return `e${value.code};`;
    if (value instanceof RegexValue) return `r${value.text.length}:${value.text}`;
    if (value instanceof DateTimeValue) return `d${value.time.moment};`;
    if (value instanceof List) return this.textOfList(value);
    let number = this.numbers.get(value);
    if (number === undefined) {
      number = this.numbers.size;
      this.numbers.set(value, number);
    }
    return `o${number};`;
  }

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

/** Units charged for a comparison, beyond those for its length. */
const UNITS_PER_COMPARISON = 64;

/** What stands for a value in a Set, so that equal values have the same; undefined when nothing does. */
function exactKey(value: Value): unknown {
  switch (typeof value) {
    case 'string':
    case 'number':
      return value;
    case 'boolean':
      return Number(value);
    case 'bigint':
      return undefined;
    default:
      break;
  }
  if (value === null) return null;
  if (value instanceof Float)
    return Math.abs(value.value) <= Number.MAX_SAFE_INTEGER ? value.value : undefined;
  if (value instanceof Bytes) return textOfBytes(value) ?? undefined;
  if (
    value instanceof List ||
    value instanceof ErrorValue ||
    value instanceof RegexValue ||
    value instanceof DateTimeValue
  ) {
    return undefined;
  }
  return value;
}

/** The str that equals some bytes; null when there is none. */
function textOfBytes({ data }: Bytes): string | null {
  return isUtf8(data) ? Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString() : null;
}
