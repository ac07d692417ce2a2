/**
 * The HTTP API: `POST /SCOPE` with JSON or MessagePack, `POST /@backup` and the other transfers. uWebSockets.js
 * does the listening; what it leaves open (repeated Content-Length, unknown transfer codings, sizes, slow
 * bodies) is guarded here.
 *
 * Order of decisions: method, path, credentials, whether the node serves, content type, size, body, and only
 * then the request itself. A body is kept only when the credentials can still turn out to be right.
 */

import type { HttpRequest, HttpResponse, us_socket_context_t } from 'uWebSockets.js';
import { randomBytes } from 'node:crypto';
import { badDataError, QueryError, type ScopeName } from '@althing/engine';
import { backgroundClock } from '../../base/clock.js';
import { networkOf } from '../../base/network-of.js';
import { type ChangeOutcome, UnfinishedError } from '../../groups/request.js';
import type { Login } from '../auth/authenticator.js';
import type { Gate } from '../gate/gate.js';
import {
  AddressCounts,
  addressKey,
  isLoopbackKey,
  networkKey,
  systemCounts,
} from '../limits/address-counts.js';
import { ClientAddresses } from '../limits/client-addresses.js';
import { RequestIds } from '../shared/request-ids.js';
import { Admission, identify, refuseLogin } from './admission.js';
import { AnswerBuffer } from './answer-buffer.js';
import { Apps, hasCertificate, type SocketData } from './apps.js';
import type { Batch } from './batch.js';
import { Bodies } from './bodies.js';
import { Exchange, type ExchangeParts, write } from './exchange.js';
import { callOf, FeedDoor } from './feed-door.js';
import { answerLast, fail, failBare, preflight, sendFile } from './head-answers.js';
import type { HttpOptions } from './options.js';
import { type Path, Paths, type Transfer } from './path.js';
import {
  ALLOW,
  FOREIGN_ORIGIN,
  INTERNAL,
  LEAVING,
  METHOD_STATUS,
  NO_CERTIFICATE,
  NOT_POST,
  OTHER_HOST,
  type Refusal,
  type Refuse,
  TOO_MANY_STRANGERS,
  UNKNOWN_PATH,
} from './refusals.js';
import { formatOf, Heads, statusOf } from './reply.js';
import type { Headers } from './reply-headers.js';
import { HeaderReader, type RequestHeaders } from './request-headers.js';
import { isSessionMethod, SessionDoor, type SessionMethod } from './session-door.js';
import { corsOf, type OriginKind, Sites } from './sites.js';
import { type StaticAnswer, StaticFiles } from './static-site.js';
import { refusalBy, transferred } from './transfers.js';
import { Upload } from './upload.js';
import { WaitingInPlace } from './waiting-in-place.js';
import { WELCOME_PAGE } from './welcome.js';

export class HttpListener {
  private readonly needsCertificate: boolean;
  private readonly apps: Apps;
  private readonly gate: Gate;
  private readonly bodies: Bodies;
  private readonly heads: Heads;
  private readonly exchangeParts: ExchangeParts;
  private readonly admission: Admission;
  private readonly feedDoor: FeedDoor;
  private connectionCount = 0;
  private readonly addresses: AddressCounts;
  private readonly clients: ClientAddresses;
  private readonly sites: Sites;
  /** Null where there are no files for browsers. */
  private readonly files: StaticFiles | null;
  private port = 0;
  private readonly inPlace: WaitingInPlace;
  private readonly headerReader = new HeaderReader(new RequestIds());
  private readonly paths = new Paths();

  constructor(private readonly options: HttpOptions) {
    this.needsCertificate = options.tls !== null && options.tls.clientCaFile !== null;
    this.heads = new Heads(options.nodeName);
    const { gate } = options;
    this.gate = gate;
    this.clients = new ClientAddresses(options.trustedProxies);
    this.exchangeParts = {
      heads: this.heads,
      answerBuffer: new AnswerBuffer(gate.memory),
      clients: this.clients,
      done: (exchange) => this.finished(exchange),
    };
    this.sites = new Sites(options.sites);
    this.files = options.site === null ? null : new StaticFiles(options.site);
    this.addresses = new AddressCounts({
      max: options.connectionsPerAddressMax,
      recount: () => systemCounts(this.port),
      now: () => performance.now(),
    });
    this.inPlace = new WaitingInPlace(options.wait);
    const refuse: Refuse = (exchange, error, answer) => this.refuse(exchange, error, answer);
    const sessions = new SessionDoor({
      handle: options.handleSession,
      refuse,
      randomBytes: (bytes) => randomBytes(bytes),
      now: () => performance.now(),
      onDefect: options.onDefect,
    });
    this.feedDoor = new FeedDoor({ ...options, refuse, clock: backgroundClock, now: Date.now });
    this.bodies = new Bodies({
      ...options,
      refuse,
      sessions,
      waits: (exchange) => this.inPlace.answer(exchange, gate.pending, this.connectionCount),
    });
    this.admission = new Admission({
      authenticator: options.authenticator,
      gate,
      clients: this.clients,
      bodySizeMax: options.bodySizeMax,
      refuse,
      complete: (exchange) => this.bodies.complete(exchange),
    });
    this.apps = new Apps({
      tls: options.tls,
      ageMaxMs: options.connectionAgeMaxMs,
      connected: (res, change) => this.connected(res, change),
      receive: (res, req, batch, method) => this.receive(res, req, batch, method),
      sockets: {
        ...options.sockets,
        upgrade: (res, req, context) => this.upgrade(res, req, context),
      },
    });
  }

  /** Starts to listen; returns the port, or null when it is in use. */
  listen(address: string, port: number): number | null {
    const bound = this.apps.listen(address, port);
    this.port = bound ?? 0;
    return bound;
  }

  /** Connections that are open, those included that go on as WebSockets. */
  get connections(): number {
    return this.connectionCount;
  }

  /** The same by the network that they come from (`networkKey`), as far as the system tells; null where it does not. */
  connectionsByNetwork(): ReadonlyMap<string, number> | null {
    return systemCounts(this.port);
  }

  /**
   * Reads certificates again, for connections to come.
   *
   * @throws Error when they are unfit
   */
  renewTls(): void {
    this.apps.renew();
  }

  /** Lets each answer end its connection, so that clients go elsewhere. */
  leave(): void {
    this.apps.leave();
  }

  /** Accepts no more connections. */
  stopListening(): void {
    this.apps.stopListening();
  }

  close(): void {
    this.apps.close();
    this.bodies.close();
  }

  private connected(res: HttpResponse | null, change: number): void {
    const { gate } = this;
    const isAdmitted = res === null || this.admits(res);
    this.connectionCount += change;
    gate.connected(change);
    if (this.connectionCount === 0) this.addresses.clear();
    if (!isAdmitted) res?.close();
  }

  private admits(res: HttpResponse): boolean {
    const address = addressKey(new Uint8Array(res.getRemoteAddress()));
    const fits =
      this.clients.isProxy(res) ||
      this.addresses.connected(networkKey(address), this.gate.strangersOfNetworkMax);
    return this.gate.admits(isLoopbackKey(address), !fits);
  }

  private receive(res: HttpResponse, req: HttpRequest, batch: Batch, method: string): void {
    const path = this.paths.parse(req.getUrl());
    const headers = this.headerReader.read(req, method, this.clients.endsConnection(res));
    const isUsual =
      method === 'POST' &&
      path.kind === 'scope' &&
      headers.malformed === null &&
      headers.origin === null &&
      !headers.isFromElsewhere &&
      !this.needsCertificate &&
      this.sites.serves(headers.host) &&
      !req.getQuery();
    if (isUsual) this.receivePost(res, path.scope, headers, batch);
    else this.receiveOther(res, req, batch, method, path, headers);
  }

  /** As `receive`, in any case; the usual one would have to pay for functions that are made here. */
  private receiveOther(
    res: HttpResponse,
    req: HttpRequest,
    batch: Batch,
    method: string,
    path: Path,
    headers: RequestHeaders,
  ): void {
    const refuse = (error: QueryError, status?: string, more?: Headers): void =>
      this.refuseHead(res, headers, error, status, more);
    const file = this.fileOf(req, method);
    const isPage = file !== null || (method === 'GET' && path.kind === 'root');
    const refusal = this.headRefusal(res, headers, isPage);
    if (refusal !== null && method === 'HEAD') this.refuseBare(res, headers, ...refusal);
    else if (refusal !== null) refuse(...refusal);
    else if (headers.isPreflight && this.originOf(headers) === 'listed') {
      answerLast(res, () => preflight(res, this.heads, headers));
    } else if (file !== null) {
      const { heads, answerBuffer } = this.exchangeParts;
      answerLast(res, () => sendFile(res, heads, answerBuffer, headers, method, file));
    } else if (method === 'GET' && path.kind === 'root') {
      answerLast(res, () => write(res, '200 OK', 'text/html; charset=utf-8', WELCOME_PAGE, [], true));
    } else if (method === 'HEAD') {
      this.refuseBare(res, headers, NOT_POST, METHOD_STATUS, ALLOW);
    } else if (path.kind === 'session' && isSessionMethod(method) && !req.getQuery()) {
      this.receivePost(res, ROOT, headers, batch, method);
    } else if (path.kind === 'changes' && method === 'GET') {
      this.receiveFeed(res, req, path.collection, headers, batch);
    } else if (method !== 'POST') refuse(NOT_POST, METHOD_STATUS, ALLOW);
    else if (path.kind === 'transfer' && !req.getQuery()) this.receiveTransfer(res, path, headers, batch);
    else if (path.kind === 'scope' && (headers.terms?.hasEnd || !req.getQuery()))
      this.receivePost(res, path.scope, headers, batch);
    else if (path.kind === 'malformed') refuse(badDataError('the path is not decodable'), '400 Bad Request');
    else refuse(UNKNOWN_PATH);
  }

  /** The answer with a file for browsers; null where there is none. */
  private fileOf(req: HttpRequest, method: string): StaticAnswer | null {
    if (this.files === null || (method !== 'GET' && method !== 'HEAD')) return null;
    return this.files.answer(req.getUrl(), {
      accept: req.getHeader('accept'),
      acceptEncoding: req.getHeader('accept-encoding'),
      ifNoneMatch: req.getHeader('if-none-match'),
    });
  }

  /** Lets a connection go on as a WebSocket. */
  private upgrade(res: HttpResponse, req: HttpRequest, context: us_socket_context_t): void {
    const headers = this.headerReader.read(req, 'GET', this.clients.endsConnection(res));
    const protocol = this.options.sockets.subprotocolOf(req.getHeader('sec-websocket-protocol'));
    const refuse = (error: QueryError, status?: string): void => this.refuseHead(res, headers, error, status);
    const refusal = this.headRefusal(res, headers);
    if (refusal !== null) refuse(...refusal);
    else if (protocol === null) refuse(badDataError('no subprotocol is spoken here that is asked for'));
    else if (this.gate.isLeaving) refuse(LEAVING);
    else {
      const data: SocketData = { address: this.clients.of(res, headers.forwardedFor) };
      if (!this.options.sockets.admits(data.address)) {
        refuse(TOO_MANY_STRANGERS);
        return;
      }
      res.upgrade(data, req.getHeader('sec-websocket-key'), protocol, '', context);
    }
  }

  private originOf({ origin, host, isFromElsewhere }: RequestHeaders): OriginKind {
    if (origin === null) return isFromElsewhere ? 'foreign' : 'own';
    return this.sites.kindOf(origin, host);
  }

  /**
   * Why a request is refused whatever it asks for, and the status of that; null for one that is not.
   *
   * @param isPage whether it asks for a page or a file of one, to which pages of anybody may have links
   */
  private headRefusal(
    res: HttpResponse,
    headers: RequestHeaders,
    isPage = false,
  ): [QueryError, string] | null {
    if (headers.malformed !== null) return [badDataError(headers.malformed), '400 Bad Request'];
    if (this.needsCertificate && !hasCertificate(res)) return [NO_CERTIFICATE, '403 Forbidden'];
    if (!this.sites.serves(headers.host)) return [OTHER_HOST, '421 Misdirected Request'];
    if (isPage && headers.origin === null) return null;
    return this.originOf(headers) === 'foreign' ? [FOREIGN_ORIGIN, '403 Forbidden'] : null;
  }

  /** Answers what is refused whatever its body says, and ends the connection. */
  private refuseHead(
    res: HttpResponse,
    headers: RequestHeaders,
    error: QueryError,
    status = statusOf(error),
    more: Headers = [],
  ): void {
    this.options.figures.refused(null, error, status);
    const cors = this.corsFor(headers);
    answerLast(res, () => fail(res, this.heads, headers, error, status, more, cors));
  }

  /** Answers HEAD as another method would be refused, and ends the connection. */
  private refuseBare(
    res: HttpResponse,
    headers: RequestHeaders,
    error: QueryError,
    status: string,
    more: Headers = [],
  ): void {
    this.options.figures.refused(null, error, status);
    answerLast(res, () => failBare(res, this.heads, headers, status, more));
  }

  /** @param session the method of a request about a session; null for a request to a scope */
  private receivePost(
    res: HttpResponse,
    scope: ScopeName,
    headers: RequestHeaders,
    batch: Batch,
    session: SessionMethod | null = null,
  ): void {
    this.gate.begin();
    const isBare = session !== null && headers.contentType === '';
    const format = isBare ? 'json' : formatOf(headers.contentType);
    const exchange = new Exchange(
      res,
      scope,
      format ?? 'json',
      this.exchangeParts,
      batch,
      headers,
      this.corsFor(headers),
    );
    if (session !== null) exchange.session = { method: session, authorization: headers.authorization ?? '' };
    res.onAborted(() => exchange.abort());
    this.bodies.receive(exchange, res);
    this.admission.admit(exchange, res, headers, format);
    if (!exchange.finished) this.bodies.expect(exchange);
    exchange.leaveCallback();
  }

  /** Headers that let the page read the answer that sent the request, where it may. */
  private corsFor(headers: RequestHeaders): string {
    const { origin } = headers;
    return origin !== null && this.originOf(headers) === 'listed' ? corsOf(origin) : '';
  }

  private receiveTransfer(
    res: HttpResponse,
    transfer: Transfer,
    headers: RequestHeaders,
    batch: Batch,
  ): void {
    this.gate.begin();
    const { authenticator } = this.options;
    const exchange = this.lastExchange(res, headers, batch, this.exchangeParts);
    const address = (): string => this.clients.of(res, headers.forwardedFor);
    const { stale, strangers } = this.gate;
    const upload = new Upload(res, strangers.shareOf(networkOf(address())));
    exchange.onGone = () => upload.drop();
    res.onAborted(() => exchange.abort());
    if (stale !== null) {
      upload.forget();
      this.refuse(exchange, stale);
    } else {
      identify(authenticator, headers.authorization, address, {
        failed: () => upload.forget(),
        done: (login) => this.transfer(exchange, login, transfer, upload),
      });
    }
    exchange.leaveCallback();
  }

  private receiveFeed(
    res: HttpResponse,
    req: HttpRequest,
    collection: string,
    headers: RequestHeaders,
    batch: Batch,
  ): void {
    const done = (one: Exchange): void => this.feedDoor.finished(one);
    const exchange = this.lastExchange(res, headers, batch, { ...this.exchangeParts, done });
    res.onAborted(() => exchange.abort());
    const address = (): string => this.clients.of(res, headers.forwardedFor);
    this.feedDoor.receive(exchange, callOf(req, collection, headers.authorization, address));
    exchange.leaveCallback();
  }

  /** An exchange of JSON that ends its connection. */
  private lastExchange(
    res: HttpResponse,
    headers: RequestHeaders,
    batch: Batch,
    parts: ExchangeParts,
  ): Exchange {
    const last = { ...headers, isLast: true };
    return new Exchange(res, ROOT, 'json', parts, batch, last, this.corsFor(headers));
  }

  private transfer(exchange: Exchange, login: Login, transfer: Transfer, upload: Upload): void {
    if (exchange.finished) return;
    const refuse = (error: QueryError, outcome: ChangeOutcome = 'none'): void => {
      void upload.discard().then(() => this.refuse(exchange, error, { outcome }));
    };
    if (login.kind !== 'user') {
      upload.forget();
      refuseLogin(exchange, login.kind, (...answer) => this.refuse(...answer));
      return;
    }
    upload.welcome();
    exchange.identify(login);
    const refusal = this.gate.refusal ?? refusalBy(exchange.terms, login.user);
    if (refusal !== null) refuse(refusal);
    else {
      const { transfers, onDefect } = this.options;
      const request = { user: login.user, id: exchange.id };
      transferred(exchange, upload, request, transfer, transfers).catch((error: unknown) => {
        if (!(error instanceof QueryError)) onDefect(error);
        const known = error instanceof QueryError ? error : INTERNAL;
        refuse(known, known === INTERNAL || known instanceof UnfinishedError ? 'unknown' : 'none');
      });
    }
  }

  /** Answers a request that can't be run. */
  private refuse(exchange: Exchange, error: QueryError, answer: Refusal = {}): void {
    this.options.figures.refused(exchange.scope, error, answer.status ?? statusOf(error, answer.outcome));
    exchange.fail(error, answer);
  }

  private finished(exchange: Exchange): void {
    this.bodies.finished(exchange);
    this.gate.done();
  }
}

const ROOT: ScopeName = { kind: 'thingsdb' };
