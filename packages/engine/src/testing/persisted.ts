import { ByteWriter } from '../bytes.js';
import { writeCheckpoint } from '../state/checkpoint.js';
import { CollectionGroup } from '../state/collection-group.js';
import { RecordKind, type RecordSource } from '../state/records.js';
import { Transaction } from '../state/transaction.js';
import { ShapeTree } from '../value/shape.js';

/** A collection whose checkpoints go to memory, for tests of what is written and read back. */
export class PersistedCollection {
  /** By `id:part` those of things, by `kind/id:part` the others. */
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

function nameOf(kind: RecordKind, id: number, part: number): string {
  return kind === RecordKind.THING ? `${id}:${part}` : `${kind}/${id}:${part}`;
}
