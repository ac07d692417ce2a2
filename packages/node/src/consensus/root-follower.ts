import type { Membership } from 'raft-ts';
import { type GroupId, type NodeId, ROOT_GROUP } from '../between/protocol.js';
import type { RaftGroup } from './raft-group.js';

/** Ticks between two looks at whether the groups have the right members; and whether those that sleep do. */
const FOLLOW_TICKS = 5;
const FOLLOW_ALL_TICKS = 50;

/**
 * Gives the groups of collections the members that the root group has; each is brought there by its leader. Those that
 * sleep are looked at when root's members changed, and now and then, since a step may have waited for a node.
 */
export class RootFollower {
  private ticks = 0;
  /** The membership that all groups were compared with; null for none. */
  private followed: Membership | null = null;

  /** @param awake the groups that do not sleep */
  constructor(
    private readonly groups: ReadonlyMap<GroupId, RaftGroup>,
    private readonly awake: ReadonlySet<RaftGroup>,
    private readonly isUp: (node: NodeId) => boolean,
  ) {}

  tick(): void {
    this.ticks += 1;
    const members = this.groups.get(ROOT_GROUP)?.members;
    if (this.ticks % FOLLOW_TICKS !== 0 || members === undefined) return;
    if (members.voters.length === 0 || members.outgoing.length > 0) return;
    const isNews = members !== this.followed || this.ticks % FOLLOW_ALL_TICKS === 0;
    this.followed = members;
    for (const group of isNews ? this.groups.values() : [...this.awake]) {
      if (group.id !== ROOT_GROUP && !group.follow(members, this.isUp)) group.transfer(0, this.isUp);
    }
  }
}
