/**
 * Events for the trace hook: every transition of the state machine, as plain data. `format.ts` writes them as
 * lines.
 */
import type { MessageKind } from './messages.js';
import type { ProgressState } from './progress.js';
import type { Index, Membership, NodeId, Role, Term } from './types.js';

/** Why a role changed, or an election began. */
export type RoleReason =
  | 'started'
  | 'timeout'
  | 'host'
  | 'transfer'
  | 'leader_silent'
  | 'pre_vote_won'
  | 'vote_won'
  | 'vote_lost'
  | 'higher_term'
  | 'leader_found'
  | 'quorum_lost'
  | 'disk_stalled'
  | 'no_voter'
  | 'membership_changed';

/** Why a vote was refused. */
export type VoteRefusal = 'leader_alive' | 'already_voted' | 'log_behind' | 'self_removed' | 'recovering';

/** Why a message was not acted on although nothing is wrong with it. */
export type IgnoreReason =
  | 'stale_term'
  | 'leader_alive'
  | 'not_a_member'
  | 'removed_sender'
  | 'not_leader'
  | 'not_candidate'
  | 'other_attempt'
  | 'no_news'
  | 'not_promotable'
  | 'overloaded'
  | 'proposal_dropped';

/**
 * Why a message was refused: its sender is damaged, mad, or of another world. Nothing of it was taken over.
 */
export type RefusalReason =
  | 'wrong_recipient'
  | 'bad_sender'
  | 'bad_number'
  | 'term_jump'
  | 'bad_entries'
  | 'hash_mismatch'
  | 'bad_change'
  | 'bad_snapshot'
  | 'two_leaders'
  | 'conflicts_with_committed'
  | 'commit_beyond_log'
  | 'acknowledged_beyond_log'
  | 'unknown_round';

/** A transition of a node, as data; {@link formatTrace} writes it as a line. */
export type TraceEvent = { readonly node: NodeId } & (
  | {
      readonly type: 'role';
      readonly role: Role;
      readonly term: Term;
      readonly leader: NodeId;
      readonly reason: RoleReason;
    }
  | {
      readonly type: 'vote';
      readonly pre: boolean;
      readonly candidate: NodeId;
      readonly term: Term;
      readonly refused: VoteRefusal | null;
    }
  | { readonly type: 'tally'; readonly pre: boolean; readonly voter: NodeId; readonly granted: boolean }
  | { readonly type: 'append'; readonly first: Index; readonly last: Index; readonly term: Term }
  | { readonly type: 'truncate'; readonly from: Index }
  | { readonly type: 'commit'; readonly index: Index }
  | {
      readonly type: 'progress';
      readonly peer: NodeId;
      readonly state: ProgressState;
      readonly match: Index;
      readonly next: Index;
    }
  | { readonly type: 'membership'; readonly index: Index; readonly membership: Membership }
  | { readonly type: 'change_ignored'; readonly index: Index; readonly reason: string }
  | {
      readonly type: 'change_proposed';
      readonly index: Index;
      readonly by: 'host' | 'auto_leave' | 'promotion';
    }
  | { readonly type: 'read_round'; readonly round: number; readonly reads: number }
  | { readonly type: 'reads_dropped'; readonly count: number; readonly reason: ReadTraceReason }
  | { readonly type: 'transfer'; readonly to: NodeId; readonly phase: TransferPhase }
  | { readonly type: 'snapshot'; readonly phase: SnapshotPhase; readonly peer: NodeId; readonly index: Index }
  | { readonly type: 'quiesce'; readonly on: boolean }
  | { readonly type: 'recovering'; readonly on: boolean; readonly index: Index; readonly term: Term }
  | {
      readonly type: 'refused';
      readonly from: NodeId;
      readonly kind: MessageKind;
      readonly reason: RefusalReason;
    }
  | {
      readonly type: 'ignored';
      readonly from: NodeId;
      readonly kind: MessageKind;
      readonly reason: IgnoreReason;
    }
  | { readonly type: 'outbox_full'; readonly to: NodeId; readonly kind: MessageKind }
);

export type ReadTraceReason = 'leader_changed' | 'timeout';
export type TransferPhase = 'started' | 'told' | 'given_up' | 'target_gone' | 'leadership_lost';
export type SnapshotPhase = 'wanted' | 'sent' | 'taken' | 'not_needed' | 'installed' | 'arrived' | 'failed';
