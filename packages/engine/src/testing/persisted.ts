import { ByteWriter } from '../bytes.js';
import { removedRecords, writeCheckpoint } from '../state/checkpoint.js';
import { CollectionGroup } from '../state/collection-group.js';
import type { Changes } from '../state/dirty.js';
import { RecordKind, type RecordSink, type RecordSource } from '../state/records.js';
import { Transaction } from '../state/transaction.js';
import { ShapeTree } from '../value/shape.js';

/** A collection whose checkpoints go to memory, for tests of what is written and read back. */
export class PersistedCollection {
  /** The records: those of things by `id:part`, others by `kind/id:part`. */
  readonly records = new Map<string, Uint8Array>();
  /** Names of the records that the last checkpoint wrote. */
  written: string[] = [];
  group: CollectionGroup;
  /** Records of the checkpoint that was begun; null for one that goes. */
  private staged: [string, Uint8Array | null][] = [];
  private steps: Generator<void, void, undefined> | null = null;

  constructor() {
    this.group = new CollectionGroup(1, new ShapeTree(), this.source());
    this.group.create();
  }

  /** Runs a change; the caller may roll it back. */
  change(work: (transaction: Transaction) => void): Transaction {
    const transaction = new Transaction(this.group.store, true, new ByteWriter(), NOTHING);
    work(transaction);
    transaction.finish();
    return transaction;
  }

  checkpoint(): void {
    this.written = [];
    writeCheckpoint(this.group, {
      put: (kind, id, part, value) => {
        this.records.set(nameOf(kind, id, part), value);
        this.written.push(nameOf(kind, id, part));
      },
      delete: (kind, id, part) => this.records.delete(nameOf(kind, id, part)),
    });
    this.group.dirty.release();
  }

  /** Begins a checkpoint that is encoded in steps. */
  begin(): void {
    const { group } = this;
    const { dirty } = group;
    this.staged = [];
    const sink: RecordSink = {
      put: (kind, id, part, value) => this.staged.push([nameOf(kind, id, part), value]),
      delete: (kind, id, part) => this.staged.push([nameOf(kind, id, part), null]),
    };
    const changes = dirty.freeze((thing) => group.saveThing(thing, sink));
    this.steps = stepsOf(group, changes, sink);
    // Records that are to be deleted go at once, before anything is put in their place.
    this.steps.next();
  }

  /** Does some steps of the checkpoint that was begun. */
  encode(count: number): void {
    for (let i = 0; i < count; i++) this.steps?.next();
  }

  /** Does the rest of the steps; then all of it is on disk, or nothing. */
  finish(succeeds: boolean): void {
    Array.from(this.steps ?? []);
    this.steps = null;
    if (!succeeds) {
      this.group.abandonCheckpoint();
      return;
    }
    for (const [name, value] of this.staged) {
      if (value === null) this.records.delete(name);
      else this.records.set(name, value);
    }
    this.group.dirty.release();
  }

  /** A checkpoint of which nothing becomes durable. */
  failedCheckpoint(): void {
    writeCheckpoint(this.group, { put: NOTHING, delete: NOTHING });
    this.group.abandonCheckpoint();
  }

  /** Forgets what is in memory and goes on with what was written. */
  reopen(): void {
    const group = new CollectionGroup(1, new ShapeTree(), this.source());
    group.loadRecord(RecordKind.META, 0, this.group.encodeMeta());
    for (const [name, value] of this.records) {
      const [kind, id, part] = name.split(/[/:]/).map(Number);
      if (part !== undefined) group.loadRecord(kind as number, id as number, value, part);
    }
    this.group = group;
  }

  private source(): RecordSource {
    return { read: (kind, id, part) => this.records.get(nameOf(kind, id, part)) };
  }
}

const NOTHING = (): void => {};

function* stepsOf(
  group: CollectionGroup,
  { records, removed, things }: Changes,
  sink: RecordSink,
): Generator<void, void, undefined> {
  for (const { kind, id, part, value } of records.values()) {
    if (value === null) sink.delete(kind, id, part);
    else sink.put(kind, id, part, value);
  }
  for (const [id, part] of removedRecords({ removed })) sink.delete(RecordKind.THING, id, part);
  for (const id of things) {
    yield;
    const thing = group.dirty.frozenThing(id);
    if (thing === undefined) continue;
    group.saveThing(thing, sink);
    group.dirty.saved(thing);
  }
  yield* group.saveRest(sink);
}

function nameOf(kind: RecordKind, id: number, part: number): string {
  return kind === RecordKind.THING ? `${id}:${part}` : `${kind}/${id}:${part}`;
}
