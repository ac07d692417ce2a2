import type { TlsOptions } from '../api/options.js';

/** TLS options in the form of Node.js. */
export function tlsParts({ ca, cert, key }: TlsOptions): { ca?: Buffer; cert?: Buffer; key?: Buffer } {
  return {
    ...(ca === undefined ? {} : { ca: Buffer.from(ca) }),
    ...(cert === undefined ? {} : { cert: Buffer.from(cert) }),
    ...(key === undefined ? {} : { key: Buffer.from(key) }),
  };
}
