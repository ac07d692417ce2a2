/** The transport of browsers. */

import type { Database } from '../api/database.js';
import type { ConnectOptions } from '../api/options.js';
import { realSurroundings } from '../request/surroundings.js';
import { FetchTransport } from '../transport/http-fetch.js';
import { Client, type Platform } from './client.js';
import { databaseOf } from './database.js';

/** Of the page, or of a worker. */
declare const location: { readonly href: string } | undefined;

/** As in Node.js; URLs may be relative to the page, such as `/` for the node that the page came from. */
export function connect<S extends object = Readonly<Record<string, unknown>>>(
  urls: string | readonly string[],
  options: ConnectOptions = {},
): Database<S> {
  return databaseOf(new Client(urls, options, browserPlatform()), options);
}

/** Connections to a node, for calls over WebSocket. */
const SOCKETS_MAX = 8;

function browserPlatform(): Platform {
  return {
    surroundings: realSurroundings(),
    ...(typeof location === 'undefined' ? {} : { base: location.href }),
    makeTransport: ({ transport = 'http' }, { surroundings: { clock }, answerBytesMax }) => {
      if (transport === 'http') return new FetchTransport(clock, answerBytesMax);
      if (transport === 'tcp')
        throw new TypeError('browsers have no TCP: take http or websocket as transport');
      return sockets().then(({ SocketTransport, dialWebSocket }) => {
        return new SocketTransport({
          dial: dialWebSocket,
          clock,
          connectionsMax: SOCKETS_MAX,
          answerBytesMax,
        });
      });
    },
    makeRooms: async (_, parts) => {
      const { RoomHub, dialWebSocket } = await sockets();
      return new RoomHub({ ...parts, dial: dialWebSocket });
    },
    addressesOf: null,
  };
}

/** Loaded when a page first needs it: most only call. */
function sockets(): Promise<typeof import('./browser-sockets.js')> {
  return import('./browser-sockets.js');
}
