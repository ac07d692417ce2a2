import { lookupError, typeError } from '../error.js';
import { type Entry, method } from '../run/builtin.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { compare, orderedBy } from '../value/compare.js';
import { copyList, List, listOfItems } from '../value/containers.js';
import { equals } from '../value/kinds.js';
import { Room } from '../value/room.js';
import { Task } from '../value/task.js';
import { Thing } from '../value/thing.js';
import { typeName, type Value } from '../value/value.js';
import { UNITS_PER_INDEXED, ValueIndex } from '../value/value-index.js';
import { Wrap } from '../value/wrap.js';
import { LIST_CALLING } from './list-calling.js';
import { LIST_CHANGING } from './list-changing.js';
import { ARRAY, noItem } from './list-receivers.js';
import { idOf } from './thing.js';

/** Methods of lists and tuples that call no closure. */
const READING: readonly Entry[] = [
  method(ARRAY, 'choice', {
    doc: 'A random item.',
    light: true,
    run: (rt, list) => {
      const { length } = list;
      if (length === 0) throw noItem('choice');
      return list.at(Math.floor(rt.environment.random() * length));
    },
  }),
  method(ARRAY, 'first', {
    doc: 'The first item; when there is none the alternative.',
    params: [p.optional(p.lazy('alternative'))],
    light: true,
    run: (_rt, list, alternative) => {
      if (list.length > 0) return list.at(0);
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
    run: (rt, list) => {
      const { items } = list;
      rt.charge(UNITS_PER_INDEXED * (items.length + list.inner));
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
    light: true,
    run: (_rt, list, alternative) => {
      if (list.length > 0) return list.at(list.length - 1);
      if (alternative === undefined) throw noItem('last');
      return alternative();
    },
  }),
  method(ARRAY, 'len', {
    doc: 'Number of items.',
    light: true,
    run: (_rt, { length }) => length,
  }),
  method(ARRAY, 'map_id', {
    doc: 'A list of the ids of the things, wrapped things, rooms or tasks in it; nil for those that are not stored.',
    run: (rt, { items }) => {
      rt.charge(items.length);
      return new List(items.map(idOfItem));
    },
  }),
  method(ARRAY, 'max', {
    doc: 'The largest item.',
    run: (rt, { items }) => best(rt, items, 'max', 1),
  }),
  method(ARRAY, 'min', {
    doc: 'The smallest item.',
    run: (rt, { items }) => best(rt, items, 'min', -1),
  }),
  method(ARRAY, 'reverse', {
    doc: 'A new list with the items in opposite order.',
    run: (rt, list) => {
      rt.charge(list.length);
      return listOfItems(list.items.toReversed(), list);
    },
  }),
  method(ARRAY, 'unique', {
    doc: 'A new list with the first of each group of equal items.',
    run: (rt, list) => {
      rt.charge(UNITS_PER_INDEXED * (list.length + list.inner));
      const index = new ValueIndex(rt);
      return listOfItems(
        list.items.filter((item) => index.add(item)),
        list,
      );
    },
  }),
];

/** Methods of lists and tuples, except those for sorting and copying. */
export const LISTS: readonly Entry[] = [...READING, ...LIST_CALLING, ...LIST_CHANGING];

/** Units charged for each item that is compared, and for one that is a text, besides its length. */
const PER_COMPARED = 8;
const PER_TEXT = 32;

/** Units charged for each item that is taken out of a tuple. */
const PER_FLAT = 16;

function indexOf(rt: Runtime, list: List, value: Value): number {
  const { items } = list;
  rt.charge(items.length + (value instanceof List ? list.inner : 0));
  const charge = (units: number): void => rt.charge(units);
  for (let i = 0; i < items.length; i++) if (equals(items[i] as Value, value, charge)) return i;
  return -1;
}

/** The last item starts as the best one; the others replace it from left to right when they are better. */
function best(rt: Runtime, items: readonly Value[], name: string, direction: 1 | -1): Value {
  const { length } = items;
  if (length === 0) throw noItem(name);
  rt.charge(PER_COMPARED * length);
  let result = items[length - 1] as Value;
  let bestKey = orderedBy(result);
  for (let i = 0; i < length - 1; i++) {
    const item = items[i] as Value;
    const key = orderedBy(item);
    if (typeof key === 'string') rt.charge(PER_TEXT + key.length);
    if (direction * compare(key, bestKey) > 0) {
      result = item;
      bestKey = key;
    }
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

function idOfItem(item: Value): Value {
  if (item instanceof Thing) return idOf(item);
  if (item instanceof Wrap) return idOf(item.thing);
  if (item instanceof Task) return item.state?.id ?? null;
  if (item instanceof Room) return item.id === 0 ? null : item.id;
  throw lookupError(
    `map_id() takes a list of things, wrapped things, rooms or tasks, not of ${typeName(item)}`,
  );
}
