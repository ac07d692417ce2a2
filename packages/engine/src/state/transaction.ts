import type { ByteWriter } from '../bytes.js';
import { operationError, valueError } from '../error.js';
import { Closure } from '../value/closure.js';
import { copyList, List, ThingSet, toItem } from '../value/containers.js';
import { isReservedKey, type Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { Effect } from './effects.js';
import { attach, detach, eachThing, placesOf, type Store, spliceItems } from './store.js';
import { writeProperties } from './thing-record.js';
import { writeValue } from './value-codec.js';

/** Takes one step of a change back. Steps are taken back in reverse order. */
export type Undo = () => void;

/** Decides whether a value may be placed in a restricted thing; throws type_err when it may not. */
export type RestrictionCheck = (restriction: string, value: Value) => void;

/**
 * Taking a removal from a set back restores the order of its members up to this size. The order of a set is no
 * contract, and copying a large one for each removal would cost more than it is worth.
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
  private readonly undos: Undo[] = [];

  /** @param effects an empty writer, for this transaction's use until it ends */
  constructor(
    store: Store | null,
    writable: boolean,
    effects: ByteWriter,
    checkRestriction: RestrictionCheck,
  ) {
    this.store = store;
    this.writable = writable;
    this.effects = effects;
    this.checkRestriction = checkRestriction;
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
    const own = toProperty(value);
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
    writeValue(this.effects, own);
    const places = placesOf(thing);
    store.put(thing, key, own);
    this.undos.push(
      old === undefined ? () => store.unput(thing, key, places) : () => store.put(thing, key, old),
    );
    return own;
  }

  /** Deletes a property that exists; returns its value, which is loose then. */
  deleteProperty(thing: Thing, key: string): Value {
    const old = thing.get(key);
    if (old === undefined) throw new Error(`no property '${key}' to delete`);
    assertReplaceable(old);
    if (thing.id === 0) {
      thing.drop(key);
      detach(old);
      return old;
    }
    this.assertWritable(thing);
    const store = this.needStore();
    this.record(Effect.DELETE, thing, key);
    const places = placesOf(thing);
    const slot = slotOf(thing, key);
    store.drop(thing, key);
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
    const places = placesOf(thing);
    const slot = slotOf(thing, from);
    store.rename(thing, from, to);
    this.undos.push(() => store.unrename(thing, from, to, slot, places));
  }

  /** Deletes all properties. */
  clearThing(thing: Thing): void {
    if (thing.shape.size === 0) return;
    if (thing.id === 0) {
      thing.forEach((_, value) => detach(value));
      thing.shape = thing.shape.cleared();
      thing.slots = [];
      return;
    }
    this.assertWritable(thing);
    const store = this.needStore();
    this.effects.u8(Effect.CLEAR);
    this.effects.varint(thing.id);
    const places = placesOf(thing);
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
   * @returns the removed items
   */
  spliceList(list: List, start: number, count: number, values: readonly Value[]): Value[] {
    const items = values.map((value) => toOwnItem(value, list));
    if (!list.stored) return spliceItems(list.items, start, count, items);
    this.assertWritable(list);
    if (count === 0 && items.length === 0) return [];
    const store = this.needStore();
    for (const item of items) this.storeAll(item);
    this.recordAt(Effect.SPLICE, list);
    this.effects.varint(start);
    this.effects.varint(count);
    this.effects.varint(items.length);
    for (const item of items) writeValue(this.effects, item);
    const removed = store.splice(list, start, count, items);
    this.undos.push(() => store.splice(list, start, items.length, removed));
    return removed;
  }

  /** Replaces every item of a list by one value. */
  fillList(list: List, value: Value): void {
    const count = list.items.length;
    const item = toOwnItem(value, list);
    const items = new Array<Value>(count).fill(item);
    if (!list.stored) {
      spliceItems(list.items, 0, count, items);
      return;
    }
    this.assertWritable(list);
    if (count === 0) return;
    const store = this.needStore();
    this.storeAll(item);
    this.recordAt(Effect.FILL, list);
    writeValue(this.effects, item);
    const removed = store.splice(list, 0, count, items);
    this.undos.push(() => store.splice(list, 0, count, removed));
  }

  /** Adds things to a set; returns how many were not in it. */
  addMembers(set: ThingSet, things: Iterable<Thing>): number {
    const added = [...new Set(things)].filter((thing) => !set.members.has(thing));
    if (!set.stored) {
      for (const thing of added) set.members.add(thing);
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

  /** Takes things out of a set; returns those that were in it, in the given order. */
  removeMembers(set: ThingSet, things: Iterable<Thing>): Thing[] {
    const removed = [...new Set(things)].filter((thing) => set.members.has(thing));
    if (!set.stored) {
      for (const thing of removed) set.members.delete(thing);
      return removed;
    }
    this.assertWritable(set);
    if (removed.length === 0) return removed;
    const store = this.needStore();
    const before = set.members.size <= EXACT_UNDO_MAX ? new Set(set.members) : null;
    this.recordMembers(Effect.REMOVE_MEMBERS, set, removed);
    store.removeMembers(set, removed);
    this.undos.push(() => {
      store.addMembers(set, removed);
      if (before !== null) set.members = before;
    });
    return removed;
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

  private removeOrphans(store: Store): void {
    const removed: Thing[] = [];
    for (let orphans = [...store.orphans]; orphans.length > 0; orphans = [...store.orphans]) {
      for (const thing of orphans) {
        store.remove(thing);
        removed.push(thing);
        this.undos.push(() => store.revive(thing));
      }
    }
    this.effects.u8(Effect.REMOVE_THINGS);
    this.effects.varint(removed.length);
    for (const thing of removed) this.effects.varint(thing.id);
  }

  /** Gives ids to every loose thing that a value brings along. */
  private storeAll(value: Value): void {
    if (typeof value !== 'object' || value === null) return;
    const loose: Thing[] = [];
    eachThing(value, (thing) => {
      if (thing.id === 0) loose.push(thing);
    });
    if (loose.length > 0) this.storeThings(loose);
  }

  /**
   * Stores loose things and the loose things that they refer to. Ids are given depth first: the thing itself, then
   * its values in order. Not recursive, since chains of things can be of any length.
   */
  private storeThings(things: readonly Thing[]): void {
    const store = this.needStore();
    const base = store.nextId;
    const stored: Thing[] = [];
    const stack = [...things].reverse();
    for (let thing = stack.pop(); thing !== undefined; thing = stack.pop()) {
      if (thing.id !== 0) continue;
      store.register(thing, base + stored.length);
      stored.push(thing);
      const inside: Thing[] = [];
      thing.forEach((_, value) =>
        eachThing(value, (child) => {
          if (child.id === 0) inside.push(child);
        }),
      );
      for (let i = inside.length - 1; i >= 0; i--) stack.push(inside[i] as Thing);
    }
    if (stored.length === 0) return;
    this.effects.u8(Effect.NEW_THINGS);
    this.effects.varint(base);
    this.effects.varint(stored.length);
    for (const thing of stored) {
      writeProperties(this.effects, thing);
      store.adopt(thing);
      // Stays an orphan unless something stored takes it up.
      if (thing.refs === 0) store.orphans.add(thing);
    }
    this.undos.push(() => {
      for (const thing of stored) store.disown(thing);
      for (const thing of stored) store.unregister(thing);
      store.nextId = base;
    });
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

function toOwnItem(value: Value, list: List): Value {
  if (value instanceof Closure) value.store();
  return toItem(value, list);
}

function assertReplaceable(old: Value): void {
  if ((old instanceof List || old instanceof ThingSet) && old.lock !== 0) {
    throw operationError('the list or set of this property is in use');
  }
}

function slotOf(thing: Thing, key: string): number {
  const slot = thing.shape.index.get(key);
  if (slot === undefined) throw new Error(`no property '${key}'`);
  return slot;
}
