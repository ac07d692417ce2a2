/**
 * Things that expire: instances of types that have an index with the flag EXPIRES, once the moment in its property is over. The leader
 * takes them out of what refers to them, a slice at a time, in changes like any other; with its last reference a thing is removed, as
 * always. What is still there is seen by its index alone, so another leader goes on with it, and nothing expires twice.
 *
 * Only for one that is still referred to, after what `Owners` does, all things of the collection are gone through, beside the requests.
 */
import { isExpiring } from '../schema/index-def.js';
import type { Type } from '../schema/type.js';
import { KEY_END, momentKey, NIL_KEY, sortKey } from '../value/sort-key.js';
import type { Thing } from '../value/thing.js';
import { letGoOfSome, Owners } from './letting-go.js';
import { Portion } from './portion.js';
import type { Store } from './store.js';
import type { Transaction } from './transaction.js';
import type { TypeIndex } from './type-index.js';

/** Instances that are taken up in one slice. */
const PORTION = 256;

/** Pause after all things were gone through in vain, in milliseconds: what still refers to a thing can't let go of it. */
const PAUSE_MS = 60_000;

/** The expiry of things in one collection, as its leader sees to it. */
export class Expiry {
  /** Ids of things that expired and are still referred to. */
  private readonly held = new Set<number>();
  private readonly owners: Owners;
  /** The id of the thing that was looked into last. */
  private cursor = 0;
  /** True if all things have to be gone through once more: something was found, or came, since the search began with the first id. */
  private isToGoOn = false;
  private restsUntil = 0;

  constructor(private readonly store: Store) {
    this.owners = new Owners(store);
  }

  /** @param now Unix time in milliseconds */
  isDue(now: number): boolean {
    if (this.held.size > 0 && now >= this.restsUntil) return true;
    return this.expired(now, 1).length > 0;
  }

  /**
   * Lets go of some of what expired.
   *
   * @param now Unix time in milliseconds
   * @param isOver whether the slice has lasted long enough; asked after each thing
   */
  step(transaction: Transaction, now: number, isOver: () => boolean): void {
    const things = this.expired(now, PORTION).map((id) => this.store.thingOfId(id));
    const { left, isLeaving } = this.owners.letGo(transaction, things, isOver);
    // One that leaves its relations is still in the index, and comes next.
    for (const { id } of isLeaving ? [] : left) {
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
    const portion = new Portion(store, transaction);
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
      if (refers && this.letGoOfHeld(transaction, this.cursor, now, portion) === 'some') {
        // The rest has its turn in the next slice.
        this.cursor -= 1;
        return;
      }
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

  private letGoOfHeld(
    transaction: Transaction,
    owner: number,
    now: number,
    portion: Portion,
  ): 'none' | 'some' | 'all' {
    const { held, store } = this;
    const things = new Set<Thing>();
    store.visitReferences(owner, (id) => {
      if (!held.has(id)) return;
      if (this.isStillExpired(id, now)) things.add(store.thingOfId(id));
      else held.delete(id);
    });
    const went = letGoOfSome(store, transaction, owner, things, portion);
    if (went === 'none') return went;
    this.isToGoOn = true;
    this.owners.note(owner);
    for (const { id, refs } of things) if (refs === 0) held.delete(id);
    return went;
  }

  private isStillExpired(id: number, now: number): boolean {
    const thing = this.store.find(id);
    if (thing === undefined) return false;
    const index = expiringIndex(this.store, thing.type);
    if (index === undefined) return false;
    const key = index.keyOf(thing);
    return key > NIL_KEY && key <= lastKey(key, now);
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
