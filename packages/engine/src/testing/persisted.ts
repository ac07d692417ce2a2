import { ByteWriter } from '../bytes.js';
import { CollectionGroup } from '../state/collection-group.js';
import { RecordKind, type RecordSink, type RecordSource } from '../state/records.js';
import { Transaction } from '../state/transaction.js';
import { ShapeTree } from '../value/shape.js';

/** A collection whose checkpoints go to memory, for tests of what is written and read back. */
export class PersistedCollection {
  /** By `id:part`. */
  readonly records = new Map<string, Uint8Array>();
  /** Names of the records that the last checkpoint wrote. */
  written: string[] = [];
  group: CollectionGroup;

  constructor() {
    this.group = new CollectionGroup(1, new ShapeTree(), this.source());
    this.group.create();
  }

  /** Runs a change; the caller may roll it back. */
  change(work: (transaction: Transaction) => void): Transaction {
    const transaction = new Transaction(this.group.store, true, new ByteWriter(), NOTHING, NOTHING);
    work(transaction);
    transaction.finish();
    return transaction;
  }

  checkpoint(): void {
    this.written = [];
    this.write({
      put: (_kind, id, part, value) => {
        this.records.set(`${id}:${part}`, value);
        this.written.push(`${id}:${part}`);
      },
      delete: (_kind, id, part) => this.records.delete(`${id}:${part}`),
    });
    this.group.dirty.release();
  }

  /** A checkpoint of which nothing becomes durable. */
  failedCheckpoint(): void {
    this.write({ put: NOTHING, delete: NOTHING });
    this.group.abandonCheckpoint();
  }

  /** Forgets what is in memory and goes on with what was written. */
  reopen(): void {
    const group = new CollectionGroup(1, new ShapeTree(), this.source());
    group.loadRecord(RecordKind.META, 0, this.group.encodeMeta());
    this.group = group;
  }

  private write(sink: RecordSink): void {
    const { dirty } = this.group;
    const changes = dirty.freeze((thing) => this.group.saveThing(thing, sink));
    for (const { kind, id, part, value } of changes.records.values()) {
      if (value === null) sink.delete(kind, id, part);
      else sink.put(kind, id, part, value);
    }
    for (const id of changes.removed) sink.delete(RecordKind.THING, id, 0);
    for (const id of changes.things) {
      const thing = dirty.frozenThing(id);
      if (thing === undefined) continue;
      this.group.saveThing(thing, sink);
      dirty.saved(thing);
    }
  }

  private source(): RecordSource {
    return { read: (_kind, id, part) => this.records.get(`${id}:${part}`) };
  }
}

const NOTHING = (): void => {};
