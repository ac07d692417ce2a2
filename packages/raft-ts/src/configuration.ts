/**
 * Membership changes by joint consensus (Raft dissertation, section 4.3).
 *
 * A change takes force **when its entry is committed**, on each node as soon as the node knows it, before and
 * independent of applying. (The paper switches when the entry is appended.) Why that is safe: a leader
 * proposes a change only when the one before is committed and in force at the leader. Every append that
 * carries the later change also carries a commit index that covers the earlier one, and a node writes both in
 * one step. So whoever holds the later change in its log knows, even after a crash, that the earlier one is
 * committed, and uses it. A candidate that could win must hold every committed change, hence is at most one
 * step behind the leader, and two configurations that are one step apart have a node in common in any two
 * majorities.
 *
 * The members that are left may be unable to find out again that a change is committed: the one that stays of a group
 * of two can't ask for the vote of the one that went. So the commit index is written at once when it covers a
 * change, and the change is handed out for applying when that is durable: who is removed may go as soon as a
 * member has applied the removal.
 *
 * The second half of the single-change rule (Ongaro, raft-dev 2015) holds as well: no change before the
 * leader has committed an entry of its own term.
 */
import { assert } from './assert.js';
import { changeOf, decodeChange, encodeChange, MAX_CHANGE_CONTEXT_BYTES } from './change.js';
import type { Core } from './core.js';
import {
  assertSafeStep,
  type ChangeProblem,
  changedMembership,
  changeProblem,
  isJoint,
  type MembershipChange,
} from './membership.js';
import { beginCatchUp, readyToPromote } from './promotion.js';
import { wake } from './quiescence.js';
import { flushAppends, tellCommit } from './replication.js';
import { appendOwn, becomeFollower, endTransfer } from './roles.js';
import { type Index, type Membership, NO_NODE, type NodeId, type Term } from './types.js';

/** Why a membership change was not proposed. */
export type ChangeRefusal =
  | 'no_leader'
  | 'not_leader'
  | 'transferring'
  /** Another change is not committed yet. */
  | 'change_in_flight'
  /** The leader has not committed an entry of its term yet; try again in a moment. */
  | 'too_early'
  | 'context_too_large'
  | ChangeProblem;

/** The outcome of proposing a membership change. `dropped`: definitely not proposed. */
export type ChangeResult =
  | { readonly status: 'accepted'; readonly index: Index; readonly term: Term }
  | { readonly status: 'dropped'; readonly reason: ChangeRefusal; readonly leader: NodeId };

/** Proposes a membership change. */
export function proposeChange(core: Core, change: MembershipChange): ChangeResult {
  const reason = changeRefusal(core, change);
  if (reason !== null) return { status: 'dropped', reason, leader: core.leader };
  wake(core);
  return { status: 'accepted', index: appendChange(core, change, 'host'), term: core.term };
}

/** Puts the change in force whose entry has just been committed. */
export function applyCommittedChange(core: Core): void {
  const entry = core.log.shiftChange();
  const before = core.tracker.membership;
  const change = decodeChange(entry.payload);
  const problem = changeProblem(before, change);
  core.commitDue = true;
  if (problem !== null) {
    // Every node sees the same entry in the same membership, so all of them ignore it.
    core.trace?.({ node: core.id, type: 'change_ignored', index: entry.index, reason: problem });
    return;
  }
  const after = changedMembership(before, change);
  assertSafeStep(before, after);
  if (core.role === 'leader') tellLeaving(core, after, entry.index);
  core.tracker.switchTo(after, core.log.last + 1, core.now);
  core.membershipIndex = entry.index;
  core.membershipChanged = true;
  core.membershipHistory.push({ index: entry.index, membership: after });
  core.trace?.({ node: core.id, type: 'membership', index: entry.index, membership: after });
  if (core.role === 'leader') continueLeading(core);
  // An election was asked for under another membership.
  else if (core.role !== 'follower') becomeFollower(core, core.term, NO_NODE, 'membership_changed');
}

/**
 * Leader: proposes what follows from the membership by itself: leaving a joint configuration, promoting a
 * learner.
 */
export function proposeFollowUps(core: Core): void {
  const { membership } = core.tracker;
  if (isJoint(membership)) {
    if (membership.autoLeave && mayChange(core) === null) appendChange(core, changeOf(), 'auto_leave');
    return;
  }
  if (membership.promote.length === 0 || core.transfer !== null || mayChange(core) !== null) return;
  const node = readyToPromote(core);
  if (node === undefined) return;
  const change = changeOf({ action: 'addVoter', node });
  if (changeProblem(membership, change) === null) appendChange(core, change, 'promotion');
}

function changeRefusal(core: Core, change: MembershipChange): ChangeRefusal | null {
  if (core.role !== 'leader') return core.leader === NO_NODE ? 'no_leader' : 'not_leader';
  if (core.transfer !== null) return 'transferring';
  if (change.context.byteLength > MAX_CHANGE_CONTEXT_BYTES) return 'context_too_large';
  return mayChange(core) ?? changeProblem(core.tracker.membership, change);
}

function mayChange(core: Core): 'change_in_flight' | 'too_early' | null {
  const { log, termStart } = core;
  if (log.commit < termStart) return 'too_early';
  if (log.firstPendingChange > 0) return 'change_in_flight';
  return null;
}

function appendChange(core: Core, change: MembershipChange, by: 'host' | 'auto_leave' | 'promotion'): Index {
  const { index } = appendOwn(core, 'change', [encodeChange(change)]);
  core.trace?.({ node: core.id, type: 'change_proposed', index, by });
  return index;
}

/**
 * Members that are about to be left out are told that it is committed, or they would not know why nobody
 * answers.
 */
function tellLeaving(core: Core, after: Membership, index: Index): void {
  for (const peer of core.tracker.peers) {
    if (!after.removed.includes(peer.id) || peer.match < index) continue;
    core.send({ kind: 'heartbeat', from: core.id, to: peer.id, term: core.term, commit: index, round: 0 });
  }
}

function continueLeading(core: Core): void {
  const { tracker, transfer, id } = core;
  assert(core.role === 'leader', 'Only a leader goes on leading');
  if (transfer !== null && !tracker.membership.voters.includes(transfer.to)) endTransfer(core, 'target_gone');
  core.flushDue = true;
  beginCatchUp(core);
  const { voters, outgoing } = tracker.membership;
  if (voters.includes(id) || outgoing.includes(id)) return;
  // It has led until the change was committed; now the others must learn that, and go on by themselves.
  flushAppends(core);
  for (const peer of tracker.peers) tellCommit(core, peer);
  becomeFollower(core, core.term, NO_NODE, 'no_voter');
}
