export { type BackupSummary, verifyBackup } from './backup/contents.js';
export { BackupError, BackupWriter } from './backup/format.js';
export * from './config/index.js';
export {
  type RunningNode,
  StartError,
  type StartNode,
  type StartOptions,
  StartStoppedError,
  type StopReason,
  startNode,
} from './main.js';
