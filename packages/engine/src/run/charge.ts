/** Charges for work on long values. */
import { Closure, UNITS_PER_PARSED_CHARACTER } from '../value/closure.js';
import { List } from '../value/containers.js';
import { toText } from '../value/convert.js';
import { Bytes } from '../value/scalars.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import type { Runtime } from './runtime.js';

/**
 * A joined text is copied as a whole where it is first looked at, which costs nothing else: a part of its length is charged
 * for that, since texts that are made by many small steps are copied seldom.
 */
const COPIED_BITS = 2;

/** Units charged for compiling a text, and one in which there may be regular expressions. */
const UNITS_PER_SOURCE = 6400;
const UNITS_PER_SOURCE_WITH_REGEX = 640_000;

/** Texts beyond this length are charged. */
const LONG_TEXT = 1000;

/**
 * Bounds and counts what `+` makes of texts and bytes, before it is made. JavaScript joins two texts without copying
 * them, so what counts is the shorter one.
 */
export function chargeJoin(rt: Runtime, left: Value, right: Value): void {
  if (typeof left === 'string' && typeof right === 'string') {
    const length = left.length + right.length;
    if (length <= LONG_TEXT) return;
    if (length > rt.limits.valueBytes) rt.chargeLength(length);
    rt.charge(Math.min(left.length, right.length) + (length >> COPIED_BITS));
  } else if (left instanceof Bytes || right instanceof Bytes) {
    rt.chargeLength(lengthOf(left) + lengthOf(right));
  }
}

/** Counts the work of taking items out of a list together, and reads them, where they have to be. */
export function chargeItems(rt: Runtime, list: List, start: number, count: number): void {
  rt.charge(count);
  if (count > 0) list.backing?.fillRange(start, start + count, rt.charging);
}

/** Counts the work of looking at a long text or bytes, or at a list that is not in memory. */
export function chargeLong(rt: Runtime, value: Value): void {
  if (typeof value !== 'string' && typeof value !== 'object') return;
  if (value instanceof List) {
    if (value.backing !== null) rt.chargeFill(value);
    return;
  }
  const length = lengthOf(value);
  if (length > LONG_TEXT) rt.charge(length);
}

/** Counts the work of compiling a text, whose nodes are counted besides. */
export function chargeSource(rt: Runtime, source: string): void {
  rt.charge(source.includes('/') ? UNITS_PER_SOURCE_WITH_REGEX : UNITS_PER_SOURCE);
  chargeParse(rt, source);
}

/** Counts the work of parsing a text, or of laying it out. */
export function chargeParse(rt: Runtime, source: string): void {
  rt.charge(UNITS_PER_PARSED_CHARACTER * source.length);
}

/** The text of a value, as `toText` gives it: that of a closure is laid out anew. */
export function textFor(rt: Runtime, value: Value): string {
  if (value instanceof Closure) chargeParse(rt, value.source);
  else if (value instanceof Thing) rt.load(value);
  return toText(value);
}

/** Length of a text or of bytes; 0 for everything else. */
function lengthOf(value: Value): number {
  if (typeof value === 'string') return value.length;
  return value instanceof Bytes ? value.data.length : 0;
}
