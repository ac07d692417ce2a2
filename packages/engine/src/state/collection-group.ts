import { ByteReader, type ByteWriter } from '../bytes.js';
import type { ShapeTree } from '../value/shape.js';
import { Thing } from '../value/thing.js';
import { applyThingEffect } from './effects.js';
import { Group } from './group.js';
import { RecordKind, type RecordSink, type RecordSource } from './records.js';
import { Store } from './store.js';

/** The state of one collection. */
export class CollectionGroup extends Group {
  readonly id: number;
  readonly store: Store;

  constructor(id: number, shapes: ShapeTree, source: RecordSource) {
    super();
    this.id = id;
    this.store = new Store(shapes, source);
  }

  get dirty(): Store['dirty'] {
    return this.store.dirty;
  }

  /** Gives a new collection its root thing. */
  create(): void {
    const root = new Thing(0, this.store.shapes.empty(), []);
    this.store.register(root, 1);
    // The collection itself refers to its root.
    root.refs = 1;
  }

  protected override applyEffect(operation: number, input: ByteReader): boolean {
    return applyThingEffect(operation, input, this.store) || super.applyEffect(operation, input);
  }

  protected override restoreRecord(kind: number, id: number, part: number, value: Uint8Array): void {
    if (kind === RecordKind.THING) this.store.restoreRecord(id, part, value);
    else super.restoreRecord(kind, id, part, value);
  }

  /** ... nextId:varint things:varint suspects:varint id:varint* */
  protected override writeMeta(out: ByteWriter): void {
    const { nextId, thingCount, suspects } = this.store;
    out.varint(nextId);
    out.varint(thingCount);
    out.varint(suspects.size);
    for (const id of suspects) out.varint(id);
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
    for (let count = input.varint(); count > 0; count--) this.store.suspects.add(input.varint());
  }

  override saveThing(thing: Thing, sink: RecordSink): void {
    this.store.save(thing, sink);
  }

  override saveThingAgain(thing: Thing): void {
    this.store.saveAgain(thing);
  }
}
