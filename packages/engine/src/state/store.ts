import { FormatError } from '../bytes.js';
import type { Restriction } from '../schema/restriction.js';
import type { Type } from '../schema/type.js';
import type { List, ThingSet } from '../value/containers.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { attach, attachAll, ownerOf } from './attach.js';
import { putRuns, type Run, replaceItems, takeRuns } from './list-edits.js';
import { isPagedList, PAGED_ITEMS_MIN } from './pages/list-pages.js';
import { isPagedSet } from './pages/member-pages.js';
import { containerPages, dropPages } from './pages/paged-containers.js';
import { type Places, reshape } from './places.js';
import { References } from './references.js';

/**
 * The primitive changes to the things of one collection, each beside its way back.
 *
 * Every primitive keeps three things right: reference counts, which list or set is attached where, and what the next
 * checkpoint must write. It checks nothing and can be neither refused nor undone: a leader comes here through
 * `Transaction`, which does both, and a follower through the effects of `effects.ts`.
 */
export class Store extends References {
  /** Sets a property of a stored thing. The value is one of the thing's own: see `Transaction.setProperty`. */
  put(thing: Thing, key: string, value: Value): void {
    this.touchProperty(thing, key);
    this.enter(thing, value);
    const old = thing.put(key, value);
    if (old !== undefined) {
      this.changed(thing, thing.shape.index.get(key), old, value);
      this.discard(old);
    }
    attach(thing, key, value);
  }

  /** The same for a property that there is, at its slot. */
  putAt(thing: Thing, slot: number, key: string, value: Value): void {
    this.touchProperty(thing, key);
    this.enter(thing, value);
    const old = thing.slots[slot] as Value;
    thing.slots[slot] = value;
    this.changed(thing, slot, old, value);
    this.discard(old);
    attach(thing, key, value);
  }

  /** Gives an instance the value that it has of the successor of a field; undefined takes it away. */
  succeed(thing: Thing, value: Value | undefined): void {
    this.touch(thing);
    const { successor } = thing.shape;
    if (successor === null) throw new FormatError(`thing ${thing.id} has no property that gets a successor`);
    if (value === undefined) thing.slots.length = successor.slot;
    else thing.slots[successor.slot] = value;
  }

  /** A stored thing has another value in one of its slots. Only plain things get and lose properties otherwise, and they are in no index. */
  private changed(thing: Thing, slot: number | undefined, old: Value, value: Value): void {
    if (this.indexes.count > 0 && slot !== undefined) this.indexes.changed(thing, slot, old, value);
  }

  /** Takes a property of a stored thing away; returns its value. */
  drop(thing: Thing, key: string): Value | undefined {
    this.touchProperty(thing, key);
    const old = thing.drop(key);
    if (old !== undefined) this.discard(old);
    return old;
  }

  /** Gives a property another name, which must be free; it becomes the last one. */
  rename(thing: Thing, from: string, to: string): void {
    this.touchProperty(thing, from);
    this.touchProperty(thing, to);
    const value = thing.drop(from);
    if (value === undefined) return;
    thing.put(to, value);
    attach(thing, to, value);
  }

  /** Takes all properties of a stored thing away. */
  clear(thing: Thing): void {
    this.touchAll(thing);
    const old = thing.entries();
    thing.shape = thing.shape.cleared();
    thing.slots = [];
    for (const [, value] of old) this.discard(value);
  }

  /** Changes which values a stored thing accepts. */
  restrict(thing: Thing, restriction: Restriction | null): void {
    this.touch(thing);
    thing.shape = thing.shape.restricted(restriction);
  }

  /** Replaces `count` items from `start` on by others; returns the removed ones. */
  splice(list: List, start: number, count: number, items: readonly Value[]): Value[] {
    this.touchOwner(list);
    for (const item of items) this.retain(item);
    const removed = isPagedList(list)
      ? list.backing.splice(start, count, items)
      : replaceItems(list, start, count, items);
    for (const item of removed) this.release(item);
    this.cutIfLarge(list);
    return removed;
  }

  /** Adds a value that holds no others to the end of a list. */
  append(list: List, value: Value): void {
    this.touchOwner(list);
    this.appendNext(list, value);
  }

  /** The same where the owner of the list was touched and nothing stored has changed since but this list. */
  appendNext(list: List, value: Value): void {
    if (value instanceof Thing) this.retainThing(value);
    if (list.backing === null) {
      list.held.push(value);
      this.cutIfLarge(list);
    } else if (isPagedList(list)) list.backing.append(value);
  }

  /** Removes the items of some runs from a list; returns them. */
  removeItems(list: List, runs: readonly Run[]): Value[] {
    this.touchOwner(list);
    const removed = isPagedList(list) ? list.backing.removeRuns(runs) : takeRuns(list, runs);
    for (const item of removed) this.release(item);
    if (isPagedList(list) && list.backing.isSparse) this.makeWhole(list);
    this.cutIfLarge(list);
    return removed;
  }

  /** Takes `removeItems` back. */
  restoreItems(list: List, runs: readonly Run[], removed: readonly Value[]): void {
    this.touchOwner(list);
    for (const item of removed) this.retain(item);
    this.makeWhole(list);
    putRuns(list, runs, removed);
    this.cutIfLarge(list);
  }

  /** Brings a list into memory, where it does not lie in pages any more. */
  private makeWhole(list: List): void {
    if (!isPagedList(list)) return;
    void list.items;
    list.backing.drop();
  }

  private cutIfLarge(list: List): void {
    if (list.backing === null && list.held.length > PAGED_ITEMS_MIN)
      containerPages(list, ownerOf(list), this);
  }

  /** Adds things to a stored set; they must not be in it. */
  addMembers(set: ThingSet, things: readonly Thing[]): void {
    this.touchOwner(set);
    containerPages(set, ownerOf(set), this);
    const pages = isPagedSet(set) ? set.backing : null;
    for (const thing of things) {
      this.retain(thing);
      if (pages === null) set.members.add(thing);
      else pages.add(thing);
    }
    if (pages === null) containerPages(set, ownerOf(set), this);
  }

  /** Takes things out of a stored set; they must be in it. */
  removeMembers(set: ThingSet, things: readonly Thing[]): void {
    this.touchOwner(set);
    if (things.length === set.size) dropPages(set);
    const pages = isPagedSet(set) ? set.backing : null;
    for (const thing of things) {
      if (pages === null) set.members.delete(thing);
      else pages.delete(thing);
      this.release(thing);
    }
    if (pages?.isWanted === false) pages.drop();
  }

  /** Takes `put` of a new key back. `places` are those of the thing before. */
  unput(thing: Thing, key: string, places: Places): void {
    this.touchProperty(thing, key);
    const value = thing.get(key);
    if (value !== undefined) this.discard(value);
    if (places.shape.owned) places.shape.remove(key);
    places.restore(thing);
  }

  /** Takes `drop` back: the value was in this slot. */
  undrop(thing: Thing, key: string, value: Value, slot: number, places: Places): void {
    this.touchProperty(thing, key);
    this.enter(thing, value);
    places.restore(thing);
    thing.reinsert(key, value, slot);
    this.touchProperty(thing, key);
    attach(thing, key, value);
  }

  /** Takes `rename` back. */
  unrename(thing: Thing, from: string, to: string, slot: number, places: Places): void {
    this.touchProperty(thing, to);
    const value = thing.get(to);
    if (value === undefined) throw new Error(`no property '${to}' to take back`);
    if (places.shape.owned) places.shape.remove(to);
    places.restore(thing);
    thing.reinsert(from, value, slot);
    this.touchProperty(thing, from);
    attach(thing, from, value);
  }

  /** Takes `clear` back. */
  unclear(thing: Thing, places: Places): void {
    this.touchAll(thing);
    places.restore(thing);
    this.adopt(thing);
  }

  /**
   * Makes all stored instances of a type plain things; gives the way back. Loose ones follow when they are touched.
   *
   * @param charge may throw: then nothing has changed
   */
  makePlain(type: Type, charge: (units: number) => void = () => {}): () => void {
    if (this.indexes.of(type).length > 0) throw new Error('a type goes that has indexes');
    const plain = this.plainShape(type);
    const things: Thing[] = [];
    type.instances.forEach((id) => {
      const thing = this.thingOfId(id);
      charge(UNITS_PER_CONVERSION);
      this.load(thing);
      things.push(thing);
    });
    for (const thing of things) {
      this.touch(thing);
      thing.shape = plain.owned ? plain.own() : plain;
      attachAll(thing);
    }
    type.instances.clear();
    this.changedIndexes.add(type);
    if (type.shape !== null) type.shape.stale = this;
    return () => {
      for (const thing of things) {
        this.touch(thing);
        if (type.shape === null) throw new Error('a type that is gone has no instances');
        thing.shape = type.shape;
        attachAll(thing);
        type.instances.add(thing.id);
      }
      this.changedIndexes.add(type);
    };
  }

  /** Makes a stored plain thing an instance, or an instance plain. Its properties must be those of the type. */
  convert(thing: Thing, type: Type | null): void {
    this.touchAll(thing);
    const before = thing.shape.type;
    if (before !== null) this.unindex(before, thing);
    reshape(thing, type, this.shapes);
    if (type !== null) this.index(type, thing);
  }

  /** Takes `convert` back. */
  unconvert(thing: Thing, places: Places): void {
    this.touchAll(thing);
    const now = thing.shape.type;
    if (now !== null) this.unindex(now, thing);
    places.restore(thing);
    const before = thing.shape.type;
    if (before !== null) this.index(before, thing);
    attachAll(thing);
  }

  /** Must be called before what a stored list or set holds changes. */
  touchOwner(container: List | ThingSet): void {
    this.touchProperty(ownerOf(container), container.key);
  }
}

/** Units charged for a thing that is converted: it may have to be read, so the limits are looked at every few milliseconds. */
const UNITS_PER_CONVERSION = 4096;
