/** Free ports of this machine. */
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Ports that nobody listens on right now, all different. Somebody else may take one before it is used; who uses them has to
 * try again then.
 */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  try {
    const ports: number[] = [];
    for (const server of servers) {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const address = server.address();
      if (typeof address !== 'object' || address === null) throw new Error('no port to listen on');
      ports.push(address.port);
    }
    return ports;
  } finally {
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }
}
