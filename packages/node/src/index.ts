export { type BackupSummary, verifyBackup } from './backup/contents.js';
export { BackupError, BackupWriter } from './backup/format.js';
export * from './config/index.js';
export { type RunningNode, StartError, StartStoppedError, type StopReason } from './life/running-node.js';
export { type StartNode, type StartOptions, startNode } from './main.js';
export { inspectFolder, recoverFolder } from './recovery/recover.js';
export type { GroupSurvey, Survey } from './recovery/survey.js';
