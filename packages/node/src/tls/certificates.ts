/** The certificates that the settings name, read and checked, so that what is wrong with them is told in time. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Config, ConfigurationError } from '../config/index.js';

/** What goes with TLS, as PEM texts. */
export interface Certificates {
  readonly cert: string;
  readonly key: string;
  /** The authorities that the certificates of other nodes must come from; null: nodes talk without TLS. */
  readonly ca: string | null;
  /** When the node's certificate ends, and the first of the authorities': wall clock in milliseconds. */
  readonly ends: { readonly node: number; readonly ca: number | null };
}

type TlsSettings = Pick<Config, 'tlsCertFile' | 'tlsKeyFile' | 'tlsClientCaFile'>;

/**
 * Reads the files; null when there are none to read.
 *
 * @throws ConfigurationError when one of them can't be read, or they don't fit together
 */
export function readCertificates({
  tlsCertFile,
  tlsKeyFile,
  tlsClientCaFile,
}: TlsSettings): Certificates | null {
  if (tlsCertFile === undefined || tlsKeyFile === undefined) return null;
  const cert = read('tls_cert_file', tlsCertFile);
  const key = read('tls_key_file', tlsKeyFile);
  const ca = tlsClientCaFile === undefined ? null : read('tls_client_ca_file', tlsClientCaFile);
  const [own] = certificatesOf('tls_cert_file', tlsCertFile, cert);
  if (own === undefined) throw unfit('tls_cert_file', tlsCertFile, 'there is no certificate in it');
  if (!own.checkPrivateKey(keyOf(tlsKeyFile, key))) {
    throw unfit('tls_key_file', tlsKeyFile, `the key is not the one of the certificate in ${tlsCertFile}`);
  }
  const authorities = ca === null ? [] : certificatesOf('tls_client_ca_file', tlsClientCaFile ?? '', ca);
  if (ca !== null && authorities.length === 0) {
    throw unfit('tls_client_ca_file', tlsClientCaFile ?? '', 'there is no certificate in it');
  }
  return {
    cert,
    key,
    ca,
    ends: { node: endOf(own), ca: ca === null ? null : Math.min(...authorities.map(endOf)) },
  };
}

function read(key: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw unfit(key, path, messageOf(error));
  }
}

/** All certificates of a file, its first one first. */
function certificatesOf(key: string, path: string, text: string): X509Certificate[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch (error) {
    throw unfit(key, path, messageOf(error));
  }
}

function keyOf(path: string, text: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch (error) {
    throw unfit('tls_key_file', path, messageOf(error));
  }
}

function endOf(certificate: X509Certificate): number {
  return Date.parse(certificate.validTo);
}

function unfit(key: string, path: string, problem: string): ConfigurationError {
  return new ConfigurationError([{ key, message: `${key} = ${path}: ${problem}` }]);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
