/** The four roles and what each change between them resets. */
import { assert } from './assert.js';
import type { Core } from './core.js';
import { chainEntry } from './hash.js';
import type { RoleReason, TransferPhase } from './trace.js';
import { type Entry, type EntryKind, NO_NODE, NOBODY, type NodeId, type Term } from './types.js';

/** Follows `leader` ({@link NO_NODE} if unknown) in `term`. */
export function becomeFollower(core: Core, term: Term, leader: NodeId, reason: RoleReason): void {
  assert(leader !== core.id, 'A node does not follow itself', leader);
  reset(core, term);
  core.role = 'follower';
  core.leader = leader;
  traceRole(core, reason);
}

/** Asks whether an election could be won; neither term nor vote change. */
export function becomePreCandidate(core: Core, reason: RoleReason): void {
  assert(core.role !== 'leader', 'A leader does not campaign');
  reset(core, core.term);
  core.role = 'preCandidate';
  core.attempt += 1;
  noteElection(core, reason);
  traceRole(core, reason);
}

/** Campaigns in the next term, with its own vote (which counts when it is durable). */
export function becomeCandidate(core: Core, reason: RoleReason): void {
  assert(core.role !== 'leader', 'A leader does not campaign');
  reset(core, core.term + 1);
  core.role = 'candidate';
  core.voteFor(core.id);
  noteElection(core, reason);
  traceRole(core, reason);
}

/** Leads the current term. */
export function becomeLeader(core: Core): void {
  assert(core.role === 'candidate', 'Only a candidate becomes leader');
  assert(
    core.vote === core.id && core.durableTerm === core.term,
    'A leader whose own vote is not durable',
    core.term,
  );
  reset(core, core.term);
  core.role = 'leader';
  core.leader = core.id;
  for (const peer of core.tracker.peers) peer.reset(core.log.last + 1, core.now);
  const self = core.tracker.progressOf(core.id);
  assert(self !== undefined, 'A leader is a member');
  self.reset(core.log.last + 1, core.now);
  self.becomeReplicate();
  self.match = core.log.stable;
  self.ackedRound = Number.POSITIVE_INFINITY;
  core.termStart = core.log.last + 1;
  core.lease?.begin();
  traceRole(core, 'vote_won');
  appendOwn(core, 'noop', [EMPTY]);
  core.flushDue = true;
}

/** Appends entries of the leader's own term; returns the first. */
export function appendOwn(core: Core, kind: EntryKind, payloads: readonly Uint8Array[]): Entry {
  assert(core.role === 'leader' && payloads.length > 0, 'Only a leader appends');
  const { log, settings, term } = core;
  const firstIndex = log.last + 1;
  let first: Entry | undefined;
  for (const payload of payloads) {
    const entry = chainEntry(log.lastHash, log.last + 1, term, kind, payload, settings.hashPayload);
    log.push(entry);
    first ??= entry;
  }
  core.flushDue = true;
  core.trace?.({ node: core.id, type: 'append', first: firstIndex, last: log.last, term });
  return first!;
}

/** Drops whatever reads wait here: nothing can be promised any more. */
export function dropReads(core: Core): void {
  const dropped = core.reads.takeAll().filter((read) => read.from === core.id);
  for (const { context } of [...dropped, ...core.forwarded.takeAll()]) {
    core.readResults.push({ outcome: 'dropped', context, reason: 'leader_changed' });
  }
  if (dropped.length === 0) return;
  core.trace?.({ node: core.id, type: 'reads_dropped', count: dropped.length, reason: 'leader_changed' });
}

/** Ends a transfer, for whatever reason. */
export function endTransfer(core: Core, phase: TransferPhase): void {
  if (core.transfer === null) return;
  core.trace?.({ node: core.id, type: 'transfer', to: core.transfer.to, phase });
  core.transfer = null;
}

function reset(core: Core, term: Term): void {
  if (term !== core.term) core.enterTerm(term);
  core.leader = NO_NODE;
  core.electionElapsed = 0;
  core.heartbeatElapsed = 0;
  core.quiesced = false;
  core.asleepWithout = NOBODY;
  core.drawElectionTimeout();
  core.tracker.clearVotes();
  core.lease?.begin();
  endTransfer(core, 'leadership_lost');
  dropReads(core);
}

function noteElection(core: Core, reason: RoleReason): void {
  core.lastElection = { reason, term: core.term, tick: core.now };
}

function traceRole(core: Core, reason: RoleReason): void {
  const { id: node, role, term, leader } = core;
  core.trace?.({ node, type: 'role', role, term, leader, reason });
}

const EMPTY = new Uint8Array(0);
