import {
  ByteReader,
  ByteWriter,
  FormatError,
  isRestored,
  RecordKind,
  type RootGroup,
  RootRestore,
  restoreEffects,
} from '@althing/engine';
import type { StateRecord } from '@althing/storage';
import { CallError, CallKind, type Calls } from '../cluster/calls.js';
import { type GroupId, type NodeId, ROOT_GROUP } from '../consensus/protocol.js';
import type { GroupSession } from '../scopes/group-session.js';
import { backupContents } from './contents.js';
import { BackupError } from './format.js';

export interface RestoreOptions {
  readonly nodeId: NodeId;
  readonly root: RootGroup;
  readonly calls: Calls;
  readonly session: (group: GroupId) => GroupSession | undefined;
  /** The nodes that vote in the group of a new collection. */
  readonly voters: () => readonly NodeId[];
  /** Writes a checkpoint of a group if there is much to write. */
  readonly unload: (session: GroupSession) => Promise<void>;
  readonly monotonic: () => number;
  readonly delay: (ms: number, callback: () => void) => void;
}

/** Bytes of records that go into one entry of the log; a record that is larger goes alone. */
const BATCH_BYTES = 1024 * 1024;

/** How long one entry may take, elections included, in milliseconds. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 50;
const CALL_TIMEOUT_MS = 10_000;

/**
 * Puts a backup into an empty cluster, by changes of its groups that are agreed on like any others. Nobody can see what
 * there is before everything is there; what is left by a restore that failed nobody can use: then the cluster has to be
 * made anew.
 *
 * An entry that is sent twice, because it was not known what became of it, does the same as one.
 */
export class Restores {
  private readonly options: RestoreOptions;
  private busy = false;

  constructor(options: RestoreOptions) {
    this.options = options;
    options.calls.serve(CallKind.Restore, async (_from, payload) => {
      const input = new ByteReader(payload);
      const group = input.varint();
      if (!(await this.imposeHere(group, input.bytes(input.remaining).slice())))
        throw new Error('not the leader, or busy');
      return new Uint8Array(0);
    });
  }

  /**
   * @throws BackupError, also when the cluster is not empty
   */
  async restore(source: AsyncIterable<Uint8Array>): Promise<void> {
    if (this.busy) throw new BackupError('another backup is being restored');
    this.busy = true;
    try {
      await this.restoreAll(source);
    } catch (error) {
      throw error instanceof FormatError ? new BackupError(`the backup is damaged: ${error.message}`) : error;
    } finally {
      this.busy = false;
    }
  }

  private async restoreAll(source: AsyncIterable<Uint8Array>): Promise<void> {
    const root = new RootRestore();
    let batch = new Batch();
    let meta: StateRecord | null = null;
    await this.assertEmpty();
    for await (const part of backupContents(source)) {
      if (part.kind === 'records' && part.group === ROOT_GROUP) {
        for (const record of part.records) root.add(record);
      } else if (part.kind === 'complete' && part.group === ROOT_GROUP) {
        await this.makeCollections(root);
      } else if (
        part.kind === 'group' &&
        part.group !== ROOT_GROUP &&
        !root.collections.includes(part.group)
      ) {
        throw new BackupError(`the backup is damaged: nothing is known of group ${part.group}`);
      } else if (part.kind === 'records') {
        for (const record of part.records.filter(isRestored)) {
          // The counters come first in a backup, and last in a restore: with them the things can be found.
          if (record.kind === RecordKind.META) meta = record;
          else if (!batch.add(record)) {
            await this.impose(part.group, batch.effects());
            batch = new Batch(record);
          }
        }
      } else if (part.kind === 'complete') {
        if (meta === null)
          throw new BackupError(`the backup is damaged: group ${part.group} has no counters`);
        await this.impose(part.group, batch.effects());
        await this.impose(part.group, restoreEffects([meta]));
        batch = new Batch();
        meta = null;
      }
    }
    await this.impose(ROOT_GROUP, root.userEffects(this.options.root));
  }

  private async assertEmpty(): Promise<void> {
    const { root, session } = this.options;
    for (const id of [ROOT_GROUP, ...root.collections.keys()]) {
      const own = session(id);
      const isFresh = own !== undefined && (await new Promise<boolean>((resolve) => own.readIndex(resolve)));
      if (!isFresh) throw new BackupError('the cluster has no leader, or is just being started: try again');
      if (id !== ROOT_GROUP && own.group.changeCount > 0) {
        const name = root.collections.get(id)?.name ?? String(id);
        throw new BackupError(
          `the cluster is not empty: there is something in the collection '${name}'. A backup can be restored into a new cluster only`,
        );
      }
    }
  }

  private async makeCollections(root: RootRestore): Promise<void> {
    const { root: live, voters } = this.options;
    const problem = root.problem(live);
    if (problem !== null) {
      throw new BackupError(`${problem}. A backup can be restored into a new cluster only`);
    }
    await this.impose(ROOT_GROUP, root.collectionEffects(live, voters()));
  }

  /** Has effects agreed on, wherever the group is led. */
  private async impose(group: GroupId, effects: Uint8Array): Promise<void> {
    const { monotonic, delay } = this.options;
    if (effects.length === 0) return;
    const end = monotonic() + PATIENCE_MS;
    for (;;) {
      if (await this.tryImpose(group, effects)) return;
      if (monotonic() > end)
        throw new BackupError('the cluster has no majority, or a full disk: the restore was given up');
      await new Promise<void>((resolve) => delay(PAUSE_MS, resolve));
    }
  }

  private async tryImpose(group: GroupId, effects: Uint8Array): Promise<boolean> {
    const { session, calls, nodeId } = this.options;
    const own = session(group);
    if (own?.leading === true) return this.imposeHere(group, effects);
    const leader = own?.leader ?? 0;
    if (leader === 0 || leader === nodeId) return false;
    const out = new ByteWriter(effects.length + 10);
    out.varint(group);
    out.bytes(effects);
    try {
      await calls.call(leader, CallKind.Restore, out.take(), CALL_TIMEOUT_MS);
      return true;
    } catch (error) {
      if (error instanceof CallError) return false;
      throw error;
    }
  }

  private async imposeHere(group: GroupId, effects: Uint8Array): Promise<boolean> {
    const session = this.options.session(group);
    if (session === undefined) return false;
    if (!(await new Promise<boolean>((resolve) => session.impose(effects, resolve)))) return false;
    await this.options.unload(session);
    return true;
  }
}

/** Records for one entry of the log. */
class Batch {
  private readonly records: StateRecord[] = [];
  private bytes = 0;

  constructor(first?: StateRecord) {
    if (first !== undefined) this.add(first);
  }

  /** False when there is no room; an empty one takes anything. */
  add(record: StateRecord): boolean {
    if (this.records.length > 0 && this.bytes + record.value.length > BATCH_BYTES) return false;
    this.records.push(record);
    this.bytes += record.value.length;
    return true;
  }

  effects(): Uint8Array {
    return this.records.length === 0 ? new Uint8Array(0) : restoreEffects(this.records);
  }
}
