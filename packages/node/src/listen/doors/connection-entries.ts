import type { ConnectionEntry } from '@althing/engine';
import { networkText, networkTextOf } from '../limits/address-counts.js';

/** Elements that are told at most: the oldest connections. */
const ENTRIES_MAX = 10_000;

/**
 * Connections: each one of the native protocol, and those of HTTP by the network that they come from, since they have no
 * login of their own.
 *
 * @param httpCount connections to the port of the API, those included that went on as WebSockets
 * @param byNetwork the same by network, as `networkKey` writes it; null where the system does not tell
 */
export function connectionEntries(
  native: Iterable<ConnectionEntry>,
  httpCount: number,
  byNetwork: ReadonlyMap<string, number> | null,
): readonly ConnectionEntry[] {
  const entries = [...native];
  const sockets = entries.filter(({ transport }) => transport === 'api_websocket');
  const http: ConnectionEntry[] = [];
  if (byNetwork === null) {
    const count = httpCount - sockets.length;
    if (count > 0) http.push(httpEntry(null, count));
  } else {
    const socketsOf = new Map<string, number>();
    for (const { address } of sockets) {
      const network = networkTextOf(address ?? '');
      socketsOf.set(network, (socketsOf.get(network) ?? 0) + 1);
    }
    for (const [key, all] of byNetwork) {
      const network = networkText(key);
      const count = all - (socketsOf.get(network) ?? 0);
      if (count > 0) http.push(httpEntry(network, count));
    }
  }
  return [...entries, ...http].slice(0, ENTRIES_MAX);
}

function httpEntry(address: string | null, count: number): ConnectionEntry {
  return { id: null, transport: 'http', address, user: null, since: null, requests: null, count };
}
