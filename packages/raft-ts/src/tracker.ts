/**
 * The members of the group: the membership in force, the progress of each member, and the votes of an
 * election.
 */
import { assert } from './assert.js';
import { isJoint, membersOf } from './membership.js';
import { Progress } from './progress.js';
import { bothVerdicts, majority, reachedByMajority, type Verdict, verdictOf } from './quorum.js';
import type { Index, Membership, NodeId } from './types.js';

/** The sizes of the window of every member. */
export interface WindowLimits {
  readonly maxInflightMessages: number;
  readonly maxInflightBytes: number;
}

export class Tracker {
  private inForce: Membership;
  private byId = new Map<NodeId, Progress>();
  /** Every member but this node, ascending. */
  private others: Progress[] = [];
  /** The voters of the incoming and of the outgoing half. */
  private incoming: Progress[] = [];
  private outgoing: Progress[] = [];
  private readonly votesByNode = new Map<NodeId, boolean>();
  private readonly values: number[] = [];

  constructor(
    readonly self: NodeId,
    membership: Membership,
    next: Index,
    readonly limits: WindowLimits,
  ) {
    this.inForce = membership;
    this.switchTo(membership, next, 0);
  }

  get membership(): Membership {
    return this.inForce;
  }

  get peers(): readonly Progress[] {
    return this.others;
  }

  /** True if this node is the only one that decides anything. */
  get isAlone(): boolean {
    return this.outgoing.length === 0 && this.incoming.length === 1 && this.incoming[0]!.id === this.self;
  }

  progressOf(node: NodeId): Progress | undefined {
    return this.byId.get(node);
  }

  /** Puts a membership in force. Members that stay keep their progress. */
  switchTo(membership: Membership, next: Index, now: number): void {
    const { maxInflightMessages, maxInflightBytes } = this.limits;
    const members = membersOf(membership);
    const known = this.byId;
    const byId = new Map<NodeId, Progress>();
    for (const id of members) {
      byId.set(id, known.get(id) ?? new Progress(id, next, now, maxInflightMessages, maxInflightBytes));
    }
    const progressOf = (id: NodeId): Progress => byId.get(id)!;
    this.inForce = membership;
    this.byId = byId;
    this.others = members.filter((id) => id !== this.self).map(progressOf);
    this.incoming = membership.voters.map(progressOf);
    this.outgoing = membership.outgoing.map(progressOf);
    assert(this.byId.size === members.length, 'Each member has one progress');
  }

  /** The highest value of `pick` that a quorum has reached; in a joint configuration, both quorums. */
  quorumOf(pick: (progress: Progress) => number): number {
    const incoming = this.majorityOf(this.incoming, pick);
    if (this.outgoing.length === 0) return incoming;
    return Math.min(incoming, this.majorityOf(this.outgoing, pick));
  }

  /**
   * The fewest members that make a quorum with this node: those that confirmed a round of reads last, or else
   * have most of the log. All of them while two configurations have to agree.
   */
  quorumToAsk(): readonly Progress[] {
    if (this.outgoing.length > 0) return this.others;
    const others = this.incoming.filter(({ id }) => id !== this.self);
    others.sort((a, b) => b.ackedRound - a.ackedRound || b.match - a.match);
    return others.slice(0, majority(this.incoming.length) - 1);
  }

  /** True if this node and another one are a quorum together. */
  isQuorumWith(node: NodeId): boolean {
    return this.quorumOf(({ id }) => (id === this.self || id === node ? 1 : 0)) === 1;
  }

  clearVotes(): void {
    this.votesByNode.clear();
  }

  /** Notes a vote; the first one of a node counts. */
  recordVote(node: NodeId, granted: boolean): void {
    if (!this.votesByNode.has(node)) this.votesByNode.set(node, granted);
  }

  /** Votes of this election, as the host may see them. */
  votes(): ReadonlyMap<NodeId, boolean> {
    return this.votesByNode;
  }

  /** The state of the election. Only votes of voters count. */
  verdict(): Verdict {
    assert(this.incoming.length > 0, 'An election without voters');
    const incoming = this.verdictOf(this.incoming);
    return isJoint(this.inForce) ? bothVerdicts(incoming, this.verdictOf(this.outgoing)) : incoming;
  }

  private majorityOf(voters: readonly Progress[], pick: (progress: Progress) => number): number {
    if (voters.length === 1) return pick(voters[0]!);
    const values = this.values;
    values.length = 0;
    for (const progress of voters) values.push(pick(progress));
    return reachedByMajority(values);
  }

  private verdictOf(voters: readonly Progress[]): Verdict {
    let granted = 0;
    let refused = 0;
    for (const { id } of voters) {
      const vote = this.votesByNode.get(id);
      if (vote === true) granted += 1;
      else if (vote === false) refused += 1;
    }
    return verdictOf(voters.length, granted, refused);
  }
}
