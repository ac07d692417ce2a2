/**
 * The certificates that the settings name, read and checked, so that what is wrong with them is told in time.
 */

import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { messageOf } from '../../base/error-text.js';
import { type Config, ConfigurationError } from '../../config/index.js';

/** Certificates and keys of a node, as PEM texts. */
export interface Certificates {
  readonly cert: string;
  readonly key: string;
  /** The authorities that the certificates of other nodes must come from; null: nodes need none. */
  readonly ca: string | null;
  /** The authorities that the certificates of clients must come from; null: they need none. */
  readonly apiClientCa: string | null;
  /** When the node's certificate ends, and the first of the authorities': wall clock in milliseconds. */
  readonly ends: { readonly node: number; readonly ca: number | null; readonly apiClientCa: number | null };
}

type TlsSettings = Partial<
  Pick<Config, 'tlsCertFile' | 'tlsKeyFile' | 'tlsClientCaFile' | 'tlsApiClientCaFile'>
>;

const NODE_KEYS = { cert: 'tls_cert_file', key: 'tls_key_file' } as const;

/**
 * Reads the files; null when there are none to read.
 *
 * @param keys the settings that name the certificate and its key
 * @throws ConfigurationError when one of them can't be read, or they don't fit together
 */
export function readCertificates(
  { tlsCertFile, tlsKeyFile, tlsClientCaFile, tlsApiClientCaFile }: TlsSettings,
  keys: { readonly cert: string; readonly key: string } = NODE_KEYS,
): Certificates | null {
  if (tlsCertFile === undefined || tlsKeyFile === undefined) return null;
  const cert = read(keys.cert, tlsCertFile);
  const key = read(keys.key, tlsKeyFile);
  const [own] = certificatesOf(keys.cert, tlsCertFile, cert);
  if (own === undefined) throw unfit(keys.cert, tlsCertFile, 'there is no certificate in it');
  if (!own.checkPrivateKey(keyOf(keys.key, tlsKeyFile, key))) {
    throw unfit(keys.key, tlsKeyFile, `the key is not the one of the certificate in ${tlsCertFile}`);
  }
  const ca = readAuthorities('tls_client_ca_file', tlsClientCaFile);
  const apiClientCa = readAuthorities('tls_api_client_ca_file', tlsApiClientCaFile);
  return {
    cert,
    key,
    ca: ca?.text ?? null,
    apiClientCa: apiClientCa?.text ?? null,
    ends: { node: endOf(own), ca: ca?.end ?? null, apiClientCa: apiClientCa?.end ?? null },
  };
}

/** A stamp that changes when the files are replaced or written; for a link, that of its target. */
export function stampOf(settings: TlsSettings): string {
  const { tlsCertFile, tlsKeyFile, tlsClientCaFile, tlsApiClientCaFile } = settings;
  return [tlsCertFile, tlsKeyFile, tlsClientCaFile, tlsApiClientCaFile].map(stampOfFile).join(' ');
}

function stampOfFile(path: string | undefined): string {
  if (path === undefined) return '';
  try {
    const { dev, ino, size, mtimeMs } = statSync(path);
    return [dev, ino, size, mtimeMs].join(':');
  } catch {
    return 'unreadable';
  }
}

/** The certificates of authorities, and when the first of them ends; null when no file is named. */
function readAuthorities(
  key: string,
  path: string | undefined,
): { readonly text: string; readonly end: number } | null {
  if (path === undefined) return null;
  const text = read(key, path);
  const authorities = certificatesOf(key, path, text);
  if (authorities.length === 0) throw unfit(key, path, 'there is no certificate in it');
  return { text, end: Math.min(...authorities.map(endOf)) };
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

function keyOf(setting: string, path: string, text: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch (error) {
    throw unfit(setting, path, messageOf(error));
  }
}

function endOf(certificate: X509Certificate): number {
  return Date.parse(certificate.validTo);
}

function unfit(key: string, path: string, problem: string): ConfigurationError {
  return new ConfigurationError([{ key, message: `${key} = ${path}: ${problem}` }]);
}
