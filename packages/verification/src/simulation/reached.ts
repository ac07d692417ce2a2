/**
 * Situations that some run must come into, or the mix of faults is not what it is thought to be. They are noted as they
 * happen; `npm run simulate -- --reached` counts the runs that came into each. The list is what thousands of runs are
 * known to reach: one that is not reached any more tells that a change has made the simulator blind there.
 */

import type { Event, GroupId, NodeId } from '@althing/node/parts';
import type { Status, TraceEvent } from 'raft-ts';
import type { Action, Operation, Outcome } from './history.js';
import { FAULT_KINDS } from './nemesis.js';
import type { Process } from './process.js';

/** Runs after which every situation must have come up. */
export const REACHED_WITHIN = 2000;

export class Reached {
  private readonly places = new Set<string>();
  /** The node that proposed the latest change of membership, by group. */
  private readonly changedBy = new Map<GroupId, NodeId>();

  get all(): readonly string[] {
    return [...this.places];
  }

  add(place: string): void {
    this.places.add(place);
  }

  onTrace(process: Process, group: GroupId, event: TraceEvent): void {
    const place = placeOf(event);
    if (place !== null) this.add(place);
    if (event.type === 'change_proposed') {
      const isOther = event.by === 'auto_leave' && this.changedBy.get(group) !== process.nodeId;
      if (isOther) this.add('a joint membership is left by another leader than the one that began it');
      this.changedBy.set(group, process.nodeId);
    }
    if (event.type !== 'role' && event.type !== 'membership') return;
    const status = process.host?.status(group);
    if (status === undefined) return;
    if (event.type === 'membership') this.onMembership(process.nodeId, status);
    else if (event.role === 'leader') this.onLeader(status);
  }

  onEvent(event: Event): void {
    this.add(`event ${event.kind}`);
    if (event.kind === 'disk') this.add(`disk ${event.level}`);
    if (event.kind === 'log') this.add(`log ${event.event}`);
  }

  /** A process ends without warning. */
  onCrash(process: Process, powerCut: boolean): void {
    const how = powerCut ? 'power cut' : 'kill';
    if (!process.isOpen) this.add(`${how} before the node is open`);
    for (const group of process.host?.groupIds ?? []) {
      const status = process.host?.status(group);
      if (status === undefined) continue;
      for (const [situation, isSo] of Object.entries(SITUATIONS))
        if (isSo(status)) this.add(`${how} of a node that ${situation}`);
    }
  }

  onOperations(operations: readonly Operation[]): void {
    for (const { outcome, action } of operations) this.add(`${action.kind} is ${outcome}`);
  }

  private onLeader({ membership, lastIndex, commitIndex }: Status): void {
    if (membership.outgoing.length > 0) this.add('a leader is elected in a joint membership');
    if (membership.learners.length > 0) this.add('a leader is elected while there are learners');
    if (lastIndex - commitIndex > 3) this.add('a leader begins with entries that nobody knows as committed');
  }

  private onMembership(nodeId: NodeId, { membership }: Status): void {
    if (membership.outgoing.length > 0) {
      this.add('a membership is joint');
      if (!membership.voters.includes(nodeId)) this.add('a node that goes knows of it');
    }
    if (membership.voters.length === 1 && membership.removed.length > 0) this.add('one voter is left');
    if (membership.voters.length > 4) this.add('there are five voters or more');
    if (membership.learners.length > 0) this.add('there are learners');
  }
}

/** Places that must have been reached and were not, sorted. */
export function missingPlaces(runs: ReadonlyMap<string, number>): string[] {
  return PLACES.filter((place) => !runs.has(place)).sort();
}

function placeOf(event: TraceEvent): string | null {
  switch (event.type) {
    case 'role':
      return `becomes ${event.role}: ${event.reason}`;
    case 'vote':
      return `${event.pre ? 'pre-vote' : 'vote'} ${event.refused ?? 'given'}`;
    case 'progress':
      return `a member is seen in ${event.state}`;
    case 'change_proposed':
      return `a change is proposed: ${event.by}`;
    case 'change_ignored':
      return `a change has no effect: ${event.reason}`;
    case 'reads_dropped':
      return `reads are dropped: ${event.reason}`;
    case 'transfer':
      return `transfer ${event.phase}`;
    case 'snapshot':
      return `snapshot ${event.phase}`;
    case 'quiesce':
      return event.on ? 'a group falls silent' : 'a group wakes up';
    case 'recovering':
      return event.on ? 'a node knows that it lost entries' : 'a node has again what it lost';
    case 'ignored':
      return `ignores ${event.kind}: ${event.reason}`;
    case 'outbox_full':
      return 'an outbox is full';
    case 'truncate':
      return 'a log loses entries that conflict';
    default:
      return null;
  }
}

/** Situations of a node in a group in which it may end. */
const SITUATIONS: Readonly<Record<string, (status: Status) => boolean>> = {
  leads: ({ role }) => role === 'leader',
  'leads and has uncommitted entries': (status) =>
    status.role === 'leader' && status.lastIndex > status.commitIndex,
  campaigns: ({ role }) => role === 'candidate' || role === 'preCandidate',
  'is in a joint membership': ({ membership }) => membership.outgoing.length > 0,
  'has entries that are not durable': ({ lastIndex, stableIndex }) => lastIndex > stableIndex,
  'has entries to apply': ({ commitIndex, appliedIndex }) => commitIndex > appliedIndex,
  'installs a snapshot': ({ installing }) => installing > 0,
  'hands its leadership over': ({ transferTo }) => transferTo !== 0,
  'sends a snapshot': ({ peers }) => peers.some(({ state }) => state === 'snapshot'),
  'is silent': ({ quiesced }) => quiesced,
};

const RARE_AT_POWER_CUTS = 'is in a joint membership';

/** Outcomes that must come about, by the kind of action. */
const OUTCOMES: Readonly<Record<Action['kind'], readonly Outcome[]>> = {
  append: ['ok', 'failed', 'unknown'],
  append_and_fail: ['failed', 'unknown'],
  dry_run: ['ok', 'failed', 'unknown'],
  read: ['ok', 'failed', 'unknown'],
  increment: ['ok', 'failed', 'unknown'],
  swap: ['ok', 'failed', 'unknown'],
  get: ['ok', 'failed', 'unknown'],
  move: ['ok', 'failed', 'unknown'],
  balances: ['ok', 'failed', 'unknown'],
  sweep: ['ok', 'unknown'],
  look: ['ok', 'unknown'],
  task: ['ok', 'unknown'],
  recalled_task: [],
  future: ['ok', 'unknown'],
  mortal: [],
  reprieve: [],
  allow: ['ok', 'failed', 'unknown'],
  forbid: ['ok', 'failed', 'unknown'],
  admit: [],
  expel: [],
  visit: ['ok', 'failed', 'unknown'],
  session: [],
  other: ['ok', 'failed', 'unknown'],
};

/** Places by what their names begin with. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'a change is proposed: ': ['auto_leave', 'host', 'promotion'],
  'a disk that lied: ': ['the leader tells', 'the log tells'],
  'a member is seen in ': ['probe', 'replicate'],
  'a request of the library: ': ['answer lost', 'late', 'lost'],
  'becomes candidate: ': ['host', 'pre_vote_won', 'timeout', 'transfer'],
  'becomes follower: ': [
    'disk_stalled',
    'higher_term',
    'leader_found',
    'leader_silent',
    'membership_changed',
    'no_voter',
    'quorum_lost',
    'vote_lost',
  ],
  'becomes preCandidate: ': ['host', 'timeout'],
  'disk ': ['low', 'ok'],
  'event ': [
    'asked_to_join',
    'called',
    'committed',
    'disk',
    'entries',
    'following',
    'handed_over',
    'install',
    'install_refused',
    'leading',
    'mark_lost',
    'mark_placed',
    'marked',
    'membership',
    'membership_answer',
    'peer',
    'read',
    'returned',
    'send_snapshot',
    'suspended',
  ],
  'ignores append: ': ['stale_term'],
  'ignores appendResponse: ': ['no_news', 'not_leader', 'removed_sender', 'stale_term'],
  'ignores heartbeat: ': ['stale_term'],
  'ignores heartbeatResponse: ': ['no_news', 'not_leader', 'removed_sender', 'stale_term'],
  'ignores preVote: ': ['removed_sender', 'stale_term'],
  'ignores preVoteResponse: ': ['not_candidate', 'other_attempt', 'stale_term'],
  'ignores quiesce: ': ['stale_term'],
  'ignores readIndex: ': ['not_leader', 'removed_sender', 'stale_term'],
  'ignores readIndexResponse: ': ['other_attempt', 'stale_term'],
  'ignores snapshot: ': ['stale_term'],
  'ignores timeoutNow: ': ['stale_term'],
  'ignores vote: ': ['leader_alive', 'stale_term'],
  'ignores voteResponse: ': ['not_candidate', 'stale_term'],
  'ignores wake: ': ['stale_term'],
  'new_node is ': ['failed', 'ok'],
  'pre-vote ': ['already_voted', 'given', 'leader_alive', 'log_behind', 'self_removed'],
  'reads are dropped: ': ['leader_changed', 'timeout'],
  'snapshot ': ['arrived', 'installed', 'not_needed', 'sent', 'taken'],
  'states are compared: ': ['equal', 'incomplete'],
  'transfer ': ['given_up', 'leadership_lost', 'started', 'told'],
  'vote ': ['already_voted', 'given', 'log_behind'],
};

const PLACES: readonly string[] = [
  ...FAULT_KINDS.map((kind) => `fault ${kind}`),
  ...Object.entries(OUTCOMES).flatMap(([kind, outcomes]) =>
    outcomes.map((outcome) => `${kind} is ${outcome}`),
  ),
  ...Object.entries(GROUPS).flatMap(([begin, ends]) => ends.map((end) => `${begin}${end}`)),
  ...Object.keys(SITUATIONS).map((situation) => `kill of a node that ${situation}`),
  ...Object.keys(SITUATIONS)
    .filter((situation) => situation !== RARE_AT_POWER_CUTS)
    .map((situation) => `power cut of a node that ${situation}`),
  'a group falls silent',
  'a group wakes up',
  'a joint membership is left by another leader than the one that began it',
  'a leader begins with entries that nobody knows as committed',
  'a leader is elected in a joint membership',
  'a leader is elected while there are learners',
  'a log loses entries that conflict',
  'a membership is joint',
  'a node accepts an invitation',
  'a node that goes knows of it',
  'an outbox refuses a frame',
  'becomes leader: vote_won',
  'a consensus side rests between ticks',
  'entries are held back for want of room',
  'proposals wait for more',
  'kill before the node is open',
  'log slow_disk',
  'one voter is left',
  'power cut before the node is open',
  'checkpoints are compared with the entries',
  'a snapshot is read',
  'a snapshot holds all that was acknowledged',
  'a session emits',
  'a session had several requests at once',
  'a session heard an event',
  'a session heard everything up to the end',
  'a node lets its clients go, and stops',
  'a task ran in time',
  'a task ran late',
  'there are five voters or more',
  'there are learners',
];
