import type { Thing } from '../value/thing.js';
import { perform, writeEffect } from './effect.js';
import { ThingEffect } from './effects.js';
import { encodeEvents, type Outbox, type RoomEvent } from './events.js';
import { eachReference } from './pages/paged-containers.js';
import { RoomEffect } from './parts/rooms.js';
import type { Store } from './store.js';
import { type ChangeMark, takeBack, UNITS_PER_PROPERTY } from './transaction/journal.js';
import { ThingChanges } from './transaction/things.js';
import { chargeLeave, NS_PER_THING, NS_PER_UNIT, unitsToLeave } from './transaction/undo-costs.js';
import type { Unlinking } from './unlinking.js';

export type { Charge } from '../value/containers.js';
export type { Undo } from './effect.js';
export { takeBack } from './transaction/journal.js';
export { toProperty } from './transaction/things.js';

/**
 * One change in the making. Query code touches state only through it, and it does four jobs in one place: it applies
 * each modification in memory, records it as an effect, records its inverse, and marks what became dirty.
 *
 * A query without a change has a transaction too; it refuses to touch anything stored. Loose things, lists and sets
 * vanish with the query, so for them there is nothing to record.
 *
 * Every method checks first and then modifies: one that throws has changed nothing.
 */
export class Transaction extends ThingChanges {
  /** The result of `doomed` when the effects had some length. */
  private doomedThings: ReadonlySet<Thing> | null = null;
  private doomedAt = -1;
  /** Events for clients when the change is committed; null for none. */
  outbox: Outbox | null = null;
  /** Units of work for things that go at the end of the change: others to which nothing refers wait for the next search for garbage. */
  private removalUnits = Number.POSITIVE_INFINITY;
  /** Rooms that went at the end of the change. */
  private goneRooms: readonly number[] = [];

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
    if (this.outbox !== null) {
      const { events } = this.outbox;
      writeEffect(this.effects, RoomEffect.EVENTS, encodeEvents(events));
      this.tally?.add(['events', events.length]);
    }
    if (this.store !== null && this.store.rooms.orphans.size > 0) this.removeRooms(this.store);
    return this.changed ? this.effects.take() : null;
  }

  /** Events for clients, in that order; to be called when the change has ended. */
  get roomEvents(): readonly RoomEvent[] {
    const events = this.outbox?.events ?? NO_EVENTS;
    if (this.goneRooms.length === 0) return events;
    return [...events, ...this.goneRooms.map((room) => ({ kind: 'gone', room }) as const)];
  }

  override takeBackTo(mark: ChangeMark): void {
    super.takeBackTo(mark);
    this.doomedThings = null;
  }

  /** Takes everything back. */
  rollback(): void {
    this.run = null;
    takeBack(this.undos);
    this.store?.orphans.clear();
    this.store?.rooms.orphans.clear();
    this.effects.rewind();
  }

  /** Removes things that nothing reaches from the root, though they refer to each other. */
  removeGarbage(ids: readonly number[]): void {
    const store = this.needStore();
    perform(
      this,
      ThingEffect.REMOVE_THINGS,
      store,
      ids.map((id) => store.thingOfId(id)),
    );
  }

  /**
   * Has things of a large circle of garbage let go of each other, as far as there is room in a change, and removes those to which nothing
   * refers then.
   *
   * @returns the number of those that had their turn in full
   */
  unlinkGarbage(ids: readonly number[], unlinking: Unlinking): number {
    const store = this.needStore();
    const things = ids.map((id) => store.thingOfId(id));
    const loose = things.filter(({ refs }) => refs === 0);
    // When they are back they wait for their turn again.
    this.undoBy(() => {
      for (const { id } of loose) store.suspects.put(id);
    });
    const { marking } = store;
    // A reference that garbage gets to garbage does not save it.
    store.marking = null;
    let count = 0;
    try {
      count = unlinking.unlink(this, things);
    } finally {
      store.marking = marking;
    }
    for (const thing of things.slice(0, count)) if (thing.refs === 0) store.orphans.add(thing);
    this.removalUnits = REMOVAL_UNITS;
    return count;
  }

  private removeOrphans(store: Store): void {
    const removed: Thing[] = [];
    this.undoBy(ThingEffect.REMOVE_THINGS.inverse(store, removed));
    for (let orphans = [...store.orphans]; orphans.length > 0; orphans = [...store.orphans]) {
      for (const thing of orphans) {
        store.load(thing);
        this.removalUnits -= UNITS_PER_REMOVED + unitsToLeave(thing);
        if (this.removalUnits < 0) {
          store.deferOrphans();
          break;
        }
        this.count(UNITS_PER_REMOVED);
        const units = chargeLeave(thing, this.counting);
        store.remove(thing);
        removed.push(thing);
        this.undoTakes(NS_PER_THING + NS_PER_UNIT * units);
      }
    }
    writeEffect(this.effects, ThingEffect.REMOVE_THINGS, removed);
    this.tally?.add(ThingEffect.REMOVE_THINGS.counts(store, removed));
  }

  /** Removes rooms to which nothing refers. Who is in them is told of it behind the events of the change. */
  private removeRooms({ rooms }: Store): void {
    const ids = Array.from(rooms.orphans, ({ id }) => id);
    this.count(UNITS_PER_GONE_ROOM * ids.length);
    this.undoBy(RoomEffect.REMOVE.inverse(rooms, ids), RoomEffect.REMOVE.cost(rooms, ids));
    for (const id of ids) rooms.remove(rooms.known(id));
    writeEffect(this.effects, RoomEffect.REMOVE, ids);
    this.tally?.add(RoomEffect.REMOVE.counts(rooms, ids));
    this.goneRooms = ids;
  }

  private findDoomed(store: Store): Set<Thing> {
    const doomed = new Set(store.orphans);
    /** References that would be left. */
    const left = new Map<Thing, number>();
    for (const thing of doomed) {
      store.load(thing);
      this.count(UNITS_PER_PROPERTY);
      chargeLeave(thing, this.counting);
      thing.forEach((_, value) => {
        eachReference(value, (child) => {
          store.load(child);
          const refs = (left.get(child) ?? child.refs) - 1;
          left.set(child, refs);
          if (refs === 0) doomed.add(child);
        });
      });
    }
    return doomed;
  }
}

/** Units charged for each thing that is removed: it leaves tables and indexes. */
const UNITS_PER_REMOVED = 128;

/** Units of work for what goes with a part of a large circle of garbage: some milliseconds. */
const REMOVAL_UNITS = 2048 * UNITS_PER_REMOVED;

/** The same for a room that goes, and for its way back, which must fit into the time of the query as well: each takes some 1 µs. */
const UNITS_PER_GONE_ROOM = 384;

const NO_EVENTS: readonly RoomEvent[] = [];
