/**
 * Silence of idle groups. When everybody has everything, the leader says so once, and from then on nobody
 * sends or expects heartbeats: the host stops ticking the group on all nodes. Whether the leader's process
 * lives is then watched by the host, for all groups of a pair of nodes together.
 *
 * A quiesced node wakes by any sign that somebody is not content: a proposal, a read, a message, or a word of
 * the host. A woken leader sends heartbeats at once, so that everybody is awake again; a woken leader knows
 * no more than that it once led, and must hear a quorum before it answers anything.
 */
import { assert } from './assert.js';
import { type Core, OK, type StepResult } from './core.js';
import { broadcastHeartbeats } from './heartbeats.js';
import { isJoint, isMember } from './membership.js';
import type { Message, Quiesce } from './messages.js';
import { becomeFollower } from './roles.js';
import { NO_NODE } from './types.js';

/** Leader: whether nothing is outstanding anywhere. */
export function canQuiesce(core: Core): boolean {
  if (core.role !== 'leader' || core.quiesced) return false;
  const { log, tracker, now, settings } = core;
  const isSettled = log.applied === log.last && log.stable === log.last && log.commit >= core.termStart;
  if (!isSettled || core.writes.count > 0 || core.outbox.length > 0 || core.gated.length > 0) return false;
  if (core.reads.count > 0 || core.readResults.length > 0 || core.transfer !== null) return false;
  if (isJoint(tracker.membership) || tracker.membership.promote.length > 0) return false;
  return tracker.peers.every((peer) => {
    const isCurrent = peer.match === log.last && peer.state === 'replicate' && !peer.recovering;
    return isCurrent && peer.window.count === 0 && now - peer.lastActive < settings.electionTicks;
  });
}

/** Leader: falls silent and tells everybody, if {@link canQuiesce}. Whether it did. */
export function quiesce(core: Core): boolean {
  if (!canQuiesce(core)) return false;
  for (const { id } of core.tracker.peers) sendQuiesce(core, id);
  // A lease is renewed by heartbeats; there will be none.
  core.lease?.interrupt();
  setQuiesced(core, true);
  return true;
}

/** Wakes a quiesced node; a leader sends heartbeats at once. */
export function wake(core: Core): void {
  if (!core.quiesced) return;
  setQuiesced(core, false);
  core.electionElapsed = 0;
  core.heartbeatElapsed = 0;
  if (core.role !== 'leader') return;
  for (const peer of core.tracker.peers) peer.lastActive = core.now;
  broadcastHeartbeats(core);
}

/**
 * The host has found that the leader's process is gone (or is another one than before). A follower forgets
 * the leader and campaigns within an election timeout, each at its own moment.
 */
export function leaderSilent(core: Core): void {
  wake(core);
  if (core.role !== 'follower' || core.leader === NO_NODE) return;
  // Leases count on followers that wait for a full election timeout, whatever the host has seen.
  if (core.lease !== null) return;
  becomeFollower(core, core.term, NO_NODE, 'leader_silent');
  core.electionElapsed = core.settings.electionTicks;
}

/** Follower: the leader falls silent. Only a follower that has everything agrees. */
export function onQuiesce(core: Core, message: Quiesce): StepResult {
  const { log } = core;
  const agrees = log.last === message.index && log.stable === message.index && core.recovery === null;
  if (!agrees) {
    sendWake(core);
    return OK;
  }
  if (message.index > log.commit) {
    log.commitTo(message.index);
    core.trace?.({ node: core.id, type: 'commit', index: message.index });
  }
  if (!core.quiesced) setQuiesced(core, true);
  return OK;
}

/** A message for a quiesced node. Whether it needs no further attention. */
export function onMessageWhileQuiesced(core: Core, message: Message): boolean {
  assert(core.quiesced, 'Only for quiesced nodes');
  if (message.term < core.term || !isMember(core.tracker.membership, message.from)) return false;
  if (core.role === 'leader') {
    if (isOldNews(core, message)) {
      // It was under way when silence fell, or its sender missed the word.
      sendQuiesce(core, message.from);
      return true;
    }
    wake(core);
    return false;
  }
  if (message.kind === 'quiesce') return false;
  wake(core);
  // Somebody else is awake, and the leader should know.
  if (message.from !== core.leader) sendWake(core);
  return false;
}

function isOldNews(core: Core, message: Message): boolean {
  if (message.term > core.term) return false;
  if (message.kind === 'heartbeatResponse') return true;
  return message.kind === 'appendResponse' && !message.rejected && message.index <= core.log.last;
}

function sendQuiesce(core: Core, to: number): void {
  core.send({ kind: 'quiesce', from: core.id, to, term: core.term, index: core.log.last });
}

function sendWake(core: Core): void {
  assert(core.leader !== NO_NODE, 'A silent follower has a leader');
  core.send({ kind: 'wake', from: core.id, to: core.leader, term: core.term });
}

function setQuiesced(core: Core, on: boolean): void {
  core.quiesced = on;
  core.trace?.({ node: core.id, type: 'quiesce', on });
}
