import { createServer, type Server as HttpServer, type IncomingMessage } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Server, Socket } from 'node:net';
import { backgroundClock } from '../../base/clock.js';
import { FOREIGN_ORIGIN, OTHER_HOST } from '../http/refusals.js';
import type { Sites } from '../http/sites.js';
import type { NativeListener } from '../native/listener.js';
import type { Credentials } from '../native/servers.js';
import { type Envelope, LAST_WORDS_MS, UNSENT_MAX } from '../native/socket-wire.js';
import { CloseCode, closeFrame, controlFrame, Opcode, serverHeadBytes, writeServerHead } from './frames.js';
import { type Handshake, refused, shakeHands } from './handshake.js';
import { MessageReader } from './messages.js';

/** Bytes of the head of a handshake. */
const HEAD_BYTES_MAX = 16 * 1024;

/** One package in each message. */
const MESSAGES: Envelope = {
  size: serverHeadBytes,
  write: writeServerHead,
  farewell: closeFrame(CloseCode.GOING_AWAY),
  isWebSocket: true,
};

/**
 * Makes a server whose connections speak the native protocol in WebSocket messages, and does not listen yet. Any path
 * will do: who may ask is decided by AUTH. Pages may come from where those of the HTTP API may.
 *
 * @param tls null for none
 * @param timeoutMs how long the handshakes may take
 */
export function webSocketServer(
  listener: NativeListener,
  sites: Sites,
  tls: Credentials | null,
  timeoutMs: number,
): Server {
  const options = {
    maxHeaderSize: HEAD_BYTES_MAX,
    headersTimeout: timeoutMs,
    requestTimeout: timeoutMs,
    connectionsCheckingInterval: Math.min(timeoutMs, 1000),
    noDelay: true,
  };
  const server: HttpServer =
    tls === null
      ? createServer(options)
      : createHttpsServer({ ...options, ...tls, handshakeTimeout: timeoutMs, minVersion: 'TLSv1.2' });
  server.prependListener('connection', (socket: Socket) => {
    socket.setNoDelay(true);
    listener.admit(socket);
  });
  server.on('tlsClientError', () => {
    // It closes the connection, and others are not concerned.
  });
  server.on('clientError', (_error, socket) => {
    socket.destroy();
  });
  server.on('request', (_request, response) => {
    const { answer } = refused('426 Upgrade Required', 'this port speaks WebSocket', 'Upgrade: websocket');
    if (response.socket !== null) dismiss(response.socket, answer);
  });
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => {
      // It is followed by 'close'.
    });
    const { answer, accepted } = strange(sites, request) ?? shakeHands(request.method ?? '', request.headers);
    if (!accepted) {
      dismiss(socket, answer);
      return;
    }
    // Sockets of an HTTP server stay open when the client ends, and nobody else would end them from here on.
    socket.allowHalfOpen = false;
    socket.setTimeout(0);
    socket.write(answer);
    open(listener, socket, head);
  });
  return server;
}

/** Says at last why there is no WebSocket: a client that does not go then keeps its place no longer. */
function dismiss(socket: Socket, answer: string): void {
  socket.end(answer);
  socket.once(
    'close',
    backgroundClock.after(LAST_WORDS_MS, () => socket.destroy()),
  );
}

/** Refuses a page that may not use this node; null: it may, or the request comes from none. */
function strange(sites: Sites, { headers: { host = '', origin } }: IncomingMessage): Handshake | null {
  if (!sites.serves(host)) return refused('421 Misdirected Request', OTHER_HOST.message);
  if (origin === undefined || sites.kindOf(origin, host) !== 'foreign') return null;
  return refused('403 Forbidden', FOREIGN_ORIGIN.message);
}

function open(listener: NativeListener, socket: Socket, head: Buffer): void {
  listener.open(socket, MESSAGES, head, (connection, wire) => {
    return new MessageReader(connection, {
      pong: (payload) => {
        // A client that does not read gets none: the newest one is enough.
        if (wire.unsent < UNSENT_MAX) wire.sendRaw(controlFrame(Opcode.PONG, payload));
      },
      closed: (payload) => wire.end(controlFrame(Opcode.CLOSE, payload.subarray(0, 2))),
    });
  });
}
