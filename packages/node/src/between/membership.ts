import {
  ByteReader,
  ByteWriter,
  genesisOf,
  MAX_VOTERS,
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

/**
 * The nodes that a group begins with, ascending, of those that are to have it; the same wherever it is asked. Further
 * ones are taken in as learners.
 */
export function firstVoters(nodes: readonly NodeId[]): NodeId[] {
  return [...nodes].sort((a, b) => a - b).slice(0, MAX_VOTERS);
}

/**
 * The number of members of a cluster that vote. An even number tolerates no more losses than one voter less, so the
 * others are learners, which take the place of a voter that is lost. Of two both vote: one that stops in good order
 * gives its vote back.
 */
export function votersWanted(members: number): number {
  if (members <= 2) return members;
  return Math.min(MAX_VOTERS, members % 2 === 1 ? members : members - 1);
}

/**
 * True if a node is a learner that is not to vote: a spare, where there are enough voters, or one that stopped in
 * good order where only two voted.
 */
export function isResting({ learners, promote }: Membership, node: NodeId): boolean {
  return learners.includes(node) && !promote.includes(node);
}

/**
 * True if a majority of the voters that stay can be reached when a node is removed; then they can go on
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
