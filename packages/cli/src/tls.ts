/** What a command trusts, and what it proves itself with, where a node speaks TLS. */
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { Command } from 'commander';
import { type ClientTls, partsOf } from './http.js';
import { nonEmpty, textOption, UsageError } from './input.js';
import type { Io } from './io.js';

/** By the field that its content gets: the option, and the variable that stands for it. */
const FILES = {
  ca: ['tlsCaFile', 'ALTHING_TLS_CA_FILE'],
  cert: ['tlsCertFile', 'ALTHING_TLS_CERT_FILE'],
  key: ['tlsKeyFile', 'ALTHING_TLS_KEY_FILE'],
} as const;

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
 * What the options say, and else the environment.
 *
 * @throws {UsageError}
 */
export function tlsOf(command: Command, io: Io): ClientTls {
  const parts = Object.entries(FILES).flatMap(([field, [option, variable]]) => {
    const path = textOption(command, option) ?? nonEmpty(io.environment[variable]);
    return path === undefined ? [] : [[field, contentOf(path)] as const];
  });
  const tls: ClientTls = Object.fromEntries(parts);
  if ((tls.cert === undefined) !== (tls.key === undefined))
    throw new UsageError('--tls-cert-file and --tls-key-file go together');
  try {
    createSecureContext(tls);
  } catch (error) {
    throw new UsageError(`the certificates are unfit: ${partsOf(error).message}`);
  }
  return tls;
}

function contentOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new UsageError(`can't read ${path}: ${partsOf(error).message}`);
  }
}
