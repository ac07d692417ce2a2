/**
 * The invariants of reliable consensus, checked from outside with the view of everybody at once. Each
 * violation throws {@link Violation}; the names are those of the invariants: I1 election safety, I2 log
 * matching, I3 leader completeness, I4 state machine safety, I5 nothing goes back, I6 durable before
 * promised, I7 nothing acknowledged is lost, I8 reads are linearizable, I11 membership safety, I17 everything
 * has a limit.
 */
import { isRemoved, isVoter } from '../membership.js';
import type { Message } from '../messages.js';
import type { Ready } from '../readying.js';
import type { TraceEvent } from '../trace.js';
import type { Entry, Index, Membership, MembershipAt, NodeId, Term } from '../types.js';
import type { Disk, Host } from './host.js';

export class Violation extends Error {
  override readonly name = 'Violation';

  constructor(
    readonly invariant: string,
    message: string,
  ) {
    super(`${invariant}: ${message}`);
  }
}

/** The last state that a node showed, to see that nothing goes back. */
interface Seen {
  term: Term;
  commit: Index;
  applied: Index;
  durableTerm: Term;
  durableVote: NodeId;
}

export class Checker {
  private readonly leaders = new Map<Term, NodeId>();
  /** The vote of each node in each term, as far as a message has told it to another node. */
  private readonly votes = new Map<string, NodeId>();
  /** Chain hash by index and term; it covers everything before, so equal hashes are equal logs. */
  private readonly entryHashes = new Map<string, number>();
  /**
   * The entries that anybody was told to apply, and the highest term that they can have been committed in.
   */
  private readonly committed: { readonly entry: Entry; readonly term: Term }[] = [];
  private readonly memberships: MembershipAt[] = [];
  private readonly machineHashes = new Map<Index, number>();
  private readonly seen = new Map<NodeId, Seen>();
  private highestCommitted: Index = 0;

  constructor(membership: Membership) {
    this.memberships.push({ index: 1, membership });
  }

  /** The highest index that anybody knows as committed: a read that begins now must see it. */
  get maxCommitted(): Index {
    return this.highestCommitted;
  }

  /** The number of committed entries. */
  get committedCount(): number {
    return this.committed.length;
  }

  onTrace(host: Host | undefined, event: TraceEvent): void {
    if (event.type === 'vote' && event.refused === null && !event.pre) this.onVote(host, event);
    if (event.type === 'role' && event.role === 'leader') this.onLeader(host, event.node, event.term);
    if (event.type === 'membership') this.onMembership({ index: event.index, membership: event.membership });
  }

  /** After a fetch: what is to be written and applied. */
  onReady(host: Host, ready: Ready, disks: ReadonlyMap<NodeId, Disk>): void {
    for (const entry of ready.write?.entries ?? []) this.onEntry(entry);
    for (const entry of ready.committed) this.onCommitted(entry, host, disks);
    this.onState(host);
  }

  /** Before a message leaves: what it promises must be on the disk. */
  onSend(host: Host, message: Message): void {
    const { disk, node } = host;
    const { hardState, log } = disk;
    if (message.kind === 'voteResponse' && message.granted) {
      const isDurable =
        hardState.term > message.term || (hardState.term === message.term && hardState.vote === message.to);
      check(isDurable, 'I6', `${host.id} promises its vote of term ${message.term} before it is durable`);
      this.noteVote(host.id, message.term, message.to);
    }
    if (message.kind === 'vote') {
      const isDurable =
        hardState.term > message.term || (hardState.term === message.term && hardState.vote === host.id);
      check(isDurable, 'I6', `${host.id} campaigns in term ${message.term} before that is durable`);
      this.noteVote(host.id, message.term, host.id);
    }
    if (message.kind !== 'appendResponse' || message.rejected || message.term !== node.term) return;
    check(
      log.lastIndex() >= message.index,
      'I6',
      `${host.id} acknowledges ${message.index} before it is durable`,
    );
  }

  /** After any event: nothing goes back, nothing grows without bound. */
  onState(host: Host): void {
    const status = host.node.status();
    const seen = this.seenOf(host.id);
    check(status.term >= seen.term, 'I5', `the term of ${host.id} falls`);
    check(status.commitIndex >= seen.commit, 'I5', `the commit index of ${host.id} falls`);
    check(status.appliedIndex >= seen.applied, 'I5', `the applied index of ${host.id} falls`);
    check(status.commitIndex <= status.lastIndex, 'I5', `${host.id} knows more as committed than it has`);
    check(
      status.firstIndex <= status.commitIndex + 1,
      'I5',
      `the log of ${host.id} begins after its commit index`,
    );
    seen.term = status.term;
    seen.commit = status.commitIndex;
    seen.applied = status.appliedIndex;
    this.highestCommitted = Math.max(this.highestCommitted, status.commitIndex);
    if (status.role === 'leader') {
      const { membership } = status;
      const isVotingMember = isVoter(membership, host.id) && !isRemoved(membership, host.id);
      check(isVotingMember, 'I11', `${host.id} leads without being a voter`);
    }
  }

  /** After the state machine moved. */
  onApplied(host: Host): void {
    const { index, hash } = host.machine;
    const known = this.machineHashes.get(index);
    check(known === undefined || known === hash, 'I4', `two states at ${index}, one of them at ${host.id}`);
    this.machineHashes.set(index, hash);
  }

  /** A proposal was accepted: the limit on what is pending held. */
  onAccepted(host: Host, maxPendingEntries: number): void {
    const { lastIndex, appliedIndex } = host.node.status();
    const pending = lastIndex - appliedIndex;
    check(pending <= maxPendingEntries, 'I17', `${pending} entries are pending at ${host.id}`);
  }

  onRead(atLeast: Index, index: Index, node: NodeId): void {
    check(index >= atLeast, 'I8', `${node} reads at ${index} although ${atLeast} was committed before`);
  }

  /** A node starts again: what was durable must still be known. */
  onRestart(host: Host): void {
    const seen = this.seenOf(host.id);
    const { term } = host.node;
    check(term >= seen.durableTerm, 'I5', `${host.id} forgot a durable term`);
    seen.term = term;
    seen.commit = host.node.status().commitIndex;
    seen.applied = host.node.status().appliedIndex;
  }

  /** A write reached the disk. */
  onPersisted(host: Host): void {
    const seen = this.seenOf(host.id);
    const { term, vote } = host.disk.hardState;
    check(term >= seen.durableTerm, 'I5', `the durable term of ${host.id} falls`);
    const changed = term === seen.durableTerm && seen.durableVote !== 0 && vote !== seen.durableVote;
    check(!changed, 'I1', `${host.id} changes its vote in term ${term}`);
    seen.durableTerm = term;
    seen.durableVote = vote;
  }

  private noteVote(voter: NodeId, term: Term, candidate: NodeId): void {
    const key = `${voter}@${term}`;
    const given = this.votes.get(key) ?? candidate;
    check(given === candidate, 'I1', `${voter} votes for ${given} and for ${candidate} in term ${term}`);
    this.votes.set(key, candidate);
  }

  private onVote(host: Host | undefined, event: TraceEvent & { readonly type: 'vote' }): void {
    if (host === undefined) return;
    const { membership } = host.node.status();
    check(
      !isRemoved(membership, event.candidate),
      'I11',
      `${event.node} votes for ${event.candidate}, which was removed`,
    );
    check(!isRemoved(membership, event.node), 'I11', `${event.node} votes although it was removed`);
  }

  private onMembership(change: MembershipAt): void {
    const known = this.memberships.find(({ index }) => index === change.index);
    if (known === undefined) {
      this.memberships.push(change);
      this.memberships.sort((left, right) => left.index - right.index);
      return;
    }
    const same = JSON.stringify(known.membership) === JSON.stringify(change.membership);
    check(same, 'I11', `two memberships at ${change.index}`);
  }

  private onLeader(host: Host | undefined, node: NodeId, term: Term): void {
    const known = this.leaders.get(term);
    check(known === undefined || known === node, 'I1', `${known} and ${node} lead in term ${term}`);
    this.leaders.set(term, node);
    if (host === undefined) return;
    const { log } = host.disk;
    for (const committed of this.committed) {
      // A leader of an old term, who is one only by late votes, need not know what later leaders committed.
      if (committed === undefined || committed.term >= term) continue;
      const { index, term: entryTerm } = committed.entry;
      if (index < log.firstIndex()) continue;
      const holds = index <= log.lastIndex() && log.term(index) === entryTerm;
      check(holds, 'I3', `${node} leads in term ${term} without ${index}/${entryTerm}`);
    }
  }

  private onEntry(entry: Entry): void {
    const key = `${entry.index}/${entry.term}`;
    const known = this.entryHashes.get(key);
    check(known === undefined || known === entry.hash, 'I2', `two logs agree at ${key} and differ before`);
    this.entryHashes.set(key, entry.hash);
  }

  private onCommitted(entry: Entry, host: Host, disks: ReadonlyMap<NodeId, Disk>): void {
    this.onEntry(entry);
    const known = this.committed[entry.index - 1];
    if (known !== undefined) {
      check(
        known.entry.hash === entry.hash,
        'I4',
        `two entries are committed at ${entry.index}, one of them at ${host.id}`,
      );
      return;
    }
    this.committed[entry.index - 1] = { entry, term: host.node.term };
    // It may have been committed under a membership that was followed by others since.
    const latest = this.memberships.slice(-RECENT_MEMBERSHIPS);
    const isSafe = latest.some(({ membership }) => isDurableAtQuorum(entry, membership, disks));
    check(isSafe, 'I7', `${entry.index}/${entry.term} is not on the disks of a quorum`);
  }

  private seenOf(id: NodeId): Seen {
    let seen = this.seen.get(id);
    if (seen === undefined) {
      seen = { term: 0, commit: 0, applied: 0, durableTerm: 0, durableVote: 0 };
      this.seen.set(id, seen);
    }
    return seen;
  }
}

const RECENT_MEMBERSHIPS = 3;

function check(holds: boolean, invariant: string, message: string): void {
  if (!holds) throw new Violation(invariant, message);
}

/** True if majorities of both halves of `membership` have `entry` on their disks, itself or in a snapshot. */
function isDurableAtQuorum(entry: Entry, membership: Membership, disks: ReadonlyMap<NodeId, Disk>): boolean {
  const holds = (id: NodeId): boolean => {
    const log = disks.get(id)?.log;
    if (log === undefined || log.lastIndex() < entry.index) return false;
    return log.firstIndex() > entry.index || log.hash(entry.index) === entry.hash;
  };
  const isMajority = (ids: readonly NodeId[]): boolean => ids.filter(holds).length * 2 > ids.length;
  const { voters, outgoing } = membership;
  return isMajority(voters) && (outgoing.length === 0 || isMajority(outgoing));
}
