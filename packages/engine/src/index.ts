export { mayKnow, missingPrivilege, refusalOf } from './admin/access.js';
export type { Target } from './admin/access-lists.js';
export { bootstrap } from './admin/bootstrap.js';
export type { CollectionInfo } from './admin/collection-info.js';
export { rootLines } from './admin/describe.js';
export { type FeedKeep, KEEP_NOTHING } from './admin/feed-keeping.js';
export type { Invitation } from './admin/invitation.js';
export { LEVEL_FIRST, LEVEL_NEWEST, LevelError } from './admin/level.js';
export type { MemberInfo } from './admin/member.js';
export type { ModuleInfo } from './admin/modules.js';
export { CHANGING_PRIVILEGES, Privilege } from './admin/privileges.js';
export {
  ownedTask,
  ownerOfTask,
  packUser,
  replacementConflict,
  replacementEffects,
} from './admin/replacement.js';
export {
  assertReadable,
  type BackupRecord,
  importerOf,
  importingName,
  isBeingFilled,
  isImported,
  isRestored,
  isSameImport,
  RESTORE_BYTES_MAX,
  RootRestore,
  raisedCounters,
  restoreEffects,
} from './admin/restore.js';
export { changeRoot } from './admin/root-change.js';
export type { RootEditor } from './admin/root-editor.js';
export type { RootEvent } from './admin/root-event.js';
export { type CollectionEvent, RootGroup } from './admin/root-group.js';
export { type RootPart, rootPartOf, takeRootPart } from './admin/root-part.js';
export { invalidScope, parseScope, parseScopePath, type ScopeName } from './admin/scope-name.js';
export { SESSION_KEY_PREFIX, SESSIONS_PER_USER, type UserSession } from './admin/sessions.js';
export { keyText, type PasswordHash, TOKEN_LENGTH, type Token, type User } from './admin/user.js';
export type { UserLimit } from './admin/user-limits.js';
export { ByteReader, ByteWriter, FormatError } from './bytes.js';
export type { Behind, Call, Change, ModuleAsk, Outcome, QueryBody, RoomBody } from './calls/call.js';
export type { Collections } from './calls/collections.js';
export { toldPlaces } from './calls/told-places.js';
export type { SlicedWork } from './calls/upkeep.js';
export { Engine, type EngineFigures, type EngineOptions } from './engine.js';
export type { Environment } from './environment.js';
export {
  argumentsError,
  authError,
  badDataError,
  cancelledError,
  type DuplicateDetail,
  duplicateError,
  ErrorCode,
  errorName,
  forbiddenError,
  type KeyValue,
  lookupError,
  nodeError,
  operationError,
  QueryError,
  quotaError,
  type ToldPlace,
  timeoutError,
  typeError,
  valueError,
} from './error.js';
export type { RoomKey } from './functions/room-requests.js';
export type { SessionAsk } from './functions/session-requests.js';
export { keyHash } from './functions/users.js';
export { getOrInsertComputed } from './get-or-insert.js';
export type {
  BackupInfo,
  BackupOrder,
  BackupsView,
  ClusterEntry,
  ConnectionEntry,
  GroupEntry,
  HistoryMark,
  HistorySeries,
  LevelEntry,
  MetricsHistory,
  ModuleLook,
  ModulesView,
  NodeCounters,
  NodeEntry,
  NodeInfo,
  NodeView,
  ProcedureFigures,
  QueryFigures,
  RequestEntry,
  RestoreOrder,
  RestoresView,
} from './node-view.js';
export { ChangeJsonWriter, packChange } from './pack/changes.js';
export { JsonReader } from './pack/json-reader.js';
export { quote } from './pack/json-writer.js';
export { isModulePath, ManifestError, type ModuleManifest, parseManifest } from './pack/manifest.js';
export { MsgpackReader } from './pack/msgpack-reader.js';
export { MsgpackWriter } from './pack/msgpack-writer.js';
export { pack, type Sink } from './pack/walk.js';
export {
  type Format,
  readArguments,
  readVariables,
  type WireValues,
  wireOptions,
} from './pack/wire-values.js';
export type { Outlet, Quotas, TaskRun } from './run/execution.js';
export type { Continuation } from './run/later.js';
export { DEFAULT_LIMITS, type QueryLimits } from './run/limits.js';
export type { Prepared } from './run/program.js';
export { QueryShape, RunFigures, type RunNote } from './run/run-figures.js';
export { brokenRules } from './state/broken-rules.js';
export { beginCheckpoint, writeCheckpoint } from './state/checkpoint.js';
export { CollectionGroup } from './state/collection-group.js';
export { groupLines, stateLines } from './state/describe.js';
export type { RoomEvent, Sender } from './state/events.js';
export { type FeedChange, type ThingChange, WholeReplacedError } from './state/feed/change.js';
export { ChangeReader } from './state/feed/read-changes.js';
export { SchemaView } from './state/feed/schema-view.js';
export { presentThing, typeIdOf } from './state/feed/type-of.js';
export { Group } from './state/group.js';
export type { Marking } from './state/marking.js';
export type { Former } from './state/parts/former-definitions.js';
export { Preparation } from './state/preparation.js';
export {
  EMPTY_SOURCE,
  loadGroup,
  RecordKind,
  type RecordSink,
  type RecordSource,
} from './state/records.js';
export type { Scope } from './state/scope.js';
export { SharedIndex } from './state/shared-index.js';
export { DamagedStateError } from './state/thing-records.js';
export { sharedThing } from './state/thing-walk.js';
export { takeBack, type Undo } from './state/transaction.js';
export { warmUp } from './state/warm-up.js';
export { dropTasks, giveTasks } from './thingsdb/builder.js';
export { looksLikeThingsdbDump, NoThingsdbDumpError, readThingsdbDump } from './thingsdb/dump.js';
export { type ThingsdbDump, writeThingsdbDump } from './thingsdb/dump-writer.js';
export type { ByteSource } from './thingsdb/input.js';
export { type StoreFileSet, ThingsdbStore } from './thingsdb/node-store.js';
export type {
  PlainArgument,
  ThingsdbCollectionInfo,
  ThingsdbProcedure,
  ThingsdbRoot,
  ThingsdbTask,
  ThingsdbUser,
} from './thingsdb/root.js';
export type { ThingsdbCollection } from './thingsdb/stored-collection.js';
export { UserShares } from './user-shares.js';
export { List } from './value/containers.js';
export type { ModuleAnswer } from './value/future.js';
export { Float } from './value/scalars.js';
export { ShapeTree } from './value/shape.js';
export type { TaskState } from './value/task.js';
export { Thing } from './value/thing.js';
export type { Value } from './value/value.js';
