import { randomInt } from 'node:crypto';
import getPort, { portNumbers } from 'get-port';

/**
 * Below the ports that the kernel gives to outgoing connections, which would take one between its choice and
 * its use.
 */
const FIRST_PORT = 10_000;
const PORTS_PER_WORKER = 1000;

/**
 * Ports on this machine that nothing listens on now, none of them given before by this process. Test files
 * that run side by side choose in different ranges. Someone else may still take one before it is used.
 */
export async function freePorts(count: number): Promise<number[]> {
  const worker = Number(process.env.JEST_WORKER_ID ?? 0) % 20;
  const first = FIRST_PORT + worker * PORTS_PER_WORKER + randomInt(PORTS_PER_WORKER / 2);
  const last = FIRST_PORT + (worker + 1) * PORTS_PER_WORKER - 1;
  return Promise.all(
    Array.from({ length: count }, () => getPort({ port: portNumbers(first, last), reserve: true })),
  );
}
