/** A look inside, for operators and tests. */
import type { Core } from './core.js';
import type { ProgressState } from './progress.js';
import type { RefusalReason, RoleReason } from './trace.js';
import type { Index, Membership, NodeId, Role, Term } from './types.js';

export interface PeerStatus {
  readonly node: NodeId;
  readonly state: ProgressState;
  readonly match: Index;
  readonly next: Index;
  readonly paused: boolean;
  readonly pendingSnapshot: Index;
  readonly inflightMessages: number;
  readonly inflightBytes: number;
  /** Ticks since it was last heard of. */
  readonly silentTicks: number;
  readonly recovering: boolean;
}

export interface Status {
  readonly id: NodeId;
  readonly role: Role;
  readonly term: Term;
  readonly vote: NodeId;
  readonly leader: NodeId;
  readonly quiesced: boolean;
  /** The node lost entries that it had promised, and neither votes nor counts before it has them again. */
  readonly recovering: boolean;
  readonly membership: Membership;
  readonly membershipIndex: Index;
  readonly firstIndex: Index;
  readonly lastIndex: Index;
  readonly lastTerm: Term;
  readonly stableIndex: Index;
  readonly commitIndex: Index;
  readonly applyingIndex: Index;
  readonly appliedIndex: Index;
  /** Index of a snapshot that is being installed, or 0. */
  readonly installing: Index;
  readonly unappliedBytes: number;
  readonly tailBytes: number;
  readonly writesInFlight: number;
  readonly pendingReads: number;
  readonly transferTo: NodeId;
  /** Leaders only, ascending by node. */
  readonly peers: readonly PeerStatus[];
  /** Candidates only. */
  readonly votes: ReadonlyMap<NodeId, boolean>;
  readonly lastElection: {
    readonly reason: RoleReason;
    readonly term: Term;
    readonly ticksAgo: number;
  } | null;
  readonly ticks: number;
  readonly electionElapsed: number;
  readonly refused: ReadonlyMap<RefusalReason, number>;
  readonly ignoredCount: number;
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
