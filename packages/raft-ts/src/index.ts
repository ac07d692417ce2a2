/** raft-ts: the Raft consensus algorithm as a pure, deterministic state machine. See README.md. */
export { RaftAssertionError } from './assert.js';
export { ByteReader, ByteWriter, CodecError, type CodecErrorCode } from './bytes.js';
export { changeOf, decodeChange, encodeChange, MAX_CHANGE_CONTEXT_BYTES } from './change.js';
export {
  decodeMessage,
  encodeMessage,
  readMembership,
  readMessage,
  writeMembership,
  writeMessage,
} from './codec.js';
export {
  DEFAULT_OPTIONS,
  type LeaseOptions,
  type Promised,
  type RaftConfig,
  RaftConfigError,
  type RaftOptions,
} from './config.js';
export type { ChangeRefusal, ChangeResult } from './configuration.js';
export type { StepResult } from './core.js';
export { formatEntry, formatMembership, formatMessage, formatTrace } from './format.js';
export { type Genesis, genesisOf } from './genesis.js';
export { chainEntry, chainHash, murmur3, type PayloadHash, ROOT_HASH } from './hash.js';
export type { LogView } from './hostlog.js';
export {
  type ChangeProblem,
  type ChangeStep,
  changedMembership,
  changeProblem,
  isJoint,
  isLearner,
  isMember,
  isRemoved,
  isValidMembership,
  isVoter,
  type MembershipChange,
  membershipOf,
  membersOf,
  NO_MEMBERS,
} from './membership.js';
export { MemoryLog } from './memorylog.js';
export type {
  Append,
  AppendResponse,
  Heartbeat,
  HeartbeatResponse,
  InstallSnapshot,
  Message,
  MessageKind,
  PreVote,
  PreVoteResponse,
  Propose,
  Quiesce,
  ReadIndexRequest,
  ReadIndexResponse,
  TimeoutNow,
  Vote,
  VoteResponse,
  Wake,
} from './messages.js';
export { RaftNode } from './node.js';
export type { ProposeRefusal, ProposeResult } from './proposals.js';
export { type RandomSource, seeded, seededRandom } from './random.js';
export type { ReadIndexResult } from './readindex.js';
export type { ReadDropReason, ReadResult } from './reads.js';
export type { Ready, SoftState } from './readying.js';
export type { PeerStatus, Status } from './status.js';
export type { IgnoreReason, RefusalReason, RoleReason, TraceEvent, VoteRefusal } from './trace.js';
export type { TransferRefusal, TransferResult } from './transfer.js';
export {
  ENTRY_KIND_CODES,
  type Entry,
  type EntryKind,
  entryBytes,
  type HardState,
  type Index,
  MAX_LEARNERS,
  MAX_REMOVED,
  MAX_VOTERS,
  type Membership,
  type MembershipAt,
  NO_NODE,
  type NodeId,
  type Role,
  type SnapshotMeta,
  type Term,
} from './types.js';
export type { Acknowledgement, Write } from './writes.js';
