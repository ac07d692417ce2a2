/**
 * Things that expire: instances of types that have an index with the flag EXPIRES, once the moment in its property is over. The leader
 * takes them out of what refers to them, a slice at a time, in changes like any other; with its last reference a thing is removed, as
 * always. What is still there is seen by its index alone, so another leader goes on with it, and nothing expires twice.
 *
 * Things do not know what refers to them. So an expired one is taken out of its relations first, then out of the root and out of the things
 * in which others were found before. Only for one that is still referred to all things of the collection are gone through, beside the requests.
 */
import { isExpiring } from '../schema/index-def.js';
import type { Type } from '../schema/type.js';
import { List, listOf, ThingSet } from '../value/containers.js';
import { KEY_END, momentKey, NIL_KEY, sortKey } from '../value/sort-key.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { Wrap } from '../value/wrap.js';
import type { Store } from './store.js';
import type { Transaction } from './transaction.js';
import type { TypeIndex } from './type-index.js';

/** Instances that are taken up in one slice. */
const PORTION = 256;

/** Things in which expired ones were found, and which are looked into first for others. */
const OWNERS_MAX = 16;

/** Pause after all things were gone through in vain, in milliseconds: what still refers to a thing can't let go of it. */
const PAUSE_MS = 60_000;

/** The expiry of things in one collection, as its leader sees to it. */
export class Expiry {
  /** Ids of things that expired and are still referred to. */
  private readonly held = new Set<number>();
  /** Ids of the things in which others were found, the last one last. */
  private readonly owners = new Set<number>();
  /** The id of the thing that was looked into last. */
  private cursor = 0;
  /** Whether all things have to be gone through once more: something was found, or came, since the search began with the first id. */
  private isToGoOn = false;
  private restsUntil = 0;

  constructor(private readonly store: Store) {}

  /** @param now Unix time in milliseconds */
  isDue(now: number): boolean {
    if (this.held.size > 0 && now >= this.restsUntil) return true;
    return this.expired(now, 1).length > 0;
  }

  /**
   * Lets go of some of what expired.
   *
   * @param now Unix time in milliseconds
   * @param isOver whether the slice has lasted long enough
   */
  step(transaction: Transaction, now: number, isOver: () => boolean): void {
    const things = this.expired(now, PORTION).map((id) => this.store.thingOfId(id));
    for (const thing of things) leaveRelations(this.store, transaction, thing);
    const left = new Set(things.filter(({ refs }) => refs > 0));
    for (const id of [this.store.root.id, ...this.owners]) {
      if (left.size === 0) break;
      this.letGo(transaction, id, (thing) => left.has(thing), left);
      for (const thing of left) if (thing.refs === 0) left.delete(thing);
    }
    for (const { id } of left) {
      this.held.add(id);
      this.restsUntil = 0;
      this.isToGoOn = true;
    }
    if (now >= this.restsUntil) this.search(transaction, now, isOver);
  }

  /** Ids of instances whose moment is over, without those that are held. */
  private expired(now: number, max: number): number[] {
    const found: number[] = [];
    for (const index of this.store.indexes.byId.values()) {
      if (!isExpiring(index.def)) continue;
      index.tree.ascend({ key: NIL_KEY + KEY_END, id: 0 }, (key, id) => {
        if (key > lastKey(key, now) || found.length >= max) return false;
        if (!this.held.has(id)) found.push(id);
        return true;
      });
    }
    return found;
  }

  /** Goes on through all things, for those that refer to what is held. */
  private search(transaction: Transaction, now: number, isOver: () => boolean): void {
    const { store, held } = this;
    while (held.size > 0) {
      this.cursor += 1;
      if (this.cursor >= store.nextId) {
        this.endRound(now);
        return;
      }
      let refers = false;
      if (store.find(this.cursor) !== undefined) {
        store.visitReferences(this.cursor, (id) => {
          refers ||= held.has(id);
        });
      }
      if (refers) this.letGoOfHeld(transaction, this.cursor, now);
      if (isOver()) return;
    }
  }

  private endRound(now: number): void {
    this.cursor = 0;
    // Instances that went, or were given more time, are held no longer.
    for (const id of this.held) if (!this.isStillExpired(id, now)) this.held.delete(id);
    if (!this.isToGoOn) this.restsUntil = now + PAUSE_MS;
    this.isToGoOn = false;
  }

  private letGoOfHeld(transaction: Transaction, owner: number, now: number): void {
    const { held, store } = this;
    const things = new Set<Thing>();
    store.visitReferences(owner, (id) => {
      if (!held.has(id)) return;
      if (this.isStillExpired(id, now)) things.add(store.thingOfId(id));
      else held.delete(id);
    });
    if (!this.letGo(transaction, owner, (thing) => things.has(thing), things)) return;
    this.isToGoOn = true;
    this.owners.delete(owner);
    this.owners.add(owner);
    const [oldest] = this.owners;
    if (this.owners.size > OWNERS_MAX && oldest !== undefined) this.owners.delete(oldest);
    for (const { id, refs } of things) if (refs === 0) held.delete(id);
  }

  private isStillExpired(id: number, now: number): boolean {
    const thing = this.store.find(id);
    if (thing === undefined) return false;
    const index = expiringIndex(this.store, thing.type);
    if (index === undefined) return false;
    const key = index.keyOf(thing);
    return key > NIL_KEY && key <= lastKey(key, now);
  }

  /**
   * Takes things out of one that refers to them: out of its lists and sets, and from its properties, which are deleted, or become nil in
   * an instance. A property of an instance that can't be nil keeps what it has.
   *
   * @returns whether anything changed
   */
  private letGo(
    transaction: Transaction,
    id: number,
    goes: (thing: Thing) => boolean,
    things: ReadonlySet<Thing>,
  ): boolean {
    const owner = this.store.find(id);
    if (owner === undefined) return false;
    this.store.load(owner);
    let changed = false;
    for (const [key, value] of owner.entries()) {
      if (value instanceof List) changed = takeOutOfList(transaction, value, goes) || changed;
      else if (value instanceof ThingSet) {
        const gone = [...things].filter((thing) => value.members.has(thing));
        if (gone.length > 0) transaction.removeMembers(value, gone);
        changed ||= gone.length > 0;
      } else if (refersTo(value, goes)) {
        const field = owner.type === null ? undefined : owner.field(key);
        if (field !== undefined && !field.rule.fits(null)) continue;
        if (field === undefined) transaction.deleteProperty(owner, key);
        else transaction.placeField(owner, field, null);
        changed = true;
      }
    }
    return changed;
  }
}

/** The index by which the instances of a type expire. */
export function expiringIndex(store: Store, type: Type | null): TypeIndex | undefined {
  return type === null ? undefined : store.indexes.of(type).find(({ def }) => isExpiring(def));
}

/** The greatest key of a moment that is over, among keys of the kind of this one. */
function lastKey(key: string, now: number): string {
  const seconds = Math.floor(now / 1000);
  return key.charAt(0) === momentKey(0).charAt(0) ? momentKey(seconds) : sortKey(seconds);
}

function leaveRelations(store: Store, transaction: Transaction, thing: Thing): void {
  store.load(thing);
  for (const field of thing.type === null ? [] : thing.shape.fields) {
    if (field.relation === null) continue;
    const value = thing.slots[field.slot];
    if (value instanceof ThingSet && value.members.size > 0)
      transaction.placeField(thing, field, new ThingSet([]));
    else if (value instanceof Thing) transaction.placeField(thing, field, null);
  }
}

function takeOutOfList(transaction: Transaction, list: List, goes: (thing: Thing) => boolean): boolean {
  const gone: number[] = [];
  let changed = false;
  for (const [i, item] of list.items.entries()) {
    if (refersTo(item, goes)) gone.push(i);
    else if (item instanceof List && hasAny(item, goes)) {
      transaction.spliceList(list, i, 1, [without(item, goes)]);
      changed = true;
    }
  }
  transaction.removeItems(list, gone);
  return changed || gone.length > 0;
}

function refersTo(value: Value, goes: (thing: Thing) => boolean): boolean {
  if (value instanceof Wrap) return goes(value.thing);
  return value instanceof Thing && goes(value);
}

function hasAny(tuple: List, goes: (thing: Thing) => boolean): boolean {
  return tuple.items.some((item) => (item instanceof List ? hasAny(item, goes) : refersTo(item, goes)));
}

/** A tuple without the things that go. */
function without(tuple: List, goes: (thing: Thing) => boolean): List {
  const items = tuple.items.filter((item) => !refersTo(item, goes));
  return listOf(
    items.map((item) => (item instanceof List ? without(item, goes) : item)),
    true,
  );
}
