import { ByteWriter, FormatError } from '../bytes.js';
import { Catalog } from '../schema/catalog.js';
import type { EnumType } from '../schema/enum.js';
import type { Type } from '../schema/type.js';
import { type Charge, FREE } from '../value/containers.js';
import { eachThing } from '../value/kinds.js';
import type { Room } from '../value/room.js';
import { Float } from '../value/scalars.js';
import { type Loader, plainShape, type Shape, type ShapeTree } from '../value/shape.js';
import { Task, type TaskBook } from '../value/task.js';
import { Thing, ThingBit } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { attach, detach } from './attach.js';
import { Dirty } from './dirty.js';
import { bytesOf } from './evictor.js';
import { Indexes } from './indexes.js';
import { migrate } from './migrate.js';
import { isPagedList } from './pages/list-pages.js';
import { isPagedSet } from './pages/member-pages.js';
import type { PageSink, Unfinished } from './pages/page-table.js';
import { PropertyPages } from './pages/property-pages.js';
import { ThingPages } from './pages/thing-pages.js';
import { Rooms } from './parts/rooms.js';
import type { ReadingMemory } from './reading-memory.js';
import { RecordKind, type RecordSink, type RecordSource } from './records.js';
import { ThingTable } from './table.js';
import { readThing, writeThing } from './thing-record.js';
import { ThingRecords } from './thing-records.js';
import { isFieldFlat, visitThingsOfRecord } from './thing-walk.js';

/** Units charged for a record that is looked for or read, which may have to come from the disk. */
export const UNITS_PER_RECORD = 1024;

/**
 * The things of one collection, in memory as far as they were touched: found by their ids, read from their records when they are
 * touched, written to a checkpoint, and taken out of memory when they were not used for a while.
 */
export class ThingMemory implements Loader {
  readonly table = new ThingTable();
  readonly dirty = new Dirty((id) => this.table.get(id));
  /** The types and enums. */
  readonly schema: Catalog;
  readonly rooms = new Rooms(this.dirty, (id) => {
    if (id >= this.nextId) this.nextId = id + 1;
  });
  readonly indexes = new Indexes(this);
  /** The next id for a thing, room, task or index. Ids are never used again. */
  nextId = 1;
  idFloor = 0;
  /** Number of stored things, loaded or not. */
  thingCount = 0;
  /** Estimated bytes of what is in memory; see `evictor.ts`. */
  bytes = 0;
  /** Bytes of the changes since all of that was counted, most of which made it larger. */
  uncounted = 0;
  /** The number of times a thing was in memory when it was needed, had to be read, and was taken out. */
  hits = 0;
  misses = 0;
  evictions = 0;
  /**
   * Set while something is read that may be anything: only what is there may be referred to then, and what is made is charged.
   */
  guard: ((units: number) => void) | null = null;
  /** Things that must stay in memory, and how often that was asked for. */
  private readonly pins = new Map<Thing, number>();
  /** Set where things leave while queries run. */
  reading: ReadingMemory | null = null;
  /** Takes the stored instances of which a property changes; null where nobody asks. Others may be among them. */
  rewritten: Set<Thing> | null = null;
  /** Takes the stored instances that are given a property, by its id, which a job gives to them, too; null where nobody asks. */
  given: Map<number, Set<Thing>> | null = null;
  /** The tasks of the collection, which refer to things; null for none. */
  tasks: TaskBook | null = null;
  /** The shape of things that are not in memory. */
  private readonly stub: Shape;
  /** The pages of the things that have some, which are those with the bit PAGED. */
  private readonly pages = new WeakMap<Thing, ThingPages>();
  /** Pages that the checkpoint under way has still to write. */
  readonly unfinished = new Set<Unfinished>();
  private writer = new ByteWriter(SCRATCH_BYTES);
  /** Writes the first record of a thing, beside which its pages are encoded. */
  private recordWriter = new ByteWriter();

  protected readonly records: ThingRecords;

  constructor(
    readonly shapes: ShapeTree,
    source: RecordSource,
  ) {
    this.stub = shapes.stub(this);
    this.schema = new Catalog(shapes, this);
    this.records = new ThingRecords(source, this.dirty);
  }

  /** The number of records that were read from disk. */
  get recordReads(): number {
    return this.records.reads;
  }

  /** The root thing; it exists from the first entry of the collection's log on. */
  get root(): Thing {
    return this.thingOfId(1);
  }

  /** The thing with this id, made as a stub when it is not in memory. For ids that are known to exist. */
  thingOfId(id: number): Thing {
    const known = this.table.get(id);
    if (known !== undefined) return known;
    if (this.guard !== null) throw new FormatError(`there is no thing ${id}`);
    const stub = new Thing(id, this.stub, NO_SLOTS);
    stub.bits = 0;
    this.table.set(id, stub);
    return stub;
  }

  /** The stored thing with this id, or undefined when there is none. */
  find(id: number): Thing | undefined {
    const known = this.table.get(id);
    if (known !== undefined) return known;
    if (id <= 0 || id >= this.nextId || this.dirty.isRemoved(id)) return undefined;
    if (!this.records.has(id)) return undefined;
    return this.thingOfId(id);
  }

  /**
   * All stored things, by rising ids.
   *
   * @param charge told of each id that may be one of them and is not in memory: it is looked for on disk
   */
  *all(charge: (units: number) => void = () => {}): Generator<Thing, void, undefined> {
    if (this.table.size === this.thingCount) {
      // Nothing is elsewhere. Ids may be far apart.
      yield* this.table.inOrder();
      return;
    }
    for (let id = 1; id < this.nextId; id++) {
      if (this.table.get(id) === undefined) charge(UNITS_PER_RECORD);
      const thing = this.find(id);
      if (thing !== undefined) yield thing;
    }
  }

  /** Bytes of the record of a thing, as far as it is written; 0 for none. */
  recordBytes(id: number): number {
    return this.records.read(RecordKind.THING, id, 0)?.length ?? 0;
  }

  /**
   * Brings the properties of a thing into memory. Every access to a thing that may be stored starts here.
   *
   * @param charge told of each page of a large thing before it is read; may throw, and the next call goes on there
   */
  load(thing: Thing, charge: Charge = FREE): void {
    if ((thing.bits & ThingBit.LOADED) !== 0) {
      thing.bits |= ThingBit.USED;
      this.hits += 1;
      if (thing.shape.stale !== null) migrate(thing, this);
      return;
    }
    this.misses += 1;
    thing.bits |= ThingBit.USED;
    readThing(this.records.reader(thing.id), thing, this, charge);
    thing.bits |= ThingBit.LOADED;
    if (!this.homeOf(thing)?.properties) this.takeUpAll(thing);
    this.bytes += bytesOf(thing);
    this.reading?.noteLoaded(thing);
  }

  /** Says to the lists and sets of a thing that was read whose they are, and to the things that something refers to them. */
  private takeUpAll(thing: Thing): void {
    // Most values are no objects, or numbers: then there is no key to be found.
    if (!thing.slots.some(isObject)) return;
    thing.forEach((key, value) => {
      this.takeUp(thing, key, value);
    });
  }

  /** The same for one value. */
  takeUp(thing: Thing, key: string, value: Value): void {
    if (!isObject(value)) return;
    attach(thing, key, value);
    if (!isPagedList(value) && !isPagedSet(value)) this.hold(value);
  }

  /**
   * Takes the properties of a thing out of memory, which are as they are on disk. Nothing that runs may know the thing,
   * nor a list or set of it, unless these stay attached: then they may be read.
   */
  unload(thing: Thing, detaches = true): void {
    this.bytes -= bytesOf(thing);
    this.evictions += 1;
    thing.forEach((_, value) => {
      leaveMemory(value, detaches);
    });
    this.forgetPages(thing);
    thing.shape = this.stub;
    thing.slots = NO_SLOTS;
    thing.bits &= ~(ThingBit.LOADED | ThingBit.USED);
  }

  /** Takes pages of the large lists and sets of a thing out of memory that were not asked for since the last call. */
  rest(thing: Thing): void {
    thing.forEach((_, value) => {
      if (isPagedList(value)) value.backing.leave((item) => eachThing(item, letGo));
      else if (isPagedSet(value)) value.backing.leave();
    });
  }

  /** Bytes of what was read of a thing that is in memory in part. */
  bytesOfPart(thing: Thing): number {
    return this.homeOf(thing)?.filling?.bytes ?? 0;
  }

  /** Takes what was read of a thing that is in memory in part out of it. */
  unloadPart(thing: Thing): void {
    const { filling } = this.pagesOf(thing);
    this.bytes -= filling?.bytes ?? 0;
    for (const value of filling?.slots ?? []) leaveMemory(value, true);
    this.forgetPages(thing);
  }

  /** Forgets a stub that nothing in memory refers to. */
  forgetStub(thing: Thing): void {
    this.table.delete(thing.id);
  }

  /** Keeps a thing in memory, also between queries, until `unpin` was called as often. */
  pin(thing: Thing): void {
    this.pins.set(thing, (this.pins.get(thing) ?? 0) + 1);
  }

  unpin(thing: Thing): void {
    const left = (this.pins.get(thing) ?? 0) - 1;
    if (left > 0) this.pins.set(thing, left);
    else this.pins.delete(thing);
  }

  /** True if something that goes on later knows the thing, or a list or set of it. */
  isPinned(thing: Thing): boolean {
    return this.pins.size > 0 && this.pins.has(thing);
  }

  /** The newest record of a kind, whether it is on disk or not; undefined for none. */
  readRecord(kind: RecordKind, id: number, part: number): Uint8Array | undefined {
    return this.records.read(kind, id, part);
  }

  /** The record of a page of a thing. */
  readPart(id: number, part: number): Uint8Array {
    return this.records.value(id, part);
  }

  /** A writer for one page, until the next call. */
  get scratch(): ByteWriter {
    if (this.writer.length > SCRATCH_BYTES) this.writer = new ByteWriter(SCRATCH_BYTES);
    return this.writer;
  }

  /** Where the pages of a thing belong. */
  pagesOf(thing: Thing): ThingPages {
    let pages = this.homeOf(thing);
    if (pages === undefined) {
      pages = new ThingPages(thing.id, this);
      this.pages.set(thing, pages);
      thing.bits |= ThingBit.PAGED;
    }
    return pages;
  }

  /** A thing has no pages in memory any more. */
  protected forgetPages(thing: Thing): void {
    thing.bits &= ~ThingBit.PAGED;
    this.pages.delete(thing);
  }

  /** The same; undefined as long as it has none. */
  homeOf(thing: Thing): ThingPages | undefined {
    return (thing.bits & ThingBit.PAGED) === 0 ? undefined : this.pages.get(thing);
  }

  /** The pages of the properties of a thing that is being written; null if they stand in its first record. */
  propertyPagesOf(thing: Thing, sink: PageSink): PropertyPages | null {
    const known = this.homeOf(thing)?.properties ?? null;
    if (known?.isWanted === true) return known;
    known?.cut(0, sink);
    const isWanted = known === null && PropertyPages.isWanted(thing);
    if (known === null && !isWanted) return null;
    const home = this.pagesOf(thing);
    home.properties = isWanted ? new PropertyPages(thing, home) : null;
    return home.properties;
  }

  /** Takes a record of a thing over from elsewhere, as it lies on disk there. What was known of the thing is forgotten. */
  restoreRecord(id: number, part: number, value: Uint8Array): void {
    const known = this.table.get(id);
    if (known !== undefined) {
      this.bytes -= (known.bits & ThingBit.LOADED) === 0 ? this.bytesOfPart(known) : bytesOf(known);
      this.dirty.forget(known);
      this.table.delete(id);
    }
    this.dirty.putThing(id, part, value);
  }

  /** Writes a thing to a checkpoint. Its pages that changed follow by `saveRest`, or when they are about to change again. */
  save(thing: Thing, sink: RecordSink): void {
    if (this.recordWriter.length > SCRATCH_BYTES) this.recordWriter = new ByteWriter();
    const out = this.recordWriter;
    out.rewind();
    const { id } = thing;
    writeThing(out, thing, this, {
      put: (number, record) => this.records.write(sink, id, number, record),
      delete: (number) => this.records.delete(sink, id, number),
    });
    this.records.write(sink, id, 0, out.view());
  }

  /** Writes what `save` left, the pages of indexes, and rooms, a record or some at each step. */
  *saveRest(sink: RecordSink): Generator<void, void, undefined> {
    for (const pages of this.unfinished) yield* pages.rest();
    yield* this.indexes.rest(sink);
    yield* this.rooms.rest(sink);
  }

  /** Gives up what `save` left. */
  abandonRest(): void {
    for (const pages of this.unfinished) pages.again();
    this.indexes.again();
    this.rooms.again();
  }

  /** Notes that what was saved of a thing last did not become durable. */
  saveAgain(thing: Thing): void {
    if ((thing.bits & ThingBit.LOADED) === 0) return;
    thing.forEach((_, value) => {
      if (isPagedList(value) || isPagedSet(value)) value.backing.again();
    });
    this.homeOf(thing)?.again();
  }

  /** Must be called before any change to a stored thing. */
  touch(thing: Thing): void {
    this.load(thing);
    this.dirty.mark(thing);
  }

  /** Must be called before a property of a stored thing changes, comes or goes, or what a list or set in it holds. */
  touchProperty(thing: Thing, key: string): void {
    this.touch(thing);
    this.rewritten?.add(thing);
    if ((thing.bits & ThingBit.PAGED) !== 0) this.homeOf(thing)?.properties?.touchProperty(key);
  }

  /** Notes that an instance is given a property that a job gives to it, too. */
  noteGiven(thing: Thing, field: number): void {
    const things = this.given?.get(field);
    if (things === undefined) this.given?.set(field, new Set([thing]));
    else things.add(thing);
  }

  /** Must be called before all properties of a stored thing change. */
  touchAll(thing: Thing): void {
    this.touch(thing);
    this.rewritten?.add(thing);
    this.homeOf(thing)?.properties?.touchAll();
  }

  /** The shape of plain things with the properties of a type. */
  plainShape({ shape }: Type): Shape {
    return plainShape(this.shapes, shape?.fields ?? []);
  }

  noteItems(count: number): void {
    this.guard?.(UNITS_PER_LIST + count);
  }

  typeOf(id: number): Type {
    // Things may be wrapped with a deleted type that was forgotten.
    if (this.guard !== null && id >= this.schema.typeIds.nextId) {
      throw new FormatError(`there is no type ${id}`);
    }
    return this.schema.type(id);
  }

  enumOf(id: number): EnumType {
    if (this.guard !== null && this.schema.stateOfEnum(id) === undefined) {
      throw new FormatError(`there is no enum ${id}`);
    }
    return this.schema.enum(id);
  }

  taskOf(id: number): Task {
    return new Task(id, this.tasks);
  }

  roomOf(id: number): Room {
    if (this.guard !== null && !this.rooms.byId.has(id)) throw new FormatError(`there is no room ${id}`);
    return this.rooms.roomOf(id);
  }

  /** Calls `visit` with the id of each thing that a thing refers to, without bringing anything into memory. */
  visitReferences(id: number, visit: (id: number) => void): void {
    const thing = this.table.get(id);
    if (thing === undefined || (thing.bits & ThingBit.LOADED) === 0) {
      visitThingsOfRecord((part) => this.records.value(id, part), visit);
      return;
    }
    thing.forEach((_, value) => {
      if (isPagedList(value) || isPagedSet(value)) value.backing.visitThings(visit);
      else eachThing(value, (child) => visit(child.id));
    });
  }

  /** True if an instance is not in memory, and its record has nothing in a field that would have to be given up: see `isFieldFlat`. */
  restsFlat(thing: Thing, field: number): boolean {
    return (thing.bits & ThingBit.LOADED) === 0 && isFieldFlat(this.records.reader(thing.id), field);
  }

  /** Notes that a value came into memory that refers to things. */
  hold(value: Value): void {
    eachThing(value, (thing) => {
      thing.holders += 1;
    });
  }
}

function leaveMemory(value: Value, detaches: boolean): void {
  if (isPagedList(value) || isPagedSet(value)) value.backing.leaveThing(letGo);
  else eachThing(value, letGo);
  if (detaches) detach(value);
}

function letGo(thing: Thing): void {
  thing.holders -= 1;
}

const NO_SLOTS: Value[] = [];

function isObject(value: Value): boolean {
  return typeof value === 'object' && value !== null && !(value instanceof Float);
}

const SCRATCH_BYTES = 256 * 1024;

/** The charge for a list or set, beside its items. */
const UNITS_PER_LIST = 64;
