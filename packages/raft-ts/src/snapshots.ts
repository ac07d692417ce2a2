/**
 * Snapshots in place of entries that are compacted (Raft paper, section 7). The core decides who needs one
 * and whether to take one; the content goes from host to host.
 */
import { assert } from './assert.js';
import type { Core } from './core.js';
import type { InstallSnapshot } from './messages.js';
import type { Progress } from './progress.js';
import type { SnapshotPhase } from './trace.js';
import type { Index, NodeId, SnapshotMeta } from './types.js';

/**
 * Leader: sends a snapshot to a member whose next entry is compacted. Nothing can be sent behind it: false.
 */
export function sendSnapshot(core: Core, peer: Progress): false {
  const { log, settings } = core;
  assert(peer.next < log.first, 'A snapshot for a member that needs none', peer.next, log.first);
  if (peer.state === 'replicate') peer.becomeProbe();
  peer.paused = true;
  if (core.now - peer.lastActive >= settings.electionTicks) return false;
  const snapshot = core.view.snapshot();
  if (snapshot === null) {
    trace(core, 'wanted', peer.id, log.first - 1);
    return false;
  }
  assert(
    snapshot.index >= log.first - 1,
    'The snapshot ends before the log begins',
    snapshot.index,
    log.first,
  );
  assert(snapshot.index <= log.commit, 'A snapshot of what is not committed', snapshot.index, log.commit);
  peer.becomeSnapshot(snapshot.index);
  core.send({ kind: 'snapshot', from: core.id, to: peer.id, term: core.term, snapshot });
  trace(core, 'sent', peer.id, snapshot.index);
  return false;
}

/** Leader: the host reports that a transfer ended. The member's next answer tells what came of it. */
export function reportSnapshot(core: Core, node: NodeId, arrived: boolean): void {
  const peer = core.tracker.progressOf(node);
  if (core.role !== 'leader' || peer === undefined || peer.state !== 'snapshot') return;
  const index = peer.pendingSnapshot;
  if (!arrived) peer.pendingSnapshot = 0;
  peer.becomeProbe();
  peer.paused = true;
  trace(core, arrived ? 'arrived' : 'failed', node, index);
}

/** Follower: a snapshot has arrived completely. Returns up to where the log agrees with the leader's now. */
export function takeSnapshot(core: Core, message: InstallSnapshot): Index {
  const { log } = core;
  const { snapshot, from } = message;
  const { index, term } = snapshot;
  if (index <= log.commit) {
    trace(core, 'not_needed', from, index);
    return log.commit;
  }
  if (log.matches(index, term)) {
    // The log has the entry that the snapshot ends with, so it agrees up to there; replaying is cheaper than
    // installing.
    trace(core, 'not_needed', from, index);
    log.commitTo(index);
    core.trace?.({ node: core.id, type: 'commit', index });
    return index;
  }
  restore(core, snapshot);
  trace(core, 'taken', from, index);
  return log.last;
}

/** Follower: the state machine has been switched to the snapshot. */
export function snapshotInstalled(core: Core, index: Index): void {
  core.log.installedTo(index);
  trace(core, 'installed', core.id, index);
}

function restore(core: Core, snapshot: SnapshotMeta): void {
  const { log, tracker } = core;
  assert(core.role === 'follower', 'Only followers take snapshots');
  log.restore(snapshot);
  // Nothing that is being written still stands.
  core.writes.cutFrom(1);
  core.membershipHistory = [];
  tracker.switchTo(snapshot.membership, log.last + 1, core.now);
  core.membershipIndex = snapshot.index;
  core.membershipChanged = true;
  core.trace?.({ node: core.id, type: 'membership', index: snapshot.index, membership: snapshot.membership });
}

function trace(core: Core, phase: SnapshotPhase, peer: NodeId, index: Index): void {
  core.trace?.({ node: core.id, type: 'snapshot', phase, peer, index });
}
