/**
 * Output to the host: one `Ready` holds everything that is to be done, in the order in which it may be done.
 */
import { assert } from './assert.js';
import type { Core } from './core.js';
import { countOwnVote } from './election.js';
import type { Message } from './messages.js';
import { hasReadsToStart, startReads } from './readindex.js';
import type { ReadResult } from './reads.js';
import { flushAppends } from './replication.js';
import type { Entry, HardState, Index, MembershipAt, NodeId, Role, Term } from './types.js';
import type { Acknowledgement, Write } from './writes.js';

/** Role, term and leader as a node sees them; not durable. */
export interface SoftState {
  /** The role of this node. */
  readonly role: Role;
  /** The current term. */
  readonly term: Term;
  /** The leader as far as it is known, or 0. */
  readonly leader: NodeId;
  /** The group is silent: the host stops ticking it until this turns false. */
  readonly quiesced: boolean;
}

/** Everything that is to be done now, in the order in which it may be done. */
export interface Ready {
  /** Null if unchanged. */
  readonly soft: SoftState | null;
  /** The membership in force, if it changed: whom to be connected with. */
  readonly membership: MembershipAt | null;
  /**
   * Make this durable, in one step, in the order of the sequence numbers, and then call `persisted`. Null:
   * nothing.
   */
  readonly write: Write | null;
  /** Send these, now or later, in this order per recipient. They promise nothing that is not durable. */
  readonly messages: readonly Message[];
  /**
   * Apply these, in order, and report it by `applied`. They are durable here; of changes, that they are
   * committed, too.
   */
  readonly committed: readonly Entry[];
  /** The memberships that changes among `committed` brought about: to be kept with the applied state. */
  readonly committedMemberships: readonly MembershipAt[];
  /** Outcomes of reads that were asked for here. */
  readonly reads: readonly ReadResult[];
}

/** Keeps what was last said, so that only changes are said again. */
export class Announcer {
  private role: Role = 'follower';
  private leader: NodeId = 0;
  private quiesced = false;

  constructor(private term: Term) {}

  isNews({ role, term, leader, quiesced }: Core): boolean {
    return role !== this.role || term !== this.term || leader !== this.leader || quiesced !== this.quiesced;
  }

  /** The soft state if it is news. */
  take(core: Core): SoftState | null {
    if (!this.isNews(core)) return null;
    const { role, term, leader, quiesced } = core;
    this.role = role;
    this.term = term;
    this.leader = leader;
    this.quiesced = quiesced;
    return { role, term, leader, quiesced };
  }
}

/** True if `takeReady` would give anything. */
export function hasReady(core: Core, announcer: Announcer): boolean {
  if (core.outbox.length > 0 || core.readResults.length > 0 || core.membershipChanged) return true;
  if (core.flushDue && core.role === 'leader') return true;
  if (announcer.isNews(core) || hasReadsToStart(core)) return true;
  if (core.log.hasCommitted(core.settings.maxApplyBytes, applyLimit(core))) return true;
  const wantsWrite = isWriteDue(core);
  if (wantsWrite) return core.writes.count < core.settings.maxWritesInFlight;
  return core.gated.length > 0;
}

/** Takes everything that is ready. */
export function takeReady(core: Core, announcer: Announcer): Ready {
  startReads(core);
  if (core.role === 'leader' && core.flushDue) flushAppends(core);
  const write = takeWrite(core);
  const committed = core.log.takeCommitted(core.settings.maxApplyBytes, applyLimit(core));
  const ready: Ready = {
    soft: announcer.take(core),
    membership: takeMembership(core),
    write,
    messages: core.outbox.length === 0 ? NO_MESSAGES : core.outbox,
    committed,
    committedMemberships: core.membershipHistory.length === 0 ? NO_MEMBERSHIPS : takeHistory(core),
    reads: core.readResults.length === 0 ? NO_READS : core.readResults,
  };
  if (core.outbox.length > 0) core.outbox = [];
  if (core.readResults.length > 0) core.readResults = [];
  core.log.check();
  return ready;
}

/** A write, and every one before it, is durable. Returns the messages that waited for it. */
export function completeWrite(core: Core, acknowledgement: Acknowledgement): readonly Message[] {
  const { log, tracker, settings } = core;
  const done = core.writes.complete(acknowledgement);
  assert(done.hardTerm >= core.durableTerm, 'The durable term falls', done.hardTerm, core.durableTerm);
  core.durableTerm = done.hardTerm;
  core.durableVote = done.hardVote;
  core.durableCommit = done.hardCommit;
  log.stableTo(done.lastIndex);
  log.trim(settings.maxTailBytes);
  if (core.role === 'leader') {
    const self = tracker.progressOf(core.id);
    // The leader is a voter like the others: its entries count when they are durable.
    if (self?.matched(log.stable) === true) core.commitDue = true;
  }
  countOwnVote(core);
  return done.messages;
}

/** The state machine has applied everything up to `index`. */
export function noteApplied(core: Core, index: Index): void {
  core.log.appliedTo(index);
  core.log.trim(core.settings.maxTailBytes);
}

/**
 * The commit index is a reason to write where it covers a membership change. Otherwise it can be found out
 * again, and goes along with every other write, so that a change is never durable without the commit of the
 * one before it (see `configuration.ts`).
 */
function isWriteDue(core: Core): boolean {
  const { log, term, vote, handedTerm, handedVote, handedCommit, membershipIndex } = core;
  if (log.hasUnwritten() || term !== handedTerm || vote !== handedVote) return true;
  return membershipIndex > handedCommit;
}

/**
 * Up to where entries may be applied: before the first change of which it is not durable yet that it is
 * committed.
 */
function applyLimit({ membershipHistory, durableCommit }: Core): Index {
  if (membershipHistory.length === 0) return Number.POSITIVE_INFINITY;
  const held = membershipHistory.find(({ index }) => index > durableCommit);
  return held === undefined ? Number.POSITIVE_INFINITY : held.index - 1;
}

function takeWrite(core: Core): Write | null {
  const { settings, writes, log, term, vote } = core;
  if (!isWriteDue(core)) {
    releaseGated(core);
    return null;
  }
  if (writes.count >= settings.maxWritesInFlight) return null;
  const { snapshot, entries } = log.takeUnwritten();
  const hardState = takeHardState(core);
  const messages = core.gated;
  core.gated = [];
  const sequence = writes.add(term, log.last, { term, vote, commit: log.commit }, messages, core.now);
  return { sequence, term, hardState, snapshot, entries };
}

function takeHardState(core: Core): HardState | null {
  const { term, vote, log } = core;
  const same = term === core.handedTerm && vote === core.handedVote && log.commit === core.handedCommit;
  if (same) return null;
  core.handedTerm = term;
  core.handedVote = vote;
  core.handedCommit = log.commit;
  return { term, vote, commit: log.commit };
}

/**
 * Nothing is left to be written: what waits for durability waits for the writes under way, or for nothing.
 */
function releaseGated(core: Core): void {
  if (core.gated.length === 0) return;
  if (!core.writes.attach(core.gated)) {
    for (const message of core.gated) core.outbox.push(message);
  }
  core.gated = [];
}

function takeMembership(core: Core): MembershipAt | null {
  if (!core.membershipChanged) return null;
  core.membershipChanged = false;
  return { index: core.membershipIndex, membership: core.tracker.membership };
}

function takeHistory(core: Core): readonly MembershipAt[] {
  let count = 0;
  const { membershipHistory, log } = core;
  while (count < membershipHistory.length && membershipHistory[count]!.index <= log.applying) count += 1;
  return count === 0 ? NO_MEMBERSHIPS : membershipHistory.splice(0, count);
}

const NO_MESSAGES: readonly Message[] = Object.freeze([]);
const NO_MEMBERSHIPS: readonly MembershipAt[] = Object.freeze([]);
const NO_READS: readonly ReadResult[] = Object.freeze([]);
