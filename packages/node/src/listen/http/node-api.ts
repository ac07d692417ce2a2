import { type Engine, ErrorCode } from '@althing/engine';
import { descriptorLimit, fittingConnections } from '../../base/descriptors.js';
import { delay } from '../../base/timers.js';
import { type Config, DEFAULT_PASSWORD, isOpen, portInUse } from '../../config/index.js';
import type { Reply, Request } from '../../groups/request.js';
import { scopeText } from '../../requests/checks.js';
import type { Counters } from '../../requests/counters.js';
import type { PasswordHasher } from '../../requests/password.js';
import type { Router } from '../../requests/router.js';
import type { AuditLog } from '../../telemetry/audit-log.js';
import type { EngineMetrics } from '../../telemetry/engine-metrics.js';
import type { Logger } from '../../telemetry/logger.js';
import { Authenticator } from '../auth/authenticator.js';
import { Backoff } from '../auth/backoff.js';
import type { TlsFiles } from './apps.js';
import { HttpListener, type HttpOptions } from './listener.js';

export interface NodeApiOptions
  extends Pick<HttpOptions, 'transfers' | 'refusal' | 'stale' | 'wait' | 'onDefect'> {
  readonly config: Config;
  readonly engine: Engine;
  readonly router: Router;
  readonly hasher: PasswordHasher;
  readonly figures: EngineMetrics;
  readonly counters: Counters;
  readonly audit: AuditLog;
  readonly log: Logger;
}

const MiB = 1024 * 1024;

/** Logins that are put off or checked at once, and users and addresses that are remembered for it. */
const LOGIN_LIMITS = { waitingMax: 8, checkingMax: 32, keysMax: 10_000 };

/**
 * Opens the HTTP API of a node, unless the settings disable it.
 *
 * @throws ConfigurationError when the port is in use
 */
export function openApi(options: NodeApiOptions): HttpListener {
  const { config, router, figures, counters, log, transfers, refusal, stale, wait, onDefect } = options;
  const listener = new HttpListener({
    authenticator: makeAuthenticator(options),
    tls: tlsFilesOf(config),
    nodeName: config.nodeName,
    handle: (request, respond) =>
      router.handle(
        request,
        figures.counting(request, respond, (reply, ms) => {
          counters.count(reply, ms);
          report(log, config.slowRequestMs, request, reply, ms);
        }),
      ),
    transfers,
    wait,
    refusal,
    stale,
    body: { msgpackNestingMax: config.nestingLimit },
    bodySizeMax: config.requestSizeLimit,
    bodyMemoryMax: config.requestMemoryLimitMb * MiB,
    bodyTimeoutMs: config.bodyTimeoutMs,
    figures,
    onDefect,
    connectionAgeMaxMs: config.maxConnectionAgeMs,
    connectionsMax: fittingConnections(config.maxConnections, descriptorLimit(), log),
    connectionsPerAddressMax: config.maxConnectionsPerAddress,
    trustedProxies: config.trustedProxies,
    sites: {
      bindAddress: config.bindClientAddr,
      nodeName: config.nodeName,
      allowedHosts: config.httpAllowedHosts,
      allowedOrigins: config.httpAllowedOrigins,
    },
    pendingMax: config.requestQueueLimit,
  });
  if (config.httpApiPort === 0) return listener;
  const port = listener.listen(config.bindClientAddr, config.httpApiPort);
  if (port === null) throw portInUse('http_api_port', config.bindClientAddr, config.httpApiPort);
  return listener;
}

function makeAuthenticator({
  config,
  engine,
  router,
  hasher,
  figures,
  audit,
}: NodeApiOptions): Authenticator {
  const { loginBackoffMs: delayMs, loginBackoffLimitMs: delayMaxMs } = config;
  return new Authenticator({
    root: engine.root,
    freshen: () => router.freshenRoot(),
    hasher,
    backoff: new Backoff({ delayMs, delayMaxMs, ...LOGIN_LIMITS }, () => performance.now()),
    onLogin: (login) => {
      figures.loggedIn(login.method, login.outcome);
      audit.login(login);
    },
    refusedPassword: isOpen(config) ? DEFAULT_PASSWORD : null,
    cacheMs: config.credentialCacheMs,
    now: Date.now,
    delay,
  });
}

/** Tells the log of requests that took long, or failed by a defect. */
function report(log: Logger, slowMs: number, request: Request, reply: Reply, ms: number): void {
  const isSlow = slowMs > 0 && ms > slowMs;
  const isDefect = !reply.ok && reply.error.code === ErrorCode.INTERNAL;
  if (!isSlow && !isDefect) return;
  const { id, user, scope, body } = request;
  // Not the code of a query: it may hold secrets.
  const what = body.type === 'run' ? { procedure: body.name } : { characters: body.code.length };
  const fields = { request: id, user: user.name, scope: scopeText(scope), ...what, ms: Math.round(ms) };
  if (isSlow) log.warn({ event: 'slow_request', ...fields }, 'a request took long');
  if (isDefect) log.error({ event: 'request_failed', ...fields }, 'a request failed by a defect');
}

function tlsFilesOf({ tlsCertFile, tlsKeyFile, tlsApiClientCaFile }: Config): TlsFiles | null {
  if (tlsCertFile === undefined || tlsKeyFile === undefined) return null;
  return { certFile: tlsCertFile, keyFile: tlsKeyFile, clientCaFile: tlsApiClientCaFile ?? null };
}
