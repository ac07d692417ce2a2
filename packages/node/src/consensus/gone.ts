import type { NodeId } from '../between/protocol.js';

/**
 * The nodes that are told of their removal and turned away. The root group lets a node go first; it stays in
 * the list of members, and can be reached, until every other group has let it go too: without its vote a
 * group of two could not.
 *
 * @param removed who was removed from the root group
 * @param peers the list of members
 */
export function goneNodes(
  removed: readonly NodeId[],
  peers: readonly { readonly nodeId: NodeId }[],
): NodeId[] {
  return removed.filter((node) => !peers.some(({ nodeId }) => nodeId === node));
}
