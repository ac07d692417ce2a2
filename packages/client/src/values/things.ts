/** Things in results: objects with their id under `#`. */
import type { Int } from './numbers.js';

/** A thing of which only the id has come, since the result was not deep enough for its properties. */
export interface Ref<T = unknown> {
  readonly '#': Int;
  /** The type of the thing, for the compiler alone: it is never there when the program runs. */
  readonly __type?: T;
}

/** The key of the id. */
const ID = '#';

/** A stored thing, as a value of a template: see {@link ref}. */
export class ThingRef {
  readonly id: Int;

  constructor(id: Int) {
    this.id = id;
  }
}

/**
 * Stands for a stored thing in a template: `${ref(ann)}` becomes `thing(id)`.
 *
 * @param thing a thing of a result, or its id
 * @throws {TypeError} for an object without an id
 */
export function ref(thing: Int | object): ThingRef {
  const id = typeof thing === 'object' ? idOf(thing) : thing;
  if (id === undefined)
    throw new TypeError("ref() takes a thing of a result, which has its id under '#', or an id");
  return new ThingRef(id);
}

/** The id of a thing in a result; undefined for anything else. */
export function idOf(value: unknown): Int | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, ID)) return undefined;
  const id: unknown = Reflect.get(value, ID);
  return typeof id === 'number' || typeof id === 'bigint' ? id : undefined;
}

/** True if the properties of a thing have come, and not its id alone. */
export function isLoaded<T extends object>(thing: T | Ref<T>): thing is T {
  for (const key in thing) if (key !== ID) return true;
  return idOf(thing) === undefined;
}
