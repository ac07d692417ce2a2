import { LEVEL_OF_PROGRAMS, type RootGroup } from '@althing/engine';
import { isJoint, type Membership } from 'raft-ts';
import type { MembershipStep, NodeId } from '../between/protocol.js';
import { CallKind, type Calls } from './calls.js';
import type { PeerTable } from './peer-table.js';
import type { RootSession } from './root-session.js';

export interface RestingOptions {
  readonly self: NodeId;
  /** The state of the root scope; another object after a snapshot. */
  readonly root: () => RootGroup;
  readonly session: () => RootSession;
  /** Memberships of all groups but root's; null while some of them are not known on this node. */
  readonly memberships: () => readonly Membership[] | null;
  readonly peers: Pick<PeerTable, 'isUp'>;
  readonly calls: Pick<Calls, 'call'>;
}

/**
 * Where two nodes vote, neither can decide anything alone. One that stops in good order therefore gives its vote
 * back while both are there to agree on that, and gets it again when it is back: the other one goes on meanwhile.
 * Of one that dies the vote stays, since nobody knows what it had acknowledged.
 */
export class Resting {
  private readonly options: RestingOptions;
  /** Members that are about to stop. */
  private readonly stopping = new Set<NodeId>();

  constructor(options: RestingOptions) {
    this.options = options;
  }

  /** Whether a member that may still be reached is about to stop. */
  isStopping(node: NodeId): boolean {
    return this.stopping.has(node);
  }

  /** A member is gone: when it comes it is another start of it. */
  forget(node: NodeId): void {
    this.stopping.delete(node);
  }

  /** Whether this node, which is about to stop, should ask for its rest: one other votes, is there, and knows how. */
  get isDue(): boolean {
    const { root, session } = this.options;
    const { voters } = session().membership;
    if (voters.length !== 2 || !this.votes || root().level < LEVEL_OF_PROGRAMS) return false;
    return this.reachesOthers;
  }

  /** Whether this node votes in some group. */
  get votes(): boolean {
    const { self, session, memberships } = this.options;
    const all = [session().membership, ...(memberships() ?? [])];
    return all.some(({ voters, outgoing }) => voters.includes(self) || outgoing.includes(self));
  }

  /** Whether any other member can be reached. */
  get reachesOthers(): boolean {
    const { self, root, peers } = this.options;
    return [...root().members.keys()].some((node) => node !== self && peers.isUp(node));
  }

  /**
   * Asks the leader to go on without the vote of this node until it is back; the memberships tell when it does.
   *
   * @throws Error when that can't be now
   */
  async ask(timeoutMs: number): Promise<void> {
    const { session, calls } = this.options;
    const { leading, leader } = session();
    if (leading || leader === 0) throw new Error('no other leader is known at the moment');
    await calls.call(leader, CallKind.Rest, new Uint8Array(0), timeoutMs);
  }

  /**
   * What this node, which leads, does for a member that asks.
   *
   * @throws Error when that can't be now
   */
  allow(node: NodeId): MembershipStep {
    const { session, root } = this.options;
    const { leading, membership } = session();
    if (!leading) throw new Error('this node does not lead any more');
    if (isJoint(membership)) throw new Error('other changes are under way');
    if (membership.voters.length !== 2 || !membership.voters.includes(node) || !root().members.has(node))
      throw new Error('only one of two that vote can rest');
    this.stopping.add(node);
    return { action: 'rest', node };
  }
}
