import { lookupError, typeError } from '../error.js';
import {
  type Entry,
  MODIFIES,
  MODIFIES_STORED,
  method,
  type Receiver,
  variadicMethod,
} from '../run/builtin.js';
import { lockForReading, unlockReading } from '../run/dispatch.js';
import { type Callback, withCallback } from '../run/invoke.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { Closure } from '../value/closure.js';
import { compare } from '../value/compare.js';
import { copyList, List, listOfItems, toItem } from '../value/containers.js';
import { equals, isTruthy } from '../value/kinds.js';
import { add } from '../value/numbers.js';
import { Room } from '../value/room.js';
import { isNumeric } from '../value/scalar-compare.js';
import { Float } from '../value/scalars.js';
import { Tag } from '../value/tag.js';
import { Task } from '../value/task.js';
import { Thing } from '../value/thing.js';
import { typeName, type Value } from '../value/value.js';
import { ValueIndex } from '../value/value-index.js';
import { idOf } from './thing.js';

export const LIST: Receiver<List> = { tags: [Tag.LIST] };

/** Lists and tuples. */
export const ARRAY: Receiver<List> = { tags: [Tag.LIST, Tag.TUPLE] };

/** Methods of lists and tuples that call no closure. */
const READING: readonly Entry[] = [
  method(ARRAY, 'choice', {
    doc: 'A random item.',
    params: [],
    run: (rt, { items }) => {
      if (items.length === 0) throw noItem('choice');
      return items[Math.floor(rt.environment.random() * items.length)] as Value;
    },
  }),
  method(ARRAY, 'first', {
    doc: 'The first item; when there is none the alternative.',
    params: [p.optional(p.lazy('alternative'))],
    run: (_rt, { items }, alternative) => {
      if (items.length > 0) return items[0] as Value;
      if (alternative === undefined) throw noItem('first');
      return alternative();
    },
  }),
  method(ARRAY, 'flat', {
    doc: 'A new list with the items of nested tuples in their places, down to a depth (default 1).',
    params: [p.optional(p.int('depth'))],
    run: (rt, list, depth = 1) => {
      if (depth <= 0 || list.nesting === 0) return plainCopy(rt, list);
      const items: Value[] = [];
      rt.charge(PER_FLAT * (list.length + list.inner));
      flatten(list.items, Number(depth), items);
      return listOfItems(items, list);
    },
  }),
  method(ARRAY, 'has', {
    doc: 'Whether an item equals a value.',
    params: [p.any('value')],
    run: (rt, list, value) => indexOf(rt, list, value) >= 0,
  }),
  method(ARRAY, 'index_of', {
    doc: 'The index of the first item that equals a value; nil when there is none.',
    params: [p.any('value')],
    run: (rt, list, value) => {
      const index = indexOf(rt, list, value);
      return index < 0 ? null : index;
    },
  }),
  method(ARRAY, 'is_unique', {
    doc: 'Whether no two items are equal.',
    params: [],
    run: (rt, list) => {
      const { items } = list;
      rt.charge(PER_INDEXED * (items.length + list.inner));
      const index = new ValueIndex(rt);
      for (const item of items) if (!index.add(item)) return false;
      return true;
    },
  }),
  method(ARRAY, 'join', {
    doc: 'One str of all items, which must be str, with a separator between them.',
    params: [p.optional(p.lazy('separator'))],
    run: (rt, { items }, separator) => {
      let length = 0;
      for (const item of items) {
        if (typeof item !== 'string') throw typeError(`join() takes a list of str, not of ${typeName(item)}`);
        length += item.length;
      }
      const between = items.length > 1 && separator !== undefined ? separator() : '';
      if (typeof between !== 'string') {
        throw p.wrongType(between, { function: 'join', position: 1 }, 'separator', 'a str');
      }
      rt.chargeLength(length + Math.max(0, items.length - 1) * between.length);
      return items.join(between);
    },
  }),
  method(ARRAY, 'last', {
    doc: 'The last item; when there is none the alternative.',
    params: [p.optional(p.lazy('alternative'))],
    run: (_rt, { items }, alternative) => {
      if (items.length > 0) return items[items.length - 1] as Value;
      if (alternative === undefined) throw noItem('last');
      return alternative();
    },
  }),
  method(ARRAY, 'len', { doc: 'Number of items.', params: [], run: (_rt, { items }) => items.length }),
  method(ARRAY, 'map_id', {
    doc: 'A list of the ids of the things, rooms or tasks in it; nil for those that are not stored.',
    params: [],
    run: (rt, { items }) => {
      rt.charge(items.length);
      return new List(items.map(idOfItem));
    },
  }),
  method(ARRAY, 'max', {
    doc: 'The largest item.',
    params: [],
    run: (rt, { items }) => best(rt, items, 'max', (item, other) => compare(item, other) > 0),
  }),
  method(ARRAY, 'min', {
    doc: 'The smallest item.',
    params: [],
    run: (rt, { items }) => best(rt, items, 'min', (item, other) => compare(item, other) < 0),
  }),
  method(ARRAY, 'reverse', {
    doc: 'A new list with the items in opposite order.',
    params: [],
    run: (rt, list) => {
      rt.charge(list.length);
      return listOfItems(list.items.toReversed(), list);
    },
  }),
  method(ARRAY, 'unique', {
    doc: 'A new list with the first of each group of equal items.',
    params: [],
    run: (rt, list) => {
      rt.charge(PER_INDEXED * (list.length + list.inner));
      const index = new ValueIndex(rt);
      return listOfItems(
        list.items.filter((item) => index.add(item)),
        list,
      );
    },
  }),
];

/** Methods of lists and tuples that call a closure for the items. */
const CALLING: readonly Entry[] = [
  method(ARRAY, 'count', {
    doc: 'The number of items for which a closure is true, or that equal another value.',
    params: [p.any('closure or value')],
    run: (rt, list, test) => {
      if (!(test instanceof Closure)) return countEqual(rt, list, test);
      let count = 0;
      whileReading(rt, list, test, (callback, items) => {
        for (let i = 0; i < items.length; i++)
          if (isTruthy(callback.callItem(items[i] as Value, i))) count += 1;
      });
      return count;
    },
  }),
  method(ARRAY, 'each', {
    doc: 'Calls a closure with each item and its index.',
    params: [p.closure('closure')],
    lock: 'read',
    run: (rt, { items }, closure) => {
      if (items.length === 0) return null;
      return withCallback(rt, closure, (callback) => {
        for (let i = 0; i < items.length; i++) callback.callItem(items[i] as Value, i);
        return null;
      });
    },
  }),
  method(ARRAY, 'every', {
    doc: 'Whether a closure is true for all items.',
    params: [p.closure('closure')],
    lock: 'read',
    run: (rt, { items }, closure) => {
      if (items.length === 0) return true;
      return withCallback(rt, closure, (callback) => {
        for (let i = 0; i < items.length; i++)
          if (!isTruthy(callback.callItem(items[i] as Value, i))) return false;
        return true;
      });
    },
  }),
  method(ARRAY, 'filter', {
    doc: 'A new list of the items for which a closure is true.',
    params: [p.closure('closure')],
    lock: 'read',
    run: (rt, list, closure) => {
      const { items } = list;
      if (items.length === 0) return new List([]);
      return withCallback(rt, closure, (callback) => {
        const kept: Value[] = [];
        for (let i = 0; i < items.length; i++) {
          const item = items[i] as Value;
          if (isTruthy(callback.callItem(item, i))) kept.push(item);
        }
        return listOfItems(kept, list);
      });
    },
  }),
  method(ARRAY, 'find', {
    doc: 'The first item for which a closure is true; else the alternative, or nil.',
    params: [p.closure('closure'), p.optional(p.lazy('alternative'))],
    lock: 'read',
    run: (rt, { items }, closure, alternative) => {
      const index = findIndex(rt, items, closure);
      if (index >= 0) return items[index] as Value;
      return alternative === undefined ? null : alternative();
    },
  }),
  method(ARRAY, 'find_index', {
    doc: 'The index of the first item for which a closure is true, or nil.',
    params: [p.closure('closure')],
    lock: 'read',
    run: (rt, { items }, closure) => {
      const index = findIndex(rt, items, closure);
      return index < 0 ? null : index;
    },
  }),
  method(ARRAY, 'map', {
    doc: 'A new list of what a closure gives for each item and its index.',
    params: [p.closure('closure')],
    lock: 'read',
    run: (rt, { items }, closure) => {
      const result = new List(new Array<Value>(items.length));
      if (items.length === 0) return result;
      return withCallback(rt, closure, (callback) => {
        const mapped = result.items;
        for (let i = 0; i < mapped.length; i++) {
          mapped[i] = toItem(callback.callItem(items[i] as Value, i), result);
        }
        return result;
      });
    },
  }),
  method(ARRAY, 'reduce', {
    doc: 'What a closure makes of all items: it is called with the result so far (first an initial value, or the first item), the item and its index.',
    params: [p.closure('closure'), p.optional(p.any('initial value'))],
    lock: 'read',
    run: (rt, { items }, closure, initial) => {
      if (items.length === 0) {
        if (initial === undefined) throw noItem('reduce');
        return initial;
      }
      return withCallback(rt, closure, (callback) => {
        let result = initial === undefined ? (items[0] as Value) : initial;
        for (let i = initial === undefined ? 1 : 0; i < items.length; i++) {
          result = callback.callStep(result, items[i] as Value, i);
        }
        return result;
      });
    },
  }),
  method(ARRAY, 'some', {
    doc: 'Whether a closure is true for at least one item.',
    params: [p.closure('closure')],
    lock: 'read',
    run: (rt, { items }, closure) => findIndex(rt, items, closure) >= 0,
  }),
  method(ARRAY, 'sum', {
    doc: 'The sum of the items, or of what a closure gives for them.',
    params: [p.optional(p.closure('closure'))],
    run: (rt, list, closure) => {
      const sum = new Sum();
      if (closure === undefined) {
        rt.charge(list.length);
        for (const item of list.items) sum.add(item);
      } else {
        whileReading(rt, list, closure, (callback, items) => {
          for (let i = 0; i < items.length; i++) sum.add(callback.callItem(items[i] as Value, i));
        });
      }
      return sum.value;
    },
  }),
];

/** Methods that modify a list. */
const WRITING: readonly Entry[] = [
  method(LIST, 'clear', {
    doc: 'Removes all items.',
    params: [],
    lock: 'write',
    changes: MODIFIES,
    run: (rt, list) => {
      rt.transaction.spliceList(list, 0, list.length, []);
      return null;
    },
  }),
  method(LIST, 'extend', {
    doc: 'Appends the items of another list; returns the new length.',
    params: [p.array('items')],
    lock: 'write',
    changes: MODIFIES_STORED,
    run: (rt, list, { items }) => {
      rt.transaction.spliceList(list, list.length, 0, items === list.items ? items.slice() : items);
      return list.length;
    },
  }),
  method(LIST, 'extend_unique', {
    doc: 'Appends those items of another list that it does not have yet; returns the new length.',
    params: [p.array('items')],
    lock: 'write',
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
    lock: 'write',
    changes: MODIFIES_STORED,
    run: (rt, list, value) => {
      rt.transaction.fillList(list, value);
      return list;
    },
  }),
  method(LIST, 'pop', {
    doc: 'Removes the last item and returns it.',
    params: [],
    lock: 'write',
    changes: MODIFIES_STORED,
    run: (rt, list) => {
      const last = list.length - 1;
      if (last < 0) throw noItem('pop');
      return rt.transaction.spliceList(list, last, 1, [])[0] as Value;
    },
  }),
  variadicMethod(LIST, 'push', {
    doc: 'Appends values; returns the new length.',
    params: [],
    rest: p.any('value'),
    min: 1,
    lock: 'write',
    changes: MODIFIES_STORED,
    run: (rt, list, values) => {
      if (values.length === 1) rt.transaction.append(list, values[0] as Value);
      else rt.transaction.spliceList(list, list.length, 0, values);
      return list.length;
    },
  }),
  method(LIST, 'remove', {
    doc: 'Removes the items for which a closure is true, at most so many (from the end when the limit is negative); returns a list of them.',
    params: [p.closure('closure'), p.optional(p.int('limit'))],
    lock: 'write',
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
    params: [],
    lock: 'write',
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
    lock: 'write',
    changes: MODIFIES_STORED,
    run: (rt, list, from, count, values) => {
      const { length } = list.items;
      const offset = Number(from) < 0 ? Number(from) + length : Number(from);
      const start = Math.min(Math.max(offset, 0), length);
      const wanted = Number(count) + Math.min(offset, 0);
      const removed = Math.min(Math.max(wanted, 0), length - start);
      rt.charge(length - start);
      return listOfItems(rt.transaction.spliceList(list, start, removed, values), list);
    },
  }),
  variadicMethod(LIST, 'unshift', {
    doc: 'Puts values in front; returns the new length.',
    params: [],
    rest: p.any('value'),
    min: 1,
    lock: 'write',
    changes: MODIFIES_STORED,
    run: (rt, list, values) => {
      rt.charge(list.length);
      rt.transaction.spliceList(list, 0, 0, values);
      return list.length;
    },
  }),
];

/** Methods of lists and tuples, except those for sorting and copying. */
export const LISTS: readonly Entry[] = [...READING, ...CALLING, ...WRITING];

/** Units charged for each item that is put into an index, and for each that is taken out of a tuple. */
const PER_INDEXED = 64;
const PER_FLAT = 16;

/** Below this product of lengths, looking for each item in turn is faster than an index. */
const INDEX_FROM = 256;

function missingFrom(rt: Runtime, list: List, other: List): Value[] {
  const added: Value[] = [];
  if (list.inner + other.inner === 0 && list.length * other.items.length <= INDEX_FROM) {
    for (const item of other.items) {
      if (!includes(list.items, item) && !includes(added, item)) added.push(item);
    }
    return added;
  }
  rt.charge(list.length + list.inner + other.items.length + other.inner);
  const index = new ValueIndex(rt);
  for (const item of list.items) index.add(item);
  for (const item of other.items) if (index.add(item)) added.push(item);
  return added;
}

function includes(items: readonly Value[], value: Value): boolean {
  for (const item of items) if (equals(item, value)) return true;
  return false;
}

function indexOf(rt: Runtime, list: List, value: Value): number {
  const { items } = list;
  rt.charge(items.length + (value instanceof List ? list.inner : 0));
  for (let i = 0; i < items.length; i++) if (equals(items[i] as Value, value)) return i;
  return -1;
}

function countEqual(rt: Runtime, list: List, value: Value): number {
  rt.charge(list.length + (value instanceof List ? list.inner : 0));
  let count = 0;
  for (const item of list.items) if (equals(item, value)) count += 1;
  return count;
}

function findIndex(rt: Runtime, items: readonly Value[], closure: Closure): number {
  if (items.length === 0) return -1;
  return withCallback(rt, closure, (callback) => {
    for (let i = 0; i < items.length; i++) if (isTruthy(callback.callItem(items[i] as Value, i))) return i;
    return -1;
  });
}

/** For methods that take the lock of an iteration only after their arguments are evaluated. */
function whileReading(
  rt: Runtime,
  list: List,
  closure: Closure,
  work: (callback: Callback, items: readonly Value[]) => void,
): void {
  if (list.length === 0) return;
  lockForReading(list);
  try {
    withCallback(rt, closure, (callback) => work(callback, list.items));
  } finally {
    unlockReading(list);
  }
}

/** The last item starts as the best one; the others replace it from left to right when they are better. */
function best(
  rt: Runtime,
  items: readonly Value[],
  name: string,
  isBetter: (item: Value, other: Value) => boolean,
): Value {
  const { length } = items;
  if (length === 0) throw noItem(name);
  rt.charge(length);
  let result = items[length - 1] as Value;
  for (let i = 0; i < length - 1; i++) {
    const item = items[i] as Value;
    if (isBetter(item, result)) result = item;
  }
  return result;
}

function flatten(from: readonly Value[], depth: number, into: Value[]): void {
  for (const item of from) {
    if (depth > 0 && item instanceof List) flatten(item.items, depth - 1, into);
    else into.push(item);
  }
}

function plainCopy(rt: Runtime, list: List): List {
  rt.charge(list.length);
  return copyList(list);
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

function idOfItem(item: Value): Value {
  if (item instanceof Thing) return idOf(item);
  if (item instanceof Task) return item.state?.id ?? null;
  if (item instanceof Room) return item.id === 0 ? null : item.id;
  throw lookupError(`map_id() takes a list of things, rooms or tasks, not of ${typeName(item)}`);
}

function noItem(name: string): ReturnType<typeof lookupError> {
  return lookupError(`${name}() of an empty list`);
}

/** Adds ints exactly; from the first float on it is a sum of floats. */
class Sum {
  private int: number | bigint = 0;
  private float: number | null = null;

  add(value: Value): void {
    if (this.float === null) {
      if (typeof value === 'number' && typeof this.int === 'number') {
        const sum = this.int + value;
        if (Number.isSafeInteger(sum)) {
          this.int = sum;
          return;
        }
      }
    } else if (isNumeric(value)) {
      this.float += value instanceof Float ? value.value : Number(value);
      return;
    }
    if (!isNumeric(value)) throw typeError(`sum() adds ints, floats and bools, not ${typeName(value)}`);
    const sum = add(this.int, value);
    if (sum instanceof Float) this.float = sum.value;
    else if (typeof sum === 'number' || typeof sum === 'bigint') this.int = sum;
  }

  get value(): Value {
    return this.float === null ? this.int : new Float(this.float);
  }
}
