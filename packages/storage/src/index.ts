/**
 * The door of the storage package: the log of all groups, the state of all groups, and the folder that holds
 * both.
 */
export { copyData } from './copy-folder.js';
export { crc32c } from './crc32c.js';
export type { Disk, DiskEntry, DiskFile, WriteDone } from './disk/disk.js';
export {
  type DiskFault,
  type DiskOperation,
  MemoryDisk,
  type MemoryDiskOptions,
} from './disk/memory-disk.js';
export { NodeDisk, syncFolder } from './disk/node-disk.js';
export {
  DamagedLogError,
  DamagedStateError,
  DiskError,
  DiskFullError,
  FolderContentError,
  FolderInUseError,
  GroupBusyError,
  isDiskFull,
  LimitError,
  type LogDamage,
  MisuseError,
  messageOf,
  NewerFormatError,
  type SnapshotRefusal,
  SnapshotRefusedError,
  StorageError,
  type StorageErrorCode,
  StoreClosedError,
  StorePoisonedError,
} from './errors.js';
export { type DataFolder, type FolderOptions, holdFolder, openFolder } from './folder.js';
export type {
  IterateOptions,
  KeyRange,
  KeyValueBatch,
  KeyValueCursor,
  KeyValuePair,
  KeyValueSnapshot,
  KeyValueStore,
} from './kv/key-value-store.js';
export { LevelStore, type LevelStoreOptions } from './kv/level-store.js';
export { type VerifyReport, verifyLevelDb } from './kv/leveldb-files.js';
export {
  MemoryStore,
  type MemoryStoreOptions,
  type StoreFault,
  type StoreOperation,
} from './kv/memory-store.js';
export { LogStore } from './log/log-store.js';
export type { LogStoreOptions, WriteObserver } from './log/options.js';
export type {
  AppendDone,
  AppendEntry,
  ChainHash,
  HardState,
  LogEntry,
  LogOperation,
  LogStats,
  LogView,
  ResetGroup,
  SetHardState,
} from './log/types.js';
export { waitForChange, wakeWaiting } from './shared-word.js';
export type { Checkpoint } from './state/checkpoint.js';
export type { Applied } from './state/group-meta.js';
export type { RecordName } from './state/keys.js';
export type { StateStoreOptions } from './state/options.js';
export type { SnapshotChunk, SnapshotHeader } from './state/snapshot-format.js';
export type { SnapshotInstaller } from './state/snapshot-install.js';
export { SnapshotReader } from './state/snapshot-reader.js';
export { SnapshotReads, type StateView } from './state/snapshot-reads.js';
export type { SnapshotSource } from './state/snapshot-source.js';
export { CHUNK_BYTES_DEFAULT } from './state/snapshot-source.js';
export {
  type StateRecord,
  StateStore,
  type VerifyCount,
} from './state/state-store.js';
