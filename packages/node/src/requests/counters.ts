import type { NodeCounters } from '@althing/engine';
import type { Reply } from '../groups/request.js';

/** Figures that others count, from the start of the process on. */
export interface CountedElsewhere {
  /** Changes that the state of this node holds for good, of all scopes. */
  readonly changes: number;
  readonly garbage: number;
  readonly cacheHits: number;
}

/** The figures of this node for `counters()`. */
export class Counters {
  private since: CountedElsewhere;
  private startedAt: number;
  private successes = 0;
  private errors = 0;
  private taskSuccesses = 0;
  private taskErrors = 0;
  private quorumLost = 0;
  private longestMs = 0;
  private totalMs = 0;
  private largestResult = 0;

  /**
   * @param now the wall clock in milliseconds
   */
  constructor(
    private readonly now: () => number,
    private readonly elsewhere: () => CountedElsewhere,
  ) {
    this.since = elsewhere();
    this.startedAt = Math.floor(now() / 1000);
  }

  /** Counts a request that was answered. */
  count(reply: Reply, durationMs: number): void {
    this.totalMs += durationMs;
    this.longestMs = Math.max(this.longestMs, durationMs);
    if (reply.ok) {
      this.successes += 1;
      this.largestResult = Math.max(this.largestResult, reply.result.length);
    } else {
      this.errors += 1;
      if (reply.lost === true || reply.outcome === 'unknown') this.quorumLost += 1;
    }
  }

  /** Counts a run of a task on this node. */
  countTask(isGood: boolean): void {
    if (isGood) this.taskSuccesses += 1;
    else this.taskErrors += 1;
  }

  reset(): void {
    this.startedAt = Math.floor(this.now() / 1000);
    this.since = this.elsewhere();
    this.successes = 0;
    this.errors = 0;
    this.taskSuccesses = 0;
    this.taskErrors = 0;
    this.quorumLost = 0;
    this.longestMs = 0;
    this.totalMs = 0;
    this.largestResult = 0;
  }

  /** Counts of what never happens here, such as gaps between changes, are 0. */
  values(): NodeCounters {
    const { changes, garbage, cacheHits } = this.elsewhere();
    const queries = this.successes + this.errors;
    return {
      queries_success: this.successes,
      queries_with_error: this.errors,
      tasks_success: this.taskSuccesses,
      tasks_with_error: this.taskErrors,
      changes_with_gap: 0,
      changes_skipped: 0,
      changes_failed: 0,
      changes_killed: 0,
      // Changes of a deleted collection are not counted any more.
      changes_committed: Math.max(0, changes - this.since.changes),
      changes_unaligned: 0,
      garbage_collected: garbage - this.since.garbage,
      quorum_lost: this.quorumLost,
      queries_from_cache: cacheHits - this.since.cacheHits,
      wasted_cache: 0,
      longest_query_duration: this.longestMs / 1000,
      average_query_duration: queries === 0 ? 0 : this.totalMs / queries / 1000,
      longest_change_duration: 0,
      average_change_duration: 0,
      started_at: this.startedAt,
      largest_result_size: this.largestResult,
    };
  }
}
