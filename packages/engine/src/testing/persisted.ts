import { ByteWriter } from '../bytes.js';
import { beginCheckpoint, writeCheckpoint } from '../state/checkpoint.js';
import { CollectionGroup } from '../state/collection-group.js';
import { RecordKind } from '../state/records.js';
import { Transaction } from '../state/transaction.js';
import { ShapeTree } from '../value/shape.js';
import { nameOf, RecordMap, StagedRecords } from './record-map.js';

/** A collection whose checkpoints go to memory, for tests of what is written and read back. */
export class PersistedCollection {
  private readonly disk = new RecordMap();
  /** The records, by their names. */
  readonly records = this.disk.values;
  /** Names of the records that the last checkpoint wrote. */
  written: string[] = [];
  group: CollectionGroup;
  /** Records of the checkpoint that was begun. */
  private staged = new StagedRecords();
  private steps: Generator<void, void, undefined> | null = null;

  constructor() {
    this.group = new CollectionGroup(1, new ShapeTree(), this.disk);
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
        this.disk.put(kind, id, part, value);
        this.written.push(nameOf(kind, id, part));
      },
      delete: (kind, id, part) => this.disk.delete(kind, id, part),
    });
    this.group.dirty.release();
  }

  /** Begins a checkpoint that is encoded in steps. */
  begin(): void {
    this.staged = new StagedRecords();
    this.steps = beginCheckpoint(this.group, this.staged);
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
    this.staged.moveTo(this.disk);
    this.group.dirty.release();
  }

  /** A checkpoint of which nothing becomes durable. */
  failedCheckpoint(): void {
    writeCheckpoint(this.group, { put: NOTHING, delete: NOTHING });
    this.group.abandonCheckpoint();
  }

  /** Forgets what is in memory and goes on with what was written. */
  reopen(): void {
    const group = new CollectionGroup(1, new ShapeTree(), this.disk);
    group.loadRecord(RecordKind.META, 0, this.group.encodeMeta());
    this.disk.load(group);
    this.group = group;
  }
}

const NOTHING = (): void => {};
