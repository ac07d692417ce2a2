/**
 * The beginning of a group: a snapshot at index 1 that holds the first membership, the same on all of its
 * first members. So the log never begins at index 0: a member that is added later finds out, when it asks for
 * the log's beginning, that it needs a snapshot, and that brings the membership along, which no entry holds.
 */
import { assert } from './assert.js';
import { ByteWriter } from './bytes.js';
import { writeMembership } from './codec.js';
import { chainHash, murmur3, ROOT_HASH } from './hash.js';
import { isJoint, isValidMembership } from './membership.js';
import type { HardState, Membership, SnapshotMeta } from './types.js';

/** The common start of all first members of a group. */
export interface Genesis {
  /** The state machine's empty state, as a snapshot. The log begins behind it. */
  readonly snapshot: SnapshotMeta;
  readonly hardState: HardState;
}

/**
 * The beginning of a group with this membership. `identity` (a random id of the group, the same on all
 * members) goes into the chain hash, so that members of two groups never take each other's entries.
 */
export function genesisOf(membership: Membership, identity: Uint8Array): Genesis {
  assert(isValidMembership(membership) && membership.voters.length > 0, 'A group begins with voters');
  assert(!isJoint(membership), 'A group does not begin in a joint configuration');
  const writer = new ByteWriter(64 + identity.byteLength);
  writeMembership(writer, membership);
  writer.bytes(identity);
  const hash = chainHash(ROOT_HASH, GENESIS, GENESIS, 'change', writer.finish(), murmur3);
  return {
    snapshot: { index: GENESIS, term: GENESIS, hash, membership },
    hardState: { term: GENESIS, vote: 0, commit: GENESIS },
  };
}

/** Index and term of the snapshot that a group begins with. */
const GENESIS = 1;
