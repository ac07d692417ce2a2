import { typeError } from '../error.js';
import { kindOf } from './kinds.js';
import { Member } from './member.js';
import { compareNumeric, compareRaw, compareText } from './scalar-compare.js';
import { Float } from './scalars.js';
import { typeName, type Value } from './value.js';

/**
 * Order of two values: negative, zero or positive; NaN when a nan is involved. Numbers and bools compare by value, str
 * and bytes by their bytes, dates by moment.
 *
 * @throws QueryError type_err for every other pair
 */
export function compare(a: Value, b: Value): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  const order = a === null ? undefined : orderOf(a, b);
  if (order === undefined) throw typeError(`cannot compare ${typeName(a)} with ${typeName(b)}`);
  return order;
}

/** The value by which sorts and the like order another: a member of an enum counts as its value, which no operator does. */
export function orderedBy(value: Value): Value {
  return value instanceof Member ? value.value : value;
}

function orderOf(a: Exclude<Value, null>, b: Value): number | undefined {
  if (typeof a === 'string') return compareRaw(a, b);
  if (typeof a !== 'object' || a instanceof Float) return compareNumeric(a, b);
  return kindOf(a).compare(a, b);
}
