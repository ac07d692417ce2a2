import type { HttpResponse } from 'uWebSockets.js';
import { ErrorCode, type Format, QueryError, type ScopeName, type User } from '@althing/engine';
import type { Reply } from '../request.js';
import { BodyBuffer } from './body-buffer.js';
import type { ByteBudget } from './byte-budget.js';
import { CONTENT_TYPES, errorBody, statusOf } from './reply.js';

/** Additional response headers, in pairs. */
export type Headers = readonly (readonly [string, string])[];

/**
 * One request and its response. The response is written exactly once, or not at all when the client went away; the
 * native object must not be touched afterwards.
 */
export class Exchange {
  readonly scope: ScopeName;
  readonly format: Format;
  user: User | null = null;
  /** Set once the whole body has come. */
  body: Buffer | null = null;
  private readonly res: HttpResponse;
  private readonly onDone: () => void;
  private buffer: BodyBuffer | null = null;
  private done = false;
  private aborted = false;
  /** Whether the native callback that the request came in with still runs: writes are corked then. */
  private inCallback = true;
  private timer: NodeJS.Timeout | null = null;

  constructor(res: HttpResponse, scope: ScopeName, format: Format, onDone: () => void) {
    this.res = res;
    this.scope = scope;
    this.format = format;
    this.onDone = onDone;
  }

  get finished(): boolean {
    return this.done;
  }

  /** Whether the client went away without an answer. */
  get gone(): boolean {
    return this.aborted;
  }

  /** The client went away. */
  abort(): void {
    if (!this.done) this.aborted = true;
    this.finish();
  }

  /** Marks the end of the native callback. */
  leaveCallback(): void {
    this.inCallback = false;
  }

  /**
   * Keeps a piece of the body, whose memory is gone after the callback.
   *
   * @returns false when the budget for bodies is used up
   */
  keep(chunk: ArrayBuffer, budget: ByteBudget, sizeMax: number): boolean {
    this.buffer ??= new BodyBuffer(budget, sizeMax);
    return this.buffer.add(Buffer.from(chunk));
  }

  /** Bytes of the body so far. */
  get bodySize(): number {
    return this.buffer?.size ?? 0;
  }

  complete(): void {
    this.body = this.buffer?.content() ?? Buffer.alloc(0);
    this.stopTimer();
  }

  /** Ends the request when the rest of its body does not come in time. */
  startTimer(ms: number): void {
    this.timer ??= setTimeout(() => {
      const error = new QueryError(ErrorCode.BAD_DATA, `the request body did not come within ${ms} ms`);
      this.fail(error, '408 Request Timeout', [], true);
    }, ms);
  }

  reply(reply: Reply): void {
    if (reply.ok) this.send('200 OK', CONTENT_TYPES[this.format], reply.result, [], false);
    else this.fail(reply.error);
  }

  fail(error: QueryError, status = statusOf(error), headers: Headers = [], close = false): void {
    const all = status.startsWith('503') || status.startsWith('429') ? [...headers, RETRY_AFTER] : headers;
    this.send(status, CONTENT_TYPES[this.format], errorBody(error, this.format), all, close);
  }

  private send(
    status: string,
    contentType: string,
    body: string | Uint8Array,
    headers: Headers,
    close: boolean,
  ): void {
    if (this.done) return;
    this.finish();
    const { res } = this;
    if (this.inCallback) write(res, status, contentType, body, headers, close);
    else res.cork(() => write(res, status, contentType, body, headers, close));
  }

  private finish(): void {
    if (this.done) return;
    this.done = true;
    this.body = null;
    this.buffer?.free();
    this.stopTimer();
    this.onDone();
  }

  private stopTimer(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
  }
}

const RETRY_AFTER = ['Retry-After', '1'] as const;

/** Writes a whole response. */
export function write(
  res: HttpResponse,
  status: string,
  contentType: string,
  body: string | Uint8Array,
  headers: Headers,
  close: boolean,
): void {
  if (status !== '200 OK') res.writeStatus(status);
  res.writeHeader('Content-Type', contentType);
  res.writeHeader('X-Content-Type-Options', 'nosniff');
  for (const [name, value] of headers) res.writeHeader(name, value);
  res.end(body, close);
}
