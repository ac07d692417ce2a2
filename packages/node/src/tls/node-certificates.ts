import type { Config } from '../config/index.js';
import type { Logger } from '../logger.js';
import type { Metrics } from '../metrics/metrics.js';
import type { PeerTls } from '../peers/dial.js';
import { type Certificates, readCertificates } from './certificates.js';

/** The certificates of this node, which may be renewed while it runs. When they end is told each time they are read. */
export class NodeCertificates {
  private readonly config: Config;
  private readonly log: Logger;
  private readonly metrics: Metrics;
  private current: Certificates | null;

  /** @throws ConfigurationError when the files that the settings name are unfit */
  constructor(config: Config, log: Logger, metrics: Metrics) {
    this.config = config;
    this.log = log;
    this.metrics = metrics;
    this.current = this.read();
  }

  /** Null without TLS. */
  get present(): Certificates | null {
    return this.current;
  }

  /** Nodes speak TLS with each other when they can tell each other from strangers by it. */
  get forPeers(): PeerTls | null {
    if (this.current === null || this.current.ca === null) return null;
    const { cert, key, ca } = this.current;
    return { cert, key, ca };
  }

  /**
   * Reads the files again; null when there are none.
   *
   * @throws ConfigurationError when they are unfit: those of before stay
   */
  renew(): Certificates | null {
    const renewed = this.read();
    if (renewed !== null) this.current = renewed;
    return renewed;
  }

  private read(): Certificates | null {
    const { config, log, metrics } = this;
    const certificates = readCertificates(config);
    if (certificates === null) return null;
    const { node, ca } = certificates.ends;
    metrics.set('certificateEnd', node / 1000, 0);
    metrics.set('certificateEnd', (ca ?? 0) / 1000, 1);
    const until = new Date(node).toISOString();
    if (node <= Date.now()) log.error({ event: 'certificate_expired', until }, 'the certificate has ended');
    else log.info({ event: 'certificate', until }, `the certificate holds until ${until}`);
    if (ca === null && config.clusterSecret !== undefined) {
      log.warn(
        { event: 'nodes_without_tls' },
        'the nodes talk to each other without TLS: set tls_client_ca_file',
      );
    }
    return certificates;
  }
}
