/** Ties between lists and sets and the things whose properties they are: each has to know, so that a change to it is a change to the thing. */
import { List, ThingSet } from '../value/containers.js';
import type { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';

/** Says to a list or set of which thing it is a property. */
export function attach(thing: Thing, key: string, value: Value): void {
  if (value instanceof List || value instanceof ThingSet) {
    value.owner = thing;
    value.key = key;
    value.rule = thing.shape.type === null ? null : (thing.field(key)?.rule.item ?? null);
  }
}

/** Says so to all lists and sets of a thing. */
export function attachAll(thing: Thing): void {
  thing.forEach((key, value) => {
    attach(thing, key, value);
  });
}

/** Makes a list or set that was a property loose. */
export function detach(value: Value): void {
  if (value instanceof List || value instanceof ThingSet) {
    value.owner = null;
    value.key = '';
    value.rule = null;
  }
}

/** The thing that an attached list or set is a property of. */
export function ownerOf(value: List | ThingSet): Thing {
  if (value.owner === null) throw new Error('a list or set that is not attached has no owner to touch');
  return value.owner;
}
