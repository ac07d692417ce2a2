import { ErrorCode, type Format, QueryError, type ScopeName, type User } from '@althing/engine';
import type { HttpResponse } from 'uWebSockets.js';
import type { Reply } from '../request.js';
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
  private chunks: Buffer[] = [];
  private size = 0;
  private done = false;
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

  /** The client went away. */
  abort(): void {
    this.finish();
  }

  /** Marks the end of the native callback. */
  leaveCallback(): void {
    this.inCallback = false;
  }

  /** Keeps a piece of the body, whose memory is gone after the callback. */
  keep(chunk: ArrayBuffer): void {
    this.size += chunk.byteLength;
    this.chunks.push(Buffer.from(Buffer.from(chunk)));
  }

  /** Bytes of the body so far. */
  get bodySize(): number {
    return this.size;
  }

  complete(): void {
    this.body = this.chunks.length === 1 ? (this.chunks[0] as Buffer) : Buffer.concat(this.chunks, this.size);
    this.chunks = [];
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
    this.chunks = [];
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
  for (const [name, value] of headers) res.writeHeader(name, value);
  res.end(body, close);
}
