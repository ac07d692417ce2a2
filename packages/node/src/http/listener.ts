/**
 * The HTTP API: `POST /SCOPE` with JSON or MessagePack, `POST /@backup` and `POST /@restore`. uWebSockets.js does the listening; what it leaves open (repeated
 * Content-Length, unknown transfer codings, sizes, slow bodies) is guarded here.
 *
 * Order of decisions: method, path, credentials, whether the node serves, content type, size, body, and only then the
 * request itself. A body is kept only when the credentials can still turn out to be right.
 */

import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { setTimeout as pause } from 'node:timers/promises';
import { ErrorCode, type Format, QueryError, type ScopeName } from '@althing/engine';
import type { Authenticator, Login } from '../auth/authenticator.js';
import type { EngineMetrics } from '../metrics/engine-metrics.js';
import type { Request, Respond } from '../request.js';
import { AddressCounts, addressKey, systemCounts } from './address-counts.js';
import { Apps, hasCertificate, type TlsFiles } from './apps.js';
import type { Batch } from './batch.js';
import { type BodyOptions, decodeBody } from './body.js';
import { ByteBudget } from './byte-budget.js';
import { ClientAddresses } from './client-addresses.js';
import { Deadlines } from './deadlines.js';
import { Exchange, type ExchangeParts, type Headers, write, writeHead, writeLater } from './exchange.js';
import { Outbox } from './outbox.js';
import { type Path, parsePath, type Transfer } from './path.js';
import { errorBody, formatOf, Heads, statusOf } from './reply.js';
import { RequestIds } from './request-ids.js';
import { problemOf, type TermHeaders, termsOf } from './terms.js';
import { backUp, restore, type TransferHandler } from './transfers.js';
import { Upload } from './upload.js';
import { WELCOME_PAGE } from './welcome.js';

export interface HttpOptions {
  readonly authenticator: Authenticator;
  /** Null for plain HTTP. */
  readonly tls: TlsFiles | null;
  /** Name of this node, which every response tells. */
  readonly nodeName: string;
  /** Takes a request; the answer may come at once or later. Returns whether it will come of this thread's waiting. */
  readonly handle: (request: Request, respond: Respond) => boolean;
  /** Takes backups, and the restores of them. */
  readonly transfers: TransferHandler;
  /** Null while requests are served, else why not. */
  readonly refusal: () => QueryError | null;
  readonly body: BodyOptions;
  /** Bytes that a request body may have. */
  readonly bodySizeMax: number;
  /** Bytes that bodies may take that are still coming, and answers that are not taken, all together. */
  readonly bodyMemoryMax: number;
  /** Time in which a body must have come. */
  readonly bodyTimeoutMs: number;
  /** Blocks for a moment, or until the condition holds, while answers may come: see `answerInPlace`. */
  readonly wait: (done: () => boolean) => void;
  /** How old a connection gets, in milliseconds; 0: as old as it likes. */
  readonly connectionAgeMaxMs: number;
  /** Connections at once. */
  readonly connectionsMax: number;
  /** Connections at once from one address. */
  readonly connectionsPerAddressMax: number;
  /** Who is believed what it says of a client's address: addresses, and networks as `10.0.0.0/8`. */
  readonly trustedProxies: readonly string[];
  /** Requests at once that wait for their answer. */
  readonly pendingMax: number;
  /** Who counts what is refused. */
  readonly figures?: Pick<EngineMetrics, 'refused' | 'rejected'>;
  /** Reports a defect of the node itself. */
  readonly onDefect: (error: unknown) => void;
}

export class HttpListener {
  private readonly options: HttpOptions;
  private readonly needsCertificate: boolean;
  private readonly apps: Apps;
  private readonly bodies: ByteBudget;
  private readonly heads: Heads;
  private readonly exchangeParts: ExchangeParts;
  /** Requests whose body is still coming. */
  private readonly bodyDeadlines: Deadlines<Exchange>;
  private connectionCount = 0;
  private readonly addresses: AddressCounts;
  private readonly clients: ClientAddresses;
  private port = 0;
  private pending = 0;
  /** Until when nothing is waited for in place, since several requests came at once. */
  private busyUntil = 0;
  /** Whether a request was waited for in place in this turn of the event loop. */
  private waitedInTurn = false;
  private onIdle: (() => void) | null = null;
  private readonly ids = new RequestIds();

  constructor(options: HttpOptions) {
    this.options = options;
    this.needsCertificate = options.tls !== null && options.tls.clientCaFile !== null;
    this.heads = new Heads(options.nodeName);
    this.bodies = new ByteBudget(options.bodyMemoryMax);
    this.exchangeParts = {
      heads: this.heads,
      outbox: new Outbox(this.bodies),
      done: (exchange) => this.finished(exchange),
    };
    this.bodyDeadlines = new Deadlines(options.bodyTimeoutMs, (exchange) => this.bodyTooLate(exchange));
    this.clients = new ClientAddresses(options.trustedProxies);
    this.addresses = new AddressCounts({
      max: options.connectionsPerAddressMax,
      recount: () => systemCounts(this.port),
      now: () => performance.now(),
    });
    this.apps = new Apps({
      tls: options.tls,
      ageMaxMs: options.connectionAgeMaxMs,
      connected: (res, change) => this.connected(res, change),
      receive: (res, req, batch) => this.receive(res, req, batch),
    });
  }

  /** Connections that are open. */
  get connections(): number {
    return this.connectionCount;
  }

  /** Requests that are not answered yet. */
  get inFlight(): number {
    return this.pending;
  }

  /** Bytes of bodies that are still coming in, and of answers that are still going out. */
  get bodyBytes(): number {
    return this.bodies.used;
  }

  /** Starts to listen; returns the port, or null when it is in use. */
  listen(address: string, port: number): number | null {
    const bound = this.apps.listen(address, port);
    this.port = bound ?? 0;
    return bound;
  }

  /**
   * Reads certificates again, for connections to come.
   *
   * @throws Error when they are unfit
   */
  renewTls(): void {
    this.apps.renew();
  }

  /** From now on each answer ends its connection: clients are to go elsewhere. */
  leave(): void {
    this.apps.leave();
  }

  /** Accepts no more connections; when every request is answered, it closes them, and settles. */
  async drain(): Promise<void> {
    this.leave();
    this.apps.stopListening();
    this.options.authenticator.hurry();
    do {
      if (this.pending > 0) {
        await new Promise<void>((resolve) => {
          this.onIdle = resolve;
        });
      }
      // The last answers may still be on their way, and who is idle may just be asking.
      if (this.connectionCount > 0) await pause(LAST_WORDS_MS);
    } while (this.pending > 0);
    this.apps.close();
  }

  /** Closes everything. */
  close(): void {
    this.apps.close();
  }

  private connected(res: HttpResponse, change: number): void {
    this.connectionCount += change;
    if (this.connectionCount === 0) this.addresses.clear();
    if (change < 0) return;
    const admitted =
      this.clients.isProxy(res) ||
      this.addresses.connected(addressKey(new Uint8Array(res.getRemoteAddress())));
    const fits = this.connectionCount <= this.options.connectionsMax;
    if (admitted && fits) return;
    this.options.figures?.rejected(fits ? 'connections_per_address' : 'connections');
    res.close();
  }

  private receive(res: HttpResponse, req: HttpRequest, batch: Batch): void {
    const method = req.getCaseSensitiveMethod();
    const url = req.getUrl();
    const headers = readHeaders(req, this.ids, this.clients.endsConnection(res));
    const path = parsePath(url);
    if (headers.malformed !== null) {
      const error = badRequest(headers.malformed);
      this.options.figures?.refused(null, error, '400 Bad Request');
      answerAtOnce(res, true, () => fail(res, this.heads, headers, error, '400 Bad Request', [], null));
    } else if (this.needsCertificate && !hasCertificate(res)) {
      this.options.figures?.refused(null, NO_CERTIFICATE, '403 Forbidden');
      answerAtOnce(res, true, () =>
        fail(res, this.heads, headers, NO_CERTIFICATE, '403 Forbidden', [], null),
      );
    } else if (method !== 'POST') {
      if (method !== 'GET' || path.kind !== 'root')
        this.options.figures?.refused(null, NOT_POST, METHOD_STATUS);
      answerAtOnce(res, headers.isLast, () => otherMethod(res, this.heads, method, path, headers, batch));
    } else if (path.kind === 'transfer' && !req.getQuery()) {
      this.receiveTransfer(res, path.transfer, headers, batch);
    } else if (path.kind !== 'scope' || req.getQuery()) {
      const error = path.kind === 'malformed' ? badRequest('the path is not decodable') : UNKNOWN_PATH;
      this.options.figures?.refused(null, error, '400 Bad Request');
      answerAtOnce(res, headers.isLast, () =>
        fail(res, this.heads, headers, error, statusOf(error), [], batch),
      );
    } else {
      this.receivePost(res, path.scope, headers, batch);
    }
  }

  private receivePost(res: HttpResponse, scope: ScopeName, headers: RequestHeaders, batch: Batch): void {
    this.pending += 1;
    const format = formatOf(headers.contentType);
    const exchange = new Exchange(
      res,
      scope,
      format ?? 'json',
      this.exchangeParts,
      batch,
      headers.isLast,
      headers.terms,
      headers.id,
    );
    res.onAborted(() => exchange.abort());
    this.admit(exchange, res, headers, format);
    if (!exchange.finished) exchange.bodyDeadline = this.bodyDeadlines.add(exchange);
    exchange.leaveCallback();
  }

  private receiveTransfer(
    res: HttpResponse,
    transfer: Transfer,
    headers: RequestHeaders,
    batch: Batch,
  ): void {
    this.pending += 1;
    const { authenticator } = this.options;
    const exchange = new Exchange(
      res,
      ROOT,
      'json',
      this.exchangeParts,
      batch,
      headers.isLast,
      null,
      headers.id,
    );
    const upload = new Upload(res);
    exchange.onGone = () => upload.drop();
    res.onAborted(() => exchange.abort());
    const user =
      headers.authorization === null
        ? null
        : authenticator.known(headers.authorization, () => this.clients.of(res, headers.forwardedFor));
    if (user !== null) {
      this.transfer(exchange, { kind: 'user', user }, transfer, upload);
    } else if (headers.authorization === null) {
      this.transfer(exchange, { kind: 'refused' }, transfer, upload);
    } else {
      authenticator.login(headers.authorization, this.clients.of(res, headers.forwardedFor), (login) =>
        this.transfer(exchange, login, transfer, upload),
      );
    }
    exchange.leaveCallback();
  }

  private transfer(exchange: Exchange, login: Login, transfer: Transfer, upload: Upload): void {
    if (exchange.finished) return;
    const refuse = (error: QueryError, status = statusOf(error), headers: Headers = []): void => {
      void upload.discard().then(() => this.refuse(exchange, error, status, headers));
    };
    const refusal = this.options.refusal();
    if (login.kind !== 'user') this.refuseLogin(login.kind, refuse);
    else if (refusal !== null) refuse(refusal);
    else {
      const { transfers, onDefect } = this.options;
      const request = { user: login.user, id: exchange.id };
      const work =
        transfer === 'backup'
          ? backUp(exchange, upload, request, transfers)
          : restore(exchange, upload, request, transfers);
      work.catch((error: unknown) => {
        if (!(error instanceof QueryError)) onDefect(error);
        refuse(error instanceof QueryError ? error : INTERNAL);
      });
    }
  }

  /** Credentials first; then what else can be told before the body has come. */
  private admit(exchange: Exchange, res: HttpResponse, headers: RequestHeaders, format: Format | null): void {
    const { authenticator } = this.options;
    const user =
      headers.authorization === null
        ? null
        : authenticator.known(headers.authorization, () => this.clients.of(res, headers.forwardedFor));
    if (user !== null) {
      exchange.user = user;
      if (!this.assertServable(exchange, headers, format)) return;
      this.receiveBody(exchange, res);
      return;
    }
    if (headers.authorization === null) {
      this.refuse(exchange, UNAUTHORIZED, '401 Unauthorized', AUTHENTICATE);
      return;
    }
    this.receiveBody(exchange, res);
    authenticator.login(headers.authorization, this.clients.of(res, headers.forwardedFor), (login) => {
      if (exchange.finished) return;
      this.loggedIn(exchange, login, headers, format);
    });
  }

  private loggedIn(exchange: Exchange, login: Login, headers: RequestHeaders, format: Format | null): void {
    if (login.kind !== 'user') {
      this.refuseLogin(login.kind, (...answer) => this.refuse(exchange, ...answer));
    } else {
      exchange.user = login.user;
      if (this.assertServable(exchange, headers, format) && exchange.body !== null) this.handle(exchange);
    }
  }

  private refuseLogin(
    kind: Exclude<Login['kind'], 'user'>,
    refuse: (error: QueryError, status?: string, headers?: Headers) => void,
  ): void {
    if (kind === 'refused') refuse(UNAUTHORIZED, '401 Unauthorized', AUTHENTICATE);
    else if (kind === 'unsure') refuse(UNSURE);
    else refuse(TOO_MANY_LOGINS, '429 Too Many Requests');
  }

  /** Answers the request when it can't be served whatever its body says. */
  private assertServable(exchange: Exchange, headers: RequestHeaders, format: Format | null): boolean {
    const refusal = this.options.refusal();
    const problem = headers.terms === null ? null : problemOf(headers.terms);
    if (refusal !== null) this.refuse(exchange, refusal);
    else if (format === null || headers.contentEncoding)
      this.refuse(exchange, UNSUPPORTED, '415 Unsupported Media Type');
    else if (problem !== null) this.refuse(exchange, badRequest(problem));
    else if (headers.contentLength > this.options.bodySizeMax) this.tooLarge(exchange);
    else if (this.pending > this.options.pendingMax)
      this.refuse(exchange, QUEUE_FULL, '429 Too Many Requests');
    else return true;
    return false;
  }

  /** Answers a request that can't be run. */
  private refuse(
    exchange: Exchange,
    error: QueryError,
    status = statusOf(error),
    headers: Headers = [],
    close = false,
  ): void {
    this.options.figures?.refused(exchange.scope, error, status);
    exchange.fail(error, status, headers, close);
  }

  private tooLarge(exchange: Exchange): void {
    const error = new QueryError(
      ErrorCode.MAX_QUOTA,
      `the request body is larger than request_size_limit (${this.options.bodySizeMax} bytes)`,
    );
    this.refuse(exchange, error, '413 Content Too Large', [], true);
  }

  private receiveBody(exchange: Exchange, res: HttpResponse): void {
    let first = true;
    res.onData((chunk, isLast) => {
      if (exchange.finished) return;
      if (exchange.bodySize + chunk.byteLength > this.options.bodySizeMax) {
        this.tooLarge(exchange);
        return;
      }
      if (isLast) this.bodyDeadlines.delete(exchange.bodyDeadline);
      if (first && isLast && exchange.user !== null) {
        // The usual case: the body is here as a whole, and is read in place.
        this.handleBody(exchange, Buffer.from(chunk));
        return;
      }
      first = false;
      if (!exchange.keep(chunk, this.bodies, this.options.bodySizeMax)) {
        this.refuse(exchange, BODIES_FULL, statusOf(BODIES_FULL), [], true);
        return;
      }
      if (!isLast) return;
      exchange.complete();
      if (exchange.user !== null) this.handle(exchange);
    });
  }

  private bodyTooLate(exchange: Exchange): void {
    const error = new QueryError(
      ErrorCode.BAD_DATA,
      `the request body did not come within ${this.options.bodyTimeoutMs} ms (body_timeout_ms)`,
    );
    this.refuse(exchange, error, '408 Request Timeout', [], true);
  }

  private handle(exchange: Exchange): void {
    if (exchange.body !== null) this.handleBody(exchange, exchange.body);
  }

  private handleBody(exchange: Exchange, body: Buffer): void {
    const { user, scope, format, id } = exchange;
    if (user === null) return;
    let waits = false;
    try {
      const decoded = decodeBody(body, format, this.options.body);
      const terms = exchange.terms === null ? null : termsOf(exchange.terms, body, format);
      const request = { scope, user, body: decoded, format, client: exchange, terms, id };
      waits = this.options.handle(request, (reply) => exchange.reply(reply));
    } catch (error) {
      if (!(error instanceof QueryError)) this.options.onDefect(error);
      this.refuse(exchange, error instanceof QueryError ? error : INTERNAL);
      return;
    }
    if (waits && !exchange.finished) this.answerInPlace(exchange);
  }

  /**
   * Waits for the answer right here when nobody else wants anything. An idle node answers faster that way; and a
   * request that was sent right behind this one on the same connection (pipelining) can be answered in its turn:
   * uWebSockets.js closes a connection on which a request comes before the one in front of it is answered.
   */
  private answerInPlace(exchange: Exchange): void {
    if (this.pending > 1 || (this.waitedInTurn && this.connectionCount > 1)) {
      this.busyUntil = performance.now() + BUSY_MS;
      return;
    }
    if (this.connectionCount > 1 && performance.now() < this.busyUntil) return;
    this.options.wait(() => exchange.finished);
    if (!exchange.finished) this.busyUntil = performance.now() + BUSY_MS;
    if (this.waitedInTurn) return;
    // While one is waited for, the others can't come in; what comes next in the same turn has waited meanwhile.
    this.waitedInTurn = true;
    setImmediate(() => {
      this.waitedInTurn = false;
    });
  }

  private finished(exchange: Exchange): void {
    this.bodyDeadlines.delete(exchange.bodyDeadline);
    this.pending -= 1;
    if (this.pending === 0) this.onIdle?.();
  }
}

function otherMethod(
  res: HttpResponse,
  heads: Heads,
  method: string,
  path: Path,
  headers: RequestHeaders,
  batch: Batch,
): void {
  if (method === 'GET' && path.kind === 'root') {
    const closes = headers.isLast || batch.takesLeave();
    write(res, '200 OK', 'text/html; charset=utf-8', WELCOME_PAGE, [], closes);
    return;
  }
  const status = METHOD_STATUS;
  const allow: Headers = [['Allow', 'POST']];
  if (method === 'HEAD') {
    // A response to HEAD has no body: its reader would take one for the next response.
    writeHead(res, status, heads.of('json', headers.id), allow);
    res.endWithoutBody(0, headers.isLast || batch.takesLeave());
    return;
  }
  fail(res, heads, headers, NOT_POST, status, allow, batch);
}

/** Answers a request whatever its body says. */
function answerAtOnce(res: HttpResponse, closes: boolean, work: () => void): void {
  if (!closes) {
    work();
    return;
  }
  let closed = false;
  res.onAborted(() => {
    closed = true;
  });
  writeLater(res, () => closed, work);
}

/** How long the connections stay that are left behind the last answer, in milliseconds. */
const LAST_WORDS_MS = 100;

/** How long a node counts as busy after several requests came at once. */
const BUSY_MS = 50;

interface RequestHeaders {
  /** The name of the request: the client's own, or one that it got here. */
  readonly id: string;
  /** Null when there is none, or more than one. */
  readonly authorization: string | null;
  readonly forwardedFor: string;
  readonly contentType: string;
  readonly contentLength: number;
  readonly contentEncoding: boolean;
  /** Whether the connection ends with the answer: when the body comes in chunks, see `writeLater`, or for its address. */
  readonly isLast: boolean;
  /** Null when there are none of these headers. */
  readonly terms: TermHeaders | null;
  /** What is wrong with the framing of the request; it could be read as another request then. */
  readonly malformed: string | null;
}

function readHeaders(req: HttpRequest, ids: RequestIds, isLast: boolean): RequestHeaders {
  let requestId: string | null = null;
  let authorization: string | null = null;
  let authorizations = 0;
  let forwardedFor = '';
  let contentType = '';
  let contentLength = 0;
  let contentLengths = 0;
  let contentEncoding = false;
  let chunked = false;
  let malformed: string | null = null;
  let terms: TermHeaders | null = null;
  req.forEach((name, value) => {
    switch (name) {
      case 'authorization':
        authorization = value;
        authorizations += 1;
        break;
      case 'content-type':
        contentType = value;
        break;
      case 'content-length':
        contentLength = Number(value);
        contentLengths += 1;
        if (contentLengths > 1) malformed = 'there is more than one Content-Length';
        else if (!/^[0-9]+$/.test(value)) malformed = 'Content-Length must be a number';
        break;
      case 'content-encoding':
        contentEncoding = value.toLowerCase() !== 'identity';
        break;
      case 'transfer-encoding':
        if (chunked || value.toLowerCase() !== 'chunked') malformed = 'Transfer-Encoding must be chunked';
        chunked = true;
        break;
      case 'x-forwarded-for':
        forwardedFor = forwardedFor === '' ? value : `${forwardedFor},${value}`;
        break;
      case 'x-request-id':
        requestId = value;
        break;
      case 'consistency':
        terms ??= noTerms();
        terms.consistency = value.toLowerCase();
        break;
      case 'althing-min-index':
        terms ??= noTerms();
        terms.minIndex = value;
        break;
      case 'idempotency-key':
        terms ??= noTerms();
        terms.key = value;
        break;
      default:
    }
  });
  if (authorizations > 1) authorization = null;
  if (chunked && contentLengths > 0) malformed = 'there are both Content-Length and Transfer-Encoding';
  const id = ids.idOf(requestId);
  return {
    id,
    authorization,
    forwardedFor,
    contentType,
    contentLength,
    contentEncoding,
    isLast: isLast || chunked,
    terms,
    malformed,
  };
}

function noTerms(): TermHeaders {
  return { consistency: null, minIndex: null, key: null };
}

const ROOT: ScopeName = { kind: 'thingsdb' };

const UNAUTHORIZED = new QueryError(
  ErrorCode.AUTH,
  'no credentials, or wrong ones: send a token as Authorization: Bearer KEY',
);
const AUTHENTICATE: Headers = [['WWW-Authenticate', 'Bearer realm="althing", Basic realm="althing"']];
const NO_CERTIFICATE = new QueryError(
  ErrorCode.FORBIDDEN,
  'this node talks to clients with a certificate only (tls_api_client_ca_file)',
);
const UNSURE = new QueryError(
  ErrorCode.NODE,
  'this node does not know the credentials, and can not reach a majority of the nodes to ask: try again',
);
export const TOO_MANY_LOGINS = new QueryError(ErrorCode.MAX_QUOTA, 'too many failed logins: try again later');
export const QUEUE_FULL = new QueryError(
  ErrorCode.MAX_QUOTA,
  'too many requests wait for their answer (request_queue_limit)',
);
export const BODIES_FULL = new QueryError(
  ErrorCode.NODE,
  'request bodies that are still coming take too much memory (request_memory_limit_mb): try again',
);
const NOT_POST = badRequest('the API takes POST requests only');
const METHOD_STATUS = '405 Method Not Allowed';
const INTERNAL = new QueryError(ErrorCode.INTERNAL, 'internal error; see the log of the node');
const UNSUPPORTED = new QueryError(
  ErrorCode.BAD_DATA,
  'Content-Type must be application/json or application/msgpack, uncompressed and in UTF-8',
);
const UNKNOWN_PATH = new QueryError(
  ErrorCode.LOOKUP,
  'the path is no scope: use //NAME for a collection, /t for @thingsdb, /n for this node',
);

function badRequest(message: string): QueryError {
  return new QueryError(ErrorCode.BAD_DATA, message);
}

/** @param batch null: the connection ends whatever its batch says */
function fail(
  res: HttpResponse,
  heads: Heads,
  { id, contentType, isLast }: RequestHeaders,
  error: QueryError,
  status: string,
  headers: Headers,
  batch: Batch | null,
): void {
  const format = formatOf(contentType) ?? 'json';
  const closes = isLast || batch === null || batch.takesLeave();
  write(res, status, heads.of(format, id), errorBody(error, format), headers, closes);
}
