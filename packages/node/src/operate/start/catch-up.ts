import type { Membership } from 'raft-ts';
import { backgroundClock, pause } from '../../base/clock.js';
import { isResting } from '../../between/membership.js';
import type { NodeId } from '../../between/protocol.js';
import type { GroupSession } from '../../groups/group-session.js';

/** Time between two looks at whether the node has caught up, in milliseconds. */
const CATCH_UP_MS = 20;

type Group = Pick<GroupSession, 'membership' | 'readIndex'>;

/** The groups of a node. */
export interface Groups {
  readonly root: Group;
  readonly all: Iterable<Group>;
  /** True if all groups are open, and each has a leader. */
  readonly areServing: boolean;
}

/**
 * Resolves with true once a node votes in every group, or is a spare there, and holds all that was acknowledged before; with false
 * when it does not go on before that.
 */
export async function catchUp(groups: Groups, nodeId: NodeId, isRunning: () => boolean): Promise<boolean> {
  const asked = new Set<Group>();
  const current = new Set<Group>();
  const ask = (group: Group): void => {
    if (asked.has(group)) return;
    asked.add(group);
    group.readIndex((ok) => {
      asked.delete(group);
      if (ok) current.add(group);
    });
  };
  while (isRunning()) {
    const root = groups.root.membership;
    const takesPart = ({ membership }: Group): boolean => hasItsPart(membership, root, nodeId);
    const open = [...groups.all].filter((group) => !current.has(group));
    // A membership may change again behind the answer, as that of a group that rested the node before root's gave it a vote.
    if (open.length === 0 && groups.areServing && [...groups.all].every(takesPart)) return true;
    for (const group of open) if (takesPart(group)) ask(group);
    await pause(backgroundClock, CATCH_UP_MS);
  }
  return false;
}

/**
 * True if nobody waits for a node to do more in a group. One of two that rested is to vote again, and so is one that votes in the root
 * group, which the others follow.
 */
function hasItsPart(membership: Membership, root: Membership, nodeId: NodeId): boolean {
  if (membership.voters.includes(nodeId)) return true;
  return !root.voters.includes(nodeId) && membership.voters.length > 2 && isResting(membership, nodeId);
}
