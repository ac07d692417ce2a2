/** Reads: at the leader directly, at any other member by asking the leader for an index. See `reads.ts`. */
import { type Core, OK, type StepResult } from './core.js';
import { askQuorum, releaseRead } from './heartbeats.js';
import type { ReadIndexRequest, ReadIndexResponse } from './messages.js';
import { wake } from './quiescence.js';
import { NO_NODE, type NodeId } from './types.js';

/** The answer to a request for a read. `dropped`: ask again, when there is a leader or less to do. */
export type ReadIndexResult =
  /** The outcome comes with `ready().reads`. */
  | { readonly status: 'accepted' }
  | { readonly status: 'dropped'; readonly reason: 'no_leader' | 'overloaded' };

/** The host asks for a read index. */
export function readIndex(core: Core, context: unknown): ReadIndexResult {
  const { maxPendingReads } = core.settings;
  if (core.role === 'leader') {
    if (core.reads.count + core.readResults.length >= maxPendingReads) return OVERLOADED;
    wake(core);
    core.reads.add(readableIndex(core), core.id, 0, context);
    return ACCEPTED;
  }
  if (core.leader === NO_NODE) return NO_LEADER;
  if (core.forwarded.count + core.readResults.length >= maxPendingReads) return OVERLOADED;
  wake(core);
  core.forwarded.add(context, core.now);
  return ACCEPTED;
}

/** Leader: a follower asks for an index. */
export function onReadIndex(core: Core, message: ReadIndexRequest): StepResult {
  if (core.role !== 'leader') return core.ignored(message, 'not_leader');
  if (core.reads.count >= core.settings.maxPendingReads) return core.ignored(message, 'overloaded');
  const { from, id } = message;
  const index = readableIndex(core);
  if (index > 0 && isConfirmedBy(core, from)) releaseRead(core, { from, id, index, context: null });
  else core.reads.add(index, from, id, null);
  return OK;
}

/** Follower: the leader names an index. */
export function onReadIndexResponse(core: Core, message: ReadIndexResponse): StepResult {
  const answered = core.forwarded.answer(message.id);
  if (answered.length === 0) return core.ignored(message, 'other_attempt');
  for (const { context } of answered)
    core.readResults.push({ outcome: 'ready', context, index: message.index });
  return OK;
}

/** True if reads wait for something that can be done now. */
export function hasReadsToStart(core: Core): boolean {
  if (core.role === 'leader') return core.reads.hasConfirmable && (!core.reads.underWay || !needsRound(core));
  return core.forwarded.canAsk && core.leader !== NO_NODE;
}

/**
 * Starts what reads wait for. It is done when the host fetches what is ready, so that one round serves all
 * reads that came in before.
 */
export function startReads(core: Core): void {
  if (!hasReadsToStart(core)) return;
  if (core.role !== 'leader') askLeader(core);
  else if (!needsRound(core)) for (const read of core.reads.takeAll()) releaseRead(core, read);
  else askQuorum(core);
}

/** Follower: asks the leader for an index, with an id that was never used before. */
export function askLeader(core: Core): void {
  const id = core.forwarded.ask(core.now);
  core.send({ kind: 'readIndex', from: core.id, to: core.leader, term: core.term, id });
}

/** Follower: repeats a question that stays unanswered, and gives up on reads that have waited too long. */
export function tickForwardedReads(core: Core): void {
  const { forwarded, settings, now } = core;
  if (forwarded.count === 0) return;
  const expired = forwarded.takeOlderThan(now - 2 * settings.electionTicks);
  for (const { context } of expired)
    core.readResults.push({ outcome: 'dropped', context, reason: 'timeout' });
  if (expired.length > 0) {
    core.trace?.({ node: core.id, type: 'reads_dropped', count: expired.length, reason: 'timeout' });
  }
  if (core.leader !== NO_NODE && forwarded.isOverdue(now, settings.heartbeatTicks * 2)) askLeader(core);
}

/**
 * Leader: before it has committed in its term it does not know what is committed; reads wait for that with
 * index 0.
 */
function readableIndex({ log, termStart }: Core): number {
  return log.commit >= termStart ? log.commit : 0;
}

/**
 * True if a follower's question is confirmation enough: it was in this term when it asked, later than its
 * reads came in, so where it and this node are a quorum no other node can have led in a later term before.
 */
function isConfirmedBy({ tracker }: Core, asker: NodeId): boolean {
  return tracker.isQuorumWith(asker);
}

function needsRound(core: Core): boolean {
  return !core.tracker.isAlone && !holdsLease(core);
}

function holdsLease(core: Core): boolean {
  if (core.lease === null || core.log.commit < core.termStart) return false;
  return core.lease.holds();
}

const ACCEPTED: ReadIndexResult = Object.freeze({ status: 'accepted' });
const NO_LEADER: ReadIndexResult = Object.freeze({ status: 'dropped', reason: 'no_leader' });
const OVERLOADED: ReadIndexResult = Object.freeze({ status: 'dropped', reason: 'overloaded' });
