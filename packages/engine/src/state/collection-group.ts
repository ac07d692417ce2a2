import { ByteReader, type ByteWriter } from '../bytes.js';
import type { ShapeTree } from '../value/shape.js';
import { Thing } from '../value/thing.js';
import { effectsOn } from './effect.js';
import { ThingEffect } from './effects.js';
import type { RoomEvent } from './events.js';
import { Group, type GroupRecord } from './group.js';
import { IndexPart } from './parts/indexes.js';
import { Jobs } from './parts/jobs.js';
import { Loads } from './parts/loads.js';
import { Schema } from './parts/schema.js';
import type { Owners } from './parts/tasks.js';
import { RecordKind, type RecordSink, type RecordSource } from './records.js';
import { Store } from './store.js';
import { TransferEffect } from './transfer.js';

/** The owners where nobody asks for them. */
const NO_OWNERS: Owners = { users: new Map(), nextId: 0, isLoading: false };

export class CollectionGroup extends Group {
  readonly store: Store;
  readonly loads: Loads;
  readonly jobs: Jobs;

  /** @param owners the users of the cluster, who own tasks */
  constructor(
    readonly id: number,
    shapes: ShapeTree,
    source: RecordSource,
    owners: Owners = NO_OWNERS,
  ) {
    const store = new Store(shapes, source);
    const loads = new Loads(store.dirty);
    const jobs = new Jobs(store);
    super(store.dirty, [new Schema(store), store.rooms, new IndexPart(store), loads, jobs]);
    this.store = store;
    this.loads = loads;
    this.jobs = jobs;
    this.takeEffects(effectsOn(store, ThingEffect));
    this.takeEffects(effectsOn(store, TransferEffect));
    this.tasks.attach({ ids: store, owners, store });
  }

  /** Gives a new collection its root thing. */
  create(): void {
    const root = new Thing(0, this.store.shapes.empty(), []);
    this.store.register(root, 1);
    // The collection itself refers to its root.
    root.refs = 1;
  }

  /** Its content, in words; null when it is as a new one is, whatever was in it before. */
  contents(): string | null {
    const { store } = this;
    store.load(store.root);
    const [property] = store.root.entries();
    if (property !== undefined) return `it has the property '${property[0]}'`;
    for (const part of this.parts) {
      const contents = part.contents();
      if (contents !== null) return `it has ${contents}`;
    }
    // The things that are left refer to each other, and wait for their removal.
    return store.thingCount > 1
      ? 'what was deleted from it is still being cleared away, which takes a minute or two'
      : null;
  }

  override apply(effects: Uint8Array): void {
    super.apply(effects);
    // Things that go with a change were removed by it: the others wait for a search.
    if (this.store.orphans.size > 0) this.store.deferOrphans();
    this.settle(this.changeCount);
  }

  override noteChange(bytes: number): void {
    super.noteChange(bytes);
    this.store.uncounted += bytes;
    this.store.schema.numberRescues(this.changeCount);
  }

  override settle(change: number): void {
    this.store.schema.endRescues(change);
  }

  override restoreRecord(record: GroupRecord): void {
    const { kind, id, part, value } = record;
    if (kind === RecordKind.THING) this.store.restoreRecord(id, part, value);
    else super.restoreRecord(record);
  }

  override takeRoomEvents(): readonly RoomEvent[] {
    const { heard } = this.store.rooms;
    return heard.length === 0 ? heard : heard.splice(0);
  }

  /** ... nextId:varint things:varint suspects:varint id:varint* */
  protected override writeMeta(out: ByteWriter): void {
    const { nextId, thingCount, suspects, marking } = this.store;
    // A search that is under way ends with the process.
    const all = new Set([...suspects, ...(marking?.suspects ?? [])]);
    out.varint(nextId);
    out.varint(thingCount);
    out.varint(all.size);
    for (const id of all) out.varint(id);
  }

  /** Each node knows by itself where garbage may be, too. */
  static override sharedMeta(meta: Uint8Array): Uint8Array {
    const shared = Group.sharedMeta(meta);
    const input = new ByteReader(shared);
    for (let count = 0; count < 3; count++) input.varint();
    return shared.subarray(0, input.offset);
  }

  protected override readMeta(input: ByteReader): void {
    this.store.nextId = input.varint();
    this.store.thingCount = input.varint();
    for (let count = input.varint(); count > 0; count--) this.store.suspects.put(input.varint());
  }

  override saveThing(thing: Thing, sink: RecordSink): void {
    this.store.save(thing, sink);
  }

  override saveRest(sink: RecordSink): Generator<void, void, undefined> {
    return this.store.saveRest(sink);
  }

  override saveThingAgain(thing: Thing): void {
    this.store.saveAgain(thing);
  }

  override abandonCheckpoint(): void {
    super.abandonCheckpoint();
    this.store.abandonRest();
  }
}
