import { argumentsError, operationError, typeError } from '../error.js';
import { type Entry, method } from '../run/builtin.js';
import { type Callback, withCallback } from '../run/invoke.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import type { Code } from '../run/unit.js';
import { Closure } from '../value/closure.js';
import { compare, orderedBy } from '../value/compare.js';
import { copyList, listOfItems } from '../value/containers.js';
import { Member } from '../value/member.js';
import { Float } from '../value/scalars.js';
import { sortedOrder, UNITS_PER_KEY } from '../value/sorted-order.js';
import { hasPairs } from '../value/text.js';
import { typeName, type Value } from '../value/value.js';
import { ARRAY } from './list-receivers.js';

/** Sorting, which is stable in both directions. */
export const SORT: readonly Entry[] = [
  method(ARRAY, 'sort', {
    doc: 'A new, sorted list. A closure with one parameter gives what to sort by, one with two compares two items; true sorts in descending order.',
    params: [p.optional(p.lazy('closure or descending')), p.optional(p.lazy('descending'))],
    run: (rt, list, by, descending) => {
      if (rt.sorting) throw operationError('a sort can not be started while another one is running');
      if (list.length < 2) return copyList(list);
      const items = list.items.slice();
      const sort = sortOf(rt, by, descending);
      rt.sorting = true;
      try {
        return listOfItems(sort(items), list);
      } finally {
        rt.sorting = false;
      }
    },
  }),
];

/** Sorts an array that it may keep. */
type Sort = (items: Value[]) => Value[];

/** Evaluates the arguments. */
function sortOf(rt: Runtime, by: Code | undefined, descendingCode: Code | undefined): Sort {
  if (by === undefined) return (items) => sortByKeys(rt, items, valuesOf(items), false);
  const first = by();
  if (typeof first === 'boolean' && descendingCode === undefined) {
    return (items) => sortByKeys(rt, items, valuesOf(items), first);
  }
  if (!(first instanceof Closure)) {
    throw p.wrongType(first, { function: 'sort', position: 1 }, 'by', 'a closure');
  }
  const arity = rt.unitOf(first).params.length;
  if (arity !== 1 && arity !== 2) {
    throw argumentsError(`the closure of sort() has one or two parameters, not ${arity}`);
  }
  const descending =
    descendingCode === undefined
      ? undefined
      : DESCENDING.accept(descendingCode(), { function: 'sort', position: 2 });
  if (arity === 1) {
    return (items) => sortByKeys(rt, items, keysOf(rt, items, first), descending ?? false);
  }
  if (descending !== undefined) {
    throw argumentsError('sort() takes no order beside a closure that compares two items');
  }
  return (items) => withCallback(rt, first, (callback) => items.sort((a, b) => orderBy(callback, a, b)));
}

const DESCENDING = p.bool('descending');

function valuesOf(items: readonly Value[]): readonly Value[] {
  return items.some((item) => item instanceof Member) ? items.map(orderedBy) : items;
}

function keysOf(rt: Runtime, items: readonly Value[], closure: Closure): Value[] {
  return withCallback(rt, closure, (callback) => {
    const keys = new Array<Value>(items.length);
    for (let i = 0; i < keys.length; i++) {
      keys[i] = orderedBy(callback.callItem(items[i] as Value, null));
    }
    return keys;
  });
}

function orderBy(callback: Callback, a: Value, b: Value): number {
  const order = callback.callItem(a, b);
  if (typeof order === 'number') return order;
  if (typeof order === 'bigint') return order < 0n ? -1 : 1;
  throw typeError(`a closure that compares two items must give an int, not ${typeName(order)}`);
}

function sortByKeys(
  rt: Runtime,
  items: readonly Value[],
  keys: readonly Value[],
  descending: boolean,
): Value[] {
  rt.charge(items.length * UNITS_PER_KEY);
  const numbers = numericKeys(keys, descending);
  if (numbers !== null) {
    const sorted = new Array<Value>(items.length);
    const order = sortedOrder(numbers, rt);
    for (let i = 0; i < sorted.length; i++) sorted[i] = items[order[i]!] as Value;
    return sorted;
  }
  const order = Array.from(items.keys());
  const direction = descending ? -1 : 1;
  const texts = basicTexts(rt, keys);
  if (texts !== null) {
    order.sort((i, j) => {
      if (--rt.steps < 0) rt.check();
      const a = texts[i]!;
      const b = texts[j]!;
      if (a.length > LONG_TEXT) rt.charge(a.length);
      return a < b ? -direction : a === b ? 0 : direction;
    });
  } else {
    order.sort((i, j) => {
      if (--rt.steps < 0) rt.check();
      const a = keys[i] as Value;
      if (typeof a === 'string' && a.length > LONG_TEXT) rt.charge(a.length);
      return direction * compare(a, keys[j] as Value);
    });
  }
  return order.map((i) => items[i] as Value);
}

/** Units charged for a look at a text, besides its length. */
const UNITS_PER_TEXT = 64;

/** Texts beyond this length are charged whenever they are compared. */
const LONG_TEXT = 64;

/** Keys that are all texts whose units have the order of their code points; null when there are others. */
function basicTexts(rt: Runtime, keys: readonly Value[]): readonly string[] | null {
  const texts: string[] = [];
  for (const key of keys) {
    if (typeof key !== 'string') return null;
    rt.charge(UNITS_PER_TEXT + key.length);
    if (hasPairs(key)) return null;
    texts.push(key);
  }
  return texts;
}

/** Keys that are all doubles without loss, negated for a descending order; null when there are others. */
function numericKeys(keys: readonly Value[], descending: boolean): Float64Array | null {
  const numbers = new Float64Array(keys.length);
  for (let i = 0; i < numbers.length; i++) {
    const key = keys[i];
    const number = typeof key === 'number' ? key : key instanceof Float ? key.value : undefined;
    if (number === undefined) return null;
    numbers[i] = descending ? -number : number;
  }
  return numbers;
}
