import type { Config } from '../../config/index.js';
import type { Logger } from '../../telemetry/logger.js';
import type { Metrics } from '../../telemetry/metrics.js';
import { type Certificates, readCertificates, stampOf } from './certificates.js';
import { WatchedFiles } from './watched-files.js';

/**
 * The certificates of this node, which may be renewed while it runs. When they end is told each time they are
 * taken up.
 */
export class NodeCertificates {
  private current: Certificates | null;
  private readonly files: WatchedFiles;

  /** @throws ConfigurationError when the files that the settings name are unfit */
  constructor(
    private readonly config: Config,
    private readonly log: Logger,
    private readonly metrics: Metrics,
  ) {
    this.files = new WatchedFiles(() => stampOf(config), 'tls_cert_file', log);
    this.current = readCertificates(config);
    if (this.current !== null) this.tell(this.current);
  }

  /** Null without TLS. */
  get present(): Certificates | null {
    return this.current;
  }

  /** Nodes speak TLS with each other when they can tell each other from strangers by it. */
  get forPeers(): (Pick<Certificates, 'cert' | 'key'> & { readonly ca: string }) | null {
    if (this.current === null || this.current.ca === null) return null;
    const { cert, key, ca } = this.current;
    return { cert, key, ca };
  }

  /**
   * Reads the files again.
   *
   * @param use takes up what is in them; not called without TLS
   * @throws ConfigurationError when they are unfit, and what `use` throws: those of before stay
   */
  renew(use: (certificates: Certificates) => void): void {
    this.files.renew(() => this.take(use));
  }

  /**
   * Looks at the files now and then, and renews when they were replaced: see `WatchedFiles`.
   *
   * @param use see `renew`
   */
  watch(use: (certificates: Certificates) => void): void {
    if (this.current !== null) this.files.watch(() => this.take(use));
  }

  /** Looks no more. */
  stop(): void {
    this.files.stop();
  }

  private take(use: (certificates: Certificates) => void): void {
    const renewed = readCertificates(this.config);
    if (renewed === null) return;
    use(renewed);
    this.current = renewed;
    this.tell(renewed);
  }

  private tell({ ends }: Certificates): void {
    const { log, metrics } = this;
    const { node } = ends;
    metrics.tell('certificateEnd', { certificate: 'node' }, node / 1000);
    metrics.tell('certificateEnd', { certificate: 'client_ca' }, (ends.ca ?? 0) / 1000);
    metrics.tell('certificateEnd', { certificate: 'api_client_ca' }, (ends.apiClientCa ?? 0) / 1000);
    const until = new Date(node).toISOString();
    if (node <= Date.now()) log.error({ event: 'certificate_expired', until }, 'the certificate has ended');
    else log.info({ event: 'certificate', until }, `the certificate holds until ${until}`);
  }
}
