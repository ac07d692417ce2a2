/** Servers of Node.js that listen for the native protocol. */
import { unlinkSync } from 'node:fs';
import { connect, createServer, type ListenOptions, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import type { NativeListener } from './listener.js';
import { takeProxyHeader } from './proxy-header.js';
import { NO_ENVELOPE } from './socket-wire.js';

/** The certificates of a server, in PEM. */
export type Credentials = Pick<TlsOptions, 'cert' | 'key' | 'ca' | 'requestCert' | 'rejectUnauthorized'>;

/**
 * Makes a server whose connections speak the protocol, and does not listen yet.
 *
 * @param tls null for none
 * @param handshakeTimeoutMs how long a handshake of TLS may take, or a header of the PROXY protocol
 * @param isProxied whether such headers are asked for, of those who may send them; not with TLS
 */
export function packageServer(
  listener: NativeListener,
  tls: Credentials | null,
  handshakeTimeoutMs: number,
  isProxied = false,
): Server {
  if (tls === null) {
    return createServer({ noDelay: true }, (socket) => {
      if (!listener.admit(socket)) return;
      if (!isProxied || !listener.isFromProxy(socket)) {
        listener.open(socket);
        return;
      }
      takeProxyHeader(socket, handshakeTimeoutMs, (address, rest) =>
        listener.open(socket, NO_ENVELOPE, rest, undefined, address ?? undefined),
      );
    });
  }
  const server = createTlsServer(
    { ...tls, handshakeTimeout: handshakeTimeoutMs, minVersion: 'TLSv1.2' },
    (socket) => listener.open(socket),
  );
  server.prependListener('connection', (socket: Socket) => {
    socket.setNoDelay(true);
    listener.admit(socket);
  });
  server.on('tlsClientError', () => {
    // It closes the connection, and others are not concerned.
  });
  return server;
}

/**
 * Listens; fulfilled with false when the address is in use.
 *
 * @throws what else keeps it from listening
 */
export function listening(server: Server, options: ListenOptions): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    };
    server.once('error', failed);
    server.listen(options, () => {
      server.off('error', failed);
      // Too many open files, say: others are served.
      server.on('error', () => {});
      resolve(true);
    });
  });
}

/**
 * Listens at a path that only the user of this process may open. What was left behind there by a process
 * that is no more is replaced; fulfilled with false when somebody listens there.
 *
 * @throws what else keeps it from listening
 */
export async function listeningAt(server: Server, path: string): Promise<boolean> {
  if (await onlyForUs(server, path)) return true;
  if (await answers(path)) return false;
  unlinkSync(path);
  return onlyForUs(server, path);
}

function onlyForUs(server: Server, path: string): Promise<boolean> {
  const before = process.umask(0o177);
  try {
    return listening(server, { path });
  } finally {
    process.umask(before);
  }
}

/** True if a process listens at a path. */
function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'ECONNREFUSED'));
  });
}
