/**
 * The state of a backup as changes of an empty cluster: first its collections, with nobody's access to them; then, with
 * the records of each, what lies in them; and at last its users.
 */
import { ByteWriter, FormatError } from '../bytes.js';
import { Effect } from '../state/effects.js';
import { RecordKind } from '../state/records.js';
import { RootEffect, RootGroup, writeCollection } from './root-group.js';

/** A record of a group, as it lies on disk. */
export interface BackupRecord {
  readonly kind: number;
  readonly id: number;
  readonly part: number;
  readonly value: Uint8Array;
}

/** Effects that take records over. */
export function restoreEffects(records: Iterable<BackupRecord>): Uint8Array {
  const out = new ByteWriter();
  for (const record of records) writeRestore(out, record);
  return out.take();
}

/** The records of a collection in the order in which they are restored; what is not part of its state is left out. */
export function isRestored({ kind }: Pick<BackupRecord, 'kind'>): boolean {
  return kind === RecordKind.THING || kind === RecordKind.PROCEDURE || kind === RecordKind.META;
}

/** The root state of a backup, on its way into a cluster. */
export class RootRestore {
  private readonly root = new RootGroup();
  private readonly users: BackupRecord[] = [];
  private meta: BackupRecord | null = null;

  /**
   * Takes a record of the backup.
   *
   * @throws FormatError
   */
  add(record: BackupRecord): void {
    const { kind, id, value } = record;
    switch (kind) {
      case RecordKind.USER:
      case RecordKind.PROCEDURE:
        this.users.push(record);
        break;
      case RecordKind.META:
        this.meta = record;
        break;
      case RecordKind.COLLECTION:
        break;
      default:
        return;
    }
    this.root.loadRecord(kind, id, value);
  }

  /** The collections of the backup. */
  get collections(): readonly number[] {
    return [...this.root.collections.keys()];
  }

  /** Why this can not be restored into a cluster; null when it can. The collections of the cluster are empty. */
  problem(live: RootGroup): string | null {
    if (this.meta === null || this.root.users.size === 0) return 'the backup has no users';
    const others = [...live.users.values()].filter(({ name }) => name !== 'admin');
    if (others.length > 0 || live.procedures.size > 0)
      return 'the cluster has users or procedures of its own';
    const taken = this.collections.find((id) => id < live.nextId && !live.collections.has(id));
    return taken === undefined ? null : 'the cluster had collections of its own before';
  }

  /**
   * Effects that replace the collections by those of the backup.
   *
   * @param members the nodes that new groups begin with
   */
  collectionEffects(live: RootGroup, members: readonly number[]): Uint8Array {
    const out = new ByteWriter();
    for (const id of live.collections.keys()) {
      if (this.root.collections.has(id)) continue;
      out.u8(RootEffect.DELETE_COLLECTION);
      out.varint(id);
    }
    for (const collection of this.root.collections.values()) {
      out.u8(RootEffect.PUT_COLLECTION);
      writeCollection(out, {
        ...collection,
        members: live.collections.get(collection.id)?.members ?? members,
      });
    }
    return out.take();
  }

  /** Effects that replace users, access, defaults and procedures by those of the backup. */
  userEffects(live: RootGroup): Uint8Array {
    if (this.meta === null) throw new FormatError('the backup has no counters of the root scope');
    const out = new ByteWriter();
    for (const id of live.users.keys()) {
      out.u8(RootEffect.DELETE_USER);
      out.varint(id);
    }
    for (const record of this.users) writeRestore(out, record);
    writeRestore(out, this.meta);
    return out.take();
  }
}

function writeRestore(out: ByteWriter, { kind, id, part, value }: BackupRecord): void {
  out.u8(Effect.RESTORE);
  out.u8(kind);
  out.varint(id);
  out.varint(part);
  out.varint(value.length);
  out.bytes(value);
}
