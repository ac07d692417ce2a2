/** The part of the host's log that the core reads. */
import type { Entry, Index, SnapshotMeta, Term } from './types.js';

/**
 * Synchronous view of the durable log of one group. The core asks only for what was acknowledged to it
 * (`persisted`); younger entries it keeps itself. Entries that were acknowledged must be visible here before
 * `persisted` is called.
 */
export interface LogView {
  /**
   * The first entry that is still there: the index after the last compacted one, 1 in a log that was never
   * compacted.
   */
  firstIndex(): Index;
  /** `firstIndex() - 1` if the log is empty. */
  lastIndex(): Index;
  /** Term of the entry at `index`, for `firstIndex() - 1 <= index <= lastIndex()`; 0 at index 0. */
  term(index: Index): Term;
  /** Chain hash of the entry at `index`, in the same range; 0 at index 0. */
  hash(index: Index): number;
  /**
   * The entries from `low` up to, not including, `high`, cut so that their payloads sum up to at most about
   * `maxBytes`; the first one is always there. Only for entries that were applied already an empty answer is
   * allowed: it means "not in memory now", and the core asks again with the follower's next heartbeat
   * response.
   */
  entries(low: Index, high: Index, maxBytes: number): readonly Entry[];
  /**
   * The newest snapshot that could be sent to a follower; it must reach at least to `firstIndex() - 1`. Null:
   * none at hand, the core asks again with the follower's next heartbeat response (and the host may take it
   * as a hint to make one).
   */
  snapshot(): SnapshotMeta | null;
}
