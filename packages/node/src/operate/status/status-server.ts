/**
 * The status port: health for balancers, orchestrators and people, over HTTPS when there are certificates.
 * Plain text, no data, and no credentials but for an order to end what runs.
 *
 *   /healthy   200 while the process can do its work at all; depends on nothing outside
 *   /ready     200 exactly while requests are served
 *   /started   200 once the start is complete
 *   /leader    200 while this node leads the root group, and a majority has confirmed it
 *   /          the state in one word
 *   /status    the state as JSON
 *   /metrics   figures for Prometheus
 *
 *   POST /cancel/RUN   ends the call `long_run` of /status, for which the engine does nothing else; takes a token
 *
 * The first four answer `?verbose` with JSON: every check by its name. What else stands behind a `?` is
 * ignored.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { TLSSocket, type TlsOptions } from 'node:tls';
import { StrangerSockets } from '../../base/stranger-sockets.js';
import { METRICS_CONTENT_TYPE } from '../../telemetry/page.js';
import { type Check, problemOf } from './check.js';

/** The answers of the server, made anew for each request. */
export interface StatusView {
  /** The checks without which the process can't do its work. */
  healthy(): readonly Check[];
  /** The checks without which requests are not served. */
  ready(): readonly Check[];
  started(): readonly Check[];
  /** The checks by which this node leads the cluster. */
  leading(): readonly Check[];
  /** The state in one word: `READY`, `SYNCHRONIZING`, `SHUTTING_DOWN`. */
  state(): string;
  summary(): object;
  /** The page of figures. */
  metrics(): Promise<string>;
  /**
   * Ends a call that has the engine for itself.
   *
   * @param authorization the header of who asks
   */
  cancel(run: number, authorization: string | undefined): CancelOutcome;
}

/** The outcome of an order to end a call. */
export type CancelOutcome = 'told' | 'not_running' | 'unauthorized' | 'stale';

/** A certificate and its key, in PEM. */
export interface StatusTls {
  readonly cert: string;
  readonly key: string;
  /** The authorities of the certificates that clients need for all but `PROBES`; null: they need none. */
  readonly apiClientCa: string | null;
}

/** The paths for orchestrators, which have no certificate. */
const PROBES: ReadonlySet<string> = new Set(['/healthy', '/ready', '/started', '/leader']);

const TIMEOUT_MS = 5000;

export class StatusServer {
  private readonly server: Server | TlsServer;
  private readonly needsCertificate: boolean;

  /**
   * @param tls null for plain HTTP
   * @param servesHost whether requests are answered with such a header `Host`
   * @param connectionsMax the oldest gives way to a further one: an answer takes moments, and a probe must get its own
   */
  constructor(
    private readonly view: StatusView,
    tls: StatusTls | null,
    connectionsMax: number,
    private readonly servesHost: (host: string | undefined) => boolean = () => true,
  ) {
    this.needsCertificate = tls !== null && tls.apiClientCa !== null;
    const options = {
      requestTimeout: TIMEOUT_MS,
      headersTimeout: TIMEOUT_MS,
      keepAlive: false,
      maxHeaderSize: 16_384,
    };
    const answer = (request: IncomingMessage, response: ServerResponse): void =>
      this.answer(request, response);
    this.server =
      tls === null
        ? createServer(options, answer)
        : createTlsServer({ ...options, ...secureOptions(tls), handshakeTimeout: TIMEOUT_MS }, answer);
    const sockets = new StrangerSockets(connectionsMax, () => {});
    this.server.on('connection', (socket) => sockets.add(socket, socket.remoteAddress ?? ''));
    this.server.on('clientError', (_error, socket) => socket.destroy());
  }

  /** Starts to listen; returns the port. Rejects with the system's error. */
  listen(address: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(port, address, () => {
        this.server.off('error', reject);
        const bound = this.server.address();
        resolve(typeof bound === 'object' && bound !== null ? bound.port : port);
      });
    });
  }

  /** Takes another certificate, for connections to come. */
  renewTls(tls: StatusTls): void {
    if ('setSecureContext' in this.server) this.server.setSecureContext(secureOptions(tls));
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const run = CANCEL_PATH.exec(request.url ?? '')?.groups?.run;
    const method = run === undefined ? 'GET' : 'POST';
    if (request.method !== method) {
      send(response, 405, 'METHOD NOT ALLOWED\n', { Allow: method });
      return;
    }
    if (!this.servesHost(request.headers.host)) {
      send(response, 421, 'MISDIRECTED REQUEST: this node is not known by this name (http_allowed_hosts)\n');
      return;
    }
    const { view, needsCertificate } = this;
    const [path = '', query = ''] = (request.url ?? '').split('?', 2);
    const isVerbose = new URLSearchParams(query).has('verbose');
    if (needsCertificate && !PROBES.has(path) && !hasCertificate(request)) {
      send(response, 403, 'FORBIDDEN: a client certificate is needed (tls_api_client_ca_file)\n');
      return;
    }
    if (run !== undefined) {
      const [status, text, headers] = CANCEL_ANSWERS[view.cancel(runOf(run), request.headers.authorization)];
      send(response, status, text, headers);
      return;
    }
    switch (path) {
      case '/healthy':
        probe(response, view.healthy(), isVerbose);
        return;
      case '/ready':
        probe(response, view.ready(), isVerbose);
        return;
      case '/started':
        probe(response, view.started(), isVerbose);
        return;
      case '/leader':
        probe(response, view.leading(), isVerbose);
        return;
      case '/':
        send(response, problemOf(view.ready()) === null ? 200 : 503, `${view.state()}\n`);
        return;
      case '/status':
        sendJson(response, 200, view.summary());
        return;
      case '/metrics':
        view.metrics().then(
          (text) => send(response, 200, text, { 'Content-Type': METRICS_CONTENT_TYPE }),
          () => send(response, 500, 'NOK: the figures can not be gathered\n'),
        );
        return;
      default:
        send(response, 404, 'NOT FOUND\n');
    }
  }
}

const CANCEL_PATH = /^\/cancel\/(?<run>[^/?]*)$/;

/** A number that no run has, where the text is none: it is answered like one that is over. */
function runOf(text: string): number {
  return /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
}

const CANCEL_ANSWERS: Readonly<Record<CancelOutcome, readonly [number, string, Record<string, string>?]>> = {
  told: [200, 'OK: it ends at its next step\n'],
  not_running: [404, 'NOT FOUND: it has not the engine for itself, or no longer (long_run of /status)\n'],
  unauthorized: [
    401,
    'UNAUTHORIZED: it takes a token of a user with CHANGE on @node\n',
    { 'WWW-Authenticate': 'Bearer' },
  ],
  stale: [503, 'UNAVAILABLE: what the node knows of users is older than it may be (auth_max_stale_ms)\n'],
};

function secureOptions({ cert, key, apiClientCa }: StatusTls): TlsOptions {
  if (apiClientCa === null) return { cert, key };
  // Not refused at once: see `PROBES`.
  return { cert, key, ca: apiClientCa, requestCert: true, rejectUnauthorized: false };
}

function hasCertificate({ socket }: IncomingMessage): boolean {
  return socket instanceof TLSSocket && socket.authorized;
}

function probe(response: ServerResponse, checks: readonly Check[], isVerbose: boolean): void {
  const problem = problemOf(checks);
  const status = problem === null ? 200 : 503;
  if (isVerbose)
    sendJson(response, status, { ok: problem === null, reason: problem, checks: checks.map(shown) });
  else send(response, status, problem === null ? 'OK\n' : `NOK: ${problem}\n`);
}

function shown({ name, problem }: Check): object {
  return { name, ok: problem === null, reason: problem };
}

function sendJson(response: ServerResponse, status: number, value: object): void {
  send(response, status, `${JSON.stringify(value, null, 2)}\n`, { 'Content-Type': 'application/json' });
}

function send(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, {
    'Content-Type': 'text/plain',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
    ...headers,
  });
  response.end(body);
}
