import {
  ByteReader,
  ByteWriter,
  genesisOf,
  type Membership,
  membershipOf,
  NO_MEMBERS,
  ROOT_HASH,
  readMembership,
  writeMembership,
} from 'raft-ts';
import type { Applied, NodeId } from './protocol.js';

/** A membership as bytes, for messages between threads and for the state on disk. */
export function encodeMembership(membership: Membership): Uint8Array {
  const writer = new ByteWriter(64);
  writeMembership(writer, membership);
  return writer.finish();
}

export function decodeMembership(bytes: Uint8Array): Membership {
  return readMembership(new ByteReader(bytes));
}

/** Where the log of a group begins on a node that knows nothing of it: it waits for a snapshot. */
export function nothing(): Applied {
  return { index: 0, term: 0, hash: ROOT_HASH, membership: encodeMembership(NO_MEMBERS) };
}

/**
 * Where the log of a new group begins.
 *
 * @param identity the same on all members, and of no other group
 */
export function genesis(members: readonly number[], identity: Uint8Array): Applied {
  const { snapshot } = genesisOf(membershipOf([...members].sort((a, b) => a - b)), identity);
  return {
    index: snapshot.index,
    term: snapshot.term,
    hash: snapshot.hash,
    membership: encodeMembership(snapshot.membership),
  };
}

/** Whether a node is a member whose vote nobody waits for: it stopped in good order where only two voted. */
export function isResting({ learners, promote }: Membership, node: NodeId): boolean {
  return learners.includes(node) && !promote.includes(node);
}

/**
 * Whether a majority of the voters that stay can be reached when a node is removed; then they can go on
 * without it.
 */
export function canGoOnWithout(
  node: NodeId,
  { voters }: Membership,
  isReached: (node: NodeId) => boolean,
): boolean {
  if (!voters.includes(node)) return true;
  const stay = voters.filter((voter) => voter !== node);
  return stay.filter(isReached).length > stay.length / 2;
}
