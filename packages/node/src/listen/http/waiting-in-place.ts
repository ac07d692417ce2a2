import type { Exchange } from './exchange.js';

/** Time for which a node counts as busy after several requests came at once. */
const BUSY_MS = 50;

/**
 * Answers a request in the turn of the event loop in which it came, where that makes nobody else wait. With
 * one connection that gives a third to a half more changes a second; with eight it makes no difference.
 */
export class WaitingInPlace {
  /** Until when nothing is waited for in place, since several requests came at once. */
  private busyUntil = 0;
  /** True if a request was waited for in place in this turn of the event loop. */
  private waitedInTurn = false;

  /** @param wait blocks for a moment, or until the condition holds, while answers may come */
  constructor(private readonly wait: (done: () => boolean) => void) {}

  /**
   * Waits for the answer right here when nobody else wants anything. An idle node answers faster that way;
   * and a request that was sent right behind this one on the same connection (pipelining) can be answered in
   * its turn: uWebSockets.js closes a connection on which a request comes before the one in front of it is
   * answered.
   *
   * @param pending requests that are not answered, this one included
   * @param connections those that are open
   */
  answer(exchange: Pick<Exchange, 'finished'>, pending: number, connections: number): void {
    if (pending > 1 || (this.waitedInTurn && connections > 1)) {
      this.busyUntil = performance.now() + BUSY_MS;
      return;
    }
    if (connections > 1 && performance.now() < this.busyUntil) return;
    this.wait(() => exchange.finished);
    if (!exchange.finished) this.busyUntil = performance.now() + BUSY_MS;
    if (this.waitedInTurn) return;
    // While one is waited for, the others can't come in; what comes next in the same turn has waited
    // meanwhile.
    this.waitedInTurn = true;
    setImmediate(() => {
      this.waitedInTurn = false;
    });
  }
}
