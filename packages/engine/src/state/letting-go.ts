/**
 * Takes things out of what refers to them, so that they go: things that expire, and those that a job removes.
 *
 * Things do not know what refers to them. So one that is to go is taken out of its relations first, then out of the root and out of the things
 * in which others were found before. Only for what is still referred to all things of a collection have to be gone through.
 */
import { List, listOf, ThingSet } from '../value/containers.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { Wrap } from '../value/wrap.js';
import { Portion } from './portion.js';
import type { Store } from './store.js';
import type { Transaction } from './transaction.js';

/** Things in which others were found, and which are looked into first. */
const OWNERS_MAX = 16;

/** Outcome of a slice for things that are to go. */
export interface LetGo {
  /** The number of them that had their turn. */
  readonly count: number;
  /** Things among these to which something still refers. */
  readonly left: ReadonlySet<Thing>;
  /** The one that had its turn has more partners in relations than a slice has room for. */
  readonly isLeaving: boolean;
}

/** The things that are most likely to refer to what is to go. Known in memory alone: without them a search finds the same. */
export class Owners {
  /** Ids of the things in which others were found, the last one last. */
  private readonly ids = new Set<number>();

  constructor(private readonly store: Store) {}

  /**
   * Takes a portion of some things, loaded or not, out of their relations, out of the root, and out of the things that are known. The first
   * has its turn in any case, if only in part.
   *
   * @param isOver whether the others wait for the next slice; asked after each of them
   */
  letGo(transaction: Transaction, things: readonly Thing[], isOver: () => boolean = () => false): LetGo {
    const { store } = this;
    const portion = new Portion(store, transaction);
    let count = 0;
    for (const thing of things) {
      if (!portion.takes(thing)) break;
      leaveRelations(transaction, thing);
      count += 1;
      if (isOver()) break;
    }
    const heavy = count === 0 ? things[0] : undefined;
    if (heavy !== undefined && portion.leaveRelations(heavy))
      return { count: 1, left: new Set([heavy]), isLeaving: true };
    const tried = things.slice(0, Math.max(count, 1));
    const left = new Set(tried.filter(({ refs }) => refs > 0));
    const owners = [store.root.id, ...this.ids];
    const steps = heavy === undefined ? [letGoInPlaces, letGoInLists] : [];
    for (const step of steps) {
      for (const id of owners) {
        if (left.size > 0) step(store, transaction, id, left);
        forgetGone(left);
      }
    }
    for (const id of heavy === undefined ? [] : owners) {
      if (left.size === 0 || letGoOfSome(store, transaction, id, left, portion) === 'some') break;
      forgetGone(left);
    }
    return { count: tried.length, left, isLeaving: false };
  }

  /** Notes that a thing referred to one that is to go. */
  note(id: number): void {
    this.ids.delete(id);
    this.ids.add(id);
    const [oldest] = this.ids;
    if (this.ids.size > OWNERS_MAX && oldest !== undefined) this.ids.delete(oldest);
  }
}

/**
 * Takes things out of one that refers to them: out of its lists and sets, and from its properties, which are deleted, or become nil in
 * an instance. A property of an instance that can't be nil keeps what it has.
 *
 * @returns whether anything changed
 */
export function letGo(
  store: Store,
  transaction: Transaction,
  id: number,
  things: ReadonlySet<Thing>,
): boolean {
  const inPlaces = letGoInPlaces(store, transaction, id, things);
  return letGoInLists(store, transaction, id, things) || inPlaces;
}

/** The same for sets and properties, where each thing is found at once. */
function letGoInPlaces(
  store: Store,
  transaction: Transaction,
  id: number,
  things: ReadonlySet<Thing>,
): boolean {
  const goes = (thing: Thing): boolean => things.has(thing);
  const places: [key: string, value: ThingSet | null][] = [];
  const owner = find(store, id);
  if (owner === undefined) return false;
  owner.forEach((key, value) => {
    if (value instanceof ThingSet) places.push([key, value]);
    else if (refersTo(value, goes)) places.push([key, null]);
  });
  let changed = false;
  for (const [key, set] of places) {
    if (set !== null) {
      const gone = [...things].filter((thing) => set.has(thing));
      if (gone.length > 0) transaction.removeMembers(set, gone);
      changed ||= gone.length > 0;
    } else {
      const field = owner.type === null ? undefined : owner.field(key);
      if (field !== undefined && !field.rule.fits(null)) continue;
      if (field === undefined) transaction.deleteProperty(owner, key);
      else transaction.placeField(owner, field, null);
      changed = true;
    }
  }
  return changed;
}

/** The same for lists, of which all items have to be looked at: not for things that nothing refers to any more. */
function letGoInLists(
  store: Store,
  transaction: Transaction,
  id: number,
  things: ReadonlySet<Thing>,
): boolean {
  const lists: List[] = [];
  find(store, id)?.forEach((_, value) => {
    if (value instanceof List) lists.push(value);
  });
  let changed = false;
  for (const list of lists) {
    const left = new Set([...things].filter(({ refs }) => refs > 0));
    if (left.size === 0) break;
    changed = takeOutOfList(transaction, list, left) || changed;
  }
  return changed;
}

/** A thing, loaded. */
function find(store: Store, id: number): Thing | undefined {
  const thing = store.find(id);
  if (thing !== undefined) store.load(thing);
  return thing;
}

function forgetGone(things: Set<Thing>): void {
  for (const thing of things) if (thing.refs === 0) things.delete(thing);
}

/**
 * The same, as far as a portion has room for what goes with the things: one that only this owner keeps, and that holds more, is emptied first.
 *
 * @returns whether nothing changed, or some of them have to have another turn, in the next slice
 */
export function letGoOfSome(
  store: Store,
  transaction: Transaction,
  id: number,
  things: ReadonlySet<Thing>,
  portion: Portion,
): 'none' | 'some' | 'all' {
  const counts = new Map<number, number>();
  for (const thing of things) counts.set(thing.id, 0);
  store.visitReferences(id, (child) => {
    const count = counts.get(child);
    if (count !== undefined) counts.set(child, count + 1);
  });
  const going = new Set<Thing>();
  let isAll = true;
  for (const thing of things) {
    const count = counts.get(thing.id) ?? 0;
    if (count === 0) continue;
    if (thing.refs > count || keeps(store, id, thing) || portion.takes(thing)) going.add(thing);
    else if (portion.empty(thing)) return 'some';
    else if (portion.isWhole) going.add(thing);
    else isAll = false;
  }
  const changed = going.size > 0 && letGo(store, transaction, id, going);
  if (!isAll) return 'some';
  return changed ? 'all' : 'none';
}

/** True where a thing has a property with another one that can't let go of it. */
function keeps(store: Store, id: number, thing: Thing): boolean {
  const owner = store.thingOfId(id);
  store.load(owner);
  if (owner.type === null) return false;
  return owner.shape.fields.some(
    ({ slot, rule }) => refersTo(owner.slots[slot] ?? null, (other) => other === thing) && !rule.fits(null),
  );
}

function leaveRelations(transaction: Transaction, thing: Thing): void {
  for (const field of thing.type === null ? [] : thing.shape.fields) {
    if (field.relation === null) continue;
    const value = thing.slots[field.slot];
    if (value instanceof ThingSet && value.size > 0) transaction.placeField(thing, field, new ThingSet([]));
    else if (value instanceof Thing) transaction.placeField(thing, field, null);
  }
}

/** Looks at the items from the place on where others were found last, until all that refers to the things is found. */
function takeOutOfList(transaction: Transaction, list: List, things: ReadonlySet<Thing>): boolean {
  const goes = (thing: Thing): boolean => things.has(thing);
  let refs = 0;
  for (const thing of things) refs += thing.refs;
  const { length } = list;
  const from = Math.min(FOUND_AT.get(list) ?? 0, length);
  const [behind, before]: [number[], number[]] = [[], []];
  let changed = false;
  for (let looked = 0, i = from; looked < length && behind.length + before.length < refs; looked++, i++) {
    if (i === length) i = 0;
    const item = list.at(i);
    if (refersTo(item, goes)) (i < from ? before : behind).push(i);
    else if (item instanceof List && hasAny(item, goes)) {
      transaction.spliceList(list, i, 1, [without(item, goes)]);
      changed = true;
    }
  }
  const gone = [...before, ...behind];
  const last = before.at(-1) ?? behind.at(-1);
  if (last !== undefined) FOUND_AT.set(list, last + 1 - (before.length > 0 ? before.length : behind.length));
  transaction.removeItems(list, gone);
  return changed || gone.length > 0;
}

/**
 * The place in a list behind the last thing that was found in it: lists have things mostly in the order in which these were made, and go,
 * so that the next ones lie there. Known in memory alone: without it all items are looked at.
 */
const FOUND_AT = new WeakMap<List, number>();

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
