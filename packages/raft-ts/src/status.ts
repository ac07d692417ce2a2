/** A look inside, for operators and tests. */
import type { Core } from './core.js';
import type { ProgressState } from './progress.js';
import type { RefusalReason, RoleReason } from './trace.js';
import type { Index, Membership, NodeId, Role, Term } from './types.js';

/** A leader's knowledge of another member. */
export interface PeerStatus {
  /** The member. */
  readonly node: NodeId;
  /** The state of sending to it: see `progress.ts`. */
  readonly state: ProgressState;
  /** Its log agrees with the leader's up to here, durably. */
  readonly match: Index;
  /** The index of the entry that it is sent next. */
  readonly next: Index;
  /** True if nothing more is sent until it answers. */
  readonly paused: boolean;
  /** Index of the snapshot that it is being sent, or 0. */
  readonly pendingSnapshot: Index;
  /** Appends under way to it. */
  readonly inflightMessages: number;
  /** Payload bytes under way to it. */
  readonly inflightBytes: number;
  /** Ticks since it was last heard of. */
  readonly silentTicks: number;
  /** It lost entries that it had promised, and does not count. */
  readonly recovering: boolean;
}

/** The state of a node as seen from outside; a copy, for operators and tests. */
export interface Status {
  /** This node. */
  readonly id: NodeId;
  /** Its role in its term. */
  readonly role: Role;
  /** The current term. */
  readonly term: Term;
  /** The candidate that it voted for in this term, or 0. */
  readonly vote: NodeId;
  /** The leader as far as it is known, or 0. */
  readonly leader: NodeId;
  /** True if the group is silent. */
  readonly quiesced: boolean;
  /** The node lost entries that it had promised, and neither votes nor counts before it has them again. */
  readonly recovering: boolean;
  /** The membership in force. */
  readonly membership: Membership;
  /** Index of the entry that brought it. */
  readonly membershipIndex: Index;
  /** The first entry that is not compacted. */
  readonly firstIndex: Index;
  /** The last entry. */
  readonly lastIndex: Index;
  /** The term of the last entry. */
  readonly lastTerm: Term;
  /** The log is durable up to here. */
  readonly stableIndex: Index;
  /** The log is known as committed up to here. */
  readonly commitIndex: Index;
  /** Entries were handed out for applying up to here. */
  readonly applyingIndex: Index;
  /** Entries are applied up to here. */
  readonly appliedIndex: Index;
  /** Index of a snapshot that is being installed, or 0. */
  readonly installing: Index;
  /** Bytes of entries that are not applied. */
  readonly unappliedBytes: number;
  /** Bytes of entries that are kept in memory. */
  readonly tailBytes: number;
  /** Writes handed out and not yet durable. */
  readonly writesInFlight: number;
  /** Reads that wait for an index. */
  readonly pendingReads: number;
  /** The target of a transfer under way, or 0. */
  readonly transferTo: NodeId;
  /** Leaders only, ascending by node. */
  readonly peers: readonly PeerStatus[];
  /** Candidates only. */
  readonly votes: ReadonlyMap<NodeId, boolean>;
  /** Why the last election of this node began, and when. */
  readonly lastElection: {
    readonly reason: RoleReason;
    readonly term: Term;
    readonly ticksAgo: number;
  } | null;
  /** Ticks that this node has lived. */
  readonly ticks: number;
  /** Ticks since a leader was heard of, or since the last campaign. */
  readonly electionElapsed: number;
  /** Messages that no sound node sends, by what was wrong. */
  readonly refused: ReadonlyMap<RefusalReason, number>;
  /** Messages that were of no use. */
  readonly ignoredCount: number;
  /** Messages that were dropped since the host did not fetch them. */
  readonly outboxDropped: number;
}

export function statusOf(core: Core): Status {
  const { log, tracker, lastElection } = core;
  return {
    id: core.id,
    role: core.role,
    term: core.term,
    vote: core.vote,
    leader: core.leader,
    quiesced: core.quiesced,
    recovering: core.recovery !== null,
    membership: tracker.membership,
    membershipIndex: core.membershipIndex,
    firstIndex: log.first,
    lastIndex: log.last,
    lastTerm: log.lastTerm,
    stableIndex: log.stable,
    commitIndex: log.commit,
    applyingIndex: log.applying,
    appliedIndex: log.applied,
    installing: log.installing,
    unappliedBytes: log.unappliedBytes,
    tailBytes: log.tailBytes,
    writesInFlight: core.writes.count,
    pendingReads: core.reads.count + core.forwarded.count,
    transferTo: core.transfer?.to ?? 0,
    peers: core.role === 'leader' ? peersOf(core) : [],
    votes: new Map(tracker.votes()),
    lastElection:
      lastElection === null
        ? null
        : { reason: lastElection.reason, term: lastElection.term, ticksAgo: core.now - lastElection.tick },
    ticks: core.now,
    electionElapsed: core.electionElapsed,
    refused: new Map(core.refusedByReason),
    ignoredCount: core.ignoredCount,
    outboxDropped: core.outboxDropped,
  };
}

function peersOf({ tracker, now }: Core): PeerStatus[] {
  return tracker.peers.map((peer) => ({
    node: peer.id,
    state: peer.state,
    match: peer.match,
    next: peer.next,
    paused: peer.paused,
    pendingSnapshot: peer.pendingSnapshot,
    inflightMessages: peer.window.count,
    inflightBytes: peer.window.bytes,
    silentTicks: now - peer.lastActive,
    recovering: peer.recovering,
  }));
}
