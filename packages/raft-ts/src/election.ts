/** Campaigns and votes (Raft paper, section 5.2 and 5.4.1; pre-vote: dissertation, section 9.6). */
import { assert } from './assert.js';
import { type Core, OK, type StepResult } from './core.js';
import { isRemoved, isVoter } from './membership.js';
import type { PreVote, PreVoteResponse, TimeoutNow, Vote, VoteResponse } from './messages.js';
import { becomeCandidate, becomeFollower, becomeLeader, becomePreCandidate } from './roles.js';
import type { RoleReason, VoteRefusal } from './trace.js';
import { type Index, NO_NODE, type NodeId, type Term } from './types.js';

/** Begins an election, if this node may. Whether it did. */
export function campaign(core: Core, reason: RoleReason): boolean {
  if (core.role === 'leader' || !core.isPromotable) return false;
  if (core.settings.preVote && reason !== 'transfer') startPreVote(core, reason);
  else startVote(core, reason);
  return true;
}

/** The own vote counts from the moment that it is durable. */
export function countOwnVote(core: Core): void {
  if (core.role !== 'candidate') return;
  if (core.durableTerm !== core.term || core.durableVote !== core.id) return;
  core.tracker.recordVote(core.id, true);
  decide(core);
}

/** Answers `preVote` and `vote`, after the terms have been compared. */
export function onVoteRequest(core: Core, message: PreVote | Vote): StepResult {
  const pre = message.kind === 'preVote';
  learnCommit(core, message);
  const refused = voteRefusal(core, message);
  core.trace?.({ node: core.id, type: 'vote', pre, candidate: message.from, term: message.term, refused });
  if (message.kind === 'preVote') {
    answerPreVote(core, message, refused === null);
    return OK;
  }
  if (refused !== null) {
    answerVote(core, message, false);
    return OK;
  }
  core.voteFor(message.from);
  core.electionElapsed = 0;
  answerVote(core, message, true);
  return OK;
}

/** Refuses a request without looking at it further: its term is stale, or its sender was removed. */
export function refuseVote(core: Core, message: PreVote | Vote): void {
  learnCommit(core, message);
  if (message.kind === 'preVote') answerPreVote(core, message, false);
  else answerVote(core, message, false);
}

export function onPreVoteResponse(core: Core, message: PreVoteResponse): StepResult {
  learnCommit(core, message);
  if (core.log.hasCommittedChange) return OK;
  if (core.role !== 'preCandidate') return core.ignored(message, 'not_candidate');
  if (message.attempt !== core.attempt) return core.ignored(message, 'other_attempt');
  return count(core, message, true);
}

export function onVoteResponse(core: Core, message: VoteResponse): StepResult {
  learnCommit(core, message);
  if (core.log.hasCommittedChange) return OK;
  if (core.role !== 'candidate') return core.ignored(message, 'not_candidate');
  return count(core, message, false);
}

/** The leader asks this node to take over. */
export function onTimeoutNow(core: Core, message: TimeoutNow): StepResult {
  assert(
    core.role === 'follower' && core.leader === message.from,
    'Only the leader hands over',
    message.from,
  );
  return campaign(core, 'transfer') ? OK : core.ignored(message, 'not_promotable');
}

/** True if this node hears a leader, so that it helps nobody else to become one. `from` asks for a vote. */
export function hearsLeader(core: Core, from: NodeId): boolean {
  if (!core.settings.checkQuorum) return false;
  if (core.role === 'leader' || core.now < core.mutedUntil) return true;
  // A former leader that campaigns does not lead any more, whatever the clock says.
  if (core.leader === NO_NODE || core.leader === from) return false;
  return core.quiesced || core.electionElapsed < core.settings.electionTicks;
}

function startPreVote(core: Core, reason: RoleReason): void {
  becomePreCandidate(core, reason);
  core.tracker.recordVote(core.id, true);
  if (core.tracker.verdict() === 'won') {
    startVote(core, reason);
    return;
  }
  const { attempt, id: from } = core;
  const term = core.term + 1;
  for (const to of votersBesides(core)) {
    core.send({ kind: 'preVote', from, to, term, attempt, ...lastOf(core), ...commitOf(core) });
  }
}

/**
 * The requests leave when term and vote are durable, and with them the log that they speak of: a candidate
 * that forgot both in a crash could campaign again in the same term, with a shorter log, and be given a vote
 * meant for the longer.
 */
function startVote(core: Core, reason: RoleReason): void {
  becomeCandidate(core, reason);
  const { term, id: from } = core;
  const transfer = reason === 'transfer';
  for (const to of votersBesides(core)) {
    core.sendWhenDurable({ kind: 'vote', from, to, term, transfer, ...lastOf(core), ...commitOf(core) });
  }
}

function voteRefusal(core: Core, message: PreVote | Vote): VoteRefusal | null {
  const { membership } = core.tracker;
  if (isRemoved(membership, core.id)) return 'self_removed';
  if (core.recovery !== null || core.lostTail > 0) return 'recovering';
  if (message.kind === 'preVote' && hearsLeader(core, message.from)) return 'leader_alive';
  if (!core.log.isUpToDate(message.lastIndex, message.lastTerm)) return 'log_behind';
  if (message.term > core.term) return null;
  if (core.vote === message.from) return null;
  return core.vote === NO_NODE && core.leader === NO_NODE ? null : 'already_voted';
}

/**
 * Asks nothing of the disk: it promises nothing. A refusal speaks in the candidate's term at least, or it
 * would not be heard.
 */
function answerPreVote(core: Core, message: PreVote, granted: boolean): void {
  const term = granted ? message.term : Math.max(core.term, message.term - 1);
  const { attempt, from: to } = message;
  core.send({ kind: 'preVoteResponse', from: core.id, to, term, attempt, granted, ...commitOf(core) });
}

function answerVote(core: Core, message: Vote, granted: boolean): void {
  const { id: from, term } = core;
  const response: VoteResponse = {
    kind: 'voteResponse',
    from,
    to: message.from,
    term,
    granted,
    ...commitOf(core),
  };
  if (!granted) {
    core.send(response);
    return;
  }
  assert(
    core.vote === message.from && message.term === term,
    'A vote that was not given',
    core.vote,
    message.from,
  );
  core.sendWhenDurable(response);
}

function count(core: Core, message: PreVoteResponse | VoteResponse, pre: boolean): StepResult {
  if (!isVoter(core.tracker.membership, message.from)) return core.ignored(message, 'not_a_member');
  core.tracker.recordVote(message.from, message.granted);
  core.trace?.({ node: core.id, type: 'tally', pre, voter: message.from, granted: message.granted });
  decide(core);
  return OK;
}

function decide(core: Core): void {
  const verdict = core.tracker.verdict();
  if (verdict === 'lost') becomeFollower(core, core.term, NO_NODE, 'vote_lost');
  else if (verdict === 'pending') return;
  else if (core.role === 'preCandidate') startVote(core, 'pre_vote_won');
  else becomeLeader(core);
}

/**
 * Takes over what others know as committed. If that puts another membership in force, an election that is
 * under way is off: it was asked for under the former one.
 *
 * An entry that others know as committed is committed. So a voter learns that a membership change is through
 * although the leader that made it is gone: it may be that the old members, who know, will not vote, and the
 * new ones, who do not, ask them.
 */
function learnCommit(core: Core, claim: { readonly commit: Index; readonly commitTerm: Term }): void {
  const { log } = core;
  if (core.role === 'leader' || claim.commit <= log.commit) return;
  if (!log.matches(claim.commit, claim.commitTerm)) return;
  log.commitTo(claim.commit);
  core.trace?.({ node: core.id, type: 'commit', index: claim.commit });
}

function votersBesides(core: Core): NodeId[] {
  const { peers, membership } = core.tracker;
  return peers.map((peer) => peer.id).filter((id) => isVoter(membership, id));
}

function lastOf({ log }: Core): { readonly lastIndex: Index; readonly lastTerm: Term } {
  return { lastIndex: log.last, lastTerm: log.lastTerm };
}

function commitOf({ log }: Core): { readonly commit: Index; readonly commitTerm: Term } {
  return { commit: log.commit, commitTerm: Math.max(log.termAt(log.commit), 0) };
}
