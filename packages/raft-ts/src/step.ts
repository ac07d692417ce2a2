/**
 * Messages come in: they are checked, the terms are compared, and each kind goes to the file that knows it.
 */
import { flawOf } from './check.js';
import { type Core, OK, type StepResult } from './core.js';
import {
  hearsLeader,
  onPreVoteResponse,
  onTimeoutNow,
  onVoteRequest,
  onVoteResponse,
  refuseVote,
} from './election.js';
import { onHeartbeat, onHeartbeatResponse } from './heartbeats.js';
import { isRemoved } from './membership.js';
import type {
  Append,
  Heartbeat,
  InstallSnapshot,
  Message,
  MessageKind,
  Quiesce,
  TimeoutNow,
} from './messages.js';
import { onProposeMessage } from './proposals.js';
import { onMessageWhileQuiesced, onQuiesce } from './quiescence.js';
import { onReadIndex, onReadIndexResponse } from './readindex.js';
import { accept, noteRecovery, onAppend, onAppendResponse } from './replication.js';
import { becomeFollower } from './roles.js';
import { takeSnapshot } from './snapshots.js';
import { NO_NODE } from './types.js';

/** Takes a message in. Whatever it holds, nothing breaks. */
export function step(core: Core, message: Message): StepResult {
  const flaw = flawOf(core, message);
  if (flaw !== null) return core.refused(message, flaw);
  if (isRemoved(core.tracker.membership, message.from)) {
    return onRemovedSender(core, message);
  }
  if (core.quiesced && onMessageWhileQuiesced(core, message)) return core.ignored(message, 'no_news');
  if (message.term < core.term) return onStaleTerm(core, message);
  if (message.term > core.term) {
    const verdict = onHigherTerm(core, message);
    if (verdict !== OK) return verdict;
  }
  return isFromLeader(message) ? onLeaderMessage(core, message) : dispatch(core, message);
}

type LeaderMessage = Append | Heartbeat | InstallSnapshot | Quiesce | TimeoutNow;

function isFromLeader(message: Message): message is LeaderMessage {
  return LEADER_KINDS.has(message.kind);
}

const LEADER_KINDS: ReadonlySet<MessageKind> = new Set([
  'append',
  'heartbeat',
  'snapshot',
  'quiesce',
  'timeoutNow',
]);

/**
 * A removed member may not know that it was removed. A refused vote tells it what is committed; if it
 * believes that it leads, it is told of the new term, or nobody would ever contradict it.
 */
function onRemovedSender(core: Core, message: Message): StepResult {
  if (message.kind === 'preVote' || message.kind === 'vote') refuseVote(core, message);
  else if (message.term < core.term) tellTerm(core, message);
  return core.ignored(message, 'removed_sender');
}

/**
 * The sender lives in the past. A former leader, and a candidate that lost touch, must learn of the new term,
 * or with pre-vote and quorum checks on both sides they would ignore each other for ever.
 */
function onStaleTerm(core: Core, message: Message): StepResult {
  if (message.kind === 'preVote' || message.kind === 'vote') refuseVote(core, message);
  else tellTerm(core, message);
  return core.ignored(message, 'stale_term');
}

/** Answers what only a leader says, by a leader of a former term, with the term of now. */
function tellTerm(core: Core, message: Message): void {
  if (!isFromLeader(message) || message.kind === 'timeoutNow') return;
  core.send({ kind: 'heartbeatResponse', from: core.id, to: message.from, term: core.term, round: 0 });
}

function onHigherTerm(core: Core, message: Message): StepResult {
  // Both speak of a term that the candidate has not entered.
  if (message.kind === 'preVote') return OK;
  if (message.kind === 'preVoteResponse' && message.granted) return OK;
  if (message.kind === 'vote' && !message.transfer && hearsLeader(core, message.from)) {
    return core.ignored(message, 'leader_alive');
  }
  becomeFollower(core, message.term, isFromLeader(message) ? message.from : NO_NODE, 'higher_term');
  return OK;
}

/** In its term, what comes from the leader makes a follower of everybody. */
function onLeaderMessage(core: Core, message: LeaderMessage): StepResult {
  const { from } = message;
  const isOther = core.leader !== NO_NODE && core.leader !== from;
  // Election safety (I1): never two leaders in a term. Whoever claims it is not sound.
  if (core.role === 'leader' || isOther) return core.refused(message, 'two_leaders');
  if (core.role !== 'follower' || core.leader === NO_NODE)
    becomeFollower(core, core.term, from, 'leader_found');
  core.electionElapsed = 0;
  switch (message.kind) {
    case 'append':
      return onAppend(core, message);
    case 'heartbeat':
      return onHeartbeat(core, message);
    case 'snapshot':
      return onSnapshot(core, message);
    case 'quiesce':
      return onQuiesce(core, message);
    case 'timeoutNow':
      return onTimeoutNow(core, message);
  }
}

function onSnapshot(core: Core, message: InstallSnapshot): StepResult {
  const { index: end, term, hash } = message.snapshot;
  if (core.log.matches(end, term) && core.log.hashAt(end) !== hash)
    return core.refused(message, 'hash_mismatch');
  const index = takeSnapshot(core, message);
  noteRecovery(core);
  accept(core, message, index);
  return OK;
}

function dispatch(core: Core, message: Exclude<Message, LeaderMessage>): StepResult {
  switch (message.kind) {
    case 'preVote':
    case 'vote':
      return onVoteRequest(core, message);
    case 'preVoteResponse':
      return onPreVoteResponse(core, message);
    case 'voteResponse':
      return onVoteResponse(core, message);
    case 'appendResponse':
      return onAppendResponse(core, message);
    case 'heartbeatResponse':
      return onHeartbeatResponse(core, message);
    case 'readIndex':
      return onReadIndex(core, message);
    case 'readIndexResponse':
      return onReadIndexResponse(core, message);
    case 'propose':
      return onProposeMessage(core, message);
    case 'wake':
      // Waking was done on the way here; heartbeats are under way.
      return OK;
  }
}
