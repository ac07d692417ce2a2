/**
 * Long answers on their way to clients that may not read them. uWebSockets.js would keep as many bytes as it
 * is given, for as long as the connection lives (it closes one that takes nothing for ten seconds); here they
 * share a budget with the bodies of requests.
 */
import type { HttpResponse } from 'uWebSockets.js';
import type { ByteBudget } from '../limits/byte-budget.js';

/** Bytes from which on an answer is long; shorter ones are not worth the trouble. */
export const LONG_BYTES = 64 * 1024;

/** Time that uWebSockets.js lets a connection live that takes nothing, in milliseconds. */
const UNREAD_MS = 10_000;

/** An answer that is not out completely. */
export interface Unsent {
  /** To be called when the connection ended. */
  drop(): void;
}

export class AnswerBuffer {
  constructor(private readonly budget: ByteBudget) {}

  /**
   * Sends the body of a response whose head is written. When the client does not take all of it at once, the
   * rest takes from the budget; if that is used up, the connection is closed.
   *
   * @param body must not change any more
   * @param done is called when the client has it, at once or later, unless `drop` is called
   * @returns what is left; null when nothing is
   */
  send(res: HttpResponse, body: Uint8Array, done: () => void): Unsent | null {
    const [, isOut] = res.tryEnd(body, body.length);
    if (isOut) {
      done();
      return null;
    }
    if (!this.budget.tryTake(body.length)) return this.refuse(res);
    let isTaken = true;
    const give = (): void => {
      if (isTaken) this.budget.give(body.length);
      isTaken = false;
    };
    res.onWritable((offset) => {
      const [isTakenOn, isOutNow] = res.tryEnd(body.subarray(offset), body.length);
      if (isOutNow) {
        give();
        done();
      }
      return isTakenOn;
    });
    return { drop: give };
  }

  /**
   * Counts an answer that has to be handed over as a whole, for as long as it may lie there.
   *
   * @returns false when there is no room for it
   */
  lend(bytes: number): boolean {
    if (!this.budget.tryTake(bytes)) return false;
    setTimeout(() => this.budget.give(bytes), UNREAD_MS).unref();
    return true;
  }

  /** Closes the connection, but not while something is being written on it. */
  private refuse(res: HttpResponse): Unsent {
    let isClosed = false;
    setImmediate(() => {
      if (!isClosed) res.close();
    });
    return {
      drop: () => {
        isClosed = true;
      },
    };
  }
}
