import type { Membership } from 'raft-ts';
import { delayed } from '../../base/timers.js';
import { isResting } from '../../between/membership.js';
import type { NodeId } from '../../between/protocol.js';
import type { GroupSession } from '../../groups/group-session.js';
import type { Sessions } from '../../groups/sessions.js';

/** Time between two looks at whether the node has caught up, in milliseconds. */
const CATCH_UP_MS = 20;

/**
 * Resolves with true once a node votes in every group, or is a spare there, and holds all that was acknowledged before; with false
 * when it does not go on before that.
 */
export async function catchUp(
  sessions: Sessions,
  nodeId: NodeId,
  isRunning: () => boolean,
): Promise<boolean> {
  const asked = new Set<GroupSession>();
  const current = new Set<GroupSession>();
  const ask = (session: GroupSession): void => {
    if (asked.has(session) || !takesPart(session.membership, nodeId)) return;
    asked.add(session);
    session.readIndex((ok) => {
      asked.delete(session);
      if (ok) current.add(session);
    });
  };
  while (isRunning()) {
    const open = [...sessions.all].filter((session) => !current.has(session));
    if (open.length === 0 && sessions.areServing) return true;
    for (const session of open) ask(session);
    await delayed(CATCH_UP_MS);
  }
  return false;
}

/** True if nobody waits for a node to do more in a group. One of two that rested is to vote again. */
function takesPart(membership: Membership, nodeId: NodeId): boolean {
  const { voters } = membership;
  return voters.includes(nodeId) || (voters.length > 2 && isResting(membership, nodeId));
}
