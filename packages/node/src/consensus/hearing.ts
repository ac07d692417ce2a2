import type { Status } from 'raft-ts';
import type { NodeId } from '../between/protocol.js';
import type { GroupNow } from './group-figures.js';
import type { RaftGroup } from './raft-group.js';

/** Tells of which others a node hears, by its groups. */
export class Hearing {
  constructor(
    private readonly nodeId: NodeId,
    private readonly electionTicks: number,
    private readonly isUp: (node: NodeId) => boolean,
  ) {}

  /** True if this node leads, and heard of a majority of the voters within an election timeout. */
  isConfirmed(status: Status): boolean {
    if (status.role !== 'leader') return false;
    const heard = this.heardOf(status);
    const { voters, outgoing } = status.membership;
    return [voters, outgoing].every(
      (half) => half.length === 0 || 2 * half.filter((node) => heard.has(node)).length > half.length,
    );
  }

  /** See `GroupHost.rootAge`. */
  ageOf(group: RaftGroup, now: number): number | 'alone' | null {
    const status = group.status();
    const { role, leader, membership, quiesced, electionElapsed } = status;
    const { voters, outgoing } = membership;
    if (voters.length === 1 && voters[0] === this.nodeId && outgoing.length === 0) return 'alone';
    if (role === 'leader') return this.isConfirmed(status) ? 0 : null;
    // A leader that no majority follows gives up by itself within an election timeout, and is heard no more.
    const isRecent = quiesced || electionElapsed <= 2 * this.electionTicks;
    return leader !== 0 && this.isUp(leader) && isRecent ? group.lagMs(now) : null;
  }

  /** The state of a group, for the page of figures. */
  now(group: RaftGroup): GroupNow {
    const status = group.status();
    const { role, term, leader, membership, commitIndex, lastIndex } = status;
    const isLeader = role === 'leader';
    const { voters, learners } = membership;
    const heard = this.heardOf(status);
    return {
      id: group.id,
      term,
      isLeader,
      hasLeader: leader !== 0,
      commitIndex,
      appliedIndex: group.appliedTo,
      lastIndex,
      voters: voters.length,
      learners: learners.length,
      reachable: isLeader ? voters.filter((node) => heard.has(node)).length : 0,
    };
  }

  /** This node, and those that it heard of within an election timeout, as the leader of a group. */
  private heardOf({ peers }: Status): ReadonlySet<NodeId> {
    const heard = peers.filter(
      ({ node, silentTicks }) => silentTicks <= this.electionTicks && this.isUp(node),
    );
    return new Set([this.nodeId, ...heard.map(({ node }) => node)]);
  }
}
