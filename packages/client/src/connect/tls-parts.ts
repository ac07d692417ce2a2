import type { TlsOptions } from '../api/options.js';

/** What Node.js takes for TLS. */
export function tlsParts({ ca, cert, key }: TlsOptions): { ca?: Buffer; cert?: Buffer; key?: Buffer } {
  return {
    ...(ca === undefined ? {} : { ca: Buffer.from(ca) }),
    ...(cert === undefined ? {} : { cert: Buffer.from(cert) }),
    ...(key === undefined ? {} : { key: Buffer.from(key) }),
  };
}
