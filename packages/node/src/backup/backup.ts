import type { CollectionInfo, RootGroup } from '@althing/engine';
import type { SnapshotSource } from '@althing/storage';
import { type Clock, pause } from '../base/clock.js';
import type { GroupSession } from '../groups/group-session.js';
import type { State } from '../groups/state.js';
import type { Checkpointer } from '../state/checkpointer.js';
import { BackupError, BackupWriter } from './format.js';

export interface BackupsOptions {
  readonly version: string;
  readonly clusterId: Uint8Array;
  readonly root: RootGroup;
  readonly state: State;
  readonly checkpointer: Checkpointer;
  /** The sessions of all groups, root's included; null while some of them are not open here. */
  readonly sessions: () => readonly GroupSession[] | null;
  /** Called for each backup that was begun, when it has ended. */
  readonly ended: (outcome: 'ok' | 'failed', begunAt: number) => void;
  /** Wall clock in milliseconds. */
  readonly now: () => number;
  readonly clock: Pick<Clock, 'after'>;
}

/** Attempts to bring all groups to the disk at the same moment. */
const ATTEMPTS_MAX = 20;
const ATTEMPT_PAUSE_MS = 250;

/** Time that an attempt waits until the groups are known to be up to date, in milliseconds. */
const FRESHEN_MS = 5000;

/**
 * Takes backups of the whole cluster, and exports of one collection, from this node: it has every group. What was acknowledged before one was
 * begun is in it. Each scope is saved as it was at one moment, and all as they were on this node at the same
 * one; meanwhile changes go on, and only checkpoints wait for a moment.
 */
export class Backups {
  private busy = false;

  constructor(private readonly options: BackupsOptions) {}

  get isBusy(): boolean {
    return this.busy;
  }

  /**
   * @param write takes bytes; resolves when it wants more
   * @throws BackupError, errors of the storage, and what `write` throws
   */
  async take(write: (bytes: Uint8Array) => Promise<void>): Promise<void> {
    const { now, ended } = this.options;
    if (this.busy) throw new BackupError('busy', 'another backup is being taken from this node');
    this.busy = true;
    const begunAt = now();
    let outcome: 'ok' | 'failed' = 'failed';
    try {
      await this.takeNow(begunAt, write);
      outcome = 'ok';
    } finally {
      this.busy = false;
      ended(outcome, begunAt);
    }
  }

  /**
   * Writes one collection, as it is at one moment; others go on changing it meanwhile.
   *
   * @param write takes bytes; resolves when it wants more
   * @throws BackupError, errors of the storage, and what `write` throws
   */
  async export(name: string, write: (bytes: Uint8Array) => Promise<void>): Promise<void> {
    const { now, root } = this.options;
    const collection = root.collectionsByName.get(name);
    if (collection === undefined) throw new BackupError('refused', `there is no collection '${name}'`);
    if (this.busy) throw new BackupError('busy', 'a backup is being taken from this node');
    this.busy = true;
    try {
      await this.takeNow(now(), write, collection);
    } finally {
      this.busy = false;
    }
  }

  /** @throws BackupError while the state is not complete because a backup is being restored */
  assertComplete(): void {
    if (this.options.root.restoring === '') return;
    throw new BackupError(
      'refused',
      'a backup is being restored: there is nothing to save before that is done',
    );
  }

  /** @param collection what is written alone; null for everything */
  private async takeNow(
    begunAt: number,
    write: (bytes: Uint8Array) => Promise<void>,
    collection: CollectionInfo | null = null,
  ): Promise<void> {
    const { version, clusterId, root } = this.options;
    const own = collection === null ? {} : { collection: collection.name, level: root.level };
    const sources = await this.openAll(collection);
    try {
      const writer = new BackupWriter();
      const cluster = Buffer.from(clusterId).toString('hex');
      await write(writer.begin({ version, cluster, begunAt, groups: sources.length, ...own }));
      for (const source of sources) {
        for await (const chunk of source.chunks()) await write(await writer.chunk(chunk));
      }
      await write(writer.end());
    } finally {
      await Promise.all(sources.map((source) => source.close()));
    }
  }

  private async openAll(collection: CollectionInfo | null): Promise<readonly SnapshotSource[]> {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      this.assertComplete();
      const sources = await this.tryOpen(collection);
      if (sources !== null) return sources;
      await pause(this.options.clock, ATTEMPT_PAUSE_MS);
    }
    throw new BackupError('busy', 'the groups do not come to rest, or have no leader: try again later');
  }

  /** Null when it can't be had now. */
  private async tryOpen(collection: CollectionInfo | null): Promise<readonly SnapshotSource[] | null> {
    const { state, checkpointer } = this.options;
    const sessions = this.sessionsOf(collection);
    if (sessions === null || !(await this.areFresh(sessions))) return null;
    const present = this.sessionsOf(collection);
    if (present === null || !isSame(present, sessions)) return null;
    try {
      if (!(await checkpointer.cut(sessions))) return null;
      const inOrder = [...sessions].sort((a, b) => a.id - b.id);
      const sources = await Promise.all(inOrder.map(({ id }) => state.store.openSnapshot(id)));
      const opened = sources.filter((source) => source !== undefined);
      if (opened.length === sessions.length) return opened;
      await Promise.all(opened.map((source) => source.close()));
      return null;
    } finally {
      checkpointer.release();
    }
  }

  /** Null while some of them are not open here. */
  private sessionsOf(collection: CollectionInfo | null): readonly GroupSession[] | null {
    const all = this.options.sessions();
    if (all === null || collection === null) return all;
    const own = all.filter(({ id }) => id === collection.id);
    return own.length === 0 ? null : own;
  }

  /** Waits until sessions have everything that was acknowledged before; false if that can't be had now. */
  private async areFresh(sessions: readonly GroupSession[]): Promise<boolean> {
    const all = sessions.map((session) => new Promise<boolean>((resolve) => session.readIndex(resolve)));
    const late = pause(this.options.clock, FRESHEN_MS).then(() => [false]);
    return !(await Promise.race([Promise.all(all), late])).includes(false);
  }
}

function isSame(a: readonly GroupSession[], b: readonly GroupSession[]): boolean {
  return a.length === b.length && a.every((session) => b.includes(session));
}
