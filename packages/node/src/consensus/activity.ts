import type { NodeId } from '../between/protocol.js';
import type { RaftGroup } from './raft-group.js';

/** A group, as far as it can be asleep. */
export type SleepingGroup = Pick<
  RaftGroup,
  'role' | 'leader' | 'quiesced' | 'asleepWithout' | 'tick' | 'leaderGone' | 'peerBack'
>;

/**
 * The groups that have something to do as time goes, and those that sleep. Of the latter nothing is asked but which
 * nodes they wait for: a thousand of them cost as much as the nodes there are.
 */
export class Activity<Group extends SleepingGroup> {
  private readonly awakeOnes = new Set<Group>();
  /** Groups that sleep, by the node that leads them. */
  private readonly byLeader = new Map<NodeId, Set<Group>>();
  /** Groups that this node leads and that sleep, by a member that could not be reached. */
  private readonly byMissing = new Map<NodeId, Set<Group>>();

  get awake(): ReadonlySet<Group> {
    return this.awakeOnes;
  }

  /** Something happened in a group: it is looked at with the next tick, and sleeps again then, or not. */
  wake(group: Group): void {
    if (this.awakeOnes.has(group)) return;
    this.awakeOnes.add(group);
    for (const index of [this.byLeader, this.byMissing]) {
      for (const sleepers of index.values()) sleepers.delete(group);
    }
  }

  forget(group: Group): void {
    this.wake(group);
    this.awakeOnes.delete(group);
  }

  /** One tick for every group that is awake; those wake whose leader is not there, or that miss a node that is. */
  tick(isUp: (node: NodeId) => boolean): void {
    for (const group of [...this.awakeOnes]) {
      if (!group.quiesced) group.tick();
      if (group.quiesced) this.sleep(group);
    }
    for (const [leader, groups] of this.byLeader) {
      if (groups.size === 0) this.byLeader.delete(leader);
      else if (!isUp(leader)) for (const group of [...groups]) group.leaderGone();
    }
    for (const [node, groups] of this.byMissing) {
      if (groups.size === 0) this.byMissing.delete(node);
      else if (isUp(node)) for (const group of [...groups]) group.peerBack(node);
    }
  }

  private sleep(group: Group): void {
    this.awakeOnes.delete(group);
    if (group.role !== 'leader') add(this.byLeader, group.leader, group);
    for (const node of group.asleepWithout) add(this.byMissing, node, group);
  }
}

function add<Group>(index: Map<NodeId, Set<Group>>, node: NodeId, group: Group): void {
  const groups = index.get(node);
  if (groups === undefined) index.set(node, new Set([group]));
  else groups.add(group);
}
