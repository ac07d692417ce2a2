import { typeError } from '../error.js';
import { type Entry, method } from '../run/builtin.js';
import { lockForReading, unlockReading } from '../run/dispatch.js';
import { type Callback, withCallback } from '../run/invoke.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { Closure } from '../value/closure.js';
import { List, listOfItems, toItem } from '../value/containers.js';
import { equals, isTruthy } from '../value/kinds.js';
import { add, isInt } from '../value/numbers.js';
import { isNumeric } from '../value/scalar-compare.js';
import { Float } from '../value/scalars.js';
import { typeName, type Value } from '../value/value.js';
import { ARRAY, noItem } from './list-receivers.js';

/** Methods of lists and tuples that call a closure for the items. */
export const LIST_CALLING: readonly Entry[] = [
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
          const value = callback.callItem(items[i] as Value, i);
          // A list or set becomes a tuple, and may have to be read for that.
          if (typeof value === 'object') rt.chargeFill(value);
          mapped[i] = toItem(value, result);
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

function countEqual(rt: Runtime, list: List, value: Value): number {
  rt.charge(list.length + (value instanceof List ? list.inner : 0));
  const charge = (units: number): void => rt.charge(units);
  let count = 0;
  for (const item of list.items) if (equals(item, value, charge)) count += 1;
  return count;
}

function findIndex(rt: Runtime, items: readonly Value[], closure: Closure): number {
  if (items.length === 0) return -1;
  return withCallback(rt, closure, (callback) => {
    for (let i = 0; i < items.length; i++) if (isTruthy(callback.callItem(items[i] as Value, i))) return i;
    return -1;
  });
}

/** Iterates for a method that takes the lock only after its arguments are evaluated. */
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
    else if (isInt(sum)) this.int = sum;
  }

  get value(): Value {
    return this.float === null ? this.int : new Float(this.float);
  }
}
