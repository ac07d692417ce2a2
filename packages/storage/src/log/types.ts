/** The hard state of a group: what Raft must not forget. */
export type HardState = {
  readonly term: number;
  /** The node voted for in `term`; 0 for none. */
  readonly vote: number;
  readonly commit: number;
};

/** One entry of a group's log. */
export type LogEntry = {
  readonly index: number;
  readonly term: number;
  /** A small number of the caller's choice, 0 to 255: normal, configuration, empty, ... */
  readonly type: number;
  /** The chain hash of the entry. */
  readonly hash: number;
  readonly payload: Uint8Array;
};

/**
 * The caller's chain hash of an entry, an unsigned 32-bit number over the entry and the chain hash of the
 * entry before it; 0 before the first. The store keeps it with the entry. Where it is told how it is
 * computed, it computes it again for each entry that it reads from the disk, and a difference is damage.
 *
 * @param previous the chain hash of the entry before
 */
export type ChainHash = (
  previous: number,
  index: number,
  term: number,
  type: number,
  payload: Uint8Array,
) => number;

/** One thing to make durable. All that one `append` call holds is durable together or not at all. */
export type LogOperation =
  | AppendEntry
  | SetHardState
  /** After a snapshot was installed: the log of the group is empty and goes on after `index`. */
  | ResetGroup
  /** The group is gone from this node, with its hard state. */
  | { readonly kind: 'drop'; readonly group: number };

/**
 * Adds an entry; those with the same or a higher index are gone. The payload must not change any more. An
 * entry whose `previousHash` is not the chain hash of the entry before it breaks what the log promises.
 */
export type AppendEntry = {
  readonly kind: 'entry';
  readonly group: number;
  readonly index: number;
  readonly term: number;
  readonly type: number;
  /** Chain hash of the entry before it. */
  readonly previousHash: number;
  /** Its own chain hash. */
  readonly hash: number;
  readonly payload: Uint8Array;
};

export type SetHardState = {
  readonly kind: 'hardState';
  readonly group: number;
  readonly term: number;
  readonly vote: number;
  readonly commit: number;
};

export type ResetGroup = {
  readonly kind: 'reset';
  readonly group: number;
  readonly index: number;
  readonly term: number;
  /** Chain hash of the entry at `index`. */
  readonly hash: number;
};

/** Called once: without an error, what was appended is durable. */
export type AppendDone = (error: Error | undefined) => void;

/**
 * The durable log of one group, read synchronously. What is being written is not in it yet. A damaged entry
 * throws `DamagedLogError`.
 */
export type LogView = {
  /** The first index whose entry can be read; `lastIndex + 1` if there is none. */
  readonly firstIndex: number;
  /** The index of the last entry, or of the snapshot that the log starts after; 0 at the beginning. */
  readonly lastIndex: number;
  readonly hardState: HardState | undefined;
  /** The term of an entry, also of the one before the first; undefined outside of that. */
  term(index: number): number | undefined;
  /**
   * The chain hash of an entry, also of the one before the first; undefined outside of that, and where a log
   * that was written in the first format of segments does not tell it of the one before the first.
   */
  hash(index: number): number | undefined;
  /**
   * Entries `low` to `high - 1`, in order, stopping before the payloads exceed `maxBytes`, though with at
   * least one. Throws `MisuseError` unless `firstIndex <= low <= high <= lastIndex + 1`.
   */
  entries(low: number, high: number, maxBytes: number): LogEntry[];
};

export type LogStats = {
  readonly segments: number;
  /** Bytes of the segment files. */
  readonly bytes: number;
  /** Bytes of the records in them that are needed. */
  readonly liveBytes: number;
  readonly cachedBytes: number;
  /** Durable writes and records since the store was opened. */
  readonly writes: number;
  readonly records: number;
  readonly poisoned: Error | undefined;
};
