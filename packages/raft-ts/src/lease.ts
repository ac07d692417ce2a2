/**
 * A leader's lease: for a while after a quorum answered a heartbeat, none of these followers votes for another, so no
 * other leader can exist (Raft dissertation, section 6.4.1). It counts from the *sending* of the heartbeats, by a clock
 * that goes on while the process is paused.
 */
import { assert } from './assert.js';

export class Lease {
  readonly #clock_ms: () => number;
  readonly #duration_ms: number;
  /** When each round was sent, oldest first. */
  #sent: { readonly round: number; readonly at_ms: number }[] = [];
  #until_ms = Number.NEGATIVE_INFINITY;
  /** Planted bug: the tick until which the lease seems to hold. */
  #untilTick = -1;
  /** Ended for the rest of this term. */
  #over = false;

  constructor(clock_ms: () => number, duration_ms: number) {
    assert(duration_ms >= 0, 'A lease lasts no negative time', duration_ms);
    this.#clock_ms = clock_ms;
    this.#duration_ms = duration_ms;
  }

  /** Begins a term of leadership. */
  begin(): void {
    this.#sent = [];
    this.#until_ms = Number.NEGATIVE_INFINITY;
    this.#untilTick = -1;
    this.#over = false;
  }

  /**
   * Ends the lease until the next term. So it is as soon as a transfer begins: the order to campaign may arrive late,
   * after the transfer was given up, and the election that it causes does not wait for any lease.
   */
  end(): void {
    this.begin();
    this.#over = true;
  }

  /** Ends the lease until a quorum answers again. */
  interrupt(): void {
    const over = this.#over;
    this.begin();
    this.#over = over;
  }

  /** The heartbeats of `round` are sent now. */
  sent(round: number): void {
    if (this.#over) return;
    this.#sent.push({ round, at_ms: this.#clock_ms() });
    if (this.#sent.length > ROUNDS_MAX) this.#sent.shift();
  }

  /** A quorum has answered `round`. */
  confirmed(round: number, untilTick: number): void {
    let count = 0;
    while (count < this.#sent.length && this.#sent[count]!.round <= round) count += 1;
    const latest = this.#sent[count - 1];
    if (latest === undefined) return;
    this.#until_ms = Math.max(this.#until_ms, latest.at_ms + this.#duration_ms);
    this.#untilTick = untilTick;
    this.#sent.splice(0, count);
  }

  /** Whether no other leader can exist now. `byTick` is for the planted bug alone. */
  holds(now: number, byTick: boolean): boolean {
    if (this.#over) return false;
    return byTick ? now < this.#untilTick : this.#clock_ms() < this.#until_ms;
  }
}

const ROUNDS_MAX = 64;
