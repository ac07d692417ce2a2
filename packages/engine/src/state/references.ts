import type { EnumState } from '../schema/catalog.js';
import { IdSet } from '../schema/id-set.js';
import type { Type } from '../schema/type.js';
import { Member } from '../value/member.js';
import type { Room } from '../value/room.js';
import { Thing, ThingBit } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { attach, detach } from './attach.js';
import { ONLY_FIRST } from './dirty.js';
import { bytesOf } from './evictor.js';
import type { Marking } from './marking.js';
import { ThingMemory } from './memory.js';
import { migrate } from './migrate.js';
import { containerPages, dropPages, eachReference, restorePages } from './pages/paged-containers.js';

/**
 * The things of a collection, and the references between them: a thing becomes stored and is removed, the references to it and to members of enums
 * and to rooms are counted, and each type knows its instances.
 */
export class References extends ThingMemory {
  /** Ids of types and enums that changed since the last checkpoint, and enums of whose members the references did. */
  readonly changedTypes = new Set<number>();
  readonly changedEnums = new Set<number>();
  readonly changedMembers = new Set<number>();
  /** Types of whose instances the index changed. */
  readonly changedIndexes = new Set<Type>();
  /** Things whose last stored reference went away in this transaction. */
  readonly orphans = new Set<Thing>();
  /** Ids of things that lost a reference and kept others, or wait for their turn to go: every circle of garbage has one of them. */
  readonly suspects = new IdSet();
  /** The search for garbage that is under way. */
  marking: Marking | null = null;

  /** Makes a loose thing stored, under an id that was never used. References from its values are counted. */
  register(thing: Thing, id: number): void {
    thing.id = id;
    this.table.set(id, thing);
    this.dirty.mark(thing);
    this.marking?.reach(id);
    this.thingCount += 1;
    if (id >= this.nextId) this.nextId = id + 1;
  }

  /** Counts what a registered thing refers to, once it has its properties. */
  adopt(thing: Thing): void {
    if (hasObjects(thing.slots)) {
      thing.forEach((key, value) => {
        attach(thing, key, value);
        this.enter(thing, value);
      });
    }
    if (thing.shape.type !== null) this.index(thing.shape.type, thing);
    this.bytes += bytesOf(thing);
  }

  /** Takes `adopt` back. */
  disown(thing: Thing): void {
    if (thing.shape.stale !== null) migrate(thing, this);
    thing.forEach((_, value) => {
      this.leave(value);
    });
    if (thing.shape.type !== null) this.unindex(thing.shape.type, thing);
  }

  /** Takes `register` back. */
  unregister(thing: Thing): void {
    this.table.delete(thing.id);
    this.dirty.forget(thing);
    this.orphans.delete(thing);
    this.suspects.take(thing.id);
    this.forgetPages(thing);
    this.thingCount -= 1;
    thing.id = 0;
  }

  /** Removes a thing that nothing stored refers to, with its references to others. */
  remove(thing: Thing): void {
    this.load(thing);
    this.dirty.thaw(thing);
    const home = this.homeOf(thing);
    home?.properties?.touchAll();
    thing.forEach((_, value) => {
      this.leave(value);
    });
    const parts = home === undefined ? ONLY_FIRST : [0, ...home.allNumbers];
    this.dirty.remove(thing, this.records.partsOf(thing.id, parts));
    if (thing.shape.type !== null) this.unindex(thing.shape.type, thing);
    this.suspects.take(thing.id);
    this.table.delete(thing.id);
    thing.bits |= ThingBit.GONE;
    this.orphans.delete(thing);
    this.thingCount -= 1;
  }

  /** Takes `remove` back. */
  revive(thing: Thing): void {
    thing.bits &= ~ThingBit.GONE;
    this.table.set(thing.id, thing);
    this.dirty.restore(thing);
    this.homeOf(thing)?.again();
    thing.forEach((_, value) => {
      this.enter(thing, value);
    });
    if (thing.shape.type !== null) this.index(thing.shape.type, thing);
    this.thingCount += 1;
  }

  /** Things to which nothing refers stay until a search for garbage comes to them. */
  deferOrphans(): void {
    for (const { id } of this.orphans) this.suspects.put(id);
    this.orphans.clear();
  }

  /** True if the next search for garbage, or the one under way, looks at a thing. */
  isSuspect(id: number): boolean {
    return this.suspects.has(id) || this.marking?.suspects.includes(id) === true;
  }

  /** Makes this the state of an enum, and counts what its values refer to. */
  setEnum(id: number, state: EnumState): void {
    const of = this.schema.enum(id);
    const before = of.def?.members ?? [];
    this.schema.setEnum(id, state);
    for (const { value } of of.def?.members ?? []) this.retain(value);
    for (const { value } of before) this.release(value);
    this.changedEnums.add(id);
  }

  /** Notes that a thing, which has its properties, is an instance of a type. */
  protected index(type: Type, thing: Thing): void {
    type.instances.add(thing.id);
    this.changedIndexes.add(type);
    if (this.indexes.count > 0) this.indexes.enter(type, thing);
  }

  /** Notes that it is no instance any more, before its values change. */
  protected unindex(type: Type, thing: Thing): void {
    type.instances.delete(thing.id);
    this.changedIndexes.add(type);
    if (this.indexes.count > 0) this.indexes.leave(type, thing);
  }

  private countOther(other: Member | Room, by: number): void {
    if (other instanceof Member) {
      other.refs += by;
      this.changedMembers.add(other.enum.id);
    } else this.rooms.count(other, by);
  }

  /** Counts a new reference from stored data to every thing in a value. */
  retain(value: Value): void {
    if (value instanceof Thing) this.retainThing(value);
    else eachReference(value, this.countIn, this.countOtherIn);
  }

  private readonly countIn = (thing: Thing): void => this.retainThing(thing);
  private readonly countOtherIn = (other: Member | Room): void => this.countOther(other, 1);
  private readonly countOut = (thing: Thing): void => this.releaseThing(thing);
  private readonly countOtherOut = (other: Member | Room): void => this.countOther(other, -1);

  /** A value becomes that of a property of a stored thing, or is again after that was taken back. */
  protected enter(thing: Thing, value: Value): void {
    if (typeof value !== 'object' || value === null) return;
    this.retain(value);
    restorePages(value);
    containerPages(value, thing, this);
  }

  /** Takes `enter` back. */
  protected leave(value: Value): void {
    if (typeof value !== 'object' || value === null) return;
    this.release(value);
    dropPages(value);
  }

  protected retainThing(thing: Thing): void {
    const { currentBit } = this.dirty;
    // A new one, as most are that something begins to refer to: it is in memory, and dirty.
    if (
      thing.refs === 0 &&
      thing.holders === 0 &&
      (thing.bits & (currentBit | ThingBit.GONE)) === currentBit
    ) {
      thing.bits |= ThingBit.USED;
      thing.refs = 1;
      thing.holders = 1;
      if (this.orphans.size > 0) this.orphans.delete(thing);
      this.marking?.reach(thing.id);
      return;
    }
    // A removed thing comes into question only among others that are removed or revived with it.
    if ((thing.bits & ThingBit.GONE) === 0) {
      this.touch(thing);
      this.marking?.reach(thing.id);
    }
    thing.refs += 1;
    thing.holders += 1;
    if (thing.refs === 1 && this.orphans.size > 0) this.orphans.delete(thing);
  }

  /** Takes `retain` back. A thing that keeps other references may be part of a circle that nothing else refers to. */
  release(value: Value): void {
    eachReference(value, this.countOut, this.countOtherOut);
  }

  private releaseThing(thing: Thing): void {
    const gone = (thing.bits & ThingBit.GONE) !== 0;
    if (!gone) this.touch(thing);
    thing.refs -= 1;
    thing.holders -= 1;
    if (gone) return;
    if (thing.refs === 0) this.orphans.add(thing);
    else this.suspects.put(thing.id);
  }

  protected discard(old: Value): void {
    this.leave(old);
    detach(old);
  }
}

function hasObjects(values: readonly Value[]): boolean {
  for (const value of values) if (typeof value === 'object' && value !== null) return true;
  return false;
}
