import type { ByteWriter } from '../bytes.js';
import { operationError, valueError } from '../error.js';
import { Closure } from '../value/closure.js';
import {
  assertInnerItems,
  assertItems,
  assertMembers,
  copyList,
  List,
  sizeOf,
  ThingSet,
  toItem,
} from '../value/containers.js';
import { isReservedKey, Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { Effect } from './effects.js';
import {
  attach,
  detach,
  eachThing,
  placesOf,
  putRuns,
  type Run,
  type Store,
  spliceItems,
  takeRuns,
} from './store.js';
import { writeProperties } from './thing-record.js';
import { writeValue } from './value-codec.js';

/** Takes one step of a change back. Steps are taken back in reverse order. */
export type Undo = () => void;

/** Decides whether a value may be placed in a restricted thing; throws type_err when it may not. */
export type RestrictionCheck = (restriction: string, value: Value) => void;

/** Counts work, about a byte or item each; throws when the query has had its share. */
export type Charge = (units: number) => void;

/**
 * Taking removals from a set back restores the order of its members up to this size. The order of a set is no
 * contract, and copying a large one would cost more than it is worth.
 */
const EXACT_UNDO_MAX = 1000;

/**
 * One change in the making. Query code touches state only through it, and it does four jobs in one place: it applies
 * each modification in memory, records it as an effect, records its inverse, and marks what became dirty.
 *
 * A query without a change has a transaction too; it refuses to touch anything stored. Loose things, lists and sets
 * vanish with the query, so for them there is nothing to record.
 *
 * Every method checks first and then modifies: one that throws has changed nothing.
 */
export class Transaction {
  /** Whether the query is a change. */
  readonly writable: boolean;
  readonly effects: ByteWriter;
  private readonly store: Store | null;
  private readonly checkRestriction: RestrictionCheck;
  private readonly charge: Charge;
  /** Units that are not charged yet: single ones are too few to count. */
  private uncharged = 0;
  private readonly undos: Undo[] = [];
  /** Things that this change stored and that have ids below this one have their references counted. */
  private adoptedBelow = 0;
  /** Place among the inverses of the last one that unstores things. */
  private storedPlace = -1;
  /** The last inverse that takes back what was appended to a list. */
  private appended: Appended | null = null;
  /**
   * Lists and sets that were properties of stored things when the change began and are loose now. What the query does
   * to them is no effect, but it must be taken back: undoing the change makes them properties again.
   */
  private detached: Set<List | ThingSet> | null = null;
  /** What `doomed` found when the effects had some length. */
  private doomedThings: ReadonlySet<Thing> | null = null;
  private doomedAt = -1;
  /** Sets, and indexes of keys, whose order comes right again when everything is taken back. */
  private ordered: Set<object> | null = null;

  /** @param effects an empty writer, for this transaction's use until it ends */
  constructor(
    store: Store | null,
    writable: boolean,
    effects: ByteWriter,
    checkRestriction: RestrictionCheck,
    charge: Charge,
  ) {
    this.store = store;
    this.writable = writable;
    this.effects = effects;
    this.checkRestriction = checkRestriction;
    this.charge = charge;
  }

  get changed(): boolean {
    return this.effects.length > 0;
  }

  /** Records the inverse of a modification that was made elsewhere, on state that is not things. */
  onUndo(undo: Undo): void {
    this.undos.push(undo);
  }

  /** Throws operation_err when the query may not modify this thing, list or set. */
  assertWritable(target: Thing | List | ThingSet): void {
    if (target.stored && !this.writable) {
      throw operationError('stored data can only be modified by a query with a change: use wse(...)');
    }
  }

  /**
   * Sets a property. Lists and sets that something else may refer to are copied, tuples become lists, closures take
   * their stored form.
   *
   * @returns the value as it is stored
   * @throws QueryError value_err for a reserved key, type_err for what a restriction refuses, operation_err for a
   *   present list or set that is in use
   */
  setProperty(thing: Thing, key: string, value: Value): Value {
    const old = thing.get(key);
    if (old === undefined) {
      if (isReservedKey(key)) throw valueError(`the key '${key}' is reserved`);
    } else {
      assertReplaceable(old);
    }
    if (thing.shape.restriction !== null) this.checkRestriction(thing.shape.restriction, value);
    return this.place(thing, key, value);
  }

  /**
   * Sets every property that another thing has. Replaces present lists and sets also while they are in use.
   *
   * @param source loaded; may be the same thing
   * @throws QueryError type_err when a restriction refuses one of the values
   */
  assign(thing: Thing, source: Thing): void {
    const entries = source.entries();
    const { restriction } = thing.shape;
    if (restriction !== null) for (const [, value] of entries) this.checkRestriction(restriction, value);
    for (const [key, value] of entries) this.place(thing, key, value);
  }

  private place(thing: Thing, key: string, value: Value): Value {
    const old = thing.get(key);
    if (old === undefined) assertMembers(thing.shape.size + 1);
    const own = toProperty(value);
    if (own !== value) this.count(sizeOf(own));
    if (thing.id === 0) {
      thing.put(key, own);
      if (old !== undefined) detach(old);
      attach(thing, key, own);
      return own;
    }
    this.assertWritable(thing);
    const store = this.needStore();
    this.storeAll(own);
    this.record(Effect.SET, thing, key);
    this.writeValue(own);
    const undo = old === undefined ? undoOfNewKey(store, thing, key) : undoOfPut(store, thing, key, old);
    store.put(thing, key, own);
    if (old !== undefined) this.noteDetached(old);
    this.undos.push(undo);
    return own;
  }

  /** Deletes a property that exists; returns its value, which is loose then. */
  deleteProperty(thing: Thing, key: string): Value {
    const [old] = this.deleteProperties(thing, [key]);
    if (old === undefined) throw new Error(`no property '${key}' to delete`);
    return old;
  }

  /** Deletes properties that exist; returns their values, which are loose then. */
  deleteProperties(thing: Thing, keys: readonly string[]): Value[] {
    for (const key of keys) assertReplaceable(thing.get(key));
    this.count(UNITS_PER_PROPERTY * keys.length);
    return keys.map((key) => this.drop(thing, key));
  }

  private drop(thing: Thing, key: string): Value {
    const old = thing.get(key);
    if (old === undefined) throw new Error(`no property '${key}' to delete`);
    if (thing.id === 0) {
      thing.drop(key);
      detach(old);
      return old;
    }
    this.assertWritable(thing);
    const store = this.needStore();
    this.record(Effect.DELETE, thing, key);
    this.keepOrder(thing);
    const places = placesOf(thing);
    const slot = slotOf(thing, key);
    store.drop(thing, key);
    this.noteDetached(old);
    this.undos.push(() => store.undrop(thing, key, old, slot, places));
    return old;
  }

  /** Renames a property; `to` must be free. */
  renameProperty(thing: Thing, from: string, to: string): void {
    if (isReservedKey(to)) throw valueError(`the key '${to}' is reserved`);
    if (thing.id === 0) {
      const value = thing.drop(from);
      if (value === undefined) return;
      thing.put(to, value);
      attach(thing, to, value);
      return;
    }
    this.assertWritable(thing);
    const store = this.needStore();
    this.record(Effect.RENAME, thing, from);
    this.effects.text(to);
    this.keepOrder(thing);
    const places = placesOf(thing);
    const slot = slotOf(thing, from);
    store.rename(thing, from, to);
    this.undos.push(() => store.unrename(thing, from, to, slot, places));
  }

  /** Deletes all properties. */
  clearThing(thing: Thing): void {
    if (thing.shape.size === 0) return;
    if (thing.id === 0) {
      thing.forEach((_, value) => {
        detach(value);
      });
      thing.shape = thing.shape.cleared();
      thing.slots = [];
      return;
    }
    this.assertWritable(thing);
    const store = this.needStore();
    this.effects.u8(Effect.CLEAR);
    this.effects.varint(thing.id);
    const places = placesOf(thing);
    thing.forEach((_, value) => {
      this.noteDetached(value);
    });
    store.clear(thing);
    this.undos.push(() => store.unclear(thing, places));
  }

  /** Restricts which values a plain thing accepts. The present values must have been checked. */
  restrict(thing: Thing, restriction: string | null): void {
    const old = thing.shape.restriction;
    if (old === restriction) return;
    if (thing.id === 0) {
      thing.shape = thing.shape.restricted(restriction);
      return;
    }
    this.assertWritable(thing);
    const store = this.needStore();
    this.effects.u8(Effect.RESTRICT);
    this.effects.varint(thing.id);
    this.effects.text(restriction ?? '');
    this.undos.push(() => store.restrict(thing, old));
    store.restrict(thing, restriction);
  }

  /**
   * Replaces `count` items of a list from `start` on by `values`, which become items: lists and sets turn into tuples.
   *
   * @returns the removed items, in an array that is the caller's own
   */
  spliceList(list: List, start: number, count: number, values: readonly Value[]): Value[] {
    assertItems(list.length - count + values.length);
    const items = this.toItems(values, list);
    const added = items.length;
    if (!list.stored) {
      const removed = spliceItems(list, start, count, items);
      if (this.isDetached(list)) this.undos.push(() => spliceItems(list, start, added, removed));
      return removed.slice();
    }
    this.assertWritable(list);
    if (count === 0 && added === 0) return [];
    const store = this.needStore();
    this.storeItems(items);
    this.recordAt(Effect.SPLICE, list);
    this.effects.varint(start);
    this.effects.varint(count);
    this.effects.varint(added);
    for (const item of items) this.writeValue(item);
    const isAppended = start === list.length;
    const removed = store.splice(list, start, count, items);
    if (isAppended) this.undoAppend(store, list, start, added);
    else this.undos.push(() => store.splice(list, start, added, removed));
    return removed.slice();
  }

  /** Appends one value to a list, which is the most frequent change of a list; as `spliceList` at its end. */
  append(list: List, value: Value): void {
    if (!list.stored || !isItem(value)) {
      this.spliceList(list, list.length, 0, [value]);
      return;
    }
    const start = list.length;
    assertItems(start + 1);
    this.assertWritable(list);
    const store = this.needStore();
    if (value instanceof Thing && value.id === 0) this.storeThing(value);
    this.recordAt(Effect.SPLICE, list);
    this.effects.varint(start);
    this.effects.varint(0);
    this.effects.varint(1);
    this.writeValue(value);
    store.append(list, value);
    this.undoAppend(store, list, start, 1);
  }

  /** Notes how to take back what was appended to a list. Appending one by one, which is frequent, takes one step in all. */
  private undoAppend(store: Store, list: List, start: number, added: number): void {
    const { undos, appended } = this;
    if (appended !== null && appended.list === list && appended.place === undos.length - 1) {
      appended.added += added;
    } else {
      const step = { list, added, place: undos.length };
      undos.push(undoOfAppend(store, step, start));
      this.appended = step;
    }
  }

  /** Replaces every item of a list by one value. */
  fillList(list: List, value: Value): void {
    const count = list.length;
    const [item = null] = this.toItems([value], list, count);
    const items = new Array<Value>(count).fill(item);
    this.count(count);
    if (!list.stored) {
      const removed = spliceItems(list, 0, count, items);
      if (this.isDetached(list)) this.undos.push(() => spliceItems(list, 0, count, removed));
      return;
    }
    this.assertWritable(list);
    if (count === 0) return;
    const store = this.needStore();
    this.storeAll(item);
    this.recordAt(Effect.FILL, list);
    this.writeValue(item);
    const removed = store.splice(list, 0, count, items);
    this.undos.push(() => store.splice(list, 0, count, removed));
  }

  /**
   * Removes the items at some positions, which are in order.
   *
   * @returns the removed items, in an array that is the caller's own
   */
  removeItems(list: List, positions: readonly number[]): Value[] {
    if (positions.length === 0) return [];
    const runs = runsOf(positions);
    this.count(list.length);
    if (!list.stored) {
      const removed = takeRuns(list, runs);
      if (this.isDetached(list)) this.undos.push(() => putRuns(list, runs, removed));
      return removed.slice();
    }
    this.assertWritable(list);
    const store = this.needStore();
    this.recordAt(Effect.REMOVE_ITEMS, list);
    this.effects.varint(runs.length);
    let end = 0;
    for (const { start, count } of runs) {
      this.effects.varint(start - end);
      this.effects.varint(count);
      end = start + count;
    }
    const removed = store.removeItems(list, runs);
    this.undos.push(() => store.restoreItems(list, runs, removed));
    return removed.slice();
  }

  /** Adds things to a set; returns how many were not in it. */
  addMembers(set: ThingSet, things: Iterable<Thing>): number {
    const added = [...new Set(things)].filter((thing) => !set.members.has(thing));
    assertMembers(set.members.size + added.length);
    this.count(added.length);
    if (!set.stored) {
      addAll(set, added);
      if (this.isDetached(set)) this.undos.push(() => removeAll(set, added));
      return added.length;
    }
    this.assertWritable(set);
    if (added.length === 0) return 0;
    const store = this.needStore();
    this.storeThings(added);
    this.recordMembers(Effect.ADD_MEMBERS, set, added);
    store.addMembers(set, added);
    this.undos.push(() => store.removeMembers(set, added));
    return added.length;
  }

  /** Takes things out of a set; returns those that were in it, in the given order, in an array that is the caller's own. */
  removeMembers(set: ThingSet, things: Iterable<Thing>): Thing[] {
    const removed = [...new Set(things)].filter((thing) => set.members.has(thing));
    this.count(removed.length);
    if (!set.stored) {
      if (this.isDetached(set)) {
        this.keepMemberOrder(set);
        this.undos.push(() => addAll(set, removed));
      }
      removeAll(set, removed);
      return removed.slice();
    }
    this.assertWritable(set);
    if (removed.length === 0) return removed;
    const store = this.needStore();
    this.recordMembers(Effect.REMOVE_MEMBERS, set, removed);
    this.keepMemberOrder(set);
    store.removeMembers(set, removed);
    this.undos.push(() => store.addMembers(set, removed));
    return removed.slice();
  }

  /** Gives a set exactly these members, as the compound set operators do. */
  assignMembers(set: ThingSet, members: ReadonlySet<Thing>): void {
    this.assertWritable(set);
    this.removeMembers(
      set,
      [...set.members].filter((thing) => !members.has(thing)),
    );
    this.addMembers(set, members);
  }

  /** The things that will go if the change ends now: to which nothing stored refers that stays. */
  doomed(): ReadonlySet<Thing> {
    const { length } = this.effects;
    if (this.doomedThings === null || this.doomedAt !== length) {
      this.doomedThings = this.store === null ? new Set() : this.findDoomed(this.store);
      this.doomedAt = length;
    }
    return this.doomedThings;
  }

  /**
   * Ends a successful change: removes what nothing stored refers to any more.
   *
   * @returns the effects, or null when nothing changed
   */
  finish(): Uint8Array | null {
    if (this.store !== null && this.store.orphans.size > 0) this.removeOrphans(this.store);
    return this.changed ? this.effects.take() : null;
  }

  /** The way back from the whole change, for a leader that loses its office before the change is committed. */
  get inverse(): readonly Undo[] {
    return this.undos;
  }

  /** Takes everything back. */
  rollback(): void {
    takeBack(this.undos);
    this.store?.orphans.clear();
    this.effects.rewind();
  }

  /** Removes things that nothing reaches from the root, though they refer to each other. */
  removeGarbage(ids: readonly number[]): void {
    const store = this.needStore();
    const things = ids.map((id) => store.thingOfId(id));
    this.recordRemoved(things);
    for (const thing of things) store.load(thing);
    for (const thing of things) {
      store.remove(thing);
      this.undos.push(() => store.revive(thing));
    }
  }

  private removeOrphans(store: Store): void {
    const removed: Thing[] = [];
    for (let orphans = [...store.orphans]; orphans.length > 0; orphans = [...store.orphans]) {
      for (const thing of orphans) {
        store.remove(thing);
        removed.push(thing);
        this.undos.push(() => store.revive(thing));
      }
    }
    this.recordRemoved(removed);
  }

  private recordRemoved(removed: readonly Thing[]): void {
    this.effects.u8(Effect.REMOVE_THINGS);
    this.effects.varint(removed.length);
    for (const thing of removed) this.effects.varint(thing.id);
  }

  /** Gives ids to every loose thing that a value brings along. */
  private storeAll(value: Value): void {
    if (typeof value === 'object' && value !== null) this.storeItems([value]);
  }

  private storeItems(items: readonly Value[]): void {
    const [first] = items;
    if (items.length === 1 && first instanceof Thing) {
      if (first.id === 0) this.storeThing(first);
      return;
    }
    const loose: Thing[] = [];
    for (const item of items) {
      if (typeof item !== 'object' || item === null) continue;
      this.count(sizeOf(item));
      eachThing(item, (thing) => {
        if (thing.id === 0) loose.push(thing);
      });
    }
    if (loose.length > 0) this.storeThings(loose);
  }

  /**
   * Stores loose things and the loose things that they refer to. Ids are given depth first: the thing itself, then
   * its values in order. Not recursive, since chains of things can be of any length. The caller places `things` right
   * after this, so that none of them stays without a reference.
   */
  private storeThings(things: readonly Thing[]): void {
    const store = this.needStore();
    const base = store.nextId;
    this.undoStoring(store);
    const stack = things.toReversed();
    for (let thing = stack.pop(); thing !== undefined; thing = stack.pop()) {
      if (thing.id !== 0) continue;
      this.register(store, thing);
      this.pushLooseOf(thing, stack);
    }
    const end = store.nextId;
    this.effects.u8(Effect.NEW_THINGS);
    this.effects.varint(base);
    this.effects.varint(end - base);
    for (let id = base; id < end; id++) this.adopt(store, store.thingOfId(id));
  }

  /** Stores one loose thing, which mostly brings no others along. */
  private storeThing(thing: Thing): void {
    if (!isFlat(thing)) {
      this.storeThings([thing]);
      return;
    }
    const store = this.needStore();
    this.undoStoring(store);
    this.effects.u8(Effect.NEW_THINGS);
    this.effects.varint(store.nextId);
    this.effects.varint(1);
    this.register(store, thing);
    this.adopt(store, thing);
  }

  private register(store: Store, thing: Thing): void {
    store.register(thing, store.nextId);
    this.count(UNITS_PER_PROPERTY * (thing.shape.size + 1));
  }

  /** Writes the properties of a registered thing and counts what they refer to. */
  private adopt(store: Store, thing: Thing): void {
    const { length } = this.effects;
    writeProperties(this.effects, thing);
    this.count(this.effects.length - length);
    store.adopt(thing);
    this.adoptedBelow = thing.id + 1;
  }

  /**
   * Notes how to take back that things are stored from now on. To be called before, since a limit may end the query
   * halfway. One step takes back all that is stored until another kind of step comes.
   */
  private undoStoring(store: Store): void {
    if (this.takesStoredBack()) return;
    this.storedPlace = this.undos.length;
    this.undos.push(this.undoOfStoring(store, store.nextId));
  }

  private undoOfStoring(store: Store, base: number): Undo {
    return () => this.unstoreThings(store, base);
  }

  /** Whether the last steps back unstore things, and perhaps take back what was appended to a list since. */
  private takesStoredBack(): boolean {
    const { length } = this.undos;
    if (this.storedPlace < 0) return false;
    return (
      this.storedPlace === length - 1 ||
      (this.storedPlace === length - 2 && this.appended?.place === length - 1)
    );
  }

  /** Takes back that the things from an id on were stored. */
  private unstoreThings(store: Store, base: number): void {
    for (let id = base; id < this.adoptedBelow; id++) store.disown(store.thingOfId(id));
    for (let id = store.nextId - 1; id >= base; id--) store.unregister(store.thingOfId(id));
    this.adoptedBelow = Math.min(this.adoptedBelow, base);
    store.nextId = base;
  }

  /** Puts the loose things that a thing refers to on a stack, so that the first comes out first. */
  private pushLooseOf(thing: Thing, stack: Thing[]): void {
    const { slots } = thing;
    for (let i = slots.length - 1; i >= 0; i--) {
      const value = slots[i] as Value;
      if (typeof value !== 'object' || value === null) continue;
      this.count(sizeOf(value));
      const first = stack.length;
      eachThing(value, (child) => {
        if (child.id === 0) stack.push(child);
      });
      reverseFrom(stack, first);
    }
  }

  private writeValue(value: Value): void {
    const { length } = this.effects;
    writeValue(this.effects, value);
    this.count(this.effects.length - length);
  }

  /**
   * What a list holds for values that are put into it.
   *
   * @param times how often each of them is going to be in the list
   */
  private toItems(values: readonly Value[], list: List, times = 1): readonly Value[] {
    const [first = null] = values;
    if (values.length === 1 && isItem(first)) return values;
    // A list of their own, so that `list` stays as it is when a value is refused.
    const made = new List(new Array<Value>(values.length));
    for (let i = 0; i < values.length; i++) {
      const value = values[i] as Value;
      if (value instanceof Closure) value.store();
      made.items[i] = toItem(value, made);
    }
    assertInnerItems(list, made.inner * times);
    this.count(values.length + made.inner);
    return made.items;
  }

  private count(units: number): void {
    this.uncharged += units;
    if (this.uncharged < CHARGED_AT_ONCE) return;
    this.charge(this.uncharged);
    this.uncharged = 0;
  }

  private noteDetached(value: Value): void {
    if (value instanceof List || value instanceof ThingSet) {
      this.detached ??= new Set();
      this.detached.add(value);
    }
  }

  private isDetached(value: List | ThingSet): boolean {
    return this.detached?.has(value) === true;
  }

  /**
   * Must be called before a key is taken away. Taking removals back one by one would have to find the place of each key
   * again; the slots know it, so the whole order is restored once, after all of them.
   */
  private keepOrder(thing: Thing): void {
    const { shape } = thing;
    if (!shape.owned || this.isOrdered(shape.index)) return;
    this.undos.push(() => shape.restoreOrder());
  }

  /** The same for the members of a set. */
  private keepMemberOrder(set: ThingSet): void {
    if (set.members.size > EXACT_UNDO_MAX || this.isOrdered(set)) return;
    const before = new Set(set.members);
    this.undos.push(() => {
      set.members = before;
    });
  }

  /** Whether the order of something comes right again already; from now on it does. */
  private isOrdered(what: object): boolean {
    this.ordered ??= new Set();
    if (this.ordered.has(what)) return true;
    this.ordered.add(what);
    return false;
  }

  private findDoomed(store: Store): Set<Thing> {
    const doomed = new Set(store.orphans);
    /** References that would be left. */
    const left = new Map<Thing, number>();
    for (const thing of doomed) {
      this.count(UNITS_PER_PROPERTY * (thing.shape.size + 1));
      store.load(thing);
      thing.forEach((_, value) => {
        eachThing(value, (child) => {
          store.load(child);
          const refs = (left.get(child) ?? child.refs) - 1;
          left.set(child, refs);
          if (refs === 0) doomed.add(child);
        });
      });
    }
    return doomed;
  }

  private record(operation: number, thing: Thing, key: string): void {
    this.effects.u8(operation);
    this.effects.varint(thing.id);
    this.effects.text(key);
  }

  private recordAt(operation: number, value: List | ThingSet): void {
    if (value.owner === null) throw new Error('a stored list or set has an owner');
    this.record(operation, value.owner, value.key);
  }

  private recordMembers(operation: number, set: ThingSet, things: readonly Thing[]): void {
    this.recordAt(operation, set);
    this.effects.varint(things.length);
    for (const thing of things) this.effects.varint(thing.id);
  }

  private needStore(): Store {
    if (this.store === null) throw new Error('there are stored things in collections only');
    return this.store;
  }
}

/** What was appended to a list in a row. */
interface Appended {
  readonly list: List;
  /** Number of items so far. */
  added: number;
  /** Place of the inverse among the others. */
  readonly place: number;
}

function undoOfAppend(store: Store, step: Appended, start: number): Undo {
  return () => store.splice(step.list, start, step.added, []);
}

/** To be called before: it remembers the places of the thing's values. */
function undoOfNewKey(store: Store, thing: Thing, key: string): Undo {
  const places = placesOf(thing);
  return () => store.unput(thing, key, places);
}

function undoOfPut(store: Store, thing: Thing, key: string, old: Value): Undo {
  return () => store.put(thing, key, old);
}

/** Runs inverses, newest first. */
export function takeBack(undos: readonly Undo[]): void {
  for (let i = undos.length - 1; i >= 0; i--) (undos[i] as Undo)();
}

/** What a property holds for a value that is assigned to it. */
export function toProperty(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof List) {
    return value.shared || value.tuple || value.owner !== null ? copyList(value) : value;
  }
  if (value instanceof ThingSet) {
    return value.shared || value.owner !== null ? new ThingSet(value.members) : value;
  }
  if (value instanceof Closure) value.store();
  return value;
}

/** Whether a list holds a value as it is. */
function isItem(value: Value): value is null | boolean | number | bigint | string | Thing {
  return typeof value !== 'object' || value === null || value instanceof Thing;
}

/** Whether no value of a thing is an object, which could be or hold another thing. */
function isFlat(thing: Thing): boolean {
  for (const value of thing.slots) if (typeof value === 'object' && value !== null) return false;
  return true;
}

/** Turns what lies on a stack above a place upside down. */
function reverseFrom(stack: Thing[], from: number): void {
  for (let i = from, j = stack.length - 1; i < j; i++, j--) {
    const thing = stack[i] as Thing;
    stack[i] = stack[j] as Thing;
    stack[j] = thing;
  }
}

/** Neighbouring positions, taken together. */
function runsOf(positions: readonly number[]): Run[] {
  const runs: Run[] = [];
  let start = positions[0] ?? 0;
  for (let i = 1; i <= positions.length; i++) {
    const before = positions[i - 1] as number;
    if (positions[i] === before + 1) continue;
    runs.push({ start, count: before + 1 - start });
    start = positions[i] ?? 0;
  }
  return runs;
}

/** Units that are charged together. */
const CHARGED_AT_ONCE = 1024;

/** Units charged for each property that is stored. */
const UNITS_PER_PROPERTY = 8;

function addAll(set: ThingSet, things: readonly Thing[]): void {
  for (const thing of things) set.members.add(thing);
}

function removeAll(set: ThingSet, things: readonly Thing[]): void {
  for (const thing of things) set.members.delete(thing);
}

function assertReplaceable(old: Value | undefined): void {
  if ((old instanceof List || old instanceof ThingSet) && old.lock !== 0) {
    throw operationError('the list or set of this property is in use');
  }
}

function slotOf(thing: Thing, key: string): number {
  const slot = thing.shape.index.get(key);
  if (slot === undefined) throw new Error(`no property '${key}'`);
  return slot;
}
