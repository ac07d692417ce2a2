import { operationError } from '../../error.js';
import { chargeFill, List, sizeOf, ThingSet, UNITS_PER_MEMBER } from '../../value/containers.js';
import { eachThing, isScalar, type VisitOther } from '../../value/kinds.js';
import { Member } from '../../value/member.js';
import { Room } from '../../value/room.js';
import { Thing } from '../../value/thing.js';
import type { Value } from '../../value/value.js';
import { type Undo, writeEffect } from '../effect.js';
import { ThingEffect } from '../effects.js';
import { nextIdOf } from '../ids.js';
import { RoomEffect } from '../parts/rooms.js';
import type { Store } from '../store.js';
import { writeProperties } from '../thing-record.js';
import { Journal, UNITS_PER_PROPERTY } from './journal.js';
import { NS_PER_ENTRY, NS_PER_THING, NS_PER_UNDO } from './undo-costs.js';
import { storingRefusal, UniqueCheck } from './unique.js';

/** Stores loose things and rooms, when something stored refers to them, with all that they refer to. */
export class Storing extends Journal {
  /** Things that this change stored and that have ids below this one have their references counted. */
  private adoptedBelow = 0;
  /** Place among the inverses of the last one that unstores things. */
  private storedPlace = -1;
  /** The last inverse that takes back what was appended to a list. */
  protected appended: Appended | null = null;
  private hasDroppedMembers = false;
  /** The one who asks: errors tell of values of other instances only where it may read them. Null: everything may be read. */
  reader: { readonly mayRead: boolean } | null = null;
  /** The number of changes under way that consist of several, of which some may be done. */
  private partial = 0;

  /** Gives ids to the loose things and rooms among values, which must be referred to by something stored right after this. */
  storeValues(values: readonly Value[]): void {
    this.storeItems(values);
  }

  /**
   * Makes a change that consists of several. What breaks the uniqueness of an index in the middle of it ends the query whatever it tries,
   * so who can tell before asks `checkUnique` first.
   */
  inParts<T>(work: () => T): T {
    this.partial += 1;
    try {
      return work();
    } finally {
      this.partial -= 1;
    }
  }

  /**
   * Throws duplicate_err when what is planned breaks the uniqueness of an index.
   *
   * @param plan says what gets which value, and what becomes stored
   */
  checkUnique(plan: (check: UniqueCheck) => void): void {
    if (this.store === null || this.store.indexes.uniques === 0) return;
    const check = new UniqueCheck(this.store, (units) => this.count(units), this.tellsValues);
    plan(check);
    check.assert(this.partial > 0);
  }

  /** True if errors may tell of values of other instances. */
  get tellsValues(): boolean {
    return this.reader === null || this.reader.mayRead;
  }

  protected get isPartial(): boolean {
    return this.partial > 0;
  }

  /** Charges for entries of indexes that came, went or changed, which the last inverse takes back. */
  protected countEntries(entries: number): void {
    this.undoTakes(NS_PER_ENTRY * entries);
    this.count(UNITS_PER_ENTRY * entries);
  }

  /** Notes that members of enums were deleted, which values that are not stored yet may still hold. */
  noteDroppedMembers(): void {
    this.hasDroppedMembers = true;
  }

  /** Gives ids to every loose thing and room that a value brings along. */
  protected storeAll(value: Value): void {
    if (typeof value === 'object' && value !== null) this.storeItems([value]);
  }

  protected storeItems(items: readonly Value[]): void {
    if (this.hasDroppedMembers) this.assertMembersThere(items);
    const [first] = items;
    if (items.length === 1 && first instanceof Thing) {
      if (first.id === 0) this.storeThing(first);
      return;
    }
    const loose: Thing[] = [];
    const rooms: Room[] = [];
    const noteRoom = intoIfLoose(rooms);
    this.count(UNITS_PER_STORED * items.length);
    for (const item of items) {
      if (typeof item !== 'object' || item === null) continue;
      this.countItems(item);
      eachThing(
        item,
        (thing) => {
          if (thing.id === 0) loose.push(thing);
        },
        noteRoom,
      );
    }
    if (loose.length > 0) this.storeThings(loose, rooms);
    else if (rooms.length > 0) this.storeRooms(this.needStore(), rooms);
  }

  /** Counts the work of looking through a value, writing it and counting what it refers to, before that is done. */
  private countItems(value: Value): void {
    if (value instanceof ThingSet) chargeFill(value, this.counting);
    this.count((value instanceof ThingSet ? UNITS_PER_MEMBER : UNITS_PER_STORED) * sizeOf(value));
    if (value instanceof List && value.nesting > 0) this.countTuples(value);
  }

  private countTuples({ items }: List): void {
    for (const item of items) {
      if (!(item instanceof List)) continue;
      this.count(UNITS_PER_TUPLE);
      if (item.nesting > 0) this.countTuples(item);
    }
  }

  /** Throws operation_err when something that is about to be stored holds a member that was deleted. */
  private assertMembersThere(values: readonly Value[]): void {
    const seen = new Set<Thing>();
    const stack = [...values];
    for (let value = stack.pop(); value !== undefined; value = stack.pop()) {
      this.count(UNITS_PER_PROPERTY);
      eachThing(
        value,
        (thing) => {
          if (thing.id !== 0 || seen.has(thing)) return;
          seen.add(thing);
          thing.forEach((_, property) => {
            stack.push(property);
          });
        },
        (other) => {
          if (other instanceof Member && !other.isThere)
            throw operationError(`the member \`${other.label}\` was deleted`);
        },
      );
    }
  }

  /**
   * Stores loose things and the loose things that they refer to. Ids are given depth first: the thing itself, then
   * its values in order; rooms come behind all things. Not recursive, since chains of things can be of any length. The caller places `things` right
   * after this, so that none of them stays without a reference.
   *
   * @param rooms those that are to be stored besides
   */
  protected storeThings(things: readonly Thing[], rooms: Room[] = []): void {
    if (this.hasDroppedMembers) this.assertMembersThere(things);
    // Ids are passed over only where an effect tells other nodes.
    if (rooms.length === 0 && !things.some(({ id }) => id === 0)) return;
    const store = this.needStore();
    if (store.indexes.uniques > 0)
      this.checkUnique((check) => {
        for (const thing of things) check.storeAll(thing);
      });
    this.undoStoring(store);
    const base = store.nextId;
    const noteRoom = intoIfLoose(rooms);
    const stack = things.toReversed();
    for (let thing = stack.pop(); thing !== undefined; thing = stack.pop()) {
      if (thing.id !== 0) continue;
      // Effects have instances as their types are now: those of a type that was deleted are plain things.
      if (thing.shape.stale !== null) store.load(thing);
      this.register(store, thing);
      this.pushLooseOf(thing, stack, rooms, noteRoom);
    }
    const end = store.nextId;
    if (rooms.length > 0) this.storeRooms(store, rooms);
    writeEffect(this.effects, ThingEffect.NEW_THINGS, base, end - base);
    this.tally?.add(ThingEffect.NEW_THINGS.counts(store, base, end - base));
    for (let id = base; id < end; id++) this.adopt(store, store.thingOfId(id));
  }

  /** Stores one loose thing, which mostly brings no others along. */
  protected storeThing(thing: Thing): void {
    if (!isFlat(thing)) {
      this.storeThings([thing]);
      return;
    }
    const store = this.needStore();
    this.checkStored(store, thing);
    this.undoStoring(store);
    writeEffect(this.effects, ThingEffect.NEW_THINGS, store.nextId, 1);
    this.tally?.add(ThingEffect.NEW_THINGS.counts(store, store.nextId, 1));
    this.register(store, thing);
    this.adopt(store, thing);
  }

  /** Throws duplicate_err when a loose thing can't be stored, which brings no others along. */
  protected checkStored(store: Store, thing: Thing): void {
    if (store.indexes.uniques === 0) return;
    const error = storingRefusal(store, thing, (units) => this.count(units), this.tellsValues);
    if (error !== null) throw this.isPartial ? error.asFatal() : error;
  }

  /**
   * Stores a loose thing that brings no others along, as one more of the effect that was written last.
   *
   * @returns units that the caller charges, besides what is written
   */
  protected storeNext(store: Store, thing: Thing): number {
    store.register(thing, store.nextId);
    writeProperties(this.written, thing);
    store.adopt(thing);
    this.adoptedBelow = thing.id + 1;
    return UNITS_PER_PROPERTY * (thing.shape.size + 1) + this.unitsOfEntries(store, thing);
  }

  /** Stores loose rooms. */
  private storeRooms(store: Store, rooms: readonly Room[]): void {
    const ids: number[] = [];
    for (const room of rooms) {
      // A value may hold it twice.
      if (room.stored) continue;
      if (room.gone) this.keepGone(room);
      this.undoStoring(store);
      ids.push(store.nextId);
      store.rooms.register(room, store.nextId);
      this.undoTakes(NS_PER_THING);
      this.count(UNITS_PER_PROPERTY);
    }
    writeEffect(this.effects, RoomEffect.PUT, ids);
    this.tally?.add(RoomEffect.PUT.counts(store.rooms, ids));
  }

  /** A room that was stored before this change, and is no more, becomes one that never was: it may not have its name again. */
  private keepGone(room: Room): void {
    const { id, name } = room;
    room.name = null;
    this.undoBy(() => {
      room.id = id;
      room.name = name;
      room.gone = true;
    }, NS_PER_UNDO);
  }

  private register(store: Store, thing: Thing): void {
    store.register(thing, store.nextId);
    this.undoTakes(NS_PER_THING);
    this.count(UNITS_PER_PROPERTY * (thing.shape.size + 1));
  }

  /** Writes the properties of a registered thing and counts what they refer to. */
  private adopt(store: Store, thing: Thing): void {
    const { length } = this.effects;
    writeProperties(this.effects, thing);
    this.countWritten(length);
    store.adopt(thing);
    this.adoptedBelow = thing.id + 1;
    if (store.indexes.count > 0) this.count(this.unitsOfEntries(store, thing));
  }

  /** The cost of the index entries of a thing that was stored; how long it takes to take them back is noted. */
  private unitsOfEntries({ indexes }: Store, { shape }: Thing): number {
    if (indexes.count === 0 || shape.type === null) return 0;
    const entries = indexes.of(shape.type).length;
    this.undoTakes(NS_PER_ENTRY * entries);
    return UNITS_PER_ENTRY * entries;
  }

  /**
   * Notes how to take back that things are stored from now on. To be called before, since a limit may end the query
   * halfway. One step takes back all that is stored until another kind of step comes.
   */
  protected undoStoring(store: Store): void {
    if (this.takesStoredBack()) return;
    const base = nextIdOf(store, this);
    this.storedPlace = this.undos.length;
    this.undoBy(this.undoOfStoring(store, base));
  }

  private undoOfStoring(store: Store, base: number): Undo {
    const back = ThingEffect.NEW_THINGS.inverse(store, base, 0);
    return () => {
      // Behind the next id there was a task, perhaps with things behind it, which are taken back already.
      back(Math.min(this.adoptedBelow, store.nextId));
      this.adoptedBelow = Math.min(this.adoptedBelow, base);
    };
  }

  /** True if the last steps back unstore things, and perhaps take back what was appended to a list since. */
  private takesStoredBack(): boolean {
    const { length } = this.undos;
    if (this.storedPlace < 0) return false;
    return (
      this.storedPlace === length - 1 ||
      (this.storedPlace === length - 2 && this.appended?.place === length - 1)
    );
  }

  /** Puts the loose things that a thing refers to on a stack, so that the first comes out first; its loose rooms go behind others. */
  private pushLooseOf(thing: Thing, stack: Thing[], rooms: Room[], noteRoom: VisitOther): void {
    const { slots } = thing;
    const firstRoom = rooms.length;
    for (let i = slots.length - 1; i >= 0; i--) {
      const value = slots[i] as Value;
      if (typeof value !== 'object' || value === null) continue;
      this.countItems(value);
      const first = stack.length;
      const firstOfValue = rooms.length;
      eachThing(
        value,
        (child) => {
          if (child.id === 0) stack.push(child);
        },
        noteRoom,
      );
      reverseFrom(stack, first);
      reverseFrom(rooms, firstOfValue);
    }
    reverseFrom(rooms, firstRoom);
  }
}

/** Units charged for an item of a value that is stored, and for a tuple in it besides. */
const UNITS_PER_STORED = 12;
const UNITS_PER_TUPLE = 96;

/** Units charged for an entry of an index that comes, goes or changes. */
const UNITS_PER_ENTRY = 512;

/** Collects rooms that are not stored. */
function intoIfLoose(rooms: Room[]): VisitOther {
  return (other) => {
    if (other instanceof Room && !other.stored) rooms.push(other);
  };
}

/** Items that were appended to a list in a row. */
export interface Appended {
  readonly list: List;
  /** Number of items so far. */
  added: number;
  /** Place of the inverse among the others. */
  readonly place: number;
}

/** True if a thing has its present form, and no value of it is or holds another one, or is counted otherwise. */
export function isFlat(thing: Thing): boolean {
  if (thing.shape.stale !== null) return false;
  for (const value of thing.slots) if (!isScalar(value)) return false;
  return true;
}

/** Turns what lies on a stack above a place upside down. */
function reverseFrom<T>(stack: T[], from: number): void {
  for (let i = from, j = stack.length - 1; i < j; i++, j--) {
    const item = stack[i] as T;
    stack[i] = stack[j] as T;
    stack[j] = item;
  }
}
