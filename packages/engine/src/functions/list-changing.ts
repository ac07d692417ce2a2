import { type Entry, MODIFIES, MODIFIES_STORED, method, variadicMethod } from '../run/builtin.js';
import { chargeItems } from '../run/charge.js';
import { type Callback, withCallback } from '../run/invoke.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { List, listOfItems } from '../value/containers.js';
import { equals, isTruthy } from '../value/kinds.js';
import type { Value } from '../value/value.js';
import { UNITS_PER_INDEXED, ValueIndex } from '../value/value-index.js';
import { LIST, noItem } from './list-receivers.js';

/** Methods that modify a list. */
export const LIST_CHANGING: readonly Entry[] = [
  method(LIST, 'clear', {
    doc: 'Removes all items.',
    changes: MODIFIES,
    run: (rt, list) => {
      rt.transaction.spliceList(list, 0, list.length, []);
      return null;
    },
  }),
  method(LIST, 'extend', {
    doc: 'Appends the items of another list; returns the new length.',
    params: [p.array('items')],
    light: true,
    changes: MODIFIES_STORED,
    run: (rt, list, { items }) => {
      // A list may extend itself.
      rt.transaction.spliceList(list, list.length, 0, items === list.held ? items.slice() : items);
      return list.length;
    },
  }),
  method(LIST, 'extend_unique', {
    doc: 'Appends those items of another list that it does not have yet; returns the new length.',
    params: [p.array('items')],
    changes: MODIFIES_STORED,
    run: (rt, list, other) => {
      const added = missingFrom(rt, list, other);
      rt.transaction.spliceList(list, list.length, 0, added);
      return list.length;
    },
  }),
  method(LIST, 'fill', {
    doc: 'Replaces every item by a value; returns the list itself.',
    params: [p.any('value')],
    changes: MODIFIES_STORED,
    run: (rt, list, value) => {
      rt.transaction.fillList(list, value);
      return list;
    },
  }),
  method(LIST, 'pop', {
    doc: 'Removes the last item and returns it.',
    light: true,
    changes: MODIFIES_STORED,
    run: (rt, list) => {
      const last = list.length - 1;
      if (last < 0) throw noItem('pop');
      return rt.transaction.spliceList(list, last, 1, [])[0] as Value;
    },
  }),
  variadicMethod(LIST, 'push', {
    doc: 'Appends values; returns the new length.',
    rest: p.any('value'),
    min: 1,
    light: true,
    changes: MODIFIES_STORED,
    run: (rt, list, values) => {
      rt.transaction.spliceList(list, list.length, 0, values);
      return list.length;
    },
    runOne: (rt, list, value) => {
      rt.transaction.append(list, value);
      return list.length;
    },
  }),
  method(LIST, 'remove', {
    doc: 'Removes the items for which a closure is true, at most so many (from the end when the limit is negative); returns a list of them.',
    params: [p.closure('closure'), p.optional(p.int('limit'))],
    changes: MODIFIES,
    run: (rt, list, closure, limit = Number.POSITIVE_INFINITY) => {
      if (list.length === 0 || limit === 0) return new List([]);
      const positions = withCallback(rt, closure, (callback) =>
        limit > 0
          ? positionsFromStart(list.items, callback, limit)
          : positionsFromEnd(list.items, callback, -Number(limit)),
      );
      const removed = rt.transaction.removeItems(list, positions);
      return listOfItems(removed, list);
    },
  }),
  method(LIST, 'shift', {
    doc: 'Removes the first item and returns it.',
    light: true,
    changes: MODIFIES_STORED,
    run: (rt, list) => {
      if (list.length === 0) throw noItem('shift');
      rt.charge(list.length);
      return rt.transaction.spliceList(list, 0, 1, [])[0] as Value;
    },
  }),
  variadicMethod(LIST, 'splice', {
    doc: 'Removes so many items from an index on, puts others in their place, and returns a list of the removed ones.',
    params: [p.int('start'), p.int('count')],
    rest: p.any('value'),
    light: true,
    changes: MODIFIES_STORED,
    run: (rt, list, from, count, values) => {
      const { length } = list;
      const offset = Number(from) < 0 ? Number(from) + length : Number(from);
      const start = Math.min(Math.max(offset, 0), length);
      const wanted = Number(count) + Math.min(offset, 0);
      const removed = Math.min(Math.max(wanted, 0), length - start);
      rt.charge(length - start);
      chargeItems(rt, list, start, removed);
      return listOfItems(rt.transaction.spliceList(list, start, removed, values), list);
    },
  }),
  variadicMethod(LIST, 'unshift', {
    doc: 'Puts values in front; returns the new length.',
    rest: p.any('value'),
    min: 1,
    light: true,
    changes: MODIFIES_STORED,
    run: (rt, list, values) => {
      rt.charge(list.length);
      rt.transaction.spliceList(list, 0, 0, values);
      return list.length;
    },
  }),
];

/** Comparisons up to which looking for each item in turn is faster than an index. */
const INDEX_FROM = 256;

function missingFrom(rt: Runtime, list: List, other: List): Value[] {
  const added: Value[] = [];
  // Each item is looked for among those that are added before it, too.
  const comparisons = (list.length + other.length) * other.length;
  if (list.inner + other.inner === 0 && comparisons <= INDEX_FROM) {
    for (const item of other.items) {
      if (!includes(list.items, item) && !includes(added, item)) added.push(item);
    }
    return added;
  }
  rt.charge(UNITS_PER_INDEXED * (list.length + list.inner + other.items.length + other.inner));
  const index = new ValueIndex(rt);
  for (const item of list.items) index.add(item);
  for (const item of other.items) if (index.add(item)) added.push(item);
  return added;
}

function includes(items: readonly Value[], value: Value): boolean {
  for (const item of items) if (equals(item, value)) return true;
  return false;
}

function positionsFromStart(
  items: readonly Value[],
  callback: Callback,
  limit: number | bigint,
): readonly number[] {
  const positions: number[] = [];
  for (let i = 0; i < items.length && positions.length < limit; i++) {
    if (isTruthy(callback.callItem(items[i] as Value, i))) positions.push(i);
  }
  return positions;
}

function positionsFromEnd(items: readonly Value[], callback: Callback, limit: number): readonly number[] {
  const positions: number[] = [];
  for (let i = items.length - 1; i >= 0 && positions.length < limit; i--) {
    if (isTruthy(callback.callItem(items[i] as Value, i))) positions.push(i);
  }
  return positions.reverse();
}
