export {
  giveTasks,
  type PlainArgument,
  type ThingsdbCollection,
  type ThingsdbCollectionInfo,
  type ThingsdbProcedure,
  type ThingsdbRoot,
  type ThingsdbStore,
  type ThingsdbTask,
  type ThingsdbUser,
} from '@althing/engine';
export { type BackupSummary, verifyBackup } from './backup/contents.js';
export { digestOfExport, type ExportDigest } from './backup/export-digest.js';
export { BackupError, BackupWriter } from './backup/format.js';
export {
  dumpOfExport,
  emptyCollection,
  exportOfCollection,
  isThingsdbDump,
  readDump,
  readDumpFile,
} from './backup/thingsdb.js';
export {
  isThingsdbStore,
  openThingsdbStore,
  readCollection,
  readStoredCollection,
} from './backup/thingsdb-archive.js';
export * from './config/index.js';
export type { StaticFile, StaticSite } from './listen/http/static-site.js';
export { type StartNode, type StartOptions, startNode } from './main.js';
export type { CollectionCheck } from './operate/recovery/check.js';
export { isMendedByOthers, othersOf } from './operate/recovery/others.js';
export { checkFolder, inspectFolder, recoverFolder } from './operate/recovery/recover.js';
export type { GroupSurvey, Survey } from './operate/recovery/survey.js';
export { emptyFolder, type FirstStart, holdsData } from './operate/start/first-start.js';
export { giveUpData } from './operate/start/rejoining.js';
export {
  type RunningNode,
  StartError,
  StartStoppedError,
  type StopReason,
} from './operate/start/running-node.js';
