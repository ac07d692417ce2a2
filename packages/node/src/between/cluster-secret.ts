/**
 * The secret of the cluster, as a node keeps it in its data folder that was not given one by its settings: the
 * file `secret`, one line of text, which only the user of the process may read. It is there before a node
 * says that it has it, and stays for as long as the folder.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../base/small-file.js';
import { ExitCode } from '../config/exit-codes.js';

const NAME = 'secret';

/** Names that the data folder may hold because of this file. */
export const SECRET_FILE_NAMES: readonly string[] = [NAME, `${NAME}.tmp`];

/** Lengths of a secret, in characters: those of the setting `cluster_secret`. */
const LENGTH_MIN = 16;
const LENGTH_MAX = 1024;

/** The file is not what was written. */
export class ClusterSecretError extends Error {
  override readonly name = 'ClusterSecretError';
  readonly exitCode = ExitCode.DataDamaged;
}

export function isFitSecret(secret: string): boolean {
  return secret.length >= LENGTH_MIN && secret.length <= LENGTH_MAX && !/[\r\n]/.test(secret);
}

/**
 * The secret that a data folder holds; undefined for none.
 *
 * @throws ClusterSecretError
 */
export function storedSecret(folder: string): string | undefined {
  const path = join(folder, NAME);
  if (!existsSync(path)) return undefined;
  const secret = readFileSync(path, 'utf8').replace(/\n$/, '');
  if (isFitSecret(secret)) return secret;
  throw new ClusterSecretError(
    `${path} does not hold the secret of a cluster: set cluster_secret to that of the other nodes, and delete the file`,
  );
}

/** Puts the secret of the cluster into a data folder; it is durable when this returns. */
export function storeSecret(folder: string, secret: string): void {
  replaceFile(folder, NAME, `${secret}\n`);
}
