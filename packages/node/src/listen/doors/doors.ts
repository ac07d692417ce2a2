import { performance } from 'node:perf_hooks';
import { type ConnectionEntry, type Engine, ErrorCode, type User } from '@althing/engine';
import { backgroundClock } from '../../base/clock.js';
import { descriptorLimit, fittingConnections } from '../../base/descriptors.js';
import { type Config, DEFAULT_PASSWORD, isOpen, portInUse } from '../../config/index.js';
import type { Rooms } from '../../events/rooms.js';
import type { Feeds } from '../../feed/feeds.js';
import type { ProgramRequest, Reply } from '../../groups/request.js';
import { scopeText } from '../../requests/checks.js';
import type { Counters } from '../../requests/counters.js';
import type { PasswordHasher } from '../../requests/password.js';
import type { Router } from '../../requests/router.js';
import type { AuditLog } from '../../telemetry/audit-log.js';
import type { EngineMetrics, NativeFigures } from '../../telemetry/engine-metrics.js';
import type { Logger } from '../../telemetry/logger.js';
import { Authenticator } from '../auth/authenticator.js';
import { Backoff } from '../auth/backoff.js';
import { Gate, type GateOptions } from '../gate/gate.js';
import type { TlsFiles } from '../http/apps.js';
import { HttpListener } from '../http/listener.js';
import type { HttpOptions } from '../http/options.js';
import { sitesOptionsOf } from '../http/sites.js';
import { ClientAddresses } from '../limits/client-addresses.js';
import { NativeListener } from '../native/listener.js';
import type { Inside } from '../shared/door.js';
import { RequestIds } from '../shared/request-ids.js';
import type { Certificates } from '../tls/certificates.js';
import { apiSockets } from '../websocket/api-sockets.js';
import { connectionEntries } from './connection-entries.js';
import { NativeDoors } from './native-doors.js';

export interface DoorsOptions
  extends Pick<HttpOptions, 'transfers' | 'wait' | 'onDefect' | 'site'>,
    Pick<GateOptions, 'refusal' | 'stale'> {
  readonly config: Config;
  readonly engine: Engine;
  readonly router: Router;
  readonly rooms: Rooms;
  readonly feeds: Feeds;
  readonly hasher: PasswordHasher;
  readonly figures: EngineMetrics;
  readonly counters: Counters;
  readonly audit: AuditLog;
  readonly log: Logger;
  /** Certificates of the node; null without TLS. */
  readonly certificates: Certificates | null;
  readonly nodeNumber: () => number;
}

const MiB = 1024 * 1024;

/** Logins that are put off or checked at once, and users and addresses that are remembered for it. */
const LOGIN_LIMITS = { waitingMax: 8, checkingMax: 32, keysMax: 10_000 };

/** All doors of a node for clients. */
export class Doors {
  private readonly http: HttpListener;
  private readonly native: NativeListener;
  private readonly nativeDoors: NativeDoors;
  private readonly gate: Gate;
  private readonly feeds: Feeds;
  private readonly authenticator: Authenticator;

  /**
   * Opens those that the settings ask for.
   *
   * @throws ConfigurationError when a port is in use, or a file is unfit
   */
  static async open(options: DoorsOptions): Promise<Doors> {
    const doors = new Doors(options);
    try {
      doors.openHttp(options.config);
      await doors.nativeDoors.open(options.certificates);
      return doors;
    } catch (error) {
      doors.close();
      throw error;
    }
  }

  private constructor(options: DoorsOptions) {
    const { config, engine, figures, log, transfers, refusal, stale, wait, onDefect } = options;
    const authenticator = makeAuthenticator(options);
    const gate = new Gate({
      refusal,
      stale,
      figures,
      clock: backgroundClock,
      memoryMax: config.requestMemoryLimitMb * MiB,
      connectionsMax: fittingConnections(config.maxConnections, descriptorLimit(), log),
      pendingMax: config.requestQueueLimit,
    });
    this.gate = gate;
    this.feeds = options.feeds;
    const inside: Inside = {
      handle: handlerOf(options),
      readsLater: options.router.readsLater.bind(options.router),
      feeds: options.feeds,
      gate,
      figures,
      onDefect,
    };
    const proxies = new ClientAddresses(config.trustedProxies);
    const native = new NativeListener({
      ...inside,
      authenticator,
      root: engine.root,
      rooms: options.rooms,
      nestingMax: config.nestingLimit,
      sizeMax: config.requestSizeLimit,
      ids: new RequestIds(),
      now: Date.now,
      nodeNumber: options.nodeNumber,
      connectionsPerAddressMax: config.maxConnectionsPerAddress,
      isProxy: (address) => proxies.isTrusted(address),
      loginTimeoutMs: config.loginTimeoutMs,
      packageTimeoutMs: config.bodyTimeoutMs,
    });
    this.native = native;
    this.authenticator = authenticator;
    this.http = new HttpListener({
      ...inside,
      authenticator,
      tls: tlsFilesOf(config),
      nodeName: config.nodeName,
      charge: (userId, ms) => options.router.scheduler.read(userId, ms),
      handleSession: (request, respond) => {
        options.router.handle(request, respond);
      },
      transfers,
      sockets: apiSockets(native, config.resultSizeLimit),
      wait,
      root: engine.root,
      body: { msgpackNestingMax: config.nestingLimit },
      bodySizeMax: config.requestSizeLimit,
      bodyTimeoutMs: config.bodyTimeoutMs,
      connectionAgeMaxMs: config.maxConnectionAgeMs,
      connectionsPerAddressMax: config.maxConnectionsPerAddress,
      trustedProxies: config.trustedProxies,
      sites: sitesOptionsOf(config),
      site: options.site,
    });
    this.nativeDoors = new NativeDoors(config, this.native, { log, figures });
  }

  get connections(): number {
    return this.gate.connections;
  }

  connectionEntries(): readonly ConnectionEntry[] {
    const { native, http } = this;
    return connectionEntries(native.connectionEntries(), http.connections, http.connectionsByNetwork());
  }

  /** Requests that are not answered yet. */
  get inFlight(): number {
    return this.gate.pending;
  }

  get nativeFigures(): NativeFigures {
    return this.native.counts;
  }

  /** Bytes of requests that are still coming in, and of answers that are still going out. */
  get bytes(): number {
    return this.gate.bytes;
  }

  /**
   * Takes up renewed certificates, for connections to come.
   *
   * @throws Error when they are unfit
   */
  renewTls(certificates: Certificates): void {
    this.http.renewTls();
    this.nativeDoors.renewTls(certificates);
  }

  /**
   * As `renewTls`, with the certificate that `ws_port` has of its own.
   *
   * @throws Error when it is unfit
   */
  renewWebSocketTls(): void {
    this.nativeDoors.renewWebSocketTls();
  }

  /** Begins to ask clients to go elsewhere. */
  leave(): void {
    if (this.gate.isLeaving) return;
    this.gate.leave();
    this.http.leave();
    this.native.leave();
    this.feeds.leave();
  }

  /** Accepts no more connections; when every request is answered, it closes them, and settles. */
  async drain(): Promise<void> {
    this.leave();
    this.http.stopListening();
    this.native.stopListening();
    this.authenticator.hurry();
    await this.gate.idle(() => this.native.isBusy);
    // The port of the API has connections of both.
    await this.native.end();
    this.http.close();
  }

  close(): void {
    this.nativeDoors.close();
    this.http.close();
    this.native.close();
  }

  private openHttp({ httpApiPort, bindClientAddr }: Config): void {
    if (httpApiPort === 0) return;
    const port = this.http.listen(bindClientAddr, httpApiPort);
    if (port === null) throw portInUse('http_api_port', bindClientAddr, httpApiPort);
  }
}

/** The way of requests into the node, the same for all doors. */
function handlerOf({ router, figures, counters, log }: DoorsOptions): HttpOptions['handle'] {
  return (request, respond) => {
    const begun = performance.now();
    const answer = (reply: Reply, now = performance.now()): void => {
      const ms = now - begun;
      figures.answered(request, reply, ms);
      counters.count(reply, ms);
      reportDefect(log, request, reply, ms);
      respond(reply);
    };
    return router.handle(request, answer, begun);
  };
}

function makeAuthenticator(options: DoorsOptions): Authenticator {
  const { config, engine, router, hasher, figures, audit, onDefect } = options;
  const { loginBackoffMs: delayMs, loginBackoffLimitMs: delayMaxMs } = config;
  return new Authenticator({
    root: engine.root,
    freshen: () => router.freshenRoot(),
    hasher,
    backoff: new Backoff({ delayMs, delayMaxMs, ...LOGIN_LIMITS }, () => performance.now()),
    onLogin: (login) => {
      figures.loggedIn(login);
      audit.login(login);
    },
    onForeignHash: (user, password) => rehash(options, user, password),
    refusedPassword: isOpen(config) ? DEFAULT_PASSWORD : null,
    cacheMs: config.credentialCacheMs,
    onDefect,
    now: Date.now,
    clock: backgroundClock,
  });
}

/** Keeps the hash of a password in the place of that of a hash of ThingsDB. What fails is done with the next login. */
function rehash({ hasher, router }: DoorsOptions, user: User, password: string): void {
  const proof = user.password?.salt;
  if (proof === undefined) return;
  hasher.hashWith(password, proof).then(
    ({ hash }) =>
      router.handle(
        {
          scope: { kind: 'thingsdb' },
          user,
          body: { type: 'session', ask: { act: 'rehash', hash, proof } },
          format: 'json',
          client: { gone: false },
        },
        () => {},
      ),
    () => {},
  );
}

/** Tells the log of requests that failed by a defect. */
function reportDefect(log: Logger, request: ProgramRequest, reply: Reply, ms: number): void {
  if (reply.ok || reply.error.code !== ErrorCode.INTERNAL) return;
  const { id, user, scope, body } = request;
  // Not the code of a query: it may hold secrets.
  const what = body.type === 'run' ? { procedure: body.name } : { characters: body.code.length };
  const fields = { request: id, user: user.name, scope: scopeText(scope), ...what, ms: Math.round(ms) };
  log.error({ event: 'request_failed', ...fields }, 'a request failed by a defect');
}

function tlsFilesOf({ tlsCertFile, tlsKeyFile, tlsApiClientCaFile }: Config): TlsFiles | null {
  if (tlsCertFile === undefined || tlsKeyFile === undefined) return null;
  return { certFile: tlsCertFile, keyFile: tlsKeyFile, clientCaFile: tlsApiClientCaFile ?? null };
}
