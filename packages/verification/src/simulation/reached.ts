/**
 * Situations that some run must come into, or the mix of faults is not what it is thought to be. They are noted as they
 * happen; `npm run simulate -- --reached` counts the runs that came into each. The list is what thousands of runs are
 * known to reach: one that is not reached any more tells that a change has made the simulator blind there.
 */

import type { Event, GroupId, NodeId } from '@althing/node/parts';
import type { Status, TraceEvent } from 'raft-ts';
import type { Operation } from './history.js';
import type { Process } from './process.js';

/** Runs after which every situation must have come up. */
export const REACHED_WITHIN = 2000;

export class Reached {
  private readonly places = new Set<string>();
  /** By group: who proposed the latest change of its membership. */
  private readonly changedBy = new Map<GroupId, NodeId>();

  /** All that was reached. */
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
      for (const situation of situationsOf(status)) this.add(`${how} of a node that ${situation}`);
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

function situationsOf(status: Status): string[] {
  const { role, membership, commitIndex, lastIndex, appliedIndex, stableIndex, installing } = status;
  const situations: [boolean, string][] = [
    [role === 'leader', 'leads'],
    [role === 'leader' && lastIndex > commitIndex, 'leads and has uncommitted entries'],
    [role === 'candidate' || role === 'preCandidate', 'campaigns'],
    [membership.outgoing.length > 0, 'is in a joint membership'],
    [lastIndex > stableIndex, 'has entries that are not durable'],
    [commitIndex > appliedIndex, 'has entries to apply'],
    [installing > 0, 'installs a snapshot'],
    [status.transferTo !== 0, 'hands its leadership over'],
    [status.peers.some(({ state }) => state === 'snapshot'), 'sends a snapshot'],
    [status.quiesced, 'is silent'],
  ];
  return situations.flatMap(([is, situation]) => (is ? [situation] : []));
}

const PLACES: readonly string[] = [
  'a change is proposed: auto_leave',
  'a change is proposed: host',
  'a change is proposed: promotion',
  'a group falls silent',
  'a group wakes up',
  'a joint membership is left by another leader than the one that began it',
  'a leader begins with entries that nobody knows as committed',
  'a leader is elected in a joint membership',
  'a leader is elected while there are learners',
  'a log loses entries that conflict',
  'a member is seen in probe',
  'a member is seen in replicate',
  'a membership is joint',
  'a node accepts an invitation',
  'a node that goes knows of it',
  'a request of the library: answer lost',
  'a request of the library: late',
  'a request of the library: lost',
  'allow is failed',
  'allow is ok',
  'allow is unknown',
  'an outbox refuses a frame',
  'append is failed',
  'append is ok',
  'append is unknown',
  'append_and_fail is failed',
  'append_and_fail is unknown',
  'balances is failed',
  'balances is ok',
  'balances is unknown',
  'becomes candidate: host',
  'becomes candidate: pre_vote_won',
  'becomes candidate: timeout',
  'becomes candidate: transfer',
  'becomes follower: disk_stalled',
  'becomes follower: higher_term',
  'becomes follower: leader_found',
  'becomes follower: leader_silent',
  'becomes follower: membership_changed',
  'becomes follower: no_voter',
  'becomes follower: quorum_lost',
  'becomes follower: vote_lost',
  'becomes leader: vote_won',
  'becomes preCandidate: host',
  'becomes preCandidate: timeout',
  'disk low',
  'disk ok',
  'dry_run is failed',
  'dry_run is ok',
  'dry_run is unknown',
  'a consensus side rests between ticks',
  'entries are held back for want of room',
  'event asked_to_join',
  'event called',
  'event committed',
  'event disk',
  'event entries',
  'event following',
  'event handed_over',
  'event install',
  'event install_refused',
  'event leading',
  'event mark_lost',
  'event mark_placed',
  'event marked',
  'event membership',
  'event membership_answer',
  'event peer',
  'event read',
  'entries wait for more',
  'event returned',
  'event send_snapshot',
  'event suspended',
  'fault burdened_leaders',
  'fault churn',
  'fault clock',
  'fault come_back',
  'fault crash',
  'fault crash_all',
  'fault crash_leader',
  'fault cut_short',
  'fault damage',
  'fault disk_full',
  'fault drain',
  'fault figure_8',
  'fault full_leader',
  'fault grow',
  'fault halves',
  'fault heal',
  'fault isolate',
  'fault isolate_leader',
  'fault kill',
  'fault last_of_two',
  'fault lie',
  'fault late_answers',
  'fault late_commands',
  'fault log_full',
  'fault lull',
  'fault one_way',
  'fault oust',
  'fault oversleep',
  'fault pause',
  'fault pause_engine',
  'fault pause_leader',
  'fault remove',
  'fault ring',
  'fault shrink',
  'fault slow_disk',
  'fault state_full',
  'fault transfer',
  'fault wipe',
  'fault young_leaders',
  'forbid is failed',
  'forbid is ok',
  'forbid is unknown',
  'get is failed',
  'get is ok',
  'get is unknown',
  'ignores append: stale_term',
  'ignores appendResponse: no_news',
  'ignores appendResponse: not_leader',
  'ignores appendResponse: removed_sender',
  'ignores appendResponse: stale_term',
  'ignores heartbeat: stale_term',
  'ignores heartbeatResponse: no_news',
  'ignores heartbeatResponse: not_leader',
  'ignores heartbeatResponse: removed_sender',
  'ignores heartbeatResponse: stale_term',
  'ignores preVote: removed_sender',
  'ignores preVote: stale_term',
  'ignores preVoteResponse: not_candidate',
  'ignores preVoteResponse: other_attempt',
  'ignores preVoteResponse: stale_term',
  'ignores quiesce: stale_term',
  'ignores readIndex: not_leader',
  'ignores readIndex: removed_sender',
  'ignores readIndex: stale_term',
  'ignores readIndexResponse: other_attempt',
  'ignores readIndexResponse: stale_term',
  'ignores snapshot: stale_term',
  'ignores timeoutNow: stale_term',
  'ignores vote: leader_alive',
  'ignores vote: stale_term',
  'ignores voteResponse: not_candidate',
  'ignores voteResponse: stale_term',
  'ignores wake: stale_term',
  'increment is failed',
  'increment is ok',
  'increment is unknown',
  'kill before the node is open',
  'kill of a node that campaigns',
  'kill of a node that hands its leadership over',
  'kill of a node that has entries that are not durable',
  'kill of a node that has entries to apply',
  'kill of a node that installs a snapshot',
  'kill of a node that is in a joint membership',
  'kill of a node that is silent',
  'kill of a node that leads and has uncommitted entries',
  'kill of a node that leads',
  'kill of a node that sends a snapshot',
  'log slow_disk',
  'move is failed',
  'move is ok',
  'move is unknown',
  'new_node is failed',
  'new_node is ok',
  'one voter is left',
  'other is failed',
  'other is ok',
  'other is unknown',
  'power cut before the node is open',
  'power cut of a node that campaigns',
  'power cut of a node that hands its leadership over',
  'power cut of a node that has entries that are not durable',
  'power cut of a node that has entries to apply',
  'power cut of a node that installs a snapshot',
  'power cut of a node that is silent',
  'power cut of a node that leads and has uncommitted entries',
  'power cut of a node that leads',
  'power cut of a node that sends a snapshot',
  'pre-vote already_voted',
  'pre-vote given',
  'pre-vote leader_alive',
  'pre-vote log_behind',
  'pre-vote self_removed',
  'read is failed',
  'read is ok',
  'read is unknown',
  'reads are dropped: leader_changed',
  'reads are dropped: timeout',
  'snapshot arrived',
  'snapshot installed',
  'snapshot not_needed',
  'snapshot sent',
  'snapshot taken',
  'a disk that lied: the leader tells',
  'a disk that lied: the log tells',
  'checkpoints are compared with the entries',
  'a snapshot is read',
  'a snapshot holds all that was acknowledged',
  'states are compared: equal',
  'states are compared: incomplete',
  'swap is failed',
  'look is ok',
  'look is unknown',
  'sweep is ok',
  'sweep is unknown',
  'a session emits',
  'a session had several requests at once',
  'a session heard an event',
  'a session heard everything up to the end',
  'a node lets its clients go, and stops',
  'a task ran in time',
  'a task ran late',
  'future is ok',
  'future is unknown',
  'task is ok',
  'task is unknown',
  'swap is ok',
  'swap is unknown',
  'there are five voters or more',
  'there are learners',
  'transfer given_up',
  'transfer leadership_lost',
  'transfer started',
  'transfer told',
  'visit is failed',
  'visit is ok',
  'visit is unknown',
  'vote already_voted',
  'vote given',
  'vote log_behind',
];
