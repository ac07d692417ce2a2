/**
 * The second door of the package, for `verification` alone: the parts that a node is made of, so that what
 * plays with nodes can put them together in its own way, with its own clock, disks and links. Nothing that
 * ships comes in here.
 */
export { type Identity, logIdentity } from './base/identity.js';
export { joinedClock } from './base/joined-clock.js';
export { Bridge } from './between/bridge.js';
export type { ClusterRecord, Founder } from './between/cluster-record.js';
export { EventSender } from './between/event-sender.js';
export { decodeMembership, votersWanted } from './between/membership.js';
export type { Parcel } from './between/parcel.js';
export { PROTOCOL_VERSIONS } from './between/peer-protocol.js';
export {
  ANSWER_HEAD_BYTES,
  type Applied,
  type Command,
  type CommittedEntry,
  type Event,
  type Failure,
  type GroupId,
  type JoinAnswer,
  type Joiner,
  type LogPosition,
  type NodeEvent,
  type NodeId,
  type PeerAddress,
  ROOT_GROUP,
} from './between/protocol.js';
export { Signals } from './between/signals.js';
export { CallKind } from './calls/calls.js';
export { ExitCode } from './config/exit-codes.js';
export { ConsensusSide } from './consensus/consensus-side.js';
export type { GroupHost } from './consensus/group-host.js';
export { logChainHash } from './consensus/group-log.js';
export type { InvitedPlace, Network, NetworkEvents } from './consensus/network.js';
export { EngineSide } from './engine-side/engine-side.js';
export type { EngineClock, EngineReports } from './engine-side/ports.js';
export { type Listener, Push } from './events/listener.js';
export { LostError } from './feed/feeds.js';
export { filterOf } from './feed/parcel.js';
export type { FeedEnd, FeedLine, FeedSink } from './feed/subscriber.js';
export { decodeApplied } from './groups/applied.js';
export { decodeEntry } from './groups/entry.js';
export type { GroupSession } from './groups/group-session.js';
export { type FailedReply, ORDINARY_TERMS, type Reply, type Request, type Terms } from './groups/request.js';
export { SessionRecord } from './groups/session-records.js';
export { SessionTable, type TableCapture } from './groups/session-table.js';
export { State } from './groups/state.js';
export type { Principal } from './listen/auth/authenticator.js';
export { Gate } from './listen/gate/gate.js';
export { Admission } from './listen/http/admission.js';
export { AnswerBuffer } from './listen/http/answer-buffer.js';
export { Bodies } from './listen/http/bodies.js';
export { Exchange } from './listen/http/exchange.js';
export type { Refuse } from './listen/http/refusals.js';
export { errorBody, Heads, statusOfReply } from './listen/http/reply.js';
export type { RequestHeaders } from './listen/http/request-headers.js';
export { ClientAddresses } from './listen/limits/client-addresses.js';
export { NativeListener, type NativeOptions } from './listen/native/listener.js';
export { noTerms, numberedOf, problemOf, termsOf } from './listen/shared/terms.js';
export { bootstrapCluster } from './operate/start/bootstrap.js';
export { LAG_LOW_MS } from './operate/status/lagging.js';
export type { InviteAnswer } from './peers/formation/formation.js';
export { FrameKind, readRaftFrame } from './peers/frames.js';
export { LINK_SIZES, type LinkSizes } from './peers/links.js';
export { SnapshotEngine } from './readers/snapshot-engine.js';
export {
  decodeAnswer,
  decodeRequest,
  encodeAnswer,
  encodeRequest,
  type ForwardedRequest,
} from './requests/forward-format.js';
export { PasswordHasher } from './requests/password.js';
export { Sequences } from './requests/sequences.js';
export type { SnapshotReaders } from './requests/snapshot-query.js';
export type { StateCheck } from './state/state-checks.js';
export { SharedRecords, StateDigest, stateDigest } from './state/state-digest.js';
