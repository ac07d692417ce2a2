import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Disk } from './disk/disk.js';
import { NodeDisk, syncFolder } from './disk/node-disk.js';
import { DiskFullError, FolderContentError, FolderInUseError, isDiskFull } from './errors.js';
import type { KeyValueStore } from './kv/key-value-store.js';
import { LevelStore, type LevelStoreOptions } from './kv/level-store.js';
import { bytesToOpen } from './kv/leveldb-files.js';
import { MarkFile } from './mark.js';
import { isAlive, OWNER_NAME, readOwner, removeOwner, writeOwner } from './owner.js';
import { RESERVE_NAME, Reserve } from './reserve.js';
import { redoNumber } from './state/redo-file.js';

export type FolderOptions = {
  /** Size of the reserve file. Default 64 MiB; 0 for none. */
  readonly reserveBytes?: number;
  /** Names beside ours that may be in the folder, such as a configuration file. */
  readonly alsoAllowed?: readonly string[];
  readonly level?: Omit<LevelStoreOptions, 'createIfMissing'>;
  /**
   * Time to wait until another process lets the folder go: one that was killed is not gone at once. Default
   * 0.
   */
  readonly inUseWaitMs?: number;
};

/** A data folder that this process holds. What is opened from it is to be closed before it. */
export type DataFolder = {
  readonly path: string;
  /** The folder of the log store, which the consensus thread opens by its path. */
  readonly logPath: string;
  readonly logDisk: Disk;
  /** The store that `StateStore.open` takes and closes. */
  readonly stateDisk: Disk;
  readonly stateStore: KeyValueStore;
  /** The folder of LevelDB, by which another thread opens it, too: see `LevelStore.share`. */
  readonly levelPath: string;
  /**
   * Free bytes that closing the store and opening it again takes, less what that gives back before; so it may
   * be negative. Exact only while the store does nothing.
   */
  bytesToReopen(): Promise<number>;
  /** Opens the store once more after it was closed: one that had no room takes writes again then. */
  reopenStateStore(): Promise<KeyValueStore>;
  /** False if the disk has had no room for the reserve, or it was released. */
  readonly hasReserve: boolean;
  /** Gives the reserve to the disk, so that the log can be compacted, on a full disk. */
  releaseReserve(): Promise<void>;
  /** Takes the reserve again; throws `DiskFullError` as long as there is no room. */
  restoreReserve(): Promise<void>;
  /** Says that the folder is free. */
  close(): Promise<void>;
};

const RESERVE_BYTES_DEFAULT = 64 * 1024 * 1024;
const IN_USE_PAUSE_MS = 20;
/** Room that opening the state takes besides its logs: a manifest, the indexes of tables, marks. */
const OPENING_BYTES = 1024 * 1024;

/**
 * Opens a data folder, or lays out a new one:
 *
 *   log/          segments and mark of the log store
 *   state/        mark and redo files of the state store
 *   state/level/  LevelDB
 *   reserve       space to be given up on a full disk
 *   owner         who works with the folder
 *
 * On a full disk the reserve is given up. Throws `FolderInUseError`, `FolderContentError`,
 * `DamagedStateError`, `DiskFullError`, `DiskError`.
 */
export async function openFolder(folder: string, options: FolderOptions = {}): Promise<DataFolder> {
  const root = await NodeDisk.make(folder);
  await checkContent(folder, options.alsoAllowed ?? []);
  const end = performance.now() + (options.inUseWaitMs ?? 0);
  await whenFree(end, () => refuseSecond(folder));
  const reserve = new Reserve(root, options.reserveBytes ?? RESERVE_BYTES_DEFAULT);
  await reserve.find();
  const logPath = path.join(folder, 'log');
  const statePath = path.join(folder, 'state');
  const levelPath = path.join(statePath, 'level');
  const stateDisk = new NodeDisk(statePath);
  const level = options.level ?? {};
  let stateStore = await withReserve(reserve, async () => {
    for (const made of [logPath, statePath, levelPath]) await mkdir(made, { recursive: true, mode: 0o700 });
    for (const made of [statePath, folder, path.dirname(path.resolve(folder))]) await syncFolder(made);
    return whenFree(end, () => openLevel(folder, statePath, levelPath, level));
  });
  try {
    await withReserve(reserve, () => writeOwner(folder));
    await restoreIfRoom(reserve);
  } catch (error) {
    await stateStore.close();
    throw error;
  }
  return {
    path: folder,
    logPath,
    logDisk: new NodeDisk(logPath),
    stateDisk,
    levelPath,
    get stateStore() {
      return stateStore;
    },
    async bytesToReopen() {
      const files = await stateDisk.list();
      const redo = files.reduce(
        (sum, { name, bytes }) => sum + (redoNumber(name) === undefined ? 0 : bytes),
        0,
      );
      return (await bytesToOpen(levelPath)) + redo + OPENING_BYTES;
    },
    async reopenStateStore() {
      // This process has verified the tables before, or made them.
      stateStore = await openLevel(folder, statePath, levelPath, { ...level, verify: 'quick' });
      return stateStore;
    },
    get hasReserve() {
      return reserve.isHeld;
    },
    releaseReserve: () => reserve.release(),
    restoreReserve: () => reserve.restore(),
    close: async () => {
      await stateStore.close();
      await removeOwner(folder);
    },
  };
}

/**
 * Keeps others from opening a data folder that is closed, until the result is called. Throws
 * `FolderInUseError`.
 */
export async function holdFolder(folder: string): Promise<() => Promise<void>> {
  await refuseSecond(folder);
  await writeOwner(folder);
  return () => removeOwner(folder);
}

/** Nothing in the folder is touched before it is known to be ours or empty. */
async function checkContent(folder: string, alsoAllowed: readonly string[]): Promise<void> {
  const allowed = new Set(['lost+found', ...alsoAllowed]);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const isFolder = entry.name === 'log' || entry.name === 'state';
    const isFile = entry.name === RESERVE_NAME || entry.name === OWNER_NAME;
    const isOurs = (isFolder && entry.isDirectory()) || (isFile && entry.isFile());
    if (!isOurs && !allowed.has(entry.name)) throw new FolderContentError(folder, `it holds ${entry.name}`);
  }
}

/** Does something as soon as nobody else has the folder, or fails at the end of the time. */
async function whenFree<T>(end: number, task: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await task();
    } catch (error) {
      if (!(error instanceof FolderInUseError) || performance.now() >= end) throw error;
      await pause(IN_USE_PAUSE_MS);
    }
  }
}

async function refuseSecond(folder: string): Promise<void> {
  const owner = await readOwner(folder);
  if (owner !== undefined && (await isAlive(owner))) throw new FolderInUseError(folder, owner.pid);
}

/** LevelDB's lock decides who has the folder. A state that was begun must have its LevelDB. */
async function openLevel(
  folder: string,
  statePath: string,
  levelPath: string,
  options: Omit<LevelStoreOptions, 'createIfMissing'>,
): Promise<KeyValueStore> {
  const disk = new NodeDisk(statePath);
  const hasMark = (await disk.list()).some(({ name }) => name === 'mark');
  const mark = hasMark ? await MarkFile.open(disk, 'mark') : undefined;
  await mark?.close();
  try {
    return await LevelStore.open(levelPath, { ...options, createIfMissing: (mark?.values[0] ?? 0) === 0 });
  } catch (error) {
    if (!(error instanceof FolderInUseError)) throw error;
    throw new FolderInUseError(folder, (await readOwner(folder))?.pid, error);
  }
}

/** Does something that needs a little room; if there is none, once more with the reserve's. */
async function withReserve<T>(reserve: Reserve, task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    if (!isFull(error)) throw error;
    await reserve.release();
    try {
      return await task();
    } catch (again) {
      throw isFull(again) ? new DiskFullError('the data folder can not be opened', again) : again;
    }
  }
}

function isFull(error: unknown): boolean {
  if (isDiskFull(error)) return true;
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return code === 'ENOSPC' || code === 'EDQUOT';
}

async function restoreIfRoom(reserve: Reserve): Promise<void> {
  try {
    await reserve.restore();
  } catch (error) {
    if (!isDiskFull(error)) throw error;
  }
}
