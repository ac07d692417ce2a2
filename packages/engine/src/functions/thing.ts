import { existsError, valueError } from '../error.js';
import { type ChangeRule, type Entry, In, MODIFIES, method, type Receiver } from '../run/builtin.js';
import { type Callback, withCallback } from '../run/invoke.js';
import { unknownProperty } from '../run/own-methods.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { attach } from '../state/attach.js';
import { toProperty } from '../state/transaction.js';
import type { Closure } from '../value/closure.js';
import { chargeOwn, List, listOf } from '../value/containers.js';
import { equals, isTruthy } from '../value/kinds.js';
import { Tag } from '../value/tag.js';
import { isReservedKey, Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';

/** `del` makes a change in the root scope too. */
export const DELETES: ChangeRule = { ...MODIFIES, scopes: In.DATA };

export const THING: Receiver<Thing> = { tags: [Tag.THING] };

/** Methods of things, except those for copying, searching and restricting them. */
export const THINGS: readonly Entry[] = [
  method(THING, 'assign', {
    doc: 'Sets every property that another thing has; returns the thing itself.',
    params: [p.thing('source')],
    changes: MODIFIES,
    run: (rt, thing, source) => {
      rt.load(source);
      rt.charge(UNITS_PER_ASSIGNED * source.shape.size);
      rt.transaction.assign(thing, source);
      return thing;
    },
  }),
  method(THING, 'clear', {
    doc: 'Deletes all properties.',
    instances: 'never',
    changes: MODIFIES,
    run: (rt, thing) => {
      rt.charge(thing.shape.size);
      rt.transaction.clearThing(thing);
      return null;
    },
  }),
  method(THING, 'del', {
    doc: 'Deletes a property and returns its value.',
    instances: 'never',
    params: [p.str('name')],
    changes: DELETES,
    run: (rt, thing, name) => {
      if (!thing.shape.index.has(name)) throw unknownProperty(name);
      return rt.transaction.deleteProperty(thing, name);
    },
  }),
  method(THING, 'each', {
    doc: 'Calls a closure with key and value of each property.',
    params: [p.closure('closure')],
    lock: 'read',
    run: (rt, thing, closure) =>
      thing.shape.size === 0
        ? null
        : withCallback(rt, closure, (callback) => {
            const slots = thing.readAll();
            for (const [key, slot] of thing.shape.index) callback.call(key, slots[slot] as Value);
            return null;
          }),
  }),
  method(THING, 'equals', {
    doc: 'Whether another thing has the same properties with equal values; things inside are compared in the same way down to a depth (default 1).',
    params: [p.any('other'), p.optional(p.depth('deep'))],
    run: (rt, thing, other, deep = 1) => other instanceof Thing && equalThings(rt, thing, other, deep),
  }),
  method(THING, 'filter', {
    doc: 'A new thing with the properties for whose key and value a closure is true.',
    params: [p.closure('closure')],
    lock: 'read',
    run: (rt, thing, closure) =>
      withEach(rt, thing, closure, (callback, result, key, value) => {
        if (isTruthy(callback.call(key, value))) putOwn(rt, result, key, value);
      }),
  }),
  method(THING, 'get', {
    doc: 'The value of a property; without it the alternative, or nil.',
    params: [p.str('name'), p.optional(p.lazy('alternative'))],
    run: (_rt, thing, name, alternative) => {
      const value = thing.read(name);
      if (value !== undefined) return value;
      const closure = thing.type?.def?.methods.get(name);
      if (closure !== undefined) return closure;
      return alternative === undefined ? null : alternative();
    },
  }),
  method(THING, 'has', {
    doc: 'Whether there is a property by that name.',
    params: [p.str('name')],
    run: (_rt, thing, name) => thing.shape.index.has(name),
  }),
  method(THING, 'id', {
    doc: 'The id of a stored thing; nil for others.',
    run: (_rt, thing) => idOf(thing),
  }),
  method(THING, 'keys', {
    doc: 'A list of the keys.',
    run: (rt, thing) => {
      rt.charge(thing.shape.size);
      return new List([...thing.shape.index.keys()]);
    },
  }),
  method(THING, 'len', {
    doc: 'Number of properties.',
    run: (_rt, thing) => thing.shape.size,
  }),
  method(THING, 'map', {
    doc: 'A list of what a closure gives for key and value of each property.',
    params: [p.closure('closure')],
    lock: 'read',
    run: (rt, thing, closure) => {
      if (thing.shape.size === 0) return new List([]);
      const values = withCallback(rt, closure, (callback) => {
        const slots = thing.readAll();
        const collected: Value[] = [];
        for (const [key, slot] of thing.shape.index) {
          const value = callback.call(key, slots[slot] as Value);
          rt.chargeFill(value);
          collected.push(value);
        }
        return collected;
      });
      return listOf(values);
    },
  }),
  method(THING, 'remove', {
    doc: 'Deletes the properties for whose key and value a closure is true, at most so many (a negative limit is none); returns a list of the removed values.',
    instances: 'never',
    params: [p.closure('closure'), p.optional(p.int('limit'))],
    changes: MODIFIES,
    run: (rt, thing, closure, limit = -1) => {
      if (thing.shape.size === 0 || limit === 0) return new List([]);
      const keys = withCallback(rt, closure, (callback) => keysToRemove(rt, thing, callback, limit));
      return listOf(rt.transaction.deleteProperties(thing, keys));
    },
  }),
  method(THING, 'ren', {
    doc: 'Gives a property another name, which must be free; it becomes the last one.',
    instances: 'never',
    params: [p.str('from'), p.str('to')],
    changes: MODIFIES,
    run: (rt, thing, from, to) => {
      if (isReservedKey(to)) throw valueError(`the key '${to}' is reserved`);
      if (thing.shape.index.has(to)) throw existsError(`there is a property '${to}' already`);
      if (!thing.shape.index.has(from)) throw unknownProperty(from);
      rt.transaction.renameProperty(thing, from, to);
      return null;
    },
  }),
  method(THING, 'set', {
    doc: 'Sets a property; returns the value as it is stored.',
    params: [p.str('name'), p.any('value')],
    changes: MODIFIES,
    run: (rt, thing, name, value) => rt.transaction.setProperty(thing, name, value),
  }),
  method(THING, 'values', {
    doc: 'A list of the values.',
    run: (rt, thing) => {
      const values: Value[] = [];
      for (const slot of thing.shape.index.values()) {
        const value = thing.readAt(slot);
        rt.chargeFill(value);
        values.push(value);
      }
      const list = listOf(values);
      rt.charge(list.length + list.inner);
      return list;
    },
  }),
  method(THING, 'vmap', {
    doc: 'A new thing with the same keys, and what a closure gives for each value.',
    params: [p.closure('closure')],
    lock: 'read',
    run: (rt, thing, closure) =>
      withEach(rt, thing, closure, (callback, result, key, value) =>
        putOwn(rt, result, key, callback.call(value)),
      ),
  }),
];

/** The id as the language shows it. */
export function idOf(thing: Thing): Value {
  return thing.id === 0 ? null : thing.id;
}

/** Gives a new thing a property of its own. */
/** A new thing with what `put` makes of each property. */
function withEach(
  rt: Runtime,
  thing: Thing,
  closure: Closure,
  put: (callback: Callback, result: Thing, key: string, value: Value) => void,
): Thing {
  const result = new Thing(0, rt.shapes.empty(), []);
  if (thing.shape.size === 0) return result;
  return withCallback(rt, closure, (callback) => {
    const slots = thing.readAll();
    for (const [key, slot] of thing.shape.index) put(callback, result, key, slots[slot] as Value);
    return result;
  });
}

function putOwn(rt: Runtime, thing: Thing, key: string, value: Value): void {
  chargeOwn(value, rt.charging);
  const own = toProperty(value);
  thing.put(key, own);
  attach(thing, key, own);
}

function keysToRemove(rt: Runtime, thing: Thing, callback: Callback, limit: number | bigint): string[] {
  const { slots } = thing;
  const keys: string[] = [];
  for (const [key, slot] of thing.shape.index) {
    const value = slots[slot] as Value;
    if (!isTruthy(callback.call(key, value))) continue;
    rt.chargeFill(value);
    keys.push(key);
    if (keys.length === limit) break;
  }
  return keys;
}

/** Compares property by property; a thing inside counts as equal to any other once the depth is used up. */
function equalThings(rt: Runtime, a: Thing, b: Thing, deep: number): boolean {
  if (deep === 0 || a === b) return true;
  rt.load(a);
  rt.load(b);
  if (a.shape.size !== b.shape.size) return false;
  rt.charge(UNITS_PER_THING + a.shape.unitsToWalk);
  for (const [key, slot] of a.shape.index) {
    const left = a.readAt(slot);
    const right = b.read(key);
    if (right === undefined) return false;
    if (left instanceof Thing) {
      if (!(right instanceof Thing) || !equalThings(rt, left, right, deep - 1)) return false;
    } else {
      if (left instanceof List) rt.charge(left.length + left.inner);
      if (!equals(left, right, rt.charging)) return false;
    }
  }
  return true;
}

/** Units charged for a property that is assigned. */
const UNITS_PER_ASSIGNED = 192;

/** Units charged for a thing that is compared, besides its properties. */
const UNITS_PER_THING = 64;
