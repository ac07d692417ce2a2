import type { HttpResponse } from 'uWebSockets.js';
import { type Format, nodeError, type QueryError, type ScopeName, type User } from '@althing/engine';
import type { ChangeOutcome, Reply } from '../../groups/request.js';
import type { Principal } from '../auth/authenticator.js';
import type { ByteBudget, Bytes } from '../limits/byte-budget.js';
import type { ClientAddresses } from '../limits/client-addresses.js';
import { noTerms, type TermHeaders } from '../shared/terms.js';
import { type AnswerBuffer, LONG_BYTES, type Unsent } from './answer-buffer.js';
import type { Batch } from './batch.js';
import { BodyBuffer } from './body-buffer.js';
import { Pieces } from './pieces.js';
import type { Refusal } from './refusals.js';
import { errorBody, type Heads, statusOf, statusOfReply } from './reply.js';
import { type Headers, headersOf, NO_HEADERS } from './reply-headers.js';
import { beginsAsBody, type RequestHeaders } from './request-headers.js';
import type { SessionCall } from './session-door.js';

/** The parts that the exchanges of a listener share. */
export interface ExchangeParts {
  readonly heads: Heads;
  readonly answerBuffer: AnswerBuffer;
  readonly clients: Pick<ClientAddresses, 'of'>;
  /** Called once, when there is a response and the client has it, or there is nobody to take it. */
  readonly done: (exchange: Exchange) => void;
}

/** The response to a request. */
interface Answer {
  readonly status: string;
  readonly body: string | Uint8Array;
  readonly headers: Headers;
  /** True if the connection ends with it, whatever else. */
  readonly close: boolean;
  /** The entry of the log that it shows; 0 for none. */
  readonly index: number;
  readonly outcome?: ChangeOutcome | undefined;
}

/**
 * One request and its response. The response is written exactly once, or not at all when the client went
 * away; the native object must not be touched afterwards.
 */
export class Exchange {
  /** To be called when the client goes away. */
  onGone: (() => void) | null = null;
  user: User | null = null;
  /** Null unless it is a request about a session. */
  session: SessionCall | null = null;
  /** The memory of the body as long as the sender is not known. */
  share: Bytes | null = null;
  /** Its number among those whose body is waited for; 0 before. */
  bodyDeadline = 0;
  /** Set once the whole body has come. */
  body: Buffer | null = null;
  /** Headers that say how the request is to be carried out; null for none. */
  terms: TermHeaders | null;
  /** The name of the request, which its answer tells. */
  readonly id: string;
  /** True if the connection ends with the response. */
  private readonly isLast: boolean;
  /** See `ClientAddresses.of`. */
  private readonly forwardedFor: string;
  private buffer: BodyBuffer | null = null;
  private held = 0;
  private heldFrom: ByteBudget | null = null;
  private unsent: Unsent | null = null;
  private done = false;
  private left = false;
  private aborted = false;
  private closed = false;
  /** True if the native callback that the request came in with still runs. */
  private inCallback = true;
  /** True if a native callback of this connection runs: what is written in it goes out together when it ends. */
  private isCorked = true;
  private bodyBegun = false;
  private beginsAsBody = false;
  /** True if the body has come to its end, and that is where it must be. */
  private endIsCertain = false;
  /** A response that came before the body; see `postpone`. */
  private early: (() => void) | null = null;
  private isPaused = false;
  private isBodyUnwanted = false;

  /** @param cors headers for the page of a browser, or nothing */
  constructor(
    private readonly res: HttpResponse,
    readonly scope: ScopeName,
    readonly format: Format,
    private readonly parts: ExchangeParts,
    private readonly batch: Pick<Batch, 'closesNext'>,
    { terms, id, isLast, forwardedFor }: Pick<RequestHeaders, 'terms' | 'id' | 'isLast' | 'forwardedFor'>,
    private readonly cors: string,
  ) {
    this.terms = terms;
    this.id = id;
    this.isLast = isLast;
    this.forwardedFor = forwardedFor;
  }

  get finished(): boolean {
    return this.done;
  }

  /** True if nobody wants the body any more. */
  get isIndifferent(): boolean {
    return this.done || this.isBodyUnwanted;
  }

  /** The client's address, as long as it waits for an answer; null after that. Part of `Client`. */
  get address(): string | null {
    return this.done || this.closed ? null : this.parts.clients.of(this.res, this.forwardedFor);
  }

  /** True if the client went away without an answer. */
  get gone(): boolean {
    return this.aborted;
  }

  /** The client went away. */
  abort(): void {
    this.closed = true;
    if (!this.done) this.aborted = true;
    this.unsent?.drop();
    this.onGone?.();
    this.finish();
    this.leave();
  }

  /** Marks the end of the native callback. */
  leaveCallback(): void {
    this.inCallback = false;
    this.isCorked = false;
  }

  /** To be called with each piece of the body, before anything is done with it; `leaveBody` is to follow in the same native callback. */
  enterBody(piece: Buffer, isLast: boolean): void {
    this.isCorked = true;
    if (!this.bodyBegun && piece.length > 0) {
      this.bodyBegun = true;
      this.beginsAsBody = beginsAsBody(piece[0]);
    }
    if (!isLast) return;
    this.endIsCertain = this.beginsAsBody;
    this.release();
  }

  /** Marks the end of the native callback that a piece of the body came in. */
  leaveBody(): void {
    this.isCorked = false;
  }

  /** Takes nothing more from the network until `welcome` or `resume`. */
  pause(): void {
    if (this.isPaused || this.closed || this.done) return;
    this.isPaused = true;
    this.res.pause();
  }

  resume(): void {
    if (!this.isPaused || this.closed) return;
    this.isPaused = false;
    this.res.resume();
  }

  /** The sender is known: the requests of some may change nothing, whatever their headers say. */
  identify({ user, readOnly }: Principal): void {
    this.user = user;
    if (readOnly) this.terms = { ...(this.terms ?? noTerms()), readOnly: 'true' };
  }

  /** The sender is known: what came of the body counts against another budget, and the rest may come. */
  welcome(principal: Principal, budget: ByteBudget): void {
    this.identify(principal);
    this.share = null;
    this.buffer?.moveTo(budget);
    // Behind the end of the body, uWebSockets.js would close the connection ten seconds later, whatever the answer waits for.
    if (this.body === null) this.resume();
  }

  /** The answer will be a refusal, some time: the body is forgotten, and nothing more is kept of it. */
  discardBody(): void {
    this.isBodyUnwanted = true;
    this.body = null;
    this.buffer?.free();
    this.buffer = null;
  }

  /**
   * Keeps a piece of the body, whose memory is gone after the callback.
   *
   * @returns false when the budget for bodies is used up
   */
  keep(piece: Buffer, budget: Bytes, sizeMax: number): boolean {
    this.buffer ??= new BodyBuffer(budget, sizeMax);
    return this.buffer.add(piece);
  }

  /** The body was read, and nothing refers to its memory. */
  releaseBody(): void {
    this.body = null;
    this.buffer?.free();
  }

  /** True if a piece of the body was kept. */
  get hasKept(): boolean {
    return this.buffer !== null;
  }

  /**
   * Counts memory that the request takes as long as it waits for its answer.
   *
   * @returns false when the budget is used up
   */
  hold(bytes: number, budget: ByteBudget): boolean {
    if (!budget.tryTake(bytes)) return false;
    this.held += bytes;
    this.heldFrom = budget;
    return true;
  }

  /** Bytes of the body so far. */
  get bodySize(): number {
    return this.buffer?.size ?? 0;
  }

  complete(): void {
    this.body = this.buffer?.content() ?? Buffer.alloc(0);
  }

  /**
   * Begins the last response of a connection, of status 200 and written piece by piece; null when the client
   * went away.
   */
  begin(contentType: string, headers: Headers = NO_HEADERS): Pieces | null {
    if (this.done) return null;
    this.finish();
    const { res } = this;
    this.corked(() =>
      writeHead(res, '200 OK', this.parts.heads.ofType(contentType, this.id) + this.cors, [
        ...headers,
        CLOSE,
      ]),
    );
    const pieces = new Pieces(res, () => this.leave());
    this.onGone = () => pieces.drop();
    return pieces;
  }

  /** Answers with JSON that what was asked for is not there any more. */
  replyGone(json: string): void {
    this.send({ status: '410 Gone', body: json, headers: NO_HEADERS, close: false, index: 0 });
  }

  reply(reply: Reply): void {
    const { index = 0, outcome } = reply;
    const headers = headersOf(reply);
    if (reply.ok) this.send({ status: '200 OK', body: reply.result, headers, close: false, index, outcome });
    else {
      const { error, retryAfterS } = reply;
      this.sendError(
        error,
        { status: statusOfReply(reply), headers, close: false, index, outcome },
        retryAfterS,
      );
    }
  }

  /** Answers a request that was not carried out, unless `outcome` says something else. */
  fail(
    error: QueryError,
    {
      outcome = 'none',
      status = statusOf(error, outcome),
      headers = NO_HEADERS,
      close = false,
    }: Refusal = {},
  ): void {
    this.sendError(error, { status, headers, close, index: 0, outcome });
  }

  private sendError(error: QueryError, answer: Omit<Answer, 'body'>, retryAfterS = 1): void {
    const { status, headers, outcome } = answer;
    const isForLater = status.startsWith('503') || status.startsWith('429');
    const all = isForLater ? [...headers, ['Retry-After', String(retryAfterS)] as const] : headers;
    this.send({ ...answer, body: errorBody(error, this.format, outcome), headers: all });
  }

  private send(answer: Answer): void {
    if (this.done) return;
    this.finish();
    if (this.inCallback && !answer.close && !this.isLast) this.postpone(answer);
    else this.respond(answer);
  }

  /**
   * Puts a response off for a moment that there is before the body: often that is in the same segment, and
   * then its end is certain, and the connection can go on. What has not come by then is not waited for.
   */
  private postpone(answer: Answer): void {
    this.early = () => this.respond(answer);
    setImmediate(() => this.release());
  }

  private release(): void {
    const { early } = this;
    this.early = null;
    if (early !== null && !this.closed) early();
  }

  private respond(answer: Answer): void {
    const { status, body, headers, close, index } = answer;
    const cuts = close || this.isLast || !this.endIsCertain;
    const closes = cuts || this.batch.closesNext();
    const head = this.parts.heads.of(this.format, this.id, index) + this.cors;
    if (body.length < LONG_BYTES && !cuts && this.isCorked) {
      // The usual case.
      this.leave();
      write(this.res, status, head, body, headers, closes);
    } else this.respondOtherwise(answer, head, cuts, closes);
  }

  /** As `respond`, in all cases but the usual one, which would have to pay for functions that are made here. */
  private respondOtherwise(answer: Answer, head: string, cuts: boolean, closes: boolean): void {
    const { res } = this;
    const { status, body, headers, outcome = 'none' } = answer;
    const isLong = body.length >= LONG_BYTES;
    if (isLong && !cuts) {
      const bytes = typeof body === 'string' ? Buffer.from(body) : body;
      // The client closes it then.
      this.sendLong(status, head, bytes, closes ? [...headers, CLOSE] : headers);
      return;
    }
    this.leave();
    if (isLong && !this.parts.answerBuffer.lend(body.length)) {
      const full = errorBody(OUTBOX_FULL, this.format, outcome);
      const fullStatus = statusOf(OUTBOX_FULL, outcome);
      const all = outcome === 'none' ? [...headers, RETRY_AFTER] : headers;
      writeLater(
        res,
        () => this.closed,
        () => write(res, fullStatus, head, full, all, true),
      );
      return;
    }
    const writeNow = (): void => write(res, status, head, body, headers, closes);
    if (cuts) writeLater(res, () => this.closed, writeNow);
    else this.corked(writeNow);
  }

  private sendLong(status: string, head: string, body: Uint8Array, headers: Headers): void {
    const { res } = this;
    this.corked(() => {
      writeHead(res, status, head, headers);
      this.unsent = this.parts.answerBuffer.send(res, body, () => this.leave());
    });
  }

  private corked(work: () => void): void {
    if (this.isCorked) work();
    else this.res.cork(work);
  }

  private finish(): void {
    if (this.done) return;
    this.done = true;
    // A connection that goes on must be read. One whose sender is not known is closed.
    if (this.user !== null) this.resume();
    this.body = null;
    this.buffer?.free();
    this.heldFrom?.give(this.held);
  }

  private leave(): void {
    if (this.left) return;
    this.left = true;
    this.parts.done(this);
  }
}

const OUTBOX_FULL = nodeError(
  'answers that clients do not read take too much memory (request_memory_limit_mb): try again',
);

const CLOSE = ['Connection', 'close'] as const;

const RETRY_AFTER = ['Retry-After', '1'] as const;

/**
 * Writes a response that ends the connection: in the next turn of the event loop, and not in the callback
 * that the request came in with. What stands behind the request in the same segment must not be taken for
 * another request, above all when it is not clear where the request ends (two lengths), or when it is
 * trailers behind chunks, which uWebSockets.js takes for one. As long as there is no response, it closes the
 * connection at anything that follows.
 */
export function writeLater(res: HttpResponse, closed: () => boolean, work: () => void): void {
  setImmediate(() => {
    if (!closed()) res.cork(work);
  });
}

/**
 * Writes a whole response.
 *
 * @param head its Content-Type, perhaps with further headers: see `Heads`
 */
export function write(
  res: HttpResponse,
  status: string,
  head: string,
  body: string | Uint8Array,
  headers: Headers,
  close: boolean,
): void {
  writeHead(res, status, head, headers);
  res.end(body, close);
}

export function writeHead(res: HttpResponse, status: string, head: string, headers: Headers): void {
  if (status !== '200 OK') res.writeStatus(status);
  res.writeHeader('Content-Type', head);
  for (const [name, value] of headers) res.writeHeader(name, value);
}
