/** The exports that Node.js and browsers have in common. */
export type {
  Collection,
  Database,
  DatabaseMembers,
  DryRunOptions,
  ProcedureScope,
  Query,
  QueryTrial,
  Room,
  RoomEvent,
  Scope,
  Trials,
  Variables,
} from './api/database.js';
export type {
  CallOptions,
  ConnectOptions,
  Credentials,
  HookAnswer,
  HookAttempt,
  HookCall,
  Hooks,
  Limits,
  LoginOptions,
  LoginSession,
  TlsOptions,
} from './api/options.js';
export type {
  CodeUsage,
  CollectionSchema,
  DryRun,
  ExplainedError,
  ExplainedStatement,
  Explanation,
  Procedure,
  ProcedureCalls,
  ProceduresOf,
} from './api/schema.js';
export {
  AbortError,
  AlthingError,
  AnswerLostError,
  ConnectionError,
  type ErrorOutcome,
  OutcomeUnknownError,
  ProtocolError,
  QueueFullError,
} from './errors/errors.js';
export {
  AssertErr,
  AuthErr,
  BadDataErr,
  CancelledErr,
  type ChangeOutcome,
  type CodeCall,
  type CodePlace,
  DuplicateErr,
  type ErrorDetail,
  ForbiddenErr,
  InternalErr,
  LookupErr,
  MaxQuotaErr,
  NodeErr,
  NumArgumentsErr,
  OperationErr,
  OutOfMemoryErr,
  OverflowErr,
  QueryError,
  RequestCancelledErr,
  ResultTooLargeErr,
  SyntaxErr,
  TimeoutErr,
  TypeErr,
  UserErr,
  ValueErr,
  WriteFailedErr,
  ZeroDivErr,
} from './errors/query-errors.js';
export { type Code, code, unsafeCode } from './template.js';
export type { IntsAs, Value } from './values/from-wire.js';
export { Float, type Int } from './values/numbers.js';
export { idOf, isLoaded, type Ref, ref, type ThingRef } from './values/things.js';
export type { Sendable } from './values/to-wire.js';
/** The exact form of values on the wire, in both formats. */
export { floatText, parseJson, stringifyJson } from './wire/json.js';
export { decodeMessagePack, encodeMessagePack } from './wire/msgpack.js';
export { showValue } from './wire/show.js';
export { isWireBytes, isWireList, isWireMap, WireError, type WireValue, wireMap } from './wire/value.js';
