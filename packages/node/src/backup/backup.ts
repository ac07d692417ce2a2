import type { Checkpointer } from '../scopes/checkpointer.js';
import type { GroupSession } from '../scopes/group-session.js';
import type { State } from '../scopes/state.js';
import { BackupError, BackupWriter } from './format.js';

export interface BackupOptions {
  readonly version: string;
  readonly clusterId: () => Uint8Array;
  readonly state: State;
  readonly checkpointer: () => Checkpointer;
  /** The sessions of all groups, root's included; null while some of them are not open here. */
  readonly sessions: () => readonly GroupSession[] | null;
  /** Wall clock in milliseconds. */
  readonly now: () => number;
  readonly delay: (ms: number, callback: () => void) => void;
}

/** Attempts to bring all groups to the disk at the same moment. */
const ATTEMPTS_MAX = 20;
const ATTEMPT_PAUSE_MS = 250;

/**
 * Takes a backup of the whole cluster from this node: it has every group. What was acknowledged before it was begun is in
 * it. Each scope is saved as it was at one moment, and all as they were on this node at the same one; meanwhile changes go
 * on, and only checkpoints wait for a moment.
 */
export class Backups {
  private readonly options: BackupOptions;
  private busy = false;

  constructor(options: BackupOptions) {
    this.options = options;
  }

  /**
   * @param write takes bytes; resolves when it wants more
   * @throws BackupError, errors of the storage, and what `write` throws
   */
  async take(write: (bytes: Uint8Array) => Promise<void>): Promise<void> {
    if (this.busy) throw new BackupError('another backup is being taken from this node');
    this.busy = true;
    try {
      await this.takeNow(write);
    } finally {
      this.busy = false;
    }
  }

  private async takeNow(write: (bytes: Uint8Array) => Promise<void>): Promise<void> {
    const { version, clusterId, now } = this.options;
    const begunAt = now();
    const sources = await this.openAll();
    try {
      const writer = new BackupWriter();
      const cluster = Buffer.from(clusterId()).toString('hex');
      await write(writer.begin({ version, cluster, begunAt, groups: sources.length }));
      for (const source of sources) {
        for await (const chunk of source.chunks()) await write(await writer.chunk(chunk));
      }
      await write(writer.end());
    } finally {
      await Promise.all(sources.map((source) => source.close()));
    }
  }

  private async openAll(): Promise<Awaited<ReturnType<Backups['tryOpen']>> & object> {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const sources = await this.tryOpen();
      if (sources !== null) return sources;
      await new Promise<void>((resolve) => this.options.delay(ATTEMPT_PAUSE_MS, resolve));
    }
    throw new BackupError('the groups do not come to rest, or have no leader: try again later');
  }

  private async tryOpen() {
    const { state } = this.options;
    const sessions = this.options.sessions();
    if (sessions === null) return null;
    const fresh = await Promise.all(sessions.map(isFresh));
    const present = this.options.sessions();
    if (fresh.includes(false) || present === null || !isSame(present, sessions)) return null;
    const checkpointer = this.options.checkpointer();
    try {
      if (!(await checkpointer.cut(sessions))) return null;
      const sources = await Promise.all(
        [...sessions].sort((a, b) => a.id - b.id).map(({ id }) => state.store.openSnapshot(id)),
      );
      const opened = sources.filter((source) => source !== undefined);
      if (opened.length === sessions.length) return opened;
      await Promise.all(opened.map((source) => source.close()));
      return null;
    } finally {
      checkpointer.release();
    }
  }
}

/** Waits until a session has everything that was acknowledged before; false if that can't be had now. */
function isFresh(session: GroupSession): Promise<boolean> {
  return new Promise((resolve) => session.readIndex(resolve));
}

function isSame(a: readonly GroupSession[], b: readonly GroupSession[]): boolean {
  return a.length === b.length && a.every((session) => b.includes(session));
}
