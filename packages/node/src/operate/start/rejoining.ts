/**
 * A node that gave its data up, because they are damaged or nobody trusts them, and joins its cluster again with
 * nothing. The file `rejoins` in its data folder names the members by which it does, one `host:port` a line,
 * until it has joined: without it a node whose settings name no others would found a cluster of its own.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config/index.js';
import { demandPassword, holdsData } from './first-start.js';
import { REJOINS_NAME } from './folder-names.js';
import { setAside } from './set-aside.js';
import { withFolder } from './start-errors.js';

/** The configuration of a node, with the members by which it is to join again, as long as it has not. */
export function withMembers(config: Config): Config {
  const path = join(config.storagePath, REJOINS_NAME);
  if (!existsSync(path)) return config;
  if (holdsData(config.storagePath)) {
    rmSync(path, { force: true });
    return config;
  }
  const cluster = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  return { ...config, cluster, waitForInvitation: false };
}

/**
 * Sets aside what a stopped node holds, so that it joins its cluster again when it is started.
 *
 * @param members the others, as `host:port`; one at least
 * @returns the folder where its data are kept
 * @throws StartError and others with an `exitCode`
 */
export async function giveUpData(config: Config, members: readonly string[]): Promise<string> {
  const { storagePath } = config;
  demandPassword(config);
  return withFolder(storagePath, () => {
    const path = join(storagePath, REJOINS_NAME);
    writeFileSync(path, `${members.join('\n')}\n`, { flush: true, mode: 0o600 });
    return setAside(storagePath, 'given-up', Date.now());
  });
}
