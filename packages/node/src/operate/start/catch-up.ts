import { delayed } from '../../base/timers.js';
import type { NodeId } from '../../between/protocol.js';
import type { GroupSession } from '../../groups/group-session.js';
import type { Sessions } from '../../groups/sessions.js';

/** Time between two looks at whether the node has caught up, in milliseconds. */
const CATCH_UP_MS = 20;

/**
 * Resolves with true once a node votes in every group and holds all that was acknowledged before; with false
 * when it does not go on before that.
 */
export async function catchUp(sessions: Sessions, nodeId: NodeId, goesOn: () => boolean): Promise<boolean> {
  const asked = new Set<GroupSession>();
  const current = new Set<GroupSession>();
  const ask = (session: GroupSession): void => {
    if (asked.has(session) || !session.membership.voters.includes(nodeId)) return;
    asked.add(session);
    session.readIndex((ok) => {
      asked.delete(session);
      if (ok) current.add(session);
    });
  };
  while (goesOn()) {
    const open = [...sessions.all].filter((session) => !current.has(session));
    if (open.length === 0 && sessions.areServing) return true;
    for (const session of open) ask(session);
    await delayed(CATCH_UP_MS);
  }
  return false;
}
