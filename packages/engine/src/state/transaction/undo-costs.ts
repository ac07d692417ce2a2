import {
  type Charge,
  chargeFill,
  ThingSet,
  UNITS_PER_REFERENCE,
  unitsToDrop,
} from '../../value/containers.js';
import { Thing, ThingBit } from '../../value/thing.js';
import type { Value } from '../../value/value.js';
import { eachReference } from '../pages/paged-containers.js';

/**
 * Time it takes to take things back, in nanoseconds, as measured on a slow machine, since a query that ends too late
 * holds all others up: the inverse of a small change of things; a property that gets its former value; an item or member that comes or
 * goes again; an item of a list that moves; a thing that is unstored; a property of one; an entry of an index; a key that comes to its place again;
 * a key that goes again from a shape of its own, which may have very many.
 */
export const NS_PER_UNDO = 400;
export const NS_PER_PUT_BACK = 80;
export const NS_PER_ITEM = 35;
export const NS_PER_MOVED_ITEM = 1;
export const NS_PER_MEMBER = 200;
export const NS_PER_THING = 800;
export const NS_PER_PROPERTY = 100;
export const NS_PER_ENTRY = 8000;
export const NS_PER_KEY = 500;
export const NS_PER_NEW_KEY = 2500;

/** Time of a unit of work, in nanoseconds: taking a value back costs what letting it go does. */
export const NS_PER_UNIT = 5;

/**
 * Counts what it takes to bring the things into memory that a value refers to, since references to them are about to come or go, and does so
 * one by one: what is there stays there when a limit ends the work.
 */
export function chargeLoads(value: Value, charge: Charge): void {
  if (typeof value !== 'object' || value === null) return;
  eachReference(value, (thing) => {
    if ((thing.bits & ThingBit.LOADED) !== 0) return;
    charge(UNITS_PER_LOAD);
    thing.shape.stale?.load(thing, charge);
  });
}

/** Units charged for a thing that is brought into memory. */
const UNITS_PER_LOAD = 2048;

/**
 * Counts what it takes to let go of the value of a stored property, before that is done. All that it touches is in memory then.
 *
 * @returns the units of that, but for what had to be brought into memory
 */
export function chargeDrop(value: Value, charge: Charge): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (value instanceof ThingSet) chargeFill(value, charge);
  const units = unitsOf(value);
  charge(units);
  chargeLoads(value, charge);
  return units;
}

/** The same for all that a thing refers to. It must be loaded. */
export function chargeLeave({ slots }: Thing, charge: Charge): number {
  let units = UNITS_PER_SLOT * slots.length;
  charge(units);
  for (const value of slots) units += chargeDrop(value, charge);
  return units;
}

/** The units that `chargeLeave` counted. */
export function unitsToLeave({ slots }: Thing): number {
  let units = UNITS_PER_SLOT * slots.length;
  for (const value of slots) units += unitsOf(value);
  return units;
}

function unitsOf(value: Value): number {
  return value instanceof Thing ? UNITS_PER_REFERENCE : unitsToDrop(value);
}

const UNITS_PER_SLOT = 8;
