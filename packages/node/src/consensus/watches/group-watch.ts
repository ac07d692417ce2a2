import type { GroupId } from '../../between/protocol.js';

/** The events of a Raft group, for counting. */
export interface GroupWatch {
  /** This node, leading, proposed everything up to an index: one time for so many entries. */
  proposed(lastIndex: number): void;
  /** So many entries could not be proposed. */
  refused(count: number): void;
  /** So many entries that this node proposed are committed, the last one with this index. */
  committed(lastIndex: number, count: number): void;
  /** Proposals that are not committed may never be. */
  lost(): void;
  readAsked(id: number): void;
  readAnswered(id: number): void;
  /** Another leader than before, or none (0). */
  leaderChanged(leader: number): void;
}

export type WatchGroup = (group: GroupId) => GroupWatch | undefined;
