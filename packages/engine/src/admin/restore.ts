/**
 * Records of a backup on their way into a cluster: those of collections become changes of new collections (`restoreEffects`), those
 * of the root scope are gathered (`RootRestore`) until one change replaces everything (`replacement.ts`).
 */
import { ByteReader, ByteWriter } from '../bytes.js';
import { CollectionGroup } from '../state/collection-group.js';
import { writeEffect } from '../state/effect.js';
import { GroupEffect, type GroupRecord } from '../state/group.js';
import { EMPTY_SOURCE, RecordKind } from '../state/records.js';
import { ShapeTree } from '../value/shape.js';
import { LEVEL_FIRST, LevelError } from './level.js';
import { RootGroup } from './root-group.js';

/** A record of a group, as it lies on disk. */
export type BackupRecord = GroupRecord;

/** Effects that take records over. */
export function restoreEffects(records: Iterable<BackupRecord>): Uint8Array {
  const out = new ByteWriter();
  for (const record of records) writeEffect(out, GroupEffect.RESTORE, record);
  return out.take();
}

/** The records of a collection in the order in which they are restored; what is not part of its state is left out. */
export function isRestored({ kind }: Pick<BackupRecord, 'kind'>): boolean {
  return RESTORED_KINDS.has(kind);
}

const RESTORED_KINDS: ReadonlySet<number> = new Set([
  RecordKind.THING,
  RecordKind.META,
  ...emptyCollection().parts.kinds,
]);

/**
 * Checks a record of a collection as far as it is read when it is applied: there it must not fail.
 *
 * @throws FormatError
 */
export function assertReadable({ kind, id, part, value }: BackupRecord): void {
  if (kind === RecordKind.THING) return;
  emptyCollection().loadRecord(kind, id, value, part);
}

function emptyCollection(): CollectionGroup {
  return new CollectionGroup(0, new ShapeTree(), EMPTY_SOURCE);
}

/**
 * True if a record of a collection is taken over where the collection goes somewhere else, alone. Tasks, jobs and the entries of a commit
 * history are not: the users whom those belong to, and the history itself, lie in the root scope that it came from.
 */
export function isImported(record: Pick<BackupRecord, 'kind'>): boolean {
  const { TASK, COMMIT, JOB } = RecordKind;
  return isRestored(record) && record.kind !== TASK && record.kind !== COMMIT && record.kind !== JOB;
}

/** The counters of a collection with the number of its last change raised to at least a given one. */
export function raisedCounters(record: BackupRecord, least: number): BackupRecord {
  const input = new ByteReader(record.value);
  const out = new ByteWriter();
  out.u8(input.u8());
  out.varint(Math.max(input.varint(), least));
  out.bytes(input.bytes(input.remaining));
  return { ...record, value: out.take() };
}

/** The beginning of the name of a collection that is being imported: no scope can be written so, and no query reaches it. */
const IMPORTING = '~';

/**
 * The name that a collection has while it is being imported.
 *
 * @param node the node that imports it
 * @param token tells imports from each other
 */
export function importingName(node: number, token: string, name: string): string {
  return `${IMPORTING}${node}.${token}.${name}`;
}

/** The node that imports the collection of a name; null for one that is not being imported. */
export function importerOf(name: string): number | null {
  return name.startsWith(IMPORTING) ? Number.parseInt(name.slice(IMPORTING.length), 10) : null;
}

/** True if two names are those of collections that the same import fills, maybe through two nodes. */
export function isSameImport(one: string, other: string): boolean {
  const run = (name: string): string => name.slice(name.indexOf('.'));
  return importerOf(one) !== null && importerOf(other) !== null && run(one) === run(other);
}

/** True if a collection is being filled, for an import or a restore: nothing of it is used or changed meanwhile. */
export function isBeingFilled({ collections }: RootGroup, id: number): boolean {
  const name = collections.get(id)?.name;
  return name !== undefined && importerOf(name) !== null;
}

/** Bytes of records in one change at most; a record that is larger goes alone. */
export const RESTORE_BYTES_MAX = 1024 * 1024;

/** The root state of a backup, on its way into a cluster. */
export class RootRestore {
  private readonly root = new RootGroup();
  private readonly users: BackupRecord[] = [];
  private hasCounters = false;
  /** The level of the cluster that it was taken of. */
  private level = LEVEL_FIRST;

  /**
   * Takes a record of the backup.
   *
   * @throws FormatError
   */
  add(record: BackupRecord): void {
    const { kind, id, part, value } = record;
    if (this.root.parts.ofKind(kind) !== undefined) {
      this.users.push(record);
      this.root.loadRecord(kind, id, value, part);
      return;
    }
    switch (kind) {
      case RecordKind.USER:
      case RecordKind.WHITELIST:
        this.users.push(record);
        break;
      case RecordKind.META:
        this.hasCounters = true;
        break;
      case RecordKind.COLLECTION:
        break;
      case RecordKind.LEVEL:
        this.level = new ByteReader(value).varint();
        return;
      default:
        return;
    }
    this.root.loadRecord(kind, id, value, part);
  }

  /** All that is known of it, to be read. */
  get state(): RootGroup {
    return this.root;
  }

  /** The records of everything but collections and counters. */
  get records(): readonly BackupRecord[] {
    return this.users;
  }

  get collections(): readonly number[] {
    return [...this.root.collections.keys()];
  }

  /** The number of the collection that has a name; undefined for none. */
  numberOf(name: string): number | undefined {
    return this.root.collectionsByName.get(name)?.id;
  }

  /** The reason why it is no backup to restore; null when there is none. */
  get problem(): string | null {
    if (this.level > this.root.knownLevel) return new LevelError(this.level, this.root.knownLevel).message;
    if (!this.hasCounters || this.root.users.size === 0) return 'it has no users';
    return this.root.restoring === '' ? null : 'it was taken while a backup was being restored';
  }

  /** Why the cluster can not take it, though it may be empty: it would have to write what not all nodes know yet. */
  levelProblem(live: RootGroup): string | null {
    if (this.level <= live.level) return null;
    return `it was taken of a cluster at level ${this.level}, and this one works at level ${live.level}: it can take it when all of its nodes run the newer version`;
  }
}
