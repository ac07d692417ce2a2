/** TLS of commands: trusted authorities, and the client's certificate. */

import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { TlsOptions } from '@althing/client';
import type { Command } from 'commander';
import type { ResolvedSettings } from './client-settings/resolve.js';
import { UsageError } from './input.js';
import { messageOf } from './system-error.js';

/** The setting of each file, by the field that gets its content. */
const FILES = { ca: 'tls_ca_file', cert: 'tls_cert_file', key: 'tls_key_file' } as const;

export function addTlsOptions(command: Command): Command {
  return command
    .option('--tls-ca-file <file>', 'authorities (PEM) to trust with https (ALTHING_TLS_CA_FILE)')
    .option(
      '--tls-cert-file <file>',
      'certificate (PEM) for nodes that want one of clients (ALTHING_TLS_CERT_FILE)',
    )
    .option('--tls-key-file <file>', 'its private key (PEM; ALTHING_TLS_KEY_FILE)');
}

/**
 * The contents of the files that the settings name.
 *
 * @throws {UsageError}
 */
export function tlsOf(settings: ResolvedSettings): TlsOptions {
  const parts = Object.entries(FILES).flatMap(([field, setting]) => {
    const path = settings.get(setting)?.value ?? null;
    return path === null ? [] : [[field, contentOf(path)] as const];
  });
  const tls: { ca?: Buffer; cert?: Buffer; key?: Buffer } = Object.fromEntries(parts);
  if ((tls.cert === undefined) !== (tls.key === undefined))
    throw new UsageError('--tls-cert-file and --tls-key-file go together');
  try {
    createSecureContext(tls);
  } catch (error) {
    throw new UsageError(`the certificates are unfit: ${messageOf(error)}`);
  }
  return tls;
}

function contentOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new UsageError(`can't read ${path}: ${messageOf(error)}`);
  }
}
