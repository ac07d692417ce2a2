/**
 * The beginning of a node that holds nothing yet: a cluster of its own, to which others can be called, or the
 * wait for a cluster that calls it; and how a node that holds something is made to hold nothing.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { decodeClusterFile } from '../../between/cluster-record.js';
import { SECRET_FILE_NAMES, storedSecret, storeSecret } from '../../between/cluster-secret.js';
import { type Config, ConfigurationError, isLoopback } from '../../config/index.js';
import { REJOINS_NAME } from './folder-names.js';
import { setAside } from './set-aside.js';
import { withFolder } from './start-errors.js';

/**
 * The first start of a node whose data folder is empty: `init` makes a cluster, and a secret for it where the settings
 * have none; `wait` waits for `new_node()` with this one-time secret. Where there are data it counts for nothing.
 */
export type FirstStart = { readonly kind: 'init' } | { readonly kind: 'wait'; readonly secret: string };

/** Bytes of a secret that a node makes for its cluster. */
const SECRET_BYTES = 32;

/**
 * True if a data folder holds data of a node that belongs to a cluster, or is about to found one. One that can't
 * be read does.
 */
export function holdsData(folder: string): boolean {
  const path = join(folder, 'cluster');
  if (!existsSync(path)) return false;
  try {
    return decodeClusterFile(readFileSync(path)).state.kind !== 'empty';
  } catch {
    return true;
  }
}

/** Makes a secret for the cluster that a node is about to found, where nobody gave it one. */
export function makeSecret(config: Config): void {
  const { storagePath, clusterSecret } = config;
  if (clusterSecret !== undefined || holdsData(storagePath) || storedSecret(storagePath) !== undefined)
    return;
  storeSecret(storagePath, randomBytes(SECRET_BYTES).toString('base64url'));
}

/**
 * The configuration with the secret that lies in the data folder, where the settings give none.
 *
 * @throws ClusterSecretError
 */
export function withStoredSecret(config: Config): Config {
  if (config.clusterSecret !== undefined) return config;
  const clusterSecret = storedSecret(config.storagePath);
  return clusterSecret === undefined ? config : { ...config, clusterSecret };
}

/**
 * Makes a data folder that of a node that holds nothing, the secret of its cluster included.
 *
 * @returns the folder where its data are kept
 * @throws StartError and others with an `exitCode`
 */
export async function emptyFolder(config: Config): Promise<string> {
  const { storagePath } = config;
  demandPassword(config);
  return withFolder(storagePath, async () => {
    const kept = await setAside(storagePath, 'forced', Date.now());
    for (const name of [...SECRET_FILE_NAMES, REJOINS_NAME]) rmSync(join(storagePath, name), { force: true });
    return kept;
  });
}

/**
 * Throws ConfigurationError where a fresh node would be open to a network with a password that everybody
 * knows.
 */
export function demandPassword(config: Config): void {
  if (!isLoopback(config.bindClientAddr) && config.adminPassword === undefined) {
    throw new ConfigurationError([
      {
        key: 'admin_password',
        message:
          `bind_client_addr = ${config.bindClientAddr} is open to a network, and a fresh node has a known password: ` +
          'set admin_password (or admin_password_file) for the first start',
      },
    ]);
  }
}
