import type { Server } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { messageOf } from '../../base/error-text.js';
import { type Config, ConfigurationError, PortError, portInUse } from '../../config/index.js';
import type { EngineMetrics } from '../../telemetry/engine-metrics.js';
import type { Logger } from '../../telemetry/logger.js';
import { Sites, sitesOptionsOf } from '../http/sites.js';
import type { NativeListener } from '../native/listener.js';
import { type Credentials, listening, listeningAt, packageServer } from '../native/servers.js';
import { type Certificates, readCertificates, stampOf } from '../tls/certificates.js';
import { WatchedFiles } from '../tls/watched-files.js';
import { webSocketServer } from '../websocket/server.js';

type NativeSettings = Pick<
  Config,
  | 'listenClientPort'
  | 'bindClientAddr'
  | 'ipSupport'
  | 'pipeClientName'
  | 'clientTls'
  | 'clientProxyProtocol'
  | 'loginTimeoutMs'
  | 'wsPort'
  | 'nodeName'
  | 'httpAllowedHosts'
  | 'httpAllowedOrigins'
  | 'wsCertFile'
  | 'wsKeyFile'
>;

/** The servers of the native protocol that the settings ask for. */
export class NativeDoors {
  /** The server that speaks TLS with the certificates of the node. */
  private tlsServer: TlsServer | null = null;
  /** The server of WebSockets that speaks TLS with its own. */
  private wssServer: TlsServer | null = null;
  private readonly wssFiles: WatchedFiles;
  private readonly log: Logger;
  private readonly figures: Pick<EngineMetrics, 'webSocketCertificate'>;

  constructor(
    private readonly config: NativeSettings,
    private readonly listener: NativeListener,
    { log, figures }: { readonly log: Logger; readonly figures: Pick<EngineMetrics, 'webSocketCertificate'> },
  ) {
    this.log = log;
    this.figures = figures;
    this.wssFiles = new WatchedFiles(() => stampOf(wssFilesOf(config)), WS_KEYS.cert, log);
  }

  /** @throws ConfigurationError when a port or a path is in use */
  async open(certificates: Certificates | null): Promise<void> {
    const { listenClientPort, bindClientAddr, pipeClientName, clientTls, loginTimeoutMs } = this.config;
    const { clientProxyProtocol } = this.config;
    if (listenClientPort !== 0) {
      const tls = clientTls && certificates !== null ? credentialsOf(certificates) : null;
      const server = packageServer(this.listener, tls, loginTimeoutMs, clientProxyProtocol);
      if (server instanceof TlsServer) this.tlsServer = server;
      await this.listen(server, 'listen_client_port', bindClientAddr, listenClientPort);
    }
    if (pipeClientName !== undefined) {
      const server = packageServer(this.listener, null, loginTimeoutMs);
      this.listener.serve(server);
      const isFree = await listeningAt(server, pipeClientName).catch((error: unknown) => {
        throw pathProblem(pipeClientName, messageOf(error));
      });
      if (!isFree) throw pathProblem(pipeClientName, 'another process listens there');
    }
    await this.openWebSocket();
  }

  private async openWebSocket(): Promise<void> {
    const { wsPort, bindClientAddr, loginTimeoutMs } = this.config;
    if (wsPort === 0) return;
    const sites = new Sites(sitesOptionsOf(this.config));
    const server = webSocketServer(this.listener, sites, this.wsCredentials(), loginTimeoutMs);
    if (server instanceof TlsServer) {
      this.wssServer = server;
      this.wssFiles.watch(() => this.takeWebSocketTls());
    }
    await this.listen(server, 'ws_port', bindClientAddr, wsPort);
  }

  /**
   * Null without TLS.
   *
   * @throws ConfigurationError when the files are unfit
   */
  private wsCredentials(): Credentials | null {
    const read = readCertificates(wssFilesOf(this.config), WS_KEYS);
    if (read === null) return null;
    const { node: end } = read.ends;
    const until = new Date(end).toISOString();
    const fields = { setting: WS_KEYS.cert, until };
    this.figures.webSocketCertificate(end);
    if (end > Date.now())
      this.log.info({ event: 'certificate', ...fields }, `the certificate holds until ${until}`);
    else this.log.error({ event: 'certificate_expired', ...fields }, 'the certificate has ended');
    return { cert: read.cert, key: read.key };
  }

  /**
   * Takes up a renewed certificate of the node.
   *
   * @throws Error when it is unfit
   */
  renewTls(certificates: Certificates): void {
    this.tlsServer?.setSecureContext(credentialsOf(certificates));
  }

  /**
   * Reads the certificate of `ws_port` again.
   *
   * @throws Error when it is unfit: the one of before stays
   */
  renewWebSocketTls(): void {
    this.wssFiles.renew(() => this.takeWebSocketTls());
  }

  /** Looks at no files any more. */
  close(): void {
    this.wssFiles.stop();
  }

  private takeWebSocketTls(): void {
    const own = this.wssServer === null ? null : this.wsCredentials();
    if (own !== null) this.wssServer?.setSecureContext(own);
  }

  private async listen(server: Server, key: string, address: string, port: number): Promise<void> {
    this.listener.serve(server);
    const ipv6Only = this.config.ipSupport === 'ipv6only';
    let isFree: boolean;
    try {
      isFree = await listening(server, { host: address, port, ipv6Only, backlog: BACKLOG });
    } catch (error) {
      const why = messageOf(error);
      throw new PortError([{ key, message: `${key} = ${port}: can't listen on ${address}: ${why}` }]);
    }
    if (!isFree) throw portInUse(key, address, port);
  }
}

function wssFilesOf({ wsCertFile, wsKeyFile }: Pick<NativeSettings, 'wsCertFile' | 'wsKeyFile'>) {
  return { tlsCertFile: wsCertFile, tlsKeyFile: wsKeyFile };
}

/** The settings that name the files of `ws_port`. */
const WS_KEYS = { cert: 'ws_cert_file', key: 'ws_key_file' } as const;

/** Connections that wait to be accepted. */
const BACKLOG = 1024;

function credentialsOf({ cert, key, apiClientCa }: Certificates): Credentials {
  if (apiClientCa === null) return { cert, key };
  return { cert, key, ca: apiClientCa, requestCert: true, rejectUnauthorized: true };
}

function pathProblem(path: string, why: string): ConfigurationError {
  return new ConfigurationError([
    {
      key: 'pipe_client_name',
      message: `pipe_client_name = ${path}: can't listen there: ${why}; choose another path, or end what uses it`,
    },
  ]);
}
