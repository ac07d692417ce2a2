/** The transport of Node.js. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Database } from '../api/database.js';
import type { ConnectOptions } from '../api/options.js';
import { realSurroundings } from '../request/surroundings.js';
import { RoomHub } from '../rooms/room-hub.js';
import type { Dial } from '../socket/session.js';
import { openStream, StreamChannel } from '../socket/tcp.js';
import { openWebSocket, standardWebSocket } from '../socket/websocket.js';
import { WebSocketChannel } from '../socket/websocket-channel.js';
import { HttpNodeTransport } from '../transport/http-node.js';
import { SocketTransport } from '../transport/socket-transport.js';
import { Client, type Platform } from './client.js';
import { databaseOf } from './database.js';
import { tlsParts } from './tls-parts.js';

/**
 * Connects to a database. Nothing is sent before the first call.
 *
 * @typeParam S the collections, by name: `connect<{ stuff: Stuff }>(...)`, with types written by `althing types`
 * @param urls of nodes, http or https: a text with commas between them, or an array. Each may have the path of a proxy
 * @throws {TypeError} for what is no such URL, and for credentials that can't be ones
 */
export function connect<S extends object = Readonly<Record<string, unknown>>>(
  urls: string | readonly string[],
  options: ConnectOptions = {},
): Database<S> {
  return databaseOf(new Client(urls, options, nodePlatform()), options);
}

/** The default port of the native protocol, as with ThingsDB. */
const NATIVE_PORT = 9200;

function nodePlatform(): Platform {
  return {
    surroundings: realSurroundings(),
    makeTransport: (options, { surroundings: { clock }, requestsMax, answerBytesMax }) => {
      const { tls = {}, transport = 'http' } = options;
      if (transport === 'http') {
        return new HttpNodeTransport({ tls, clock, connectionsMax: requestsMax, answerBytesMax });
      }
      return new SocketTransport({
        dial: dialOf(transport, options),
        clock,
        // A change waits for those before it on its connection: with fewer, what waits behind an election would take long.
        connectionsMax: requestsMax,
        answerBytesMax,
      });
    },
    makeRooms: async (options, parts) => {
      const way = options.rooms ?? (standardWebSocket() === null ? 'tcp' : 'websocket');
      return new RoomHub({ ...parts, dial: dialOf(way, options) });
    },
    addressesOf: async ({ hostname }) => {
      if (hostname.startsWith('[') || isIP(hostname) !== 0) return [];
      try {
        return (await lookup(hostname, { all: true })).map(({ address }) => address);
      } catch {
        // The attempt to connect says so, in the name of its call.
        return [];
      }
    },
  };
}

function dialOf(way: 'websocket' | 'tcp', { tls = {}, nativePort = NATIVE_PORT }: ConnectOptions): Dial {
  return async ({ url, address }, signal) => {
    const host = address ?? url.hostname.replace(/^\[(.*)\]$/, '$1');
    const isTls = url.protocol === 'https:';
    const tlsOptions = isTls
      ? { tls: { ...tlsParts(tls), servername: isIP(url.hostname) === 0 ? url.hostname : '' } }
      : {};
    if (way === 'tcp') {
      const port = typeof nativePort === 'number' ? nativePort : nativePort(url);
      return new StreamChannel(await openStream({ host, port, ...tlsOptions }, signal));
    }
    const Socket = standardWebSocket();
    // The platform's own WebSocket can't be given authorities to trust.
    if (Socket !== null && tls.ca === undefined && tls.cert === undefined)
      return openWebSocket(Socket, url, signal);
    const port = Number(url.port) || (isTls ? 443 : 80);
    const path = `${url.pathname.replace(/\/+$/, '')}/@ws`;
    return WebSocketChannel.open({ host, port, ...tlsOptions }, path, [], { host: url.host, signal });
  };
}
