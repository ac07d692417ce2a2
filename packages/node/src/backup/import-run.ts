import {
  assertReadable,
  type BackupRecord,
  ByteReader,
  ByteWriter,
  isImported,
  isRestored,
  ownedTask,
  ownerOfTask,
  RESTORE_BYTES_MAX,
  RecordKind,
  raisedCounters,
  restoreEffects,
} from '@althing/engine';
import type { StateRecord } from '@althing/storage';
import type { GroupId } from '../between/protocol.js';
import type { Config } from '../config/index.js';
import type { BackupSummary } from './contents.js';
import { BackupError, type BackupHead } from './format.js';

/** A step of an import, done by the leader of the root group, or for PUT by that of the collection. */
export const Step = { MAKE: 1, PUT: 2, FINISH: 3, DROP: 4 } as const;

export interface Order {
  readonly step: number;
  /** The name while it is being imported. */
  readonly staged: string;
  readonly name: string;
  /** The collection, once it is made. */
  readonly group: GroupId;
  /** PUT: changes of the collection before this one. FINISH: the user who gets all privileges on it. */
  readonly number: number;
  readonly effects: Uint8Array;
}

/** Records in one change at most: small ones take more time than their bytes tell, and others wait that long. */
const RECORDS_MAX = 4000;

export const NOTHING = new Uint8Array(0);

/** The cuts of a collection into changes: an import that goes on must make those that it would have made before. */
export const CUTS = `${RECORDS_MAX} ${RESTORE_BYTES_MAX}`;

/** Gives the form in which a record goes into the collection; null: it does not. */
export type TakeRecord = (record: StateRecord) => BackupRecord | null;

/** The tasks that an import takes, and their owner then: the user that imports, or, where there is one, the user that they had. */
export type ImportedTasks = 'none' | 'of importer' | 'of owners';

/**
 * Records of a collection that goes somewhere else, alone.
 *
 * @param importer the user that imports
 * @param isUser whether there is a user with an id
 */
export function importedWith(
  tasks: ImportedTasks,
  importer: number,
  isUser: (id: number) => boolean,
): TakeRecord {
  return (record) => {
    if (record.kind !== RecordKind.TASK) return isImported(record) ? record : null;
    if (tasks === 'none') return null;
    return tasks === 'of owners' && isUser(ownerOfTask(record)) ? record : ownedTask(record, importer);
  };
}

/** Limits of what is restored and imported. They can change while the node runs. */
export type RunLimits = Pick<Config, 'maxProcedures' | 'maxTasks'>;

/** Records of a collection that is restored with its users. */
export function restoredWith(takesTasks: boolean): TakeRecord {
  return (record) => (isRestored(record) && (takesTasks || record.kind !== RecordKind.TASK) ? record : null);
}

/** One collection that is being filled: how far it is, and the records that wait for their change. */
export class ImportRun {
  head: BackupHead | null = null;
  /** 0 until it is made. */
  group: GroupId = 0;
  /** Changes that were made of the collection. */
  changes = 0;
  /** Changes that were there already when the run began: those of an earlier one that was interrupted. */
  present = 0;
  mayBeThere = false;
  /** True if the collection was asked to get its own name. */
  isNaming = false;
  isComplete = false;
  private records: BackupRecord[] = [];
  private bytes = 0;
  private total = 0;
  private procedures = 0;
  private tasks = 0;
  private counters: BackupRecord | null = null;

  constructor(
    readonly staged: string,
    readonly name: string,
    readonly user: number,
    private readonly take: TakeRecord,
  ) {}

  get summary(): BackupSummary {
    if (this.head === null) throw new BackupError('damaged', 'the file is damaged: it has no head');
    return { head: this.head, records: this.total };
  }

  order(step: number, number = 0, effects: Uint8Array = NOTHING): Order {
    const { staged, name, group } = this;
    return { step, staged, name, group, number, effects };
  }

  /** Takes a record; gives the changes that are due. */
  add(given: StateRecord, limits: RunLimits): readonly Uint8Array[] {
    const record = this.take(given);
    if (record === null) return [];
    assertReadable(record);
    if (record.kind === RecordKind.META) {
      // With them the things can be found: they come last.
      this.counters = record;
      return [];
    }
    if (record.kind === RecordKind.PROCEDURE) this.procedures += 1;
    if (record.kind === RecordKind.TASK) this.tasks += 1;
    if (this.procedures > limits.maxProcedures)
      throw new BackupError('refused', 'the collection has more procedures than max_procedures allows');
    if (this.tasks > limits.maxTasks)
      throw new BackupError('refused', 'the collection has more tasks than max_tasks allows');
    // The length in the file counts, and not that of what is made of it: so changes are cut at the same places whenever it is read.
    const { length } = given.value;
    const isFull = this.bytes + length > RESTORE_BYTES_MAX || this.records.length >= RECORDS_MAX;
    const due = isFull ? this.due() : [];
    this.records.push(record);
    this.bytes += length;
    this.total += 1;
    return due;
  }

  /** The changes that are left. */
  *end(): Generator<Uint8Array, void, undefined> {
    if (this.counters === null)
      throw new BackupError('damaged', 'the file is damaged: the collection has no counters');
    yield* this.due();
    // `changes` counts all that were made before the last one.
    yield restoreEffects([raisedCounters(this.counters, this.changes + 1)]);
  }

  private due(): readonly Uint8Array[] {
    const { records } = this;
    this.records = [];
    this.bytes = 0;
    return records.length === 0 ? [] : [restoreEffects(records)];
  }
}

/** order := step:u8 staged:text name:text group:varint number:varint effects */
export function writeOrder({ step, staged, name, group, number, effects }: Order): Uint8Array {
  const out = new ByteWriter(effects.length + staged.length + name.length + 64);
  out.u8(step);
  out.text(staged);
  out.text(name);
  out.varint(group);
  out.varint(number);
  out.bytes(effects);
  return out.take();
}

export function readOrder(payload: Uint8Array): Order {
  const input = new ByteReader(payload);
  const step = input.u8();
  const staged = input.text();
  const name = input.text();
  const group = input.varint();
  const number = input.varint();
  return { step, staged, name, group, number, effects: input.bytes(input.remaining).slice() };
}
