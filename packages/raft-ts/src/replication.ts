/** Log replication: the leader's side and the follower's (Raft paper, section 5.3). */
import { assert } from './assert.js';
import { type Core, OK, type StepResult } from './core.js';
import type { Append, AppendResponse } from './messages.js';
import type { Progress } from './progress.js';
import { noteCatchUp } from './promotion.js';
import { sendSnapshot } from './snapshots.js';
import { type Entry, entryBytes, type Index, type NodeId } from './types.js';

/** Sends to every member what it may be sent now. */
export function flushAppends(core: Core): void {
  assert(core.role === 'leader', 'Only a leader sends appends');
  core.flushDue = false;
  for (const peer of core.tracker.peers) {
    while (sendAppend(core, peer, peer.state === 'probe'));
  }
}

/** Leader: the host has room for a member again. */
export function roomFor(core: Core, node: NodeId): void {
  const peer = core.tracker.progressOf(node);
  if (core.role !== 'leader' || peer === undefined) return;
  while (sendAppend(core, peer, false));
}

/**
 * Sends one append: entries if there are any and window and host have room, else an empty one if `force` asks
 * for it or the member does not know the commit index. Whether it sent entries and could go on.
 *
 * A new commit index is told at once when nothing else is under way. Otherwise it goes along with the
 * next append, or is told when that is committed, too: under load a message of its own in each round would cost
 * both sides about as much as the entries. Should neither come soon, the next heartbeat tells.
 */
export function sendAppend(core: Core, peer: Progress, force: boolean): boolean {
  const { log, settings } = core;
  if (peer.blocked) return false;
  if (peer.next < log.first) return sendSnapshot(core, peer);
  const prevIndex = peer.next - 1;
  const isOpen = peer.state === 'probe' || !peer.window.full;
  const wanted = isOpen && peer.next <= log.last && core.hasRoom(peer.id);
  const entries = wanted
    ? log.slice(peer.next, settings.maxMessageBytes, settings.maxMessageEntries)
    : NO_ENTRIES;
  const tells = Math.min(log.commit, prevIndex + entries.length);
  const notice = entries.length === 0 && !force;
  if (notice && (tells <= peer.sentCommit || log.commit < log.last)) return false;
  put(core, peer, entries, notice && peer.state === 'replicate' && !peer.recovering);
  if (peer.state === 'probe') {
    peer.paused = true;
    return false;
  }
  if (entries.length === 0) return false;
  peer.window.add(prevIndex + entries.length, bytesOf(entries));
  peer.next += entries.length;
  return true;
}

/**
 * Leader: tells a member what is committed, if it does not know, whatever is under way: it is to read at that.
 */
export function tellCommit(core: Core, peer: Progress): void {
  const { log } = core;
  if (peer.state !== 'replicate' || peer.recovering || peer.next < log.first) return;
  if (Math.min(log.commit, peer.next - 1) > peer.sentCommit) put(core, peer, NO_ENTRIES, true);
}

/** Leader: a member answers an append (or a snapshot). */
export function onAppendResponse(core: Core, message: AppendResponse): StepResult {
  const peer = core.tracker.progressOf(message.from);
  if (core.role !== 'leader') return core.ignored(message, 'not_leader');
  if (peer === undefined) return core.ignored(message, 'not_a_member');
  if (!message.rejected && message.index > core.log.last)
    return core.refused(message, 'acknowledged_beyond_log');
  peer.lastActive = core.now;
  if (message.rejected && message.recovering) {
    peer.recoverFrom(Math.min(message.hintIndex, core.log.last));
    traceProgress(core, peer);
    sendAppend(core, peer, true);
    return OK;
  }
  peer.recovering = message.recovering;
  return message.rejected ? onRejected(core, peer, message) : onAccepted(core, peer, message.index);
}

/** Leader: raises the commit index as far as a quorum has the entries durably. */
export function advanceCommit(core: Core): void {
  assert(core.role === 'leader', 'Only a leader counts replicas');
  const reached = core.tracker.quorumOf(durableMatch);
  if (reached <= core.log.commit) return;
  // Entries of earlier terms are committed only together with one of the own term (Raft paper, figure 8).
  if (reached < core.termStart) return;
  assert(reached <= core.log.last, 'A quorum has more than the leader', reached, core.log.last);
  core.log.commitTo(reached);
  core.flushDue = true;
  core.trace?.({ node: core.id, type: 'commit', index: reached });
}

/** Follower: the leader sends entries, or asks whether the logs agree. */
export function onAppend(core: Core, message: Append): StepResult {
  const { log } = core;
  const { prevIndex, prevTerm, entries, notice } = message;
  if (prevIndex < log.commit) {
    if (!agreesWithCommitted(core, message)) return core.refused(message, 'conflicts_with_committed');
    if (!notice) accept(core, message, log.commit);
    return OK;
  }
  if (!log.matches(prevIndex, prevTerm)) {
    reject(core, message, prevIndex, prevTerm);
    return OK;
  }
  if (log.hashAt(prevIndex) !== message.prevHash) return core.refused(message, 'hash_mismatch');
  const known = countKnown(core, entries);
  if (known < 0) return core.refused(message, 'hash_mismatch');
  const conflict = known < entries.length ? prevIndex + known + 1 : 0;
  if (conflict > 0 && conflict <= log.last) truncate(core, conflict);
  take(core, entries, known);
  const lastNew = prevIndex + entries.length;
  const commit = Math.min(message.commit, lastNew);
  if (commit > log.commit) {
    log.commitTo(commit);
    core.trace?.({ node: core.id, type: 'commit', index: commit });
  }
  noteRecovery(core);
  if (!notice) accept(core, message, lastNew);
  return OK;
}

/** Tells the leader that everything up to `index` is the same here, once it is durable. */
export function accept(core: Core, message: { readonly from: number }, index: Index): void {
  assert(index <= core.log.last, 'An acknowledgement beyond the log', index, core.log.last);
  core.sendWhenDurable({
    kind: 'appendResponse',
    from: core.id,
    to: message.from,
    term: core.term,
    index,
    rejected: false,
    hintIndex: 0,
    hintTerm: 0,
    recovering: core.recovery !== null,
  });
}

/** Tells the leader that (`prevIndex`, `prevTerm`) does not fit, and where the logs may agree. */
export function reject(
  core: Core,
  message: { readonly from: number },
  prevIndex: Index,
  prevTerm: number,
): void {
  const hint = core.log.lastIndexWithTermUpTo(prevIndex, prevTerm);
  core.send({
    kind: 'appendResponse',
    from: core.id,
    to: message.from,
    term: core.term,
    index: prevIndex,
    rejected: true,
    hintIndex: hint.index,
    hintTerm: hint.term,
    recovering: core.recovery !== null,
  });
}

/** A node that had lost its tail counts again when its log is at least as good as it once was. */
export function noteRecovery(core: Core): void {
  const { recovery, log } = core;
  if (recovery === null) return;
  const behind =
    log.lastTerm < recovery.term || (log.lastTerm === recovery.term && log.last < recovery.index);
  if (behind) return;
  core.recovery = null;
  core.trace?.({ node: core.id, type: 'recovering', on: false, index: log.last, term: log.lastTerm });
}

export function traceProgress(core: Core, { id: peer, state, match, next }: Progress): void {
  core.trace?.({ node: core.id, type: 'progress', peer, state, match, next });
}

/** Sends the entries that a member is to have next, or only what is committed. */
function put(core: Core, peer: Progress, entries: readonly Entry[], notice: boolean): void {
  const { log, term } = core;
  const prevIndex = peer.next - 1;
  core.send({
    kind: 'append',
    from: core.id,
    to: peer.id,
    term,
    prevIndex,
    prevTerm: log.termAt(prevIndex),
    prevHash: log.hashAt(prevIndex),
    commit: log.commit,
    entries,
    notice,
  });
  peer.sentCommit = Math.max(peer.sentCommit, Math.min(log.commit, prevIndex + entries.length));
}

function onRejected(core: Core, peer: Progress, message: AppendResponse): StepResult {
  const hint = core.log.lastIndexWithTermUpTo(message.hintIndex, message.hintTerm);
  if (!peer.rejected(message.index, hint.index)) {
    return core.ignored(message, 'no_news');
  }
  if (peer.state === 'replicate') peer.becomeProbe();
  traceProgress(core, peer);
  sendAppend(core, peer, true);
  return OK;
}

function onAccepted(core: Core, peer: Progress, index: Index): StepResult {
  const news = peer.matched(index);
  core.commitDue = true;
  if (peer.state === 'replicate') peer.window.freeTo(index);
  else if (peer.state === 'probe') {
    // An answer that is no news still tells that the member is there and agrees at `match`.
    if (news || index === peer.match) becomeReplicate(core, peer);
  } else if (news && peer.match + 1 >= core.log.first) becomeReplicate(core, peer);
  noteCatchUp(core, peer);
  core.flushDue = true;
  return OK;
}

function becomeReplicate(core: Core, peer: Progress): void {
  peer.becomeReplicate();
  traceProgress(core, peer);
}

/** The number of `entries` that the log has already; -1 if it has one of them with another hash. */
function countKnown({ log }: Core, entries: readonly Entry[]): number {
  let known = 0;
  while (known < entries.length && log.matches(entries[known]!.index, entries[known]!.term)) {
    if (log.hashAt(entries[known]!.index) !== entries[known]!.hash) return -1;
    known += 1;
  }
  return known;
}

/** True if the last entry that an append and the committed part of the log have in common is the same. */
function agreesWithCommitted({ log }: Core, { prevIndex, entries }: Append): boolean {
  const last = Math.min(prevIndex + entries.length, log.commit);
  if (last <= prevIndex || last < log.first) return true;
  return log.matches(last, entries[last - prevIndex - 1]!.term);
}

function truncate(core: Core, from: Index): void {
  core.log.truncateFrom(from);
  core.writes.cutFrom(from);
  core.trace?.({ node: core.id, type: 'truncate', from });
}

function take(core: Core, entries: readonly Entry[], known: number): void {
  const { log } = core;
  if (known >= entries.length) return;
  for (let at = known; at < entries.length; at += 1) log.push(entries[at]!);
  const { term } = core;
  core.trace?.({ node: core.id, type: 'append', first: entries[known]!.index, last: log.last, term });
}

function durableMatch(progress: Progress): Index {
  return progress.recovering ? 0 : progress.match;
}

function bytesOf(entries: readonly Entry[]): number {
  let bytes = 0;
  for (const entry of entries) bytes += entryBytes(entry);
  return bytes;
}

const NO_ENTRIES: readonly Entry[] = Object.freeze([]);
