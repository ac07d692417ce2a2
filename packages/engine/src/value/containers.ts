import { operationError, quotaError } from '../error.js';
import type { ItemRule } from '../schema/rule.js';
import { Closure } from './closure.js';
import { Future } from './future.js';
import { Module } from './module.js';
import { Tag } from './tag.js';
import type { Thing } from './thing.js';
import type { Value } from './value.js';

/** A lock is 0 while free. It counts running iterations, and this is added for one running modification. */
export const WRITE_LOCKED = 1 << 24;

/** Tuples nested directly inside each other at most, so that walks over a value may recurse. */
export const TUPLE_NESTING_MAX = 500;

/** Items of one list at most: half of what an array can hold. */
export const LIST_ITEMS_MAX = 1 << 26;

/** Things of one set, and properties of one thing, at most: a little less than a Set or Map can hold. */
export const MEMBERS_MAX = 16_000_000;

/**
 * Items in the tuples of one list at most, at all levels, a tuple counting as often as it occurs. A few lines of code
 * can nest a tuple in itself many times over; this bounds every walk over a value.
 */
export const INNER_ITEMS_MAX = 1 << 24;

/** The charge for an item that comes into memory: reading it takes some 150 ns. */
export const UNITS_PER_READ_ITEM = 32;

/** The charge for a member that comes into a set or is looked for in one: some 500 ns where there are very many. */
export const UNITS_PER_MEMBER = 96;

/** The charge for a reference of something stored that goes: what it refers to is touched. */
export const UNITS_PER_REFERENCE = 112;

/** The charge for an item of a tuple that is looked at for what it refers to. */
export const UNITS_PER_INNER_ITEM = 4;

/** The pages of a large stored list, of which some may not be in memory. See `state/pages/list-pages.ts`. */
export interface Backing {
  /**
   * The cost of letting the list go, in units of `Runtime.charge`: items that refer to something must be read for that, and what they
   * refer to is counted out.
   */
  readonly unitsToDrop: number;
  /** Estimated bytes of the items in memory, without their places in the list. */
  readonly bytes: number;
  /** Brings every item into memory, a page at a time: what is there stays there when `charge` ends the work. */
  fill(charge: Charge): void;
  /** The same for the items from `start` up to but not including `end`, and as few others as possible. */
  fillRange(start: number, end: number, charge: Charge): void;
  /** One item, for which as little as possible comes into memory. */
  at(position: number): Value;
}

/** A callback that gets the units of work that are about to be done; an error that it throws ends the work. */
export type Charge = (units: number) => void;

/** Charges nobody. */
export const FREE: Charge = () => {};

/** The pages of a large stored set, of which the members may not be in memory. See `state/pages/member-pages.ts`. */
export interface MemberBacking {
  /** Number of members, whether in memory or not. */
  readonly size: number;
  /** Number of those in memory of a set that is not there as a whole. */
  readonly present: number;
  /** True while some members are in memory, or about to be, since `charge` ended the work of `fill`. */
  readonly isFilling: boolean;
  /** Brings all members into memory, some at a time: what is there stays there when `charge` ends the work. */
  fill(charge: Charge): Set<Thing>;
  /** The members of one page. */
  readonly anyMembers: Iterable<Thing>;
  /** True if the thing with an id is a member, for which as little as possible comes into memory. */
  has(id: number, charge: Charge): boolean;
}

/**
 * A list, or a tuple: an immutable list inside another one. A list is *attached* when it is the value of a property
 * (`owner`, `key`), and stored when its owner is.
 */
export class List {
  /** The items, with holes where a page is not in memory. For `state/` alone; everybody else uses `items`. */
  held: Value[];
  backing: Backing | null = null;
  /** Levels of tuples inside, or more: it does not shrink when items go. */
  nesting = 0;
  /** Items in the tuples inside, at all levels. */
  inner = 0;
  owner: Thing | null = null;
  key = '';
  /** The rule for its items, while it is the value of a property of an instance. */
  rule: ItemRule | null = null;
  lock = 0;
  /** True if a variable may refer to it: then placing it in a property or a list copies it. */
  shared = false;

  constructor(
    items: Value[],
    readonly tuple = false,
  ) {
    this.held = items;
  }

  /** All items, in memory. */
  get items(): Value[] {
    if (this.backing !== null) this.backing.fill(FREE);
    return this.held;
  }

  /** The item at a position from 0. */
  at(position: number): Value {
    return this.backing === null ? (this.held[position] as Value) : this.backing.at(position);
  }

  /** The items from `start` up to but not including `end`, for which as little as possible comes into memory. */
  slice(start: number, end: number): Value[] {
    if (start >= end) return [];
    this.backing?.fillRange(start, end, FREE);
    return this.held.slice(start, end);
  }

  /** Number of items, whether in memory or not. */
  get length(): number {
    return this.held.length;
  }

  get tag(): typeof Tag.LIST | typeof Tag.TUPLE {
    return this.tuple ? Tag.TUPLE : Tag.LIST;
  }

  get stored(): boolean {
    return isStored(this);
  }
}

/** A set of things, by identity, in insertion order. Attached and stored like a list. */
export class ThingSet {
  /** The members; null while they are not all in memory. For `state/` alone; everybody else uses `members`. */
  held: Set<Thing> | null;
  /** The pages of a large stored set, for `state/` alone. */
  backing: MemberBacking | null = null;
  owner: Thing | null = null;
  key = '';
  rule: ItemRule | null = null;
  lock = 0;
  shared = false;

  /** True if an iteration over it is running. */
  get isIterated(): boolean {
    return this.lock % WRITE_LOCKED !== 0;
  }

  constructor(members?: Iterable<Thing>) {
    this.held = new Set(members);
  }

  /** All members, in memory. */
  get members(): Set<Thing> {
    return this.held ?? this.fill(FREE);
  }

  /** Number of members, whether in memory or not. */
  get size(): number {
    return this.held === null ? this.needBacking().size : this.held.size;
  }

  /** Number of members in memory. */
  get present(): number {
    return this.held === null ? this.needBacking().present : this.held.size;
  }

  /** Brings all members into memory, as `chargeFill` does. */
  fill(charge: Charge): Set<Thing> {
    this.held ??= this.needBacking().fill(charge);
    return this.held;
  }

  /** The same where that was begun: members come and go without it in a set of which all are in memory, or none. */
  endFilling(charge: Charge): void {
    if (this.held === null && this.needBacking().isFilling) this.fill(charge);
  }

  /** True if a thing is a member. A set that is not in memory stays there. */
  has(thing: Thing, charge: Charge = FREE): boolean {
    return this.held === null ? this.needBacking().has(thing.id, charge) : this.held.has(thing);
  }

  /** Some of the members where any will do, for which as little as possible comes into memory; none of an empty set. */
  get anyMembers(): Iterable<Thing> {
    return this.held ?? this.needBacking().anyMembers;
  }

  private needBacking(): MemberBacking {
    if (this.backing === null) throw new Error('a set that is not in memory lies in pages');
    return this.backing;
  }

  get tag(): typeof Tag.SET {
    return Tag.SET;
  }

  get stored(): boolean {
    return isStored(this);
  }
}

/** True if it is the value of a property of a stored thing. Brings the thing up to date, which may find that it is not any more. */
function isStored(value: List | ThingSet): boolean {
  const { owner } = value;
  if (owner === null) return false;
  const { stale } = owner.shape;
  if (stale === null) return owner.id !== 0;
  stale.load(owner);
  return value.owner !== null && value.owner.id !== 0;
}

/**
 * Turns the value of a list item into what a list holds: lists and sets become tuples of their own, futures and modules nil.
 * `into` learns how deep its tuples go.
 */
export function toItem(value: Value, into: List): Value {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof List) {
    const tuple = value.tuple ? value : toTuple(value);
    nest(into, tuple);
    return tuple;
  }
  if (value instanceof ThingSet) {
    const tuple = new List([...value.members], true);
    nest(into, tuple);
    return tuple;
  }
  return value instanceof Future || value instanceof Module ? null : value;
}

/** A new list of these values as items. */
export function listOf(values: readonly Value[], tuple = false): List {
  const list = new List(new Array<Value>(values.length), tuple);
  for (let i = 0; i < values.length; i++) list.items[i] = toItem(values[i] as Value, list);
  return list;
}

/** A list that holds what another list or tuple holds. */
export function copyList(source: List): List {
  const list = new List(source.items.slice());
  list.nesting = source.nesting;
  list.inner = source.inner;
  return list;
}

/** A list that takes over an array of items, all of which come from another list. */
export function listOfItems(items: Value[], source: List): List {
  const list = new List(items);
  if (source.nesting > 0) noteAdded(list, items);
  return list;
}

/**
 * Counts what it takes to bring a list or set into memory that is about to be looked at, and does so, a page at a time: work which its
 * limits end gets further when it is done again.
 */
export function chargeFill(value: Value, charge: Charge): void {
  if (typeof value !== 'object' || value === null) return;
  if (value instanceof ThingSet) {
    if (value.held === null) value.fill(charge);
  } else if (value instanceof List) value.backing?.fill(charge);
}

/** The cost of letting go of the value of a stored property, in the same units. */
export function unitsToDrop(value: Value): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (value instanceof ThingSet) return UNITS_PER_REFERENCE * value.size;
  if (!(value instanceof List)) return 0;
  return (value.backing?.unitsToDrop ?? value.length) + UNITS_PER_INNER_ITEM * value.inner;
}

/** Counts what it takes to give a value the form of a property, before that is done: see `toProperty`. */
export function chargeOwn(value: Value, charge: Charge): void {
  if (value instanceof Closure) charge(value.unitsToStore);
  if (!(value instanceof List || value instanceof ThingSet)) return;
  if (isLoose(value) && !(value instanceof List && value.tuple)) return;
  chargeFill(value, charge);
  charge(value instanceof ThingSet ? UNITS_PER_MEMBER * value.size : sizeOf(value));
}

/** True if a list or set is nobody's yet, so that it need not be copied to become a property. */
export function isLoose(value: List | ThingSet): boolean {
  return !value.shared && value.owner === null && (value instanceof ThingSet || value.backing === null);
}

/** Number of things and items that a walk over a value meets. */
export function sizeOf(value: Value): number {
  if (value instanceof List) return value.length + value.inner;
  return value instanceof ThingSet ? value.size : 1;
}

/** Number of items in the tuples among some items, at all levels. */
export function innerOf(items: readonly Value[]): number {
  let inner = 0;
  for (const item of items) if (item instanceof List) inner += item.length + item.inner;
  return inner;
}

/** Counts in what the tuples among new items hold. */
export function noteAdded(list: List, items: readonly Value[]): void {
  for (const item of items) {
    if (!(item instanceof List)) continue;
    if (item.nesting >= list.nesting) list.nesting = item.nesting + 1;
    list.inner += item.length + item.inner;
  }
}

/** Counts out what the tuples among removed items held. */
export function noteRemoved(list: List, items: readonly Value[]): void {
  if (list.inner > 0) list.inner -= innerOf(items);
}

/** Throws max_quota_err for more items than a list can have. */
export function assertItems(count: number): void {
  if (count > LIST_ITEMS_MAX) throw quotaError(`a list has at most ${LIST_ITEMS_MAX} items`);
}

/** Throws max_quota_err for more members than a set, or properties than a thing, can have. */
export function assertMembers(count: number): void {
  if (count > MEMBERS_MAX)
    throw quotaError(`a set or thing has at most ${MEMBERS_MAX} members or properties`);
}

/** Throws operation_err when a list would hold too much with so many more items inside its tuples. */
export function assertInnerItems(list: List, more: number): void {
  if (list.inner + more > INNER_ITEMS_MAX) {
    throw operationError(`the lists inside a list would have more than ${INNER_ITEMS_MAX} items in all`);
  }
}

function toTuple(list: List): List {
  const tuple = new List(list.shared || list.owner !== null ? list.items.slice() : list.items, true);
  tuple.nesting = list.nesting;
  tuple.inner = list.inner;
  return tuple;
}

function nest(into: List, tuple: List): void {
  if (tuple.nesting >= TUPLE_NESTING_MAX) {
    throw operationError(`lists are nested more than ${TUPLE_NESTING_MAX} deep`);
  }
  const more = tuple.length + tuple.inner;
  assertInnerItems(into, more);
  if (tuple.nesting >= into.nesting) into.nesting = tuple.nesting + 1;
  into.inner += more;
}

/** Notes that a variable may refer to a list or set, so that placing it elsewhere copies it. */
export function share(value: Value): void {
  if (typeof value === 'object' && (value instanceof List || value instanceof ThingSet)) value.shared = true;
}
