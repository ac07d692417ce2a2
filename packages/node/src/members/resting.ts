import type { RootGroup } from '@althing/engine';
import { isJoint, type Membership } from 'raft-ts';
import { type Clock, pause } from '../base/clock.js';
import { isResting } from '../between/membership.js';
import type { MembershipStep, NodeId } from '../between/protocol.js';
import { CallKind, type Calls } from '../calls/calls.js';
import type { PeerTable } from './peer-table.js';
import type { RootSession } from './root-session.js';

export interface RestingOptions {
  readonly self: NodeId;
  /** The state of the root scope; another object after a snapshot. */
  readonly root: () => RootGroup;
  readonly session: () => RootSession;
  /** Memberships of all groups but root's; null while some of them are not known on this node. */
  readonly memberships: () => readonly Membership[] | null;
  readonly peers: Pick<PeerTable, 'downFor' | 'hello'>;
  readonly calls: Pick<Calls, 'call'>;
  readonly clock: Pick<Clock, 'now' | 'after'>;
}

/** Time between two looks at whether the groups go on without this node, in milliseconds. */
const LOOK_MS = 20;

/**
 * Time after which a member that can't be reached is gone, in milliseconds: a connection may break for a moment,
 * and both nodes are there all the same.
 */
const GONE_MS = 500;

/**
 * Where two nodes vote, neither can decide anything alone. One that stops in good order therefore gives its vote
 * back while both are there to agree on that, and gets it again when it is back: the other one goes on meanwhile.
 * Of one that dies the vote stays, since nobody knows what it had acknowledged.
 */
export class Resting {
  /** Members that asked for their rest on the present connection. */
  private readonly asked = new Set<NodeId>();

  constructor(private readonly options: RestingOptions) {}

  /**
   * True if a member that can be reached is about to stop, as far as this node knows: one that has said nothing
   * since it could be reached again may be the same start that asked for its rest.
   */
  isStopping(node: NodeId): boolean {
    const hello = this.options.peers.hello(node);
    return this.asked.has(node) || hello === null || hello.status === 'SHUTTING_DOWN';
  }

  /** The connection to a member came or went. What counts from then on is what it says of itself. */
  linkChanged(node: NodeId): void {
    this.asked.delete(node);
  }

  /**
   * Gives the vote of this node, which is about to stop, back in every group, if one other votes besides. Resolves
   * when that is done, or can't be had, or has taken too long.
   */
  async rest(timeoutMs: number): Promise<void> {
    const { clock } = this.options;
    const end = clock.now() + timeoutMs;
    while (clock.now() < end && this.isNear) {
      // The leader may just have been elected, or be busy; or it did it, and the answer was lost.
      if (this.isDue) await this.ask(end - clock.now()).catch(() => undefined);
      await pause(clock, LOOK_MS);
    }
  }

  /**
   * The step that this node, which leads, takes for a member that asks.
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
    this.asked.add(node);
    return { action: 'rest', node };
  }

  /** True if the groups may go on without this node soon: some do already, or it may ask for that. */
  private get isNear(): boolean {
    const { self, session } = this.options;
    const { membership } = session();
    if (!this.votes || !this.reachesOthers) return false;
    return isResting(membership, self) || membership.voters.length === 2;
  }

  /** True if the leader is to be asked: the root group goes first, and the others follow it. */
  private get isDue(): boolean {
    const { self, session } = this.options;
    return session().membership.voters.includes(self);
  }

  /** True if this node votes in some group, or may: it does not know all of them yet. */
  private get votes(): boolean {
    const { self, session } = this.options;
    const memberships = this.options.memberships();
    if (memberships === null) return true;
    const all = [session().membership, ...memberships];
    return all.some(({ voters, outgoing }) => voters.includes(self) || outgoing.includes(self));
  }

  /** True if any other member can be reached, or could a moment ago. */
  private get reachesOthers(): boolean {
    const { self, root, peers } = this.options;
    return [...root().members.keys()].some((node) => node !== self && peers.downFor(node) < GONE_MS);
  }

  /**
   * Asks the leader to go on without the vote of this node until it is back; the memberships tell when it does.
   *
   * @throws Error when that can't be now
   */
  private async ask(timeoutMs: number): Promise<void> {
    const { session, calls } = this.options;
    const { leading, leader } = session();
    if (leading || leader === 0) throw new Error('no other leader is known at the moment');
    await calls.call(leader, CallKind.Rest, new Uint8Array(0), timeoutMs);
  }
}
