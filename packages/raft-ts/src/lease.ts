/**
 * A leader's lease: for a while after a quorum answered a heartbeat, none of these followers votes for
 * another, so no other leader can exist (Raft dissertation, section 6.4.1). It counts from the *sending* of
 * the heartbeats, by a clock that goes on while the process is paused.
 */
import { assert } from './assert.js';

export class Lease {
  /** When each round was sent, oldest first. */
  private sentRounds: { readonly round: number; readonly at_ms: number }[] = [];
  private until_ms = Number.NEGATIVE_INFINITY;
  /** Ended for the rest of this term. */
  private over = false;

  constructor(
    private readonly clock_ms: () => number,
    private readonly duration_ms: number,
  ) {
    assert(duration_ms >= 0, 'A lease lasts no negative time', duration_ms);
  }

  /** Begins a term of leadership. */
  begin(): void {
    this.sentRounds = [];
    this.until_ms = Number.NEGATIVE_INFINITY;
    this.over = false;
  }

  /**
   * Ends the lease until the next term. So it is as soon as a transfer begins: the order to campaign may
   * arrive late, after the transfer was given up, and the election that it causes does not wait for any
   * lease.
   */
  end(): void {
    this.begin();
    this.over = true;
  }

  /** Ends the lease until a quorum answers again. */
  interrupt(): void {
    const over = this.over;
    this.begin();
    this.over = over;
  }

  /** The heartbeats of `round` are sent now. */
  sent(round: number): void {
    if (this.over) return;
    this.sentRounds.push({ round, at_ms: this.clock_ms() });
    if (this.sentRounds.length > ROUNDS_MAX) this.sentRounds.shift();
  }

  /** A quorum has answered `round`. */
  confirmed(round: number): void {
    let count = 0;
    while (count < this.sentRounds.length && this.sentRounds[count]!.round <= round) count += 1;
    const latest = this.sentRounds[count - 1];
    if (latest === undefined) return;
    this.until_ms = Math.max(this.until_ms, latest.at_ms + this.duration_ms);
    this.sentRounds.splice(0, count);
  }

  /** True if no other leader can exist now. */
  holds(): boolean {
    return !this.over && this.clock_ms() < this.until_ms;
  }
}

const ROUNDS_MAX = 64;
