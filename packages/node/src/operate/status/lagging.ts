/**
 * A lag from which on a node is not ready, in milliseconds. A read waits as long as the node lags, and half
 * of what a request may wait for by default is still an answer; so an ordinary burst, which lasts a second or
 * two, changes nothing, and a node that is busy is not taken out while the others are as busy.
 */
const LAG_MAX_MS = 5000;

/** A lag below which it is ready again: well below, so that it does not waver. */
export const LAG_LOW_MS = 1000;

/** Notices that a node is too far behind its leaders to be asked. */
export class Lagging {
  private is = false;

  get isTooFar(): boolean {
    return this.is;
  }

  /** @param lagMs that of the group that is furthest behind */
  note(lagMs: number): void {
    if (lagMs > LAG_MAX_MS) this.is = true;
    else if (lagMs < LAG_LOW_MS) this.is = false;
  }
}
