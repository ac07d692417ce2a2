import type { Disk } from '../disk/disk.js';
import type { KeyValueStore } from '../kv/key-value-store.js';

export type StateStoreOptions = {
  /** The ordered store. It is closed with the state store. */
  readonly store: KeyValueStore;
  /** The folder next to it, for the mark and for redo files. */
  readonly disk: Disk;
  /** Bytes of a snapshot chunk. Default 256 KiB, at least 1 KiB. */
  readonly chunkBytes?: number;
  /** Bytes of a checkpoint that are written at once. Default 512 KiB. */
  readonly slabBytes?: number;
  /** Records that must have been read in the order of their names before the next ones are read ahead. Default 32. */
  readonly readAheadAfter?: number;
  /** A clock in milliseconds, by which checkpoints leave others their turns. Default: none, as where the thread has nothing else to do. */
  readonly now?: () => number;
};
