/**
 * The door of the storage package: the log of all groups, the state of all groups, and the folder that holds
 * both.
 */
export { copyData } from './copy-folder.js';
export { crc32c } from './crc32c.js';
export type { Disk, DiskFile } from './disk/disk.js';
export { type DiskFault, type DiskOperation, MemoryDisk } from './disk/memory-disk.js';
export { NodeDisk, syncFolder } from './disk/node-disk.js';
export {
  DamagedStateError,
  DiskError,
  DiskFullError,
  FolderInUseError,
  isDiskFull,
  messageOf,
  SnapshotRefusedError,
  StorageError,
  StoreClosedError,
} from './errors.js';
export { type DataFolder, holdFolder, openFolder } from './folder.js';
export { LevelStore } from './kv/level-store.js';
export { MemoryStore } from './kv/memory-store.js';
export { LogStore } from './log/log-store.js';
export type { ChainHash, LogOperation, LogView } from './log/types.js';
export { waitForChange, wakeWaiting } from './shared-word.js';
export type { Checkpoint } from './state/checkpoint.js';
export type { Applied } from './state/group-meta.js';
export type { SnapshotChunk } from './state/snapshot-format.js';
export type { SnapshotInstaller } from './state/snapshot-install.js';
export { SnapshotReader } from './state/snapshot-reader.js';
export { SnapshotReads, type StateView } from './state/snapshot-reads.js';
export type { SnapshotSource } from './state/snapshot-source.js';
export { CHUNK_BYTES_DEFAULT } from './state/snapshot-source.js';
export { type StateRecord, StateStore } from './state/state-store.js';
