/** How browsers reach nodes. */

import type { Database } from '../api/database.js';
import type { ConnectOptions } from '../api/options.js';
import { realSurroundings } from '../request/surroundings.js';
import type { Dial } from '../socket/session.js';
import { openWebSocket, standardWebSocket } from '../socket/websocket.js';
import { FetchTransport } from '../transport/http-fetch.js';
import { SocketTransport } from '../transport/socket-transport.js';
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

const dial: Dial = async ({ url }, signal) => {
  const Socket = standardWebSocket();
  if (Socket === null) throw new Error('this platform has no WebSocket');
  return openWebSocket(Socket, url, signal);
};

function browserPlatform(): Platform {
  return {
    surroundings: realSurroundings(),
    ...(typeof location === 'undefined' ? {} : { base: location.href }),
    makeTransport: ({ transport = 'http' }, { surroundings: { clock }, answerBytesMax }) => {
      if (transport === 'http') return new FetchTransport(clock, answerBytesMax);
      if (transport === 'tcp')
        throw new TypeError('browsers have no TCP: take http or websocket as transport');
      return new SocketTransport({ dial, clock, connectionsMax: SOCKETS_MAX, answerBytesMax });
    },
    roomDial: ({ rooms }) => {
      if (rooms === 'tcp') throw new TypeError('browsers have no TCP: rooms come over websocket');
      return dial;
    },
    addressesOf: null,
  };
}
