/**
 * The invariants of reliable consensus, looked at with the view of all nodes at once: I1 one leader a term and one vote,
 * I3 leaders have what was committed, I4 the same entry everywhere, I5 nothing goes back, I6 durable before promised,
 * I11 the same memberships everywhere, one change at a time, and nobody has a say who was removed.
 */

import type { Event, GroupId, LogPosition, NodeId } from '@althing/node/parts';
import type { LogView } from '@althing/storage';
import type { Message, TraceEvent } from 'raft-ts';
import type { Process } from './process.js';

/** An invariant is broken. */
export class Violation extends Error {
  constructor(
    readonly invariant: string,
    message: string,
    cause?: unknown,
  ) {
    super(`${invariant}: ${message}`, { cause });
  }
}

interface Committed {
  readonly index: number;
  readonly term: number;
  /** The term of a node that knew it. */
  readonly knownIn: number;
}

/** Entries beyond the limit: those that Raft appends by itself. */
const EXTRA_ENTRIES = 3;

/** The entries that a leader appended in its term. */
interface Epoch {
  readonly term: number;
  /** Index of its first entry; 0 while there is none. */
  first: number;
  /** Index of its last change of the membership; 0 for none. */
  change: number;
}

interface Seen {
  readonly term: number;
  readonly commit: number;
  readonly applied: number;
  /** The term in which it was seen to lead, and where its log ended then. */
  readonly led: { readonly term: number; readonly from: number } | null;
}

const NEVER_SEEN: Seen = { term: 0, commit: 0, applied: 0, led: null };

export class Watcher {
  private readonly leaders = new Map<string, NodeId>();
  private readonly votes = new Map<string, NodeId>();
  private readonly terms = new Map<string, number>();
  private readonly hashes = new Map<string, number>();
  private readonly memberships = new Map<string, string>();
  private readonly committed = new Map<GroupId, Committed>();
  private readonly epochs = new WeakMap<Process, Map<GroupId, Epoch>>();
  /** The latest that was seen, by process and group. */
  private readonly seen = new WeakMap<Process, Map<GroupId, Seen>>();

  /** @param pendingMax entries that a leader may have proposed and not applied */
  constructor(private readonly pendingMax: number) {}

  /** The core of a group begins with what is on the disk: what the one before knew besides is forgotten. */
  onBegin(process: Process, group: GroupId): void {
    this.seen.get(process)?.delete(group);
  }

  onTrace(process: Process, group: GroupId, event: TraceEvent): void {
    switch (event.type) {
      case 'role':
        if (event.role === 'leader') this.onLeader(process, group, event.term);
        return;
      case 'append': {
        const epoch = this.epochOf(process, group);
        if (epoch?.first === 0 && epoch.term === event.term) epoch.first = event.first;
        return;
      }
      case 'vote':
        if (event.refused === null) this.onVote(process, group, process.nodeId, event.candidate);
        return;
      case 'tally':
        if (event.granted) this.onVote(process, group, event.voter, process.nodeId);
        return;
      case 'transfer':
        if (event.phase === 'told') this.onTransfer(process, group, event.to);
        return;
      case 'change_proposed':
        this.onChange(process, group, event.index);
        return;
      case 'membership': {
        const key = `${group}/${event.index}`;
        const text = JSON.stringify(event.membership);
        const known = this.memberships.get(key) ?? text;
        check(known === text, 'I11', `two memberships of group ${group} at ${event.index}`);
        this.memberships.set(key, text);
      }
    }
  }

  onEvent(process: Process, event: Event): void {
    if (event.kind === 'entries') {
      for (const { index, term } of event.entries) this.onEntry(process, event.group, index, term);
      this.onPlace(process, event.group, event.last);
    } else if (event.kind === 'committed') {
      this.onPlace(process, event.group, event.last);
    }
  }

  onTransmit(process: Process, group: GroupId, view: LogView, message: Message): void {
    const { hardState } = view;
    const { nodeId } = process;
    if (message.kind === 'voteResponse' && message.granted) {
      const durable =
        hardState !== undefined &&
        (hardState.term > message.term || (hardState.term === message.term && hardState.vote === message.to));
      check(durable, 'I6', `${nodeId} promises a vote in term ${message.term} before it is durable`);
      this.noteVote(group, nodeId, message.term, message.to);
    } else if (message.kind === 'vote') {
      const durable =
        hardState !== undefined &&
        (hardState.term > message.term || (hardState.term === message.term && hardState.vote === nodeId));
      check(durable, 'I6', `${nodeId} campaigns in term ${message.term} before that is durable`);
      this.noteVote(group, nodeId, message.term, nodeId);
    } else if (message.kind === 'appendResponse' && !message.rejected) {
      const term = process.host?.status(group)?.term;
      if (message.term !== term) return;
      const durable = view.lastIndex >= message.index;
      check(durable, 'I6', `${nodeId} acknowledges ${message.index} before it is durable`);
    }
  }

  /** Looks at what each group of a process shows. */
  look(process: Process): void {
    const { host, nodeId } = process;
    if (host === null) return;
    let groups = this.seen.get(process);
    if (groups === undefined) {
      groups = new Map();
      this.seen.set(process, groups);
    }
    for (const group of host.groupIds) {
      const status = host.status(group);
      if (status === undefined) continue;
      const { term, commitIndex, appliedIndex, lastIndex, firstIndex } = status;
      const before = groups.get(group) ?? NEVER_SEEN;
      check(term >= before.term, 'I5', `the term of ${nodeId} falls`);
      check(commitIndex >= before.commit, 'I5', `the commit index of ${nodeId} falls`);
      check(appliedIndex >= before.applied, 'I5', `the applied index of ${nodeId} falls`);
      check(commitIndex <= lastIndex, 'I5', `${nodeId} knows more as committed than it has`);
      check(firstIndex <= commitIndex + 1, 'I5', `the log of ${nodeId} begins after its commit index`);
      const { voters, outgoing } = status.membership;
      const mayLead = voters.includes(nodeId) || outgoing.includes(nodeId);
      check(status.role !== 'leader' || mayLead, 'I11', `${nodeId} leads group ${group} and is no voter`);
      const isKnown = status.role !== 'leader' || before.led?.term === term;
      const led = isKnown ? before.led : { term, from: lastIndex };
      // Entries from before are no proposals of its own: after a restart nothing counts as applied but what is stored.
      const pending = led?.term === term ? lastIndex - Math.max(appliedIndex, led.from) : 0;
      check(pending <= this.pendingMax + EXTRA_ENTRIES, 'I17', `${pending} entries are pending at ${nodeId}`);
      groups.set(group, { term, commit: commitIndex, applied: appliedIndex, led });
    }
  }

  /** Highest index of a group that any node knew as committed. */
  committedIndex(group: GroupId): number {
    return this.committed.get(group)?.index ?? 0;
  }

  private noteVote(group: GroupId, voter: NodeId, term: number, candidate: NodeId): void {
    const key = `${group}/${voter}@${term}`;
    const given = this.votes.get(key) ?? candidate;
    check(given === candidate, 'I1', `${voter} votes for ${given} and ${candidate} in term ${term}`);
    this.votes.set(key, candidate);
  }

  private epochOf(process: Process, group: GroupId): Epoch | undefined {
    return this.epochs.get(process)?.get(group);
  }

  private onVote(process: Process, group: GroupId, voter: NodeId, candidate: NodeId): void {
    const removed = process.host?.status(group)?.membership.removed ?? [];
    check(!removed.includes(voter), 'I11', `${voter} was removed from group ${group}, and votes`);
    check(
      !removed.includes(candidate),
      'I11',
      `${candidate} was removed from group ${group}, and gets a vote`,
    );
  }

  /** A member that is told to take over has everything, or the group would be without a leader for nothing. */
  private onTransfer(process: Process, group: GroupId, to: NodeId): void {
    const status = process.host?.status(group);
    const match = status?.peers.find(({ node }) => node === to)?.match;
    const holds = match === status?.lastIndex;
    check(holds, 'I3', `${to} is to lead group ${group}, and has ${match} of ${status?.lastIndex} entries`);
  }

  private onChange(process: Process, group: GroupId, index: number): void {
    const { nodeId, host } = process;
    const epoch = this.epochOf(process, group);
    const status = host?.status(group);
    if (epoch === undefined || status === undefined) return;
    const { commitIndex } = status;
    const has = `${nodeId} changes the members of group ${group} at ${index}, and has`;
    check(commitIndex >= epoch.first, 'I11', `${has} not committed in its term`);
    check(commitIndex >= epoch.change, 'I11', `${has} another change under way at ${epoch.change}`);
    epoch.change = index;
  }

  private onLeader(process: Process, group: GroupId, term: number): void {
    const { nodeId, host } = process;
    const epochs = this.epochs.get(process) ?? new Map<GroupId, Epoch>();
    this.epochs.set(process, epochs.set(group, { term, first: 0, change: 0 }));
    const key = `${group}@${term}`;
    const known = this.leaders.get(key) ?? nodeId;
    check(known === nodeId, 'I1', `${known} and ${nodeId} lead group ${group} in term ${term}`);
    this.leaders.set(key, nodeId);
    const committed = this.committed.get(group);
    const status = host?.status(group);
    if (committed === undefined || status === undefined || committed.knownIn >= term) return;
    // The entry of its own that a leader begins with may be there already.
    const holds = status.lastIndex >= committed.index && status.lastTerm >= committed.term;
    check(holds, 'I3', `${nodeId} leads group ${group} in term ${term} without entry ${committed.index}`);
  }

  private onEntry(process: Process, group: GroupId, index: number, term: number): void {
    const key = `${group}/${index}`;
    const known = this.terms.get(key) ?? term;
    check(known === term, 'I4', `${process.nodeId} applies another entry ${index} of group ${group}`);
    this.terms.set(key, term);
  }

  private onPlace(process: Process, group: GroupId, { index, term, hash }: LogPosition): void {
    this.onEntry(process, group, index, term);
    const key = `${group}/${index}`;
    const known = this.hashes.get(key) ?? hash;
    check(known === hash, 'I4', `${process.nodeId} has another log of group ${group} up to ${index}`);
    this.hashes.set(key, hash);
    const before = this.committed.get(group);
    if (before !== undefined && before.index >= index) return;
    const knownIn = process.host?.status(group)?.term ?? term;
    this.committed.set(group, { index, term, knownIn });
  }
}

function check(holds: boolean, invariant: string, message: string): void {
  if (!holds) throw new Violation(invariant, message);
}
