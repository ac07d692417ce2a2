import type { List, ThingSet } from '../value/containers.js';
import type { Thing } from '../value/thing.js';
import { heldThings } from './held.js';
import type { Runtime } from './runtime.js';

/**
 * The stored things that lost their last stored reference in this query, and that nothing holds which the call knows: they are removed
 * when the query ends, and count as gone before that. An unfinished expression may hold one of them still, and store it again; so
 * whatever goes by this keeps them valid. Circles of things are not found: they stay until the search for garbage.
 */
export function goneThings(rt: Runtime): ReadonlySet<Thing> {
  if (rt.store === null || rt.store.orphans.size === 0) return NONE;
  const doomed = rt.transaction.doomed();
  const held = heldThings(rt, doomed);
  return held.size === 0 ? doomed : new Set([...doomed].filter((thing) => !held.has(thing)));
}

/** The same where no unfinished expression holds any of them: between the statements of the query itself. */
export function surelyGoneThings(rt: Runtime): ReadonlySet<Thing> {
  return rt.atStatement ? goneThings(rt) : NONE;
}

/** True if nobody may find a stored thing by its id any more. */
export function isGone(rt: Runtime, thing: Thing): boolean {
  return surelyGoneThings(rt).has(thing);
}

/**
 * Makes a list or set loose whose thing is gone: what it takes from now on is not stored. To be called before it is changed. A set in a
 * relation stays what it is, since its members know its thing.
 */
export function loosen(rt: Runtime, { owner, key }: List | ThingSet): void {
  if (owner === null || owner.id === 0 || rt.store === null || rt.store.orphans.size === 0) return;
  if (!isGone(rt, owner)) return;
  const field = owner.shape.fields.find(({ name }) => name === key);
  if (owner.type === null) rt.transaction.deleteProperty(owner, key);
  else if (field !== undefined && field.relation === null)
    rt.transaction.placeUnchecked(owner, key, rt.makeDefault(field.definition));
}

/** Gives instances defaults in the place of what their types do not accept any more. */
export function makeValid(rt: Runtime, things: Iterable<Thing>): void {
  for (const thing of things) {
    rt.load(thing);
    for (const { name, rule, definition } of thing.type === null ? [] : thing.shape.fields) {
      const value = thing.get(name);
      if (value !== undefined) rt.chargeFill(value);
      if (value === undefined || !rule.fits(value))
        rt.transaction.placeUnchecked(thing, name, rt.makeDefault(definition));
    }
  }
}

const NONE: ReadonlySet<Thing> = new Set();
