import { argumentsError, lookupError } from '../error.js';
import {
  type Entry,
  MODIFIES,
  MODIFIES_STORED,
  method,
  type Receiver,
  variadicMethod,
} from '../run/builtin.js';
import { withCallback } from '../run/invoke.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import type { Code } from '../run/unit.js';
import { Closure } from '../value/closure.js';
import { List, listOf, ThingSet } from '../value/containers.js';
import { isTruthy } from '../value/kinds.js';
import { Tag } from '../value/tag.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { idOf } from './thing.js';

export const SET: Receiver<ThingSet> = { tags: [Tag.SET] };

/** Methods of sets, except those for copying them. */
export const SETS: readonly Entry[] = [
  variadicMethod(SET, 'add', {
    doc: 'Adds things; returns how many of them were not in the set.',
    rest: p.thing('thing'),
    min: 1,
    light: true,
    changes: MODIFIES_STORED,
    run: (rt, set, things) => rt.transaction.addMembers(set, things),
  }),
  method(SET, 'clear', {
    doc: 'Removes all things.',
    changes: MODIFIES,
    run: (rt, set) => {
      rt.transaction.removeMembers(set, [...set.members]);
      return null;
    },
  }),
  method(SET, 'each', {
    doc: 'Calls a closure with each thing and its id.',
    params: [p.closure('closure')],
    lock: 'read',
    run: (rt, { members }, closure) => {
      if (members.size === 0) return null;
      return withCallback(rt, closure, (callback) => {
        for (const thing of members) callback.callItem(thing, idOf(thing));
        return null;
      });
    },
  }),
  method(SET, 'every', {
    doc: 'Whether a closure is true for all things.',
    params: [p.closure('closure')],
    lock: 'read',
    run: (rt, { members }, closure) => {
      if (members.size === 0) return true;
      return withCallback(rt, closure, (callback) => {
        for (const thing of members) if (!isTruthy(callback.callItem(thing, idOf(thing)))) return false;
        return true;
      });
    },
  }),
  method(SET, 'filter', {
    doc: 'A new set of the things for which a closure is true.',
    params: [p.closure('closure')],
    lock: 'read',
    run: (rt, { members }, closure) => {
      const result = new ThingSet();
      if (members.size === 0) return result;
      return withCallback(rt, closure, (callback) => {
        for (const thing of members) {
          if (isTruthy(callback.callItem(thing, idOf(thing)))) result.members.add(thing);
        }
        return result;
      });
    },
  }),
  method(SET, 'find', {
    doc: 'A thing for which a closure is true; else the alternative, or nil.',
    params: [p.closure('closure'), p.optional(p.lazy('alternative'))],
    lock: 'read',
    run: (rt, { members }, closure, alternative) => {
      const found = find(rt, members, closure);
      if (found !== null) return found;
      return alternative === undefined ? null : alternative();
    },
  }),
  method(SET, 'has', {
    doc: 'Whether a thing is in the set.',
    params: [p.thing('thing')],
    light: true,
    run: (rt, set, thing) => set.has(thing, rt.charging),
  }),
  method(SET, 'len', { doc: 'Number of things.', light: true, run: (_rt, { size }) => size }),
  method(SET, 'map', {
    doc: 'A list of what a closure gives for each thing and its id.',
    params: [p.closure('closure')],
    lock: 'read',
    run: (rt, { members }, closure) => {
      if (members.size === 0) return new List([]);
      const values = withCallback(rt, closure, (callback) => {
        const collected: Value[] = [];
        for (const thing of members) {
          const value = callback.callItem(thing, idOf(thing));
          rt.chargeFill(value);
          collected.push(value);
        }
        return collected;
      });
      return listOf(values);
    },
  }),
  method(SET, 'map_id', {
    doc: 'A list of the ids of the things; nil for those that are not stored.',
    run: (rt, { members }) => {
      rt.charge(16 * members.size);
      return new List(Array.from(members, idOf));
    },
  }),
  method(SET, 'one', {
    doc: 'One of the things.',
    run: (_rt, { members }) => {
      for (const thing of members) return thing;
      throw lookupError('one() of an empty set');
    },
  }),
  method(SET, 'reduce', {
    doc: 'What a closure makes of all things: it is called with the result so far (first an initial value, or one of the things), the thing and its id.',
    params: [p.closure('closure'), p.optional(p.any('initial value'))],
    lock: 'read',
    run: (rt, { members }, closure, initial) => {
      if (members.size === 0) {
        if (initial === undefined) throw lookupError('reduce() of an empty set');
        return initial;
      }
      return withCallback(rt, closure, (callback) => {
        let result: Value | undefined = initial;
        for (const thing of members) {
          result = result === undefined ? thing : callback.callStep(result, thing, idOf(thing));
        }
        return result as Value;
      });
    },
  }),
  variadicMethod(SET, 'remove', {
    doc: 'Removes things, or those for which a closure is true, at most so many (a negative limit is none); returns a list of them.',
    rest: p.lazy('thing or closure'),
    min: 1,
    light: true,
    changes: MODIFIES,
    run: (rt, set, codes) => {
      const things = thingsToRemove(rt, set, codes);
      return listOf(rt.transaction.removeMembers(set, things));
    },
  }),
  method(SET, 'some', {
    doc: 'Whether a closure is true for at least one thing.',
    params: [p.closure('closure')],
    lock: 'read',
    run: (rt, { members }, closure) => find(rt, members, closure) !== null,
  }),
];

function find(rt: Runtime, members: ReadonlySet<Thing>, closure: Closure): Thing | null {
  if (members.size === 0) return null;
  return withCallback(rt, closure, (callback) => {
    for (const thing of members) if (isTruthy(callback.callItem(thing, idOf(thing)))) return thing;
    return null;
  });
}

/** `remove(thing, ...)` or `remove(closure, limit)`. */
function thingsToRemove(rt: Runtime, set: ThingSet, codes: readonly Code[]): readonly Thing[] {
  const [firstCode, secondCode] = codes as [Code, Code | undefined];
  const first = firstCode();
  if (!(first instanceof Closure)) {
    const things = [member(first, 1)];
    for (let i = 1; i < codes.length; i++) things.push(member(codes[i]!(), i + 1));
    return things;
  }
  if (codes.length > 2) {
    throw argumentsError(
      `remove() takes a closure and a limit, or any number of things, not ${codes.length} arguments`,
    );
  }
  const limit =
    secondCode === undefined ? -1 : LIMIT.accept(secondCode(), { function: 'remove', position: 2 });
  if (set.size === 0 || limit === 0) return [];
  rt.chargeFill(set);
  return withCallback(rt, first, (callback) => {
    const things: Thing[] = [];
    for (const thing of set.members) {
      if (!isTruthy(callback.callItem(thing, idOf(thing)))) continue;
      things.push(thing);
      if (things.length === limit) break;
    }
    return things;
  });
}

const LIMIT = p.int('limit');

function member(value: Value, position: number): Thing {
  if (value instanceof Thing) return value;
  throw p.wrongType(value, { function: 'remove', position }, 'thing', 'a thing or closure');
}
