/**
 * A leader's knowledge of one member.
 *
 *   state      sends                                   leaves by
 *   probe      one append, then waits for a response   an accepting response -> replicate; entries are compacted -> snapshot
 *              (or the next heartbeat response)
 *   replicate  appends ahead of the responses, as far  a rejection, or a host's report that it is unreachable -> probe
 *              as the window allows
 *   snapshot   nothing                                 the host's report, or a response that shows that the member is back
 *                                                      in reach of the log -> probe, and at once replicate if it accepted
 */
import { assert } from './assert.js';
import { Inflights } from './inflights.js';
import type { Index, NodeId } from './types.js';

export type ProgressState = 'probe' | 'replicate' | 'snapshot';

export class Progress {
  state: ProgressState = 'probe';
  /** The member's log is known to agree up to here, durably. `0 <= match < next`. */
  match: Index = 0;
  /** probe: an append is under way, nothing more is sent. */
  paused = false;
  /** snapshot: the index of the snapshot under way. */
  pendingSnapshot: Index = 0;
  /** The highest commit index that was sent along. */
  sentCommit: Index = 0;
  /** The tick in which the member was last heard of. */
  lastActive: number;
  /** The latest round of read confirmation that it answered. */
  ackedRound = 0;
  /** It lost entries that it had promised; until it has them again, its acknowledgements do not count. */
  recovering = false;
  /**
   * Learners: catching up is measured in rounds (Raft dissertation, section 4.2.1); this is where the round
   * ends.
   */
  roundTarget: Index = 0;
  /** The tick in which the round began. */
  roundStart = 0;
  /** Learners: the last round took less than an election timeout. */
  caughtUp = false;
  readonly window: Inflights;

  constructor(
    readonly id: NodeId,
    /** The next entry to send. */
    public next: Index,
    now: number,
    maxInflightMessages: number,
    maxInflightBytes: number,
  ) {
    assert(next >= 1, 'Indexes begin at 1', next);
    this.lastActive = now;
    this.window = new Inflights(maxInflightMessages, maxInflightBytes);
  }

  /** Begins anew, as a new leader does. */
  reset(next: Index, now: number): void {
    assert(next >= 1, 'Indexes begin at 1', next);
    this.state = 'probe';
    this.match = 0;
    this.next = next;
    this.paused = false;
    this.pendingSnapshot = 0;
    this.sentCommit = 0;
    this.lastActive = now;
    this.ackedRound = 0;
    this.recovering = false;
    this.roundTarget = 0;
    this.roundStart = now;
    this.caughtUp = false;
    this.window.clear();
  }

  becomeProbe(): void {
    const afterSnapshot = this.state === 'snapshot' ? this.pendingSnapshot + 1 : 0;
    this.enter('probe');
    this.next = Math.max(this.match + 1, afterSnapshot);
    this.sentCommit = Math.min(this.sentCommit, this.next - 1);
  }

  becomeReplicate(): void {
    this.enter('replicate');
    this.next = this.match + 1;
  }

  becomeSnapshot(index: Index): void {
    assert(index > this.match, 'A snapshot of what the member has', index, this.match);
    this.enter('snapshot');
    this.pendingSnapshot = index;
    this.next = index + 1;
    this.sentCommit = index;
  }

  /** Notes an acknowledgement; whether it is news. */
  matched(index: Index): boolean {
    this.next = Math.max(this.next, index + 1);
    if (index <= this.match) return false;
    this.match = index;
    this.paused = false;
    return true;
  }

  /**
   * Notes that an append behind `rejected` did not fit; the logs may agree at `hint`. Whether that is news:
   * rejections may arrive late or twice.
   */
  rejected(rejected: Index, hint: Index): boolean {
    if (this.state === 'snapshot') return false;
    if (this.state === 'replicate') {
      if (rejected <= this.match) return false;
      this.next = this.match + 1;
      return true;
    }
    // An acknowledged entry is there, or the member has lost it: asking for it again would never end.
    if (this.next - 1 !== rejected || rejected <= this.match) return false;
    this.next = Math.max(Math.min(rejected, hint + 1), this.match + 1);
    this.sentCommit = Math.min(this.sentCommit, this.next - 1);
    this.paused = false;
    return true;
  }

  /** The member says that it lost what it had up to `last`: forget what it acknowledged. */
  recoverFrom(last: Index): void {
    this.recovering = true;
    this.match = 0;
    this.enter('probe');
    this.next = last + 1;
    this.sentCommit = 0;
  }

  /** True if nothing may be sent now. */
  get blocked(): boolean {
    return this.state === 'snapshot' || (this.state === 'probe' && this.paused);
  }

  private enter(state: ProgressState): void {
    this.state = state;
    this.paused = false;
    this.pendingSnapshot = 0;
    this.window.clear();
  }
}
