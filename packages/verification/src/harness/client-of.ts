/** The client library at one node, with values as on the wire: each call is sent once, and throws what went wrong. */
import { connect, type Database } from '@althing/client';
import type { Credentials } from './node-client.js';

/** It has to be closed. */
export function clientOf(url: string, as: Credentials, timeoutMs: number): Database {
  const login = 'token' in as ? { token: as.token } : { user: as.basic[0], password: as.basic[1] };
  return connect(url, { ...login, exact: true, attemptsMax: 1, timeoutMs, attemptTimeoutMs: timeoutMs });
}
