/**
 * Heartbeats: signs of life, the commit index, and the rounds of read confirmation. They are small and always
 * alike.
 */
import { assert } from './assert.js';
import { type Core, OK, type StepResult } from './core.js';
import type { Heartbeat, HeartbeatResponse } from './messages.js';
import type { Progress } from './progress.js';
import type { WaitingRead } from './reads.js';
import { reject, sendAppend, tellCommit } from './replication.js';
import type { NodeId } from './types.js';

/**
 * Leader: sends a heartbeat to every member; a round of read confirmation goes along if reads wait or leases
 * are on.
 */
export function broadcastHeartbeats(core: Core): void {
  assert(core.role === 'leader', 'Only a leader sends heartbeats');
  core.heartbeatElapsed = 0;
  const { reads, lease, tracker } = core;
  const round = (reads.hasConfirmable || lease !== null) && !tracker.isAlone ? startRound(core) : 0;
  for (const peer of tracker.peers) sendHeartbeat(core, peer, round);
}

/**
 * Leader: starts a round of read confirmation with as many members as make a quorum, those that answered
 * last. Should they not answer, the next heartbeats are a round with all.
 */
export function askQuorum(core: Core): void {
  assert(core.role === 'leader', 'Only a leader sends heartbeats');
  const round = startRound(core);
  for (const peer of core.tracker.quorumToAsk()) sendHeartbeat(core, peer, round);
}

function startRound({ reads, lease, id: node, trace }: Core): number {
  const round = reads.startRound();
  lease?.sent(round);
  trace?.({ node, type: 'read_round', round, reads: reads.count });
  return round;
}

function sendHeartbeat(core: Core, peer: Progress, round: number): void {
  const { log, term, id: from } = core;
  // Never beyond what the member is known to have: it could have something else there.
  const commit = Math.min(peer.match, log.commit);
  core.send({ kind: 'heartbeat', from, to: peer.id, term, commit, round });
  peer.sentCommit = Math.max(peer.sentCommit, commit);
}

/** Follower: the leader lives. */
export function onHeartbeat(core: Core, message: Heartbeat): StepResult {
  const { log, id: from, term } = core;
  const { commit } = message;
  if (commit > log.last) {
    // The leader counts on entries that this node acknowledged in its term, and that are not here. Either it
    // knows that it lost them, or its disk lied: then it must not vote as if it had never had them.
    if (core.recovery === null) {
      core.lostTail = commit;
      return core.refused(message, 'commit_beyond_log');
    }
    reject(core, message, commit, term);
  } else if (commit > log.commit) {
    log.commitTo(commit);
    core.trace?.({ node: from, type: 'commit', index: commit });
  }
  core.send({ kind: 'heartbeatResponse', from, to: message.from, term, round: message.round });
  return OK;
}

/** Leader: a member lives. */
export function onHeartbeatResponse(core: Core, message: HeartbeatResponse): StepResult {
  const peer = core.tracker.progressOf(message.from);
  if (core.role !== 'leader') return core.ignored(message, 'not_leader');
  if (peer === undefined) return core.ignored(message, 'not_a_member');
  if (message.round > core.reads.round) return core.refused(message, 'unknown_round');
  peer.lastActive = core.now;
  peer.paused = false;
  if (message.round > peer.ackedRound) {
    peer.ackedRound = message.round;
    confirmReads(core);
  }
  // A lost append shows itself here: the member lives and still has not everything.
  if (peer.match < core.log.last || peer.state === 'probe') sendAppend(core, peer, true);
  return OK;
}

/**
 * Leader: a message to a member was lost. If it was one of few that were to confirm reads, all are asked now.
 */
export function reportUnreachable(core: Core, node: NodeId): void {
  const peer = core.tracker.progressOf(node);
  if (core.role !== 'leader' || peer === undefined) return;
  if (peer.state === 'replicate') peer.becomeProbe();
  if (core.reads.underWay && core.reads.hasConfirmable) broadcastHeartbeats(core);
}

/** Leader: gives out the reads that a quorum has confirmed. */
export function confirmReads(core: Core): void {
  const round = core.tracker.quorumOf(ackedRound);
  core.lease?.confirmed(round);
  for (const read of core.reads.confirm(round)) releaseRead(core, read);
}

/** Leader: a read may be served. */
export function releaseRead(core: Core, { from, id, index, context }: Omit<WaitingRead, 'round'>): void {
  assert(
    index > 0 && index <= core.log.commit,
    'A read at an index that is not committed',
    index,
    core.log.commit,
  );
  if (from === core.id) {
    core.readResults.push({ outcome: 'ready', context, index });
    return;
  }
  const asker = core.tracker.progressOf(from);
  if (asker !== undefined) tellCommit(core, asker);
  core.send({ kind: 'readIndexResponse', from: core.id, to: from, term: core.term, id, index });
}

function ackedRound(progress: Progress): number {
  return progress.ackedRound;
}
