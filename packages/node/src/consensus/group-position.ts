import type { GroupPosition } from '../between/protocol.js';
import type { RaftGroup } from './raft-group.js';

/** The position of a group in its log, as this node sees it. */
export function positionOf(group: Pick<RaftGroup, 'id' | 'status'>): GroupPosition {
  const { role, term, commitIndex, lastIndex, peers } = group.status();
  return {
    group: group.id,
    term,
    commit: commitIndex,
    last: lastIndex,
    members: role === 'leader' ? peers.map(({ node, match, state }) => ({ node, match, state })) : null,
  };
}
