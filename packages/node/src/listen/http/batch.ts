/**
 * Connections that came within the same span of time. uWebSockets.js does not tell on which connection a
 * request comes; but it tells which app it comes in with, and each batch has one of its own. So connections
 * end by age: in the last fifth of their batch's time a few at a time, each with an answer, and then with the
 * next one.
 */
import type { TemplatedApp } from 'uWebSockets.js';

/** The last part of a batch's time, in which its connections end one after the other. */
const ENDING_PART = 0.2;

export class Batch {
  connections = 0;
  /** The number of its connections that may end now; a part of one is kept for later. */
  private ends = 0;

  constructor(readonly app: TemplatedApp) {}

  /** True if the connection that is answered now ends with the answer. */
  closesNext(): boolean {
    if (this.ends < 1) return false;
    this.ends -= 1;
    return true;
  }

  /** All connections end with their next answer, or none, for now. */
  end(all: boolean): void {
    this.ends = all ? Number.POSITIVE_INFINITY : 0;
  }

  /**
   * To be called every `tickMs`.
   *
   * @param ageMs of the oldest connection that there may be
   * @param ageMaxMs at which no connection outlives its next answer
   */
  tick(ageMs: number, ageMaxMs: number, tickMs: number): void {
    const left = ageMaxMs - ageMs;
    if (left <= 0) this.end(true);
    else if (left > ageMaxMs * ENDING_PART) this.ends = 0;
    else this.ends += this.connections / Math.ceil(left / tickMs);
  }
}
