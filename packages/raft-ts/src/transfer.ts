/** Leadership transfer (Raft dissertation, section 3.10). */
import { assert } from './assert.js';
import type { Core } from './core.js';
import { wake } from './quiescence.js';
import { endTransfer } from './roles.js';
import type { NodeId } from './types.js';

/** The answer to a request for a leadership transfer. */
export type TransferResult =
  /** Under way; proposals are refused until it is over, at most one election timeout. */
  | { readonly status: 'accepted' }
  | { readonly status: 'dropped'; readonly reason: TransferRefusal; readonly leader: NodeId };

/** Why a leadership transfer was not begun. */
export type TransferRefusal =
  | 'not_leader'
  /** The target leads already. */
  | 'is_leader'
  | 'not_a_member'
  | 'learner'
  /** The target was not heard of lately. */
  | 'silent'
  /** The target is too far behind to catch up in time. */
  | 'lagging'
  | 'in_progress';

/** Begins to hand leadership over to `to`. */
export function transferLeadership(core: Core, to: NodeId): TransferResult {
  const reason = transferRefusal(core, to);
  if (reason !== null) return { status: 'dropped', reason, leader: core.leader };
  wake(core);
  core.transfer = { to, since: core.now, told: false };
  // The target's election will not wait for any lease to run out.
  core.lease?.end();
  core.trace?.({ node: core.id, type: 'transfer', to, phase: 'started' });
  core.flushDue = true;
  return { status: 'accepted' };
}

/** Leader: tells the target to campaign as soon as it has everything. */
export function continueTransfer(core: Core): void {
  const { transfer, log } = core;
  if (transfer === null || transfer.told) return;
  const peer = core.tracker.progressOf(transfer.to);
  assert(peer !== undefined, 'The target of a transfer is a member', transfer.to);
  if (peer.match < log.last) return;
  transfer.told = true;
  core.send({ kind: 'timeoutNow', from: core.id, to: transfer.to, term: core.term });
  core.trace?.({ node: core.id, type: 'transfer', to: transfer.to, phase: 'told' });
}

/** Leader: a transfer that is not over after an election timeout never will be. */
export function tickTransfer(core: Core): void {
  if (core.transfer === null || core.now - core.transfer.since < core.settings.electionTicks) return;
  endTransfer(core, 'given_up');
}

/** Why a transfer to `to` would not begin now; null when it would. */
export function transferRefusal(core: Core, to: NodeId): TransferRefusal | null {
  if (core.role !== 'leader') return 'not_leader';
  if (to === core.id) return 'is_leader';
  const { membership } = core.tracker;
  const peer = core.tracker.progressOf(to);
  if (peer === undefined) return 'not_a_member';
  if (!membership.voters.includes(to)) return membership.outgoing.includes(to) ? 'not_a_member' : 'learner';
  if (core.transfer !== null) return 'in_progress';
  if (!core.quiesced && core.now - peer.lastActive >= core.settings.electionTicks) return 'silent';
  const isBehind = peer.state !== 'replicate' || peer.recovering || peer.next < core.log.first;
  return isBehind ? 'lagging' : null;
}
