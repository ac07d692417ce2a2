/** Messages between nodes. Their byte format is in `codec.ts`. */
import type { Entry, Index, NodeId, SnapshotMeta, Term } from './types.js';

interface Envelope {
  readonly from: NodeId;
  readonly to: NodeId;
  /**
   * The sender's term; in `preVote` and in a granted `preVoteResponse` the term that the sender would
   * campaign for.
   */
  readonly term: Term;
}

/**
 * The commit index of the sender; lets a node learn the fate of a membership change while there is no leader.
 */
interface CommitClaim {
  readonly commit: Index;
  readonly commitTerm: Term;
}

/** "Would you vote for me?" Changes nothing at the receiver (Raft dissertation, section 9.6). */
export interface PreVote extends Envelope, CommitClaim {
  readonly kind: 'preVote';
  /** Names this attempt; a response to an earlier one does not count. */
  readonly attempt: number;
  readonly lastIndex: Index;
  readonly lastTerm: Term;
}

/** The answer to a `preVote`. */
export interface PreVoteResponse extends Envelope, CommitClaim {
  readonly kind: 'preVoteResponse';
  readonly attempt: number;
  readonly granted: boolean;
}

/** "Vote for me in this term" (Raft paper, section 5.2). Leaves when the candidate's own vote is durable. */
export interface Vote extends Envelope, CommitClaim {
  readonly kind: 'vote';
  readonly lastIndex: Index;
  readonly lastTerm: Term;
  /** The leader itself asked for this election: nobody refuses for the leader's sake. */
  readonly transfer: boolean;
}

/** The answer to a `vote`. A vote that is given leaves when it is durable. */
export interface VoteResponse extends Envelope, CommitClaim {
  readonly kind: 'voteResponse';
  readonly granted: boolean;
}

/** Entries for a follower, or the question whether the logs agree (Raft paper, section 5.3). */
export interface Append extends Envelope {
  readonly kind: 'append';
  /** The entry before `entries`: index, term and chain hash. */
  readonly prevIndex: Index;
  readonly prevTerm: Term;
  readonly prevHash: number;
  readonly commit: Index;
  readonly entries: readonly Entry[];
  /** It only tells what is committed: that it fits need not be answered. */
  readonly notice: boolean;
}

/** The answer to an `append` or a `snapshot`. An acceptance leaves when the entries are durable. */
export interface AppendResponse extends Envelope {
  readonly kind: 'appendResponse';
  /**
   * Accepted: the log agrees with the leader's up to here, durably. Rejected: the `prevIndex` that did not
   * fit.
   */
  readonly index: Index;
  readonly rejected: boolean;
  /** Rejected: the highest index, and its term, at which the logs may agree. */
  readonly hintIndex: Index;
  readonly hintTerm: Term;
  /** The sender lost entries that it had promised: it must not be counted until it has them again. */
  readonly recovering: boolean;
}

/** "I lead." Carries the commit index, as far as the follower is known to have the entries. */
export interface Heartbeat extends Envelope {
  readonly kind: 'heartbeat';
  readonly commit: Index;
  /** The round of read confirmation, 0 if none; comes back in the response. */
  readonly round: number;
}

/** "I follow." Also tells a leader of a former term that there is a later one. */
export interface HeartbeatResponse extends Envelope {
  readonly kind: 'heartbeatResponse';
  readonly round: number;
}

/**
 * Stands for a snapshot whose content the host transfers. The host delivers it when the content is complete.
 */
export interface InstallSnapshot extends Envelope {
  readonly kind: 'snapshot';
  readonly snapshot: SnapshotMeta;
}

/** "Campaign at once": the last step of a leadership transfer. */
export interface TimeoutNow extends Envelope {
  readonly kind: 'timeoutNow';
}

/** "All is said up to `index`; do not expect heartbeats." */
export interface Quiesce extends Envelope {
  readonly kind: 'quiesce';
  readonly index: Index;
}

/** Sent by a follower to a quiesced leader: "someone needs heartbeats again." */
export interface Wake extends Envelope {
  readonly kind: 'wake';
}

/** A follower asks the leader for an index to read at. */
export interface ReadIndexRequest extends Envelope {
  readonly kind: 'readIndex';
  readonly id: number;
}

/** The index at which the reads of a follower may be served. */
export interface ReadIndexResponse extends Envelope {
  readonly kind: 'readIndexResponse';
  readonly id: number;
  readonly index: Index;
}

/** A forwarded proposal. It is forwarded once; its outcome is unknown to the sender. */
export interface Propose extends Envelope {
  readonly kind: 'propose';
  readonly payloads: readonly Uint8Array[];
}

/** Everything that nodes of a group say to each other. */
export type Message =
  | PreVote
  | PreVoteResponse
  | Vote
  | VoteResponse
  | Append
  | AppendResponse
  | Heartbeat
  | HeartbeatResponse
  | InstallSnapshot
  | TimeoutNow
  | Quiesce
  | Wake
  | ReadIndexRequest
  | ReadIndexResponse
  | Propose;

/** The kinds of messages. */
export type MessageKind = Message['kind'];
