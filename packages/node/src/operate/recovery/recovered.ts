import { chainHash, MAX_REMOVED, type Membership, membershipOf, membersOf, murmur3 } from 'raft-ts';
import { encodeMembership } from '../../between/membership.js';
import type { Applied, LogPosition, NodeId } from '../../between/protocol.js';

/** Where the log of a group ends on the node that is to go on alone. */
export interface LogEnd extends LogPosition {
  /** The highest term that the node knows of: at least that of the last entry. */
  readonly promised: number;
  readonly membership: Membership;
}

/**
 * Where a group goes on with one node out of its former members: a place right behind its log, in a term of
 * its own, as a snapshot would give it. The chain hash holds the new membership and the group's new identity,
 * so that no log of the former cluster is ever taken for one that goes on from there.
 *
 * @param identity of the group in the new cluster
 */
export function recoveredPlace(node: NodeId, end: LogEnd, identity: Uint8Array): Applied {
  const { voters, ...none } = membershipOf([node]);
  const others = [...membersOf(end.membership), ...end.membership.removed].filter((id) => id !== node);
  const removed = [...new Set(others)].sort((a, b) => a - b).slice(0, MAX_REMOVED);
  const membership = encodeMembership({ ...none, voters, removed });
  const index = end.index + 1;
  const term = end.promised + 1;
  const payload = Buffer.concat([membership, identity]);
  return { index, term, hash: chainHash(end.hash, index, term, 'change', payload, murmur3), membership };
}
