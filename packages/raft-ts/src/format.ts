/** Messages, entries and trace events as lines for people. */
import { CodecError } from './bytes.js';
import { decodeChange } from './change.js';
import type { ChangeStep } from './membership.js';
import type { Message } from './messages.js';
import type { TraceEvent } from './trace.js';
import type { Entry, Membership, NodeId } from './types.js';

/** `1->2 append term=3 prev=7/2 commit=6 [8/3 "x"]`: positions are written index/term. */
export function formatMessage(message: Message): string {
  const { from, to, kind, term } = message;
  return `${from}->${to} ${kind} term=${term}${details(message)}`;
}

/** `8/3 "x"`: index, term, and the payload as text (cut short), or what it stands for. */
export function formatEntry(entry: Entry): string {
  const place = `${entry.index}/${entry.term}`;
  if (entry.kind === 'noop') return `${place} noop`;
  if (entry.kind === 'change') return `${place} change ${formatChangePayload(entry.payload)}`;
  return `${place} ${formatPayload(entry.payload)}`;
}

/** `voters=(1 2 3) outgoing=(1 2) learners=(4)`; empty lists are left out. */
export function formatMembership(membership: Membership): string {
  const { voters, outgoing, learners, learnersNext, promote, removed, autoLeave } = membership;
  const parts = [`voters=${formatIds(voters)}`];
  if (outgoing.length > 0) parts.push(`outgoing=${formatIds(outgoing)}`);
  if (learners.length > 0) parts.push(`learners=${formatIds(learners)}`);
  if (learnersNext.length > 0) parts.push(`learnersNext=${formatIds(learnersNext)}`);
  if (promote.length > 0) parts.push(`promote=${formatIds(promote)}`);
  if (removed.length > 0) parts.push(`removed=${formatIds(removed)}`);
  if (autoLeave) parts.push('autoLeave');
  return parts.join(' ');
}

/** One line, without the node's own id. */
export function formatTrace(event: TraceEvent): string {
  switch (event.type) {
    case 'role':
      return `becomes ${event.role} in term ${event.term}, leader ${event.leader} (${event.reason})`;
    case 'vote': {
      const answer = event.refused === null ? 'grants' : 'refuses';
      const why = event.refused === null ? '' : ` (${event.refused})`;
      return `${answer} ${event.candidate} its ${event.pre ? 'pre-vote' : 'vote'} for term ${event.term}${why}`;
    }
    case 'tally':
      return `counts ${event.granted ? 'a yes' : 'a no'} of ${event.voter}${event.pre ? ' (pre-vote)' : ''}`;
    case 'append':
      return `appends ${event.first}..${event.last} in term ${event.term}`;
    case 'truncate':
      return `cuts its log from ${event.from} on`;
    case 'commit':
      return `knows ${event.index} as committed`;
    case 'progress':
      return `sees ${event.peer} in ${event.state}, match ${event.match}, next ${event.next}`;
    case 'membership':
      return `is in membership of ${event.index}: ${formatMembership(event.membership)}`;
    case 'change_ignored':
      return `ignores the change at ${event.index} (${event.reason})`;
    case 'change_proposed':
      return `proposes the change at ${event.index} (${event.by})`;
    case 'read_round':
      return `starts read round ${event.round} for ${event.reads} reads`;
    case 'reads_dropped':
      return `drops ${event.count} reads (${event.reason})`;
    case 'transfer':
      return `transfer to ${event.to}: ${event.phase}`;
    case 'snapshot':
      return `snapshot ${event.index}, peer ${event.peer}: ${event.phase}`;
    case 'quiesce':
      return event.on ? 'falls silent' : 'wakes up';
    case 'recovering':
      return event.on
        ? `has lost entries up to ${event.index}/${event.term}`
        : `has its entries back, up to ${event.index}`;
    case 'refused':
      return `refuses ${event.kind} of ${event.from} (${event.reason})`;
    case 'ignored':
      return `ignores ${event.kind} of ${event.from} (${event.reason})`;
    case 'outbox_full':
      return `drops ${event.kind} for ${event.to}: too many messages wait`;
  }
}

function details(message: Message): string {
  switch (message.kind) {
    case 'preVote':
      return ` last=${message.lastIndex}/${message.lastTerm}`;
    case 'vote':
      return ` last=${message.lastIndex}/${message.lastTerm}${message.transfer ? ' transfer' : ''}`;
    case 'preVoteResponse':
    case 'voteResponse':
      return message.granted ? ' granted' : ' refused';
    case 'append': {
      const entries = message.entries.length === 0 ? '' : ` [${message.entries.map(formatEntry).join(', ')}]`;
      const notice = message.notice ? ' notice' : '';
      return ` prev=${message.prevIndex}/${message.prevTerm} commit=${message.commit}${entries}${notice}`;
    }
    case 'appendResponse': {
      const recovering = message.recovering ? ' recovering' : '';
      if (!message.rejected) return ` index=${message.index}${recovering}`;
      return ` index=${message.index} rejected hint=${message.hintIndex}/${message.hintTerm}${recovering}`;
    }
    case 'heartbeat':
      return ` commit=${message.commit}${message.round > 0 ? ` round=${message.round}` : ''}`;
    case 'heartbeatResponse':
      return message.round > 0 ? ` round=${message.round}` : '';
    case 'snapshot': {
      const { index, term, membership } = message.snapshot;
      return ` ${index}/${term} ${formatMembership(membership)}`;
    }
    case 'quiesce':
      return ` index=${message.index}`;
    case 'readIndexResponse':
      return ` index=${message.index}`;
    case 'propose':
      return ` [${message.payloads.map(formatPayload).join(', ')}]`;
    case 'timeoutNow':
    case 'wake':
    case 'readIndex':
      return '';
  }
}

function formatChangePayload(payload: Uint8Array): string {
  try {
    const { steps } = decodeChange(payload);
    return steps.length === 0 ? 'leave joint' : steps.map(formatStep).join(' ');
  } catch (error) {
    if (error instanceof CodecError) return `(${error.message})`;
    throw error;
  }
}

function formatStep(step: ChangeStep): string {
  if (step.action === 'addVoter') return `v${step.node}`;
  if (step.action === 'remove') return `r${step.node}`;
  return step.promote ? `p${step.node}` : `l${step.node}`;
}

function formatPayload(payload: Uint8Array): string {
  const shown = Array.from(payload.subarray(0, PAYLOAD_CHARS), (byte) => {
    return byte >= 0x20 && byte < 0x7f && byte !== 0x22 ? String.fromCharCode(byte) : '.';
  });
  return `"${shown.join('')}${payload.byteLength > PAYLOAD_CHARS ? '...' : ''}"`;
}

function formatIds(ids: readonly NodeId[]): string {
  return `(${ids.join(' ')})`;
}

const PAYLOAD_CHARS = 32;
