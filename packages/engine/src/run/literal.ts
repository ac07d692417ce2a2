/** Things that are written out in a text: `{name: 'Ann', age: 5}`. */
import { attach } from '../state/attach.js';
import { toProperty } from '../state/transaction.js';
import { chargeOwn } from '../value/containers.js';
import type { Shape } from '../value/shape.js';
import type { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import type { Runtime } from './runtime.js';

/** The shape of a thing with these keys, each at the slot of its place; null when one of them is there twice. */
export function literalShape(rt: Runtime, keys: readonly string[]): Shape | null {
  if (keys.length > FEW_KEYS) rt.charge(UNITS_PER_KEY * keys.length);
  if (hasTwice(keys)) return null;
  let shape = rt.shapes.empty();
  for (let slot = 0; slot < keys.length; slot++) shape = shape.with(keys[slot]!, slot);
  return shape;
}

function hasTwice(keys: readonly string[]): boolean {
  if (keys.length > FEW_KEYS) return new Set(keys).size < keys.length;
  for (let i = 1; i < keys.length; i++) if (keys.indexOf(keys[i]!) < i) return true;
  return false;
}

/** Keys that are compared one by one. */
const FEW_KEYS = 8;

/** Units charged for each of more keys, which are all put into a table. */
const UNITS_PER_KEY = 128;

/** The form of a value in a new, loose thing. */
export function ownValue(rt: Runtime, thing: Thing, key: string, given: Value): Value {
  if (typeof given !== 'object' || given === null) return given;
  const value = ownObject(rt, given);
  attach(thing, key, value);
  return value;
}

/** The same for an object, before there is the thing. */
export function ownObject(rt: Runtime, given: Value): Value {
  chargeOwn(given, rt.charging);
  return toProperty(given);
}
