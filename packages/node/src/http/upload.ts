import type { HttpResponse } from 'uWebSockets.js';
import { ClientGoneError } from './pieces.js';

/** Bytes that wait to be read, from which on the client has to wait. */
const WAITING_BYTES_MAX = 1024 * 1024;

/** How long a body is read that nobody wants, in milliseconds. */
const DISCARDING_MS = 10_000;

/**
 * The body of a request, to be read as it comes, once. As long as nobody reads, not more than some of it is taken from the
 * network. uWebSockets.js closes the connection when the client sends nothing for ten seconds while it may.
 */
export class Upload implements AsyncIterable<Uint8Array> {
  private readonly res: HttpResponse;
  private readonly parts: Uint8Array[] = [];
  private bytes = 0;
  private isPaused = false;
  private isComplete = false;
  private isGone = false;
  private isDiscarded = false;
  private wake: (() => void) | null = null;

  /** To be made while the head of the request is handled. */
  constructor(res: HttpResponse) {
    this.res = res;
    res.onData((chunk, isLast) => {
      this.isComplete = isLast;
      if (this.isDiscarded) {
        if (isLast) this.wake?.();
        return;
      }
      this.parts.push(Buffer.from(Buffer.from(chunk)));
      this.bytes += chunk.byteLength;
      if (!isLast && this.bytes >= WAITING_BYTES_MAX && !this.isPaused) {
        this.isPaused = true;
        res.pause();
      }
      this.wake?.();
    });
  }

  /**
   * Throws away what comes from here on. Resolves at its end, or after a while: an answer before the end makes
   * uWebSockets.js close the connection, and the client may see that instead of the answer.
   */
  discard(): Promise<void> {
    this.isDiscarded = true;
    this.parts.length = 0;
    if (this.isPaused && !this.isGone) this.res.resume();
    this.isPaused = false;
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
    this.wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const part = this.parts.shift();
      if (part !== undefined) {
        this.bytes -= part.length;
        if (this.isPaused && this.bytes < WAITING_BYTES_MAX / 2 && !this.isGone) {
          this.isPaused = false;
          this.res.resume();
        }
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
}
