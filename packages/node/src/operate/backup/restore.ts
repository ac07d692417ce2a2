import {
  assertReadable,
  ByteReader,
  ByteWriter,
  CollectionGroup,
  FormatError,
  isRestored,
  RESTORE_BYTES_MAX,
  RecordKind,
  type RootGroup,
  RootRestore,
  restoreEffects,
  restoringEffect,
} from '@althing/engine';
import type { StateRecord } from '@althing/storage';
import { type GroupId, type NodeId, ROOT_GROUP } from '../../between/protocol.js';
import type { GroupSession } from '../../groups/group-session.js';
import { CallError, CallKind, type Calls } from '../../members/calls.js';
import { type BackupSummary, backupContents } from './contents.js';
import { BackupError, type BackupHead } from './format.js';

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

/** How long one entry may take, elections included, in milliseconds. */
const WAIT_MS = 60_000;
const PAUSE_MS = 50;

/** How long a cluster may take to get to the level of a backup, in milliseconds. */
const LEVEL_WAIT_MS = 10_000;

const CALL_TIMEOUT_MS = 10_000;

/**
 * Puts a backup into an empty cluster, by changes of its groups that are agreed on like any others. From the
 * first to the last of them the state of the root scope names the backup, and nodes take no other requests. A
 * restore that failed on the way is begun again with the same backup, at any node; or else the cluster has to
 * be made anew.
 *
 * An entry that is sent twice, because it was not known what became of it, does the same as one. The leader
 * of a group takes entries only of the restore that its root state names, so that none comes late.
 */
export class Restores {
  private readonly options: RestoreOptions;
  private busy = false;
  /** Whether the restore that is under way may have changed something. */
  private hasBegun = false;

  constructor(options: RestoreOptions) {
    this.options = options;
    options.calls.serve(CallKind.Restore, async (_from, payload) => {
      const input = new ByteReader(payload);
      const name = input.text();
      const group = input.varint();
      if (!(await this.imposeHere(name, group, input.bytes(input.remaining).slice())))
        throw new Error('not the leader, or busy');
      return new Uint8Array(0);
    });
  }

  /**
   * @throws BackupError, also when the cluster is not empty
   */
  async restore(source: AsyncIterable<Uint8Array>): Promise<BackupSummary> {
    if (this.busy) throw new BackupError('busy', 'a backup is being restored through this node already');
    this.busy = true;
    this.hasBegun = false;
    try {
      return await this.restoreAll(source);
    } catch (error) {
      const failure =
        error instanceof FormatError
          ? new BackupError('damaged', `the backup is damaged: ${error.message}`)
          : error;
      if (failure instanceof BackupError) failure.isUnfinished = this.hasBegun;
      throw failure;
    } finally {
      this.busy = false;
    }
  }

  private async restoreAll(source: AsyncIterable<Uint8Array>): Promise<BackupSummary> {
    const root = new RootRestore();
    let name = '';
    let records = 0;
    let head: BackupHead | null = null;
    let collection: CollectionRestore | null = null;
    for await (const part of backupContents(source)) {
      switch (part.kind) {
        case 'head':
          head = part.head;
          if (head.collection !== undefined) {
            throw new BackupError(
              'refused',
              `this is the export of the collection '${head.collection}' alone: althing import takes it`,
            );
          }
          name = nameOf(head);
          await this.assertReady(name);
          break;
        case 'group':
          if (part.group !== ROOT_GROUP && !root.collections.includes(part.group)) {
            throw new BackupError(
              'damaged',
              `the backup is damaged: nothing is known of group ${part.group}`,
            );
          }
          collection = new CollectionRestore();
          break;
        case 'records':
          records += part.records.length;
          for (const record of part.records) {
            if (part.group === ROOT_GROUP) root.add(record);
            else await this.imposeAll(name, part.group, collection?.add(record) ?? []);
          }
          break;
        case 'complete':
          if (part.group === ROOT_GROUP) await this.begin(name, root);
          else await this.imposeAll(name, part.group, collection?.end() ?? []);
      }
    }
    if (head === null) throw new BackupError('damaged', 'the backup is damaged: it has no head');
    await this.freshen(ROOT_GROUP);
    await this.imposeAll(name, ROOT_GROUP, root.userEffects(this.options.root));
    return { head, records };
  }

  /** Before anything of the backup is known but its name. */
  private async assertReady(name: string): Promise<void> {
    const { root } = this.options;
    await this.freshen(ROOT_GROUP);
    if (root.restoring === name) return;
    if (root.restoring !== '') {
      throw new BackupError(
        'refused',
        'the restore of another backup was not completed: restore that one again, or make the cluster anew',
      );
    }
    await this.assertEmpty();
  }

  /** Lets nothing but the restore happen, and makes the collections of the backup. */
  private async begin(name: string, backup: RootRestore): Promise<void> {
    const { root, voters } = this.options;
    const { problem } = backup;
    if (problem !== null) throw new BackupError('damaged', `the backup can not be restored: ${problem}`);
    await this.assertLevel(backup);
    if (root.restoring !== name) {
      const conflict = backup.conflict(root);
      if (conflict !== null) throw notEmpty(conflict);
      const taken = backup.numberConflict(root);
      if (taken !== null)
        throw new BackupError(
          'refused',
          `${taken}: stop all nodes, empty their data folders, and restore then`,
        );
      await this.impose('', ROOT_GROUP, restoringEffect(name));
      await this.freshen(ROOT_GROUP);
      if (root.restoring !== name) throw new BackupError('busy', 'another backup is being restored');
      try {
        // A change may have come in the meantime.
        await this.assertEmpty();
      } catch (error) {
        await this.impose(name, ROOT_GROUP, restoringEffect(''));
        this.hasBegun = false;
        throw error;
      }
    }
    await this.impose(name, ROOT_GROUP, backup.collectionEffects(root, voters()));
    await this.freshen(ROOT_GROUP);
  }

  /** A new cluster gets to its level as soon as its nodes have told each other what they know. */
  private async assertLevel(backup: RootRestore): Promise<void> {
    const { root, monotonic, delay } = this.options;
    const end = monotonic() + LEVEL_WAIT_MS;
    for (let problem = backup.levelProblem(root); problem !== null; problem = backup.levelProblem(root)) {
      if (monotonic() > end) throw new BackupError('refused', `the backup can not be restored: ${problem}`);
      await new Promise<void>((resolve) => delay(PAUSE_MS, resolve));
    }
  }

  private async assertEmpty(): Promise<void> {
    const { root, session } = this.options;
    for (const { id, name } of root.collections.values()) {
      await this.freshen(id);
      const group = session(id)?.group;
      const contents = group instanceof CollectionGroup ? group.contents() : null;
      if (contents !== null) throw notEmpty(`there is something in the collection '${name}': ${contents}`);
    }
  }

  /** Waits until the state of a group here has everything that was acknowledged. */
  private async freshen(group: GroupId): Promise<void> {
    const { session, monotonic, delay } = this.options;
    const end = monotonic() + WAIT_MS;
    for (;;) {
      const own = session(group);
      if (own !== undefined && (await new Promise<boolean>((resolve) => own.readIndex(resolve)))) return;
      if (monotonic() > end) throw new BackupError('busy', 'the cluster has no majority: try again');
      await new Promise<void>((resolve) => delay(PAUSE_MS, resolve));
    }
  }

  private async imposeAll(name: string, group: GroupId, changes: Iterable<Uint8Array>): Promise<void> {
    for (const effects of changes) await this.impose(name, group, effects);
  }

  /** Has effects agreed on, wherever the group is led. */
  private async impose(name: string, group: GroupId, effects: Uint8Array): Promise<void> {
    const { monotonic, delay, root } = this.options;
    if (effects.length === 0) return;
    this.hasBegun = true;
    const end = monotonic() + WAIT_MS;
    while (!(await this.tryImpose(name, group, effects))) {
      // Only the first and the last entry change this: it was committed, though its answer was lost.
      if (root.restoring !== name) return;
      if (monotonic() > end) {
        throw new BackupError(
          'busy',
          'the cluster has no majority, or a full disk: restore the same backup again once it is well',
        );
      }
      await new Promise<void>((resolve) => delay(PAUSE_MS, resolve));
    }
  }

  private async tryImpose(name: string, group: GroupId, effects: Uint8Array): Promise<boolean> {
    const { session, calls, nodeId } = this.options;
    const own = session(group);
    if (own?.leading === true) return this.imposeHere(name, group, effects);
    const leader = own?.leader ?? 0;
    if (leader === 0 || leader === nodeId) return false;
    const out = new ByteWriter(effects.length + name.length + 16);
    out.text(name);
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

  private async imposeHere(name: string, group: GroupId, effects: Uint8Array): Promise<boolean> {
    const session = this.options.session(group);
    if (session === undefined || this.options.root.restoring !== name) return false;
    if (!(await new Promise<boolean>((resolve) => session.impose(effects, resolve)))) return false;
    await this.options.unload(session);
    return true;
  }
}

/** The records of one collection on their way into changes. */
class CollectionRestore {
  private records: StateRecord[] = [];
  private bytes = 0;
  private counters: StateRecord | null = null;

  /** Takes a record; gives the changes that are due. */
  add(record: StateRecord): readonly Uint8Array[] {
    if (!isRestored(record)) return [];
    assertReadable(record);
    if (record.kind === RecordKind.META) {
      // They come first in a backup, and last in a restore: with them the things can be found.
      this.counters = record;
      return [];
    }
    const due = this.bytes + record.value.length > RESTORE_BYTES_MAX ? this.take() : [];
    this.records.push(record);
    this.bytes += record.value.length;
    return due;
  }

  /** The changes that are left. */
  end(): readonly Uint8Array[] {
    if (this.counters === null)
      throw new BackupError('damaged', 'the backup is damaged: a collection has no counters');
    return [...this.take(), restoreEffects([this.counters])];
  }

  private take(): readonly Uint8Array[] {
    const { records } = this;
    this.records = [];
    this.bytes = 0;
    return records.length === 0 ? [] : [restoreEffects(records)];
  }
}

/** Tells backups from each other. */
function nameOf({ cluster, begunAt }: BackupHead): string {
  return `${cluster} ${begunAt}`;
}

function notEmpty(why: string): BackupError {
  return new BackupError(
    'refused',
    `the cluster is not empty: ${why}. Delete what is in the way and try again, or restore into a new cluster`,
  );
}
