/** Free ports of this machine. */
import getPort from 'get-port';

/**
 * Ports that nobody listens on right now, none of them given before by this process. Somebody else may take one before it
 * is used; who uses them has to try again then.
 */
export async function freePorts(count: number): Promise<number[]> {
  return Promise.all(Array.from({ length: count }, () => getPort({ reserve: true })));
}
