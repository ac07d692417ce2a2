/**
 * The nouns of the protocol. All of them are plain data; nothing in them is ever changed after it was handed
 * out.
 */

/** A positive safe integer, unique for ever: an id that was removed from a group is never used again. */
export type NodeId = number;

/** Position in the log; the first entry has index 1. A safe integer. */
export type Index = number;

/** Logical time; 0 before the first election. A safe integer. */
export type Term = number;

/** "No node": the leader or the vote that is not there. */
export const NO_NODE: NodeId = 0;

/** No nodes. */
export const NOBODY: ReadonlySet<NodeId> = new Set();

/** Terms and indexes beyond this are refused; it leaves room for sums without leaving the safe integers. */
export const MAX_COUNT = 2 ** 52;

/** Members that count in a quorum. A protocol constant: every node must agree on it. */
export const MAX_VOTERS = 7;

/** Members that only listen. A protocol constant like {@link MAX_VOTERS}. */
export const MAX_LEARNERS = 256;

/** Tombstones of removed members. A change that would exceed it is refused. A protocol constant. */
export const MAX_REMOVED = 4096;

/**
 * The role of a node in its term. `preCandidate`: asks whether an election could be won, before it raises the
 * term.
 */
export type Role = 'follower' | 'preCandidate' | 'candidate' | 'leader';

/** `noop`: what a leader appends first in its term. `change`: a membership change (see `change.ts`). */
export type EntryKind = 'normal' | 'noop' | 'change';

/** The numbers by which kinds of entries are written and hashed. */
export const ENTRY_KIND_CODES: Readonly<Record<EntryKind, number>> = { normal: 1, noop: 2, change: 3 };

/** One entry of the log. It never changes; its payload is the host's. */
export interface Entry {
  /** Its place in the log. */
  readonly index: Index;
  /** The term of the leader that appended it. */
  readonly term: Term;
  /** Its purpose. */
  readonly kind: EntryKind;
  /**
   * Chain hash: covers this entry and, through its predecessor's hash, the whole log before it (see
   * `hash.ts`).
   */
  readonly hash: number;
  /** The bytes that were proposed; none in a `noop`, an encoded change in a `change`. */
  readonly payload: Uint8Array;
}

/** The state beside the log that must survive a crash. */
export interface HardState {
  /** The current term. */
  readonly term: Term;
  /** The candidate that this node voted for in `term`, or {@link NO_NODE}. */
  readonly vote: NodeId;
  /** The highest index known as committed; may lag behind, never ahead. */
  readonly commit: Index;
}

/**
 * The members of the group. While `outgoing` is not empty the configuration is *joint*: every decision needs
 * a majority of `voters` and a majority of `outgoing` (Raft dissertation, section 4.3). All lists are
 * ascending.
 */
export interface Membership {
  /** Members that vote; in a joint configuration those of the one that is entered. */
  readonly voters: readonly NodeId[];
  /** The voters of the configuration that is being left. */
  readonly outgoing: readonly NodeId[];
  /** Members that are sent everything and do not count. */
  readonly learners: readonly NodeId[];
  /** Voters of `outgoing` that become learners when the joint configuration is left. */
  readonly learnersNext: readonly NodeId[];
  /** Learners that the leader makes voters as soon as they have caught up. */
  readonly promote: readonly NodeId[];
  /** Tombstones: ids that were members once. They never count, vote, or lead again. */
  readonly removed: readonly NodeId[];
  /** The leader (whoever it is by then) leaves the joint configuration by itself. */
  readonly autoLeave: boolean;
}

/** A snapshot without its content, which is the host's business. */
export interface SnapshotMeta {
  /** The snapshot holds the effect of every entry up to this one. */
  readonly index: Index;
  /** Term of the entry at `index`. */
  readonly term: Term;
  /** Chain hash of the entry at `index`. */
  readonly hash: number;
  /** The membership in force at `index`. */
  readonly membership: Membership;
}

/** A membership and the index of the entry that made it so. */
export interface MembershipAt {
  readonly index: Index;
  readonly membership: Membership;
}

/** The weight of an entry against byte limits: its payload and a share for its frame. */
export function entryBytes(entry: Entry): number {
  return entry.payload.byteLength + ENTRY_OVERHEAD_BYTES;
}

/** The share of an entry for its frame, in bytes. */
export const ENTRY_OVERHEAD_BYTES = 32;
