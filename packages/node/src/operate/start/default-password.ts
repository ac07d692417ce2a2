/**
 * The password that everybody knows. A node that listens beyond loopback refuses to serve while a user who
 * may do something has it, at every start: the users may have come from a time on loopback, or from other
 * nodes. Until that is found out, and for what changes later, no such login is accepted there: see
 * `Authenticator`.
 */
import type { RootGroup, User } from '@althing/engine';
import { type Config, DEFAULT_PASSWORD, ExitCode, isOpen } from '../../config/index.js';
import type { PasswordHasher } from '../../requests/password.js';
import { StartError } from './running-node.js';

/** Checks at once: as many as are computed at once. */
const WORKERS = 2;

/**
 * Why a node must not serve; null when nothing is known against it.
 *
 * @param isRunning asked between two checks, each of which takes tens of milliseconds
 */
export async function passwordProblem(
  config: Config,
  root: RootGroup,
  hasher: Pick<PasswordHasher, 'verifyOwn'>,
  isRunning: () => boolean,
): Promise<StartError | null> {
  if (!isOpen(config)) return null;
  const names = await defaultPasswordUsers(root, hasher, isRunning);
  return names.length === 0 ? null : openWithDefaultPassword(config, names);
}

/**
 * The names of the users with privileges whose password everybody knows.
 *
 * @param isRunning asked between two checks, each of which takes tens of milliseconds
 */
export async function defaultPasswordUsers(
  root: RootGroup,
  hasher: Pick<PasswordHasher, 'verifyOwn'>,
  isRunning: () => boolean = () => true,
): Promise<string[]> {
  const waiting = [...root.users.values()];
  const found: string[] = [];
  const work = async (): Promise<void> => {
    for (let user = waiting.shift(); user !== undefined && isRunning(); user = waiting.shift()) {
      if (user.password === null || !hasPrivileges(root, user)) continue;
      if (await hasher.verifyOwn(DEFAULT_PASSWORD, user.password)) found.push(user.name);
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  return found.sort();
}

/** Why a node does not serve that is open to a network. */
export function openWithDefaultPassword(
  { bindClientAddr }: Pick<Config, 'bindClientAddr'>,
  names: readonly string[],
): StartError {
  const shown = names.slice(0, NAMES_SHOWN).map((name) => `'${name}'`);
  if (names.length > shown.length) shown.push(`${names.length - shown.length} more`);
  return new StartError(
    `bind_client_addr = ${bindClientAddr} is open to a network, and users with privileges have the default password: ` +
      `${shown.join(', ')}. Start with bind_client_addr = 127.0.0.1, give them others with set_password(), and start again`,
    ExitCode.Configuration,
  );
}

const NAMES_SHOWN = 10;

function hasPrivileges(root: RootGroup, user: User): boolean {
  return root.accessOf(user.id).some(([, mask]) => mask !== 0);
}
