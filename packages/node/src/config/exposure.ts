/** Exposure of a node: it is dangerous to be reached from a network with a password that everybody knows. */
import { isLoopback } from './address.js';
import type { Config } from './settings.js';

/** Password of a fresh installation that was given none. */
export const DEFAULT_PASSWORD = 'pass';

/** True if clients beyond this machine can reach the node. */
export function isOpen({
  bindClientAddr,
  httpApiPort,
  listenClientPort,
  wsPort,
}: Pick<Config, 'bindClientAddr' | 'httpApiPort' | 'listenClientPort' | 'wsPort'>): boolean {
  return (httpApiPort !== 0 || listenClientPort !== 0 || wsPort !== 0) && !isLoopback(bindClientAddr);
}
