/** The client library at one node, with values as on the wire: each call is sent once, and throws what went wrong. */
import { type ConnectOptions, connect, type Database } from '@althing/client';
import type { Credentials } from './node-client.js';

/**
 * It has to be closed.
 *
 * @param requests under way at once; others wait
 */
export function clientOf(url: string, as: Credentials, timeoutMs: number, requests?: number): Database {
  const limits = requests === undefined ? {} : { limits: { requests, waiting: 1_000_000 } };
  const times = { timeoutMs, attemptTimeoutMs: timeoutMs };
  return connect(url, { ...loginOf(as), ...times, ...limits, exact: true, attemptsMax: 1 });
}

export function loginOf(as: Credentials): ConnectOptions {
  return 'token' in as ? { token: as.token } : { user: as.basic[0], password: as.basic[1] };
}
