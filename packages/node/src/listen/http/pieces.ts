import type { HttpResponse } from 'uWebSockets.js';
import { ClientGoneError } from '../../backup/transfers.js';

/**
 * The body of a response that is written piece by piece. uWebSockets.js closes the connection when the client
 * takes nothing, or nothing is written, for ten seconds.
 */
export class Pieces {
  private isOver = false;
  private reader: { readonly resolve: () => void; readonly reject: (error: Error) => void } | null = null;

  /**
   * @param res a response whose head is written
   * @param ended called when nothing more is written, whatever the reason
   */
  constructor(
    private readonly res: HttpResponse,
    private readonly ended: () => void,
  ) {
    res.onWritable(() => {
      this.reader?.resolve();
      this.reader = null;
      return true;
    });
  }

  /**
   * Resolves when the client took enough for more to be written; rejects with `ClientGoneError`. One at a
   * time.
   */
  write(bytes: Uint8Array): Promise<void> {
    if (this.isOver) return Promise.reject(new ClientGoneError());
    let isTaken = false;
    this.res.cork(() => {
      isTaken = this.res.write(bytes);
    });
    if (isTaken) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.reader = { resolve, reject };
    });
  }

  /**
   * Ends the body. Nothing is read from the connection any more, which the client closes (its head has to say
   * so), or uWebSockets.js after ten seconds: see `request-headers.ts`.
   */
  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.res.cork(() => {
      this.res.pause();
      this.res.end();
    });
    this.ended();
  }

  /** Ends it so that the client notices that something is missing. */
  break(): void {
    if (!this.isOver) this.res.close();
  }

  /** The connection ended. */
  drop(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.reader?.reject(new ClientGoneError());
    this.ended();
  }
}
