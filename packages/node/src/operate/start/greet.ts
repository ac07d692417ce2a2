import { type Config, DEFAULT_PASSWORD } from '../../config/index.js';
import type { StaticSite } from '../../listen/http/static-site.js';
import type { Logger } from '../../telemetry/logger.js';

export interface Greeting {
  readonly config: Pick<
    Config,
    | 'bindClientAddr'
    | 'httpApiPort'
    | 'httpStatusPort'
    | 'listenClientPort'
    | 'pipeClientName'
    | 'wsPort'
    | 'wsCertFile'
    | 'clientTls'
  >;
  readonly version: string;
  /** The data folder. */
  readonly path: string;
  readonly isTls: boolean;
  /** Files for browsers; null for none. */
  readonly site: Pick<StaticSite, 'base'> | null;
}

/** Says where everything is. */
export function greet(log: Logger, { config, version, path, isTls, site }: Greeting): void {
  const base = baseUrl(config.bindClientAddr, isTls);
  log.info({ event: 'data', path }, `Althing ${version}: data in ${path}`);
  if (config.httpStatusPort !== 0) {
    log.info(
      { event: 'status', port: config.httpStatusPort },
      `status on ${base}:${config.httpStatusPort}/status`,
    );
  }
  greetNative(log, config);
  if (config.httpApiPort === 0) {
    log.info({ event: 'api_disabled' }, 'the HTTP API is disabled (http_api_port = 0)');
    return;
  }
  const url = `${base}:${config.httpApiPort}`;
  log.info({ event: 'api', port: config.httpApiPort }, `HTTP API on ${url}`);
  if (site !== null)
    log.info({ event: 'site', url: url + site.base }, `open in a browser: ${url}${site.base}`);
}

function greetNative(log: Logger, config: Greeting['config']): void {
  const { bindClientAddr, listenClientPort, pipeClientName, wsPort, wsCertFile, clientTls } = config;
  const host = bindClientAddr.includes(':') ? `[${bindClientAddr}]` : bindClientAddr;
  const tell = (place: string): void => log.info({ event: 'native', place }, `native protocol on ${place}`);
  if (listenClientPort !== 0) tell(`${clientTls ? 'tls' : 'tcp'}://${host}:${listenClientPort}`);
  if (pipeClientName !== undefined) tell(`unix:${pipeClientName}`);
  if (wsPort !== 0) tell(`${wsCertFile === undefined ? 'ws' : 'wss'}://${host}:${wsPort}`);
}

/**
 * Warns of a password that everybody can guess, and says how to begin with it: at the first start alone, with
 * the password.
 */
export function warnOfDefaultPassword(log: Logger, { config, isTls }: Greeting, isFirstStart: boolean): void {
  const url = `${baseUrl(config.bindClientAddr, isTls)}:${config.httpApiPort}`;
  log.warn(
    { event: 'default_password' },
    "user 'admin' has the default password: make a token and set another password before others can reach this node",
  );
  if (!isFirstStart) return;
  log.info(
    { event: 'try' },
    `try: curl -u admin:${DEFAULT_PASSWORD} -H 'Content-Type: application/json' -d '{"type":"query","code":"1 + 1;"}' ${url}//stuff`,
  );
}

function baseUrl(address: string, isTls: boolean): string {
  return `${isTls ? 'https' : 'http'}://${address.includes(':') ? `[${address}]` : address}`;
}
