import type { HttpResponse } from 'uWebSockets.js';
import { ClientGoneError } from '../../backup/transfers.js';
import type { Bytes } from '../limits/byte-budget.js';

/** Bytes that wait to be read, from which on the client has to wait. */
const WAITING_BYTES_MAX = 1024 * 1024;

/** Time for which a body is read that nobody wants, in milliseconds. */
const DISCARDING_MS = 10_000;

/**
 * The body of a request, to be read as it comes, once. As long as nobody reads, not more than some of it is
 * taken from the network; and as long as it is not known whose it is, not more than is there already.
 * uWebSockets.js closes the connection when the client sends nothing for ten seconds while it may.
 */
export class Upload implements AsyncIterable<Uint8Array> {
  private readonly parts: Uint8Array[] = [];
  private bytes = 0;
  private isPaused = false;
  private isComplete = false;
  private isGone = false;
  private isDiscarded = false;
  /** The share of a sender that is not known yet; null once it is. */
  private share: Bytes | null;
  private wake: (() => void) | null = null;

  /**
   * To be made while the head of the request is handled.
   *
   * @param share what a sender may take that is not known yet
   */
  constructor(
    private readonly res: HttpResponse,
    share: Bytes,
  ) {
    this.share = share;
    res.onData((chunk, isLast) => {
      this.isComplete = isLast;
      if (this.isDiscarded || this.isGone) {
        if (isLast) this.wake?.();
        return;
      }
      if (this.share !== null && !this.share.tryTake(chunk.byteLength)) {
        setImmediate(() => {
          if (!this.isGone) res.close();
        });
        return;
      }
      this.parts.push(Buffer.from(Buffer.from(chunk)));
      this.bytes += chunk.byteLength;
      const isEnough = this.share !== null || this.bytes >= WAITING_BYTES_MAX;
      if (!isLast && isEnough && !this.isPaused) {
        this.isPaused = true;
        res.pause();
      }
      this.wake?.();
    });
  }

  /** The sender is known: the rest may come. */
  welcome(): void {
    this.share?.give(this.bytes);
    this.share = null;
    this.resume();
  }

  /**
   * Throws away what comes from here on. Resolves at its end, or after a while: an answer before the end
   * makes uWebSockets.js close the connection, and the client may see that instead of the answer.
   */
  discard(): Promise<void> {
    this.isDiscarded = true;
    this.parts.length = 0;
    this.resume();
    if (this.isComplete || this.isGone) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, DISCARDING_MS).unref();
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** The connection ended. */
  drop(): void {
    this.isGone = true;
    this.forget();
    this.wake?.();
  }

  /** Gives back what a sender took that is not known. */
  forget(): void {
    if (this.share === null) return;
    this.share.give(this.bytes);
    this.share = null;
    this.isDiscarded = true;
    this.parts.length = 0;
    this.bytes = 0;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const part = this.parts.shift();
      if (part !== undefined) {
        this.bytes -= part.length;
        if (this.bytes < WAITING_BYTES_MAX / 2) this.resume();
        yield part;
      } else if (this.isComplete) {
        return;
      } else if (this.isGone) {
        throw new ClientGoneError();
      } else {
        await new Promise<void>((resolve) => {
          this.wake = resolve;
        });
        this.wake = null;
      }
    }
  }

  /** Goes on, unless all has come: uWebSockets.js would close the connection ten seconds later then, whatever the answer waits for. */
  private resume(): void {
    if (this.isPaused && !this.isComplete && !this.isGone) this.res.resume();
    this.isPaused = false;
  }
}
