/**
 * Situations that some life must come into, or the mix of faults is not what it is thought to be. They are noted as they
 * happen; `npm run simulate -- --reached` counts the lives that came into each. The list is what thousands of lives are
 * known to reach: one that is not reached any more tells that a change has made the simulator blind there.
 */
import type { Status, TraceEvent } from 'raft-ts';
import type { Event, GroupId, NodeId } from '../consensus/protocol.js';
import type { Operation } from './history.js';
import type { Process } from './process.js';

/** Lives after which every situation must have come up. */
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

/** What must have been reached and was not, sorted. */
export function missingPlaces(lives: ReadonlyMap<string, number>): string[] {
  return PLACES.filter((place) => !lives.has(place)).sort();
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

const PLACES: readonly string[] = [];
