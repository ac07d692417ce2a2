/**
 * Silence of idle groups. When everybody has everything, the leader says so once, and from then on nobody
 * sends or expects heartbeats: the host stops ticking the group on all nodes. Whether the leader's process
 * lives is then watched by the host, for all groups of a pair of nodes together.
 *
 * Members that the host can't reach may lack something, as long as a quorum has everything: the leader remembers
 * whom the group sleeps without, and wakes when the host has such a member again. Silence promises nothing, so
 * nothing but time depends on what the host says.
 *
 * A quiesced node wakes by any sign that somebody is not content: a proposal, a read, a message, or a word of
 * the host. A woken leader sends heartbeats at once, so that everybody is awake again; a woken leader knows
 * no more than that it once led, and must hear a quorum before it answers anything.
 */
import { assert } from './assert.js';
import { type Core, OK, type StepResult } from './core.js';
import { broadcastHeartbeats, reportUnreachable } from './heartbeats.js';
import { isJoint, isMember } from './membership.js';
import type { Message, Quiesce } from './messages.js';
import type { Progress } from './progress.js';
import { becomeFollower } from './roles.js';
import { NO_NODE, NOBODY, type NodeId } from './types.js';

/** Leader: whether nothing is outstanding anywhere but at members that the host can't reach. */
export function canQuiesce(core: Core, away: ReadonlySet<NodeId>): boolean {
  if (core.role !== 'leader' || core.quiesced) return false;
  const { log, tracker } = core;
  const isSettled = log.applied === log.last && log.stable === log.last && log.commit >= core.termStart;
  if (!isSettled || core.writes.count > 0 || core.outbox.length > 0 || core.gated.length > 0) return false;
  if (core.reads.count > 0 || core.readResults.length > 0 || core.transfer !== null) return false;
  if (isJoint(tracker.membership) || tracker.membership.promote.some((id) => !away.has(id))) return false;
  return tracker.peers.every((peer) => away.has(peer.id) || isCurrent(core, peer)) && isQuorum(core, away);
}

function isCurrent({ log, now, settings }: Core, peer: Progress): boolean {
  const hasAll = peer.match === log.last && peer.state === 'replicate' && !peer.recovering;
  return hasAll && peer.window.count === 0 && now - peer.lastActive < settings.electionTicks;
}

/** True if those that are not away are a quorum. */
function isQuorum({ tracker }: Core, away: ReadonlySet<NodeId>): boolean {
  return tracker.quorumOf(({ id }) => (away.has(id) ? 0 : 1)) === 1;
}

/** Leader: falls silent and tells everybody who can be reached, if {@link canQuiesce}. Whether it did. */
export function quiesce(core: Core, away: ReadonlySet<NodeId>): boolean {
  if (!canQuiesce(core, away)) return false;
  core.asleepWithout = new Set(core.tracker.peers.map(({ id }) => id).filter((id) => away.has(id)));
  for (const { id } of core.tracker.peers) if (!away.has(id)) sendQuiesce(core, id);
  // A lease is renewed by heartbeats; there will be none.
  core.lease?.interrupt();
  setQuiesced(core, true);
  return true;
}

/**
 * Leader: the host can't reach a member, or that one was started anew. A group that is silent sleeps on without
 * it, while those that are left are a quorum; else it wakes, to find that out by itself.
 */
export function memberGone(core: Core, node: NodeId): void {
  reportUnreachable(core, node);
  if (!core.quiesced || core.role !== 'leader' || !isMember(core.tracker.membership, node)) return;
  core.asleepWithout = new Set([...core.asleepWithout, node]);
  if (!isQuorum(core, core.asleepWithout)) wake(core);
}

/** Leader: the host reaches a member again. A group that fell silent without it wakes. */
export function memberBack(core: Core, node: NodeId): void {
  if (core.role === 'leader' && core.asleepWithout.has(node)) wake(core);
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
  if (!on) core.asleepWithout = NOBODY;
  core.trace?.({ node: core.id, type: 'quiesce', on });
}
