/** The door of the storage package: the log of all groups, the state of all groups, and the folder that holds both. */
export type { Disk, DiskEntry, DiskFile, WriteDone } from './disk/disk.js';
export {
  type DiskFault,
  type DiskOperation,
  MemoryDisk,
  type MemoryDiskOptions,
} from './disk/memory-disk.js';
export { NodeDisk } from './disk/node-disk.js';
export * from './errors.js';
export { type LogStats, LogStore } from './log/log-store.js';
export type { LogStoreOptions } from './log/options.js';
export type {
  AppendDone,
  AppendEntry,
  HardState,
  LogEntry,
  LogOperation,
  LogView,
  ResetGroup,
  SetHardState,
} from './log/types.js';
export { noMutants, type StorageMutant, storageMutants } from './mutants.js';
