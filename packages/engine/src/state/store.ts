import { ByteWriter } from '../bytes.js';
import { List, noteAdded, noteRemoved, ThingSet } from '../value/containers.js';
import type { Shape, ShapeTree } from '../value/shape.js';
import { Thing, ThingBit } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { Apart } from './apart.js';
import { Dirty } from './dirty.js';
import { bytesOf } from './evictor.js';
import { readRecord, slicePart, writeRecord } from './large-record.js';
import type { Marking } from './marking.js';
import { Pieces } from './pieces.js';
import { RecordKind, type RecordSink, type RecordSource } from './records.js';
import { ThingTable } from './table.js';
import { readThing, visitThingsOfRecord, writeThing } from './thing-record.js';

/** State on disk that can't be what was written there. The node must stop serving it. */
export class DamagedStateError extends Error {}

/**
 * The things of one collection, in memory as far as they were touched, and the primitive changes to them.
 *
 * Every primitive keeps three things right: reference counts, which list or set is attached where, and what the next
 * checkpoint must write. It checks nothing and can be neither refused nor undone: a leader comes here through
 * `Transaction`, which does both, and a follower through `applyEffects`.
 */
export class Store {
  readonly shapes: ShapeTree;
  readonly table = new ThingTable();
  readonly dirty = new Dirty((id) => this.table.get(id));
  /** The next id for a thing, room or task. Ids are never used again. */
  nextId = 1;
  /** Number of stored things, loaded or not. */
  thingCount = 0;
  /** Estimated bytes of what is in memory; see `evictor.ts`. */
  bytes = 0;
  /** How often a thing was in memory when it was needed, had to be read, and was taken out. */
  hits = 0;
  misses = 0;
  evictions = 0;
  /** Things whose last stored reference went away in this transaction. */
  readonly orphans = new Set<Thing>();
  /** Ids of things that lost a reference and kept others: every circle of garbage has one of them. */
  readonly suspects = new Set<number>();
  /** The search for garbage that is under way. */
  marking: Marking | null = null;
  private readonly source: RecordSource;
  /** Of the things in memory that have large values, by id. */
  private readonly aparts = new Map<number, Apart>();
  /** How many slices a large record has, by `id:part`: see `large-record.ts`. */
  private readonly slices = new Map<string, number>();

  constructor(shapes: ShapeTree, source: RecordSource) {
    this.shapes = shapes;
    this.source = { read: (kind, id, part) => this.readNewest(source, kind, id, part) };
  }

  /** The root thing; it exists from the first entry of the collection's log on. */
  get root(): Thing {
    return this.thingOfId(1);
  }

  /** The thing with this id, made as a stub when it is not in memory. For ids that are known to exist. */
  thingOfId(id: number): Thing {
    const known = this.table.get(id);
    if (known !== undefined) return known;
    const stub = new Thing(id, this.shapes.empty(), NO_SLOTS);
    stub.bits = 0;
    this.table.set(id, stub);
    return stub;
  }

  /** The stored thing with this id, or undefined when there is none. */
  find(id: number): Thing | undefined {
    const known = this.table.get(id);
    if (known !== undefined) return known;
    if (id <= 0 || id >= this.nextId || this.dirty.isRemoved(id)) return undefined;
    if (this.source.read(RecordKind.THING, id, 0) === undefined) return undefined;
    return this.thingOfId(id);
  }

  /** Brings the properties of a thing into memory. Every access to a thing that may be stored starts here. */
  load(thing: Thing): void {
    if ((thing.bits & ThingBit.LOADED) !== 0) {
      thing.bits |= ThingBit.USED;
      this.hits += 1;
      return;
    }
    this.misses += 1;
    readThing(this.readRecord(thing.id, 0), thing, this);
    thing.bits |= ThingBit.LOADED | ThingBit.USED;
    thing.forEach((key, value) => {
      attach(thing, key, value);
      if (!isPieced(value)) this.hold(value);
    });
    this.bytes += bytesOf(thing);
  }

  /**
   * Takes the properties of a thing out of memory, which are as they are on disk. Nothing that runs may know the thing,
   * nor a list or set of it.
   */
  unload(thing: Thing): void {
    this.bytes -= bytesOf(thing);
    this.evictions += 1;
    thing.forEach((_, value) => {
      if (isPieced(value)) value.backing.eachPresent((item) => this.letGo(item));
      else this.letGo(value);
      detach(value);
    });
    this.aparts.delete(thing.id);
    thing.shape = this.shapes.empty();
    thing.slots = NO_SLOTS;
    thing.bits &= ~(ThingBit.LOADED | ThingBit.USED);
  }

  /** Takes pieces of the large lists of a thing out of memory that were not asked for since the last call. */
  rest(thing: Thing): void {
    thing.forEach((_, value) => {
      if (isPieced(value)) value.backing.rest((item) => this.letGo(item));
    });
  }

  /** Forgets a stub that nothing in memory refers to. */
  forgetStub(thing: Thing): void {
    this.table.delete(thing.id);
  }

  /** A piece of a large list of a thing, or a large value. */
  readPart(owner: Thing, part: number): Uint8Array {
    return this.readRecord(owner.id, part);
  }

  /** The large values of a thing, as they are stored; undefined when it had none so far. */
  apartOf({ id }: Thing): Apart | undefined {
    return this.aparts.get(id);
  }

  /** The same, from the first large value on. */
  makeApart({ id }: Thing): Apart {
    let apart = this.aparts.get(id);
    if (apart === undefined) {
      apart = new Apart();
      this.aparts.set(id, apart);
    }
    return apart;
  }

  /** Takes a record of a thing over from elsewhere, as it lies on disk there. What was known of the thing is forgotten. */
  restoreRecord(id: number, part: number, value: Uint8Array): void {
    const known = this.table.get(id);
    if (known !== undefined) {
      if ((known.bits & ThingBit.LOADED) !== 0) this.bytes -= bytesOf(known);
      this.dirty.forget(known);
      this.table.delete(id);
      this.aparts.delete(id);
    }
    this.dirty.put(RecordKind.THING, id, part, value);
  }

  /** Writes a thing, and the pieces of its lists and the large values that changed, to a checkpoint. */
  save(thing: Thing, sink: RecordSink): void {
    const out = new ByteWriter(64);
    writeThing(out, thing, this, {
      put: (part, value) => this.writeRecord(sink, thing.id, part, value),
      delete: (part) => this.deleteRecord(sink, thing.id, part),
    });
    this.writeRecord(sink, thing.id, 0, out.view());
  }

  /** Notes that what was saved of a thing last did not become durable. */
  saveAgain(thing: Thing): void {
    if ((thing.bits & ThingBit.LOADED) === 0) return;
    thing.forEach((_, value) => {
      if (isPieced(value)) value.backing.rewrite();
    });
    this.aparts.get(thing.id)?.again();
  }

  /** A number for a new piece of a thing's list: none that is in use. */
  newPart(owner: Thing): number {
    let last = 0;
    owner.forEach((_, value) => {
      if (isPieced(value)) for (const part of value.backing.parts) last = Math.max(last, part);
    });
    return last + 1;
  }

  /** The record of a piece is not needed any more. */
  freePart(owner: Thing, part: number): void {
    this.freeRecord(owner.id, part);
    this.dirty.put(RecordKind.THING, owner.id, part, null);
  }

  /** Must be called before any change to a stored thing. */
  touch(thing: Thing): void {
    this.load(thing);
    this.dirty.mark(thing);
  }

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
    if (thing.slots.some(isObject)) {
      thing.forEach((key, value) => {
        attach(thing, key, value);
        this.retain(value);
      });
    }
    this.bytes += bytesOf(thing);
  }

  /** Takes `adopt` back. */
  disown(thing: Thing): void {
    thing.forEach((_, value) => {
      this.release(value);
    });
  }

  /** Takes `register` back. */
  unregister(thing: Thing): void {
    this.table.delete(thing.id);
    this.dirty.forget(thing);
    this.orphans.delete(thing);
    this.suspects.delete(thing.id);
    this.aparts.delete(thing.id);
    this.thingCount -= 1;
    thing.id = 0;
  }

  /** Sets a property of a stored thing. The value is one of the thing's own: see `Transaction.setProperty`. */
  put(thing: Thing, key: string, value: Value): void {
    this.touch(thing);
    this.retain(value);
    const old = thing.put(key, value);
    if (old !== undefined) this.discard(old);
    attach(thing, key, value);
  }

  /** Takes a property of a stored thing away; returns its value. */
  drop(thing: Thing, key: string): Value | undefined {
    this.touch(thing);
    const old = thing.drop(key);
    if (old !== undefined) this.discard(old);
    return old;
  }

  /** Gives a property another name, which must be free; it becomes the last one. */
  rename(thing: Thing, from: string, to: string): void {
    this.touch(thing);
    const value = thing.drop(from);
    if (value === undefined) return;
    thing.put(to, value);
    attach(thing, to, value);
  }

  /** Takes all properties of a stored thing away. */
  clear(thing: Thing): void {
    this.touch(thing);
    const old = thing.entries();
    thing.shape = thing.shape.cleared();
    thing.slots = [];
    for (const [, value] of old) this.discard(value);
  }

  /** Changes which values a stored thing accepts. */
  restrict(thing: Thing, restriction: string | null): void {
    this.touch(thing);
    thing.shape = thing.shape.restricted(restriction);
  }

  /** Replaces `count` items from `start` on by others; returns the removed ones. */
  splice(list: List, start: number, count: number, items: readonly Value[]): Value[] {
    this.touch(ownerOf(list));
    for (const item of items) this.retain(item);
    const removed = spliceItemsOf(list, start, count, items);
    for (const item of removed) this.release(item);
    return removed;
  }

  /** Adds a value that holds no others to the end of a list. */
  append(list: List, value: Value): void {
    this.touch(ownerOf(list));
    if (value instanceof Thing) this.retainThing(value);
    if (list.backing === null) list.held.push(value);
    else spliceItemsOf(list, list.length, 0, [value]);
  }

  /** Removes the items of some runs from a list; returns them. */
  removeItems(list: List, runs: readonly Run[]): Value[] {
    this.touch(ownerOf(list));
    if (isPieced(list)) list.backing.dissolve();
    const removed = takeRuns(list, runs);
    for (const item of removed) this.release(item);
    return removed;
  }

  /** Takes `removeItems` back. */
  restoreItems(list: List, runs: readonly Run[], removed: readonly Value[]): void {
    this.touch(ownerOf(list));
    for (const item of removed) this.retain(item);
    if (isPieced(list)) list.backing.dissolve();
    putRuns(list, runs, removed);
  }

  /** Adds things to a stored set; they must not be in it. */
  addMembers(set: ThingSet, things: readonly Thing[]): void {
    this.touch(ownerOf(set));
    for (const thing of things) {
      this.retain(thing);
      set.members.add(thing);
    }
  }

  /** Takes things out of a stored set; they must be in it. */
  removeMembers(set: ThingSet, things: readonly Thing[]): void {
    this.touch(ownerOf(set));
    for (const thing of things) {
      set.members.delete(thing);
      this.release(thing);
    }
  }

  /** Takes `put` of a new key back. `places` are those of the thing before. */
  unput(thing: Thing, key: string, places: Places): void {
    this.touch(thing);
    const value = thing.get(key);
    if (value !== undefined) this.discard(value);
    if (places.shape.owned) places.shape.index.delete(key);
    places.restore(thing);
  }

  /** Takes `drop` back: the value was in this slot. */
  undrop(thing: Thing, key: string, value: Value, slot: number, places: Places): void {
    this.touch(thing);
    this.retain(value);
    places.restore(thing);
    thing.reinsert(key, value, slot);
    attach(thing, key, value);
  }

  /** Takes `rename` back. */
  unrename(thing: Thing, from: string, to: string, slot: number, places: Places): void {
    this.touch(thing);
    const value = thing.get(to);
    if (value === undefined) throw new Error(`no property '${to}' to take back`);
    if (places.shape.owned) places.shape.index.delete(to);
    places.restore(thing);
    thing.reinsert(from, value, slot);
    attach(thing, from, value);
  }

  /** Takes `clear` back. */
  unclear(thing: Thing, places: Places): void {
    this.touch(thing);
    places.restore(thing);
    this.adopt(thing);
  }

  /** Removes a thing that nothing stored refers to, with its references to others. */
  remove(thing: Thing): void {
    this.load(thing);
    this.dirty.remove(thing);
    thing.forEach((_, value) => {
      this.release(value);
      if (isPieced(value)) value.backing.dissolve();
    });
    for (const part of this.aparts.get(thing.id)?.parts ?? []) this.freePart(thing, part);
    this.aparts.delete(thing.id);
    this.freeRecord(thing.id, 0);
    this.suspects.delete(thing.id);
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
    thing.forEach((_, value) => {
      this.retain(value);
    });
    this.thingCount += 1;
  }

  /** Counts a new reference from stored data to every thing in a value. */
  retain(value: Value): void {
    if (value instanceof Thing) this.retainThing(value);
    else eachThing(value, (thing) => this.retainThing(thing));
  }

  private retainThing(thing: Thing): void {
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
    eachThing(value, (thing) => {
      const gone = (thing.bits & ThingBit.GONE) !== 0;
      if (!gone) this.touch(thing);
      thing.refs -= 1;
      thing.holders -= 1;
      if (gone) return;
      if (thing.refs === 0) this.orphans.add(thing);
      else this.suspects.add(thing.id);
    });
  }

  /** Calls `visit` with the id of each thing that a thing refers to, without bringing anything into memory. */
  visitReferences(id: number, visit: (id: number) => void): void {
    const thing = this.table.get(id);
    if (thing === undefined || (thing.bits & ThingBit.LOADED) === 0) {
      visitThingsOfRecord(this.readRecord(id, 0), visit, (part) => this.readRecord(id, part));
      return;
    }
    thing.forEach((_, value) => {
      if (isPieced(value)) value.backing.visitThings(visit);
      else eachThing(value, (child) => visit(child.id));
    });
  }

  /** Notes that a value came into memory that refers to things. */
  hold(value: Value): void {
    eachThing(value, (thing) => {
      thing.holders += 1;
    });
  }

  private letGo(value: Value): void {
    eachThing(value, (thing) => {
      thing.holders -= 1;
    });
  }

  private discard(old: Value): void {
    this.release(old);
    if (isPieced(old)) old.backing.dissolve();
    detach(old);
  }

  /** A record that was restored may not be on disk yet. */
  private readNewest(
    source: RecordSource,
    kind: RecordKind,
    id: number,
    part: number,
  ): Uint8Array | undefined {
    const pending = this.dirty.pending(kind, id, part);
    return pending === undefined ? source.read(kind, id, part) : (pending.value ?? undefined);
  }

  private readRecord(id: number, part: number): Uint8Array {
    const record = readRecord(this.source, RecordKind.THING, id, part);
    if (record === undefined) throw new DamagedStateError(`record ${part} of thing ${id} is missing`);
    if (record.slices > 0) this.slices.set(`${id}:${part}`, record.slices);
    return record.value;
  }

  private writeRecord(sink: RecordSink, id: number, part: number, value: Uint8Array): void {
    const name = `${id}:${part}`;
    const before = this.slices.size === 0 ? 0 : (this.slices.get(name) ?? 0);
    const now = writeRecord(sink, RecordKind.THING, id, part, value);
    for (let i = now; i < before; i++) sink.delete(RecordKind.THING, id, slicePart(part, i));
    if (now > 0) this.slices.set(name, now);
    else if (before > 0) this.slices.delete(name);
  }

  private deleteRecord(sink: RecordSink, id: number, part: number): void {
    const name = `${id}:${part}`;
    const slices = this.slices.size === 0 ? 0 : (this.slices.get(name) ?? 0);
    for (let i = 0; i < slices; i++) sink.delete(RecordKind.THING, id, slicePart(part, i));
    if (slices > 0) this.slices.delete(name);
    sink.delete(RecordKind.THING, id, part);
  }

  /** Notes that a record goes away, with its slices. */
  private freeRecord(id: number, part: number): void {
    if (this.slices.size === 0) return;
    const name = `${id}:${part}`;
    for (let i = (this.slices.get(name) ?? 0) - 1; i >= 0; i--) {
      this.dirty.put(RecordKind.THING, id, slicePart(part, i), null);
    }
    this.slices.delete(name);
  }
}

type PiecedList = List & { readonly backing: Pieces };

function isPieced(value: Value): value is PiecedList {
  return value instanceof List && value.backing instanceof Pieces;
}

const NO_SLOTS: Value[] = [];

/** Where the values of a thing lay at some moment, for taking later changes back. */
export interface Places {
  readonly shape: Shape;
  /** Puts the thing back to these places; what changed in place since then is taken back apart. */
  restore(thing: Thing): void;
}

export function placesOf(thing: Thing): Places {
  const { shape, slots } = thing;
  const count = slots.length;
  return {
    shape,
    restore(target: Thing): void {
      slots.length = count;
      target.shape = shape;
      target.slots = slots;
    },
  };
}

/** Says to a list or set of which thing it is a property. */
export function attach(thing: Thing, key: string, value: Value): void {
  if (value instanceof List || value instanceof ThingSet) {
    value.owner = thing;
    value.key = key;
  }
}

/** Makes a list or set that was a property loose. */
export function detach(value: Value): void {
  if (value instanceof List || value instanceof ThingSet) {
    value.owner = null;
    value.key = '';
  }
}

function isObject(value: Value): boolean {
  return typeof value === 'object' && value !== null;
}

/** Calls `visit` for each thing that a property value refers to directly, through lists, tuples and sets. */
export function eachThing(value: Value, visit: (thing: Thing) => void): void {
  if (typeof value !== 'object' || value === null) return;
  if (value instanceof Thing) visit(value);
  else if (value instanceof List) for (const item of value.items) eachThing(item, visit);
  else if (value instanceof ThingSet) for (const thing of value.members) visit(thing);
}

/** Replaces `count` items of a list from `start` on by others; returns the removed ones. */
export function spliceItems(list: List, start: number, count: number, added: readonly Value[]): Value[] {
  const removed = spliceArray(list.held, start, count, added);
  noteRemoved(list, removed);
  noteAdded(list, added);
  return removed;
}

/** The same for a stored list, which may lie in pieces. */
function spliceItemsOf(list: List, start: number, count: number, added: readonly Value[]): Value[] {
  if (!isPieced(list)) return spliceItems(list, start, count, added);
  return list.backing.splice(start, count, added.length, () => spliceItems(list, start, count, added));
}

/** Neighbouring items of a list: the first, and how many. */
export interface Run {
  readonly start: number;
  readonly count: number;
}

/** Takes the items of some runs, which are in order and apart from each other, out of a list. */
export function takeRuns(list: List, runs: readonly Run[]): Value[] {
  const { items } = list;
  const removed: Value[] = [];
  let end = runs[0]?.start ?? items.length;
  for (let i = 0; i < runs.length; i++) {
    const { start, count } = runs[i] as Run;
    const next = start + count;
    for (let j = start; j < next; j++) removed.push(items[j] as Value);
    const keptTo = runs[i + 1]?.start ?? items.length;
    for (let j = next; j < keptTo; j++) items[end++] = items[j] as Value;
  }
  items.length = end;
  noteRemoved(list, removed);
  return removed;
}

/** Puts items back that `takeRuns` took. */
export function putRuns(list: List, runs: readonly Run[], removed: readonly Value[]): void {
  const { items } = list;
  const kept = items.slice();
  let keptFrom = 0;
  let removedFrom = 0;
  items.length = 0;
  for (const { start, count } of runs) {
    while (items.length < start) items.push(kept[keptFrom++] as Value);
    for (let i = 0; i < count; i++) items.push(removed[removedFrom++] as Value);
  }
  while (keptFrom < kept.length) items.push(kept[keptFrom++] as Value);
  noteAdded(list, removed);
}

/** `Array.prototype.splice` for any number of items. */
function spliceArray(items: Value[], start: number, count: number, added: readonly Value[]): Value[] {
  if (added.length === 1) {
    if (start === items.length) {
      items.push(added[0] as Value);
      return [];
    }
    if (count === 1) {
      const removed = items[start] as Value;
      items[start] = added[0] as Value;
      return [removed];
    }
  }
  if (added.length < SPREAD_MAX) return items.splice(start, count, ...added);
  const tail = items.splice(start);
  const removed = tail.splice(0, count);
  for (const item of added) items.push(item);
  for (const item of tail) items.push(item);
  return removed;
}

/** Arguments of one call at most; more could overflow the stack. */
const SPREAD_MAX = 10_000;

function ownerOf(value: List | ThingSet): Thing {
  if (value.owner === null) throw new Error('a list or set that is not attached has no owner to touch');
  return value.owner;
}
