/** Connections over TCP, TLS and Unix sockets, in Node.js. */
import { connect as connectTcp, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { PackageChannel } from './connection.js';

/** Where a node is reached: `path` is that of a Unix socket. */
export type SocketPlace =
  | { readonly host: string; readonly port: number; readonly tls?: ConnectionOptions }
  | { readonly path: string };

/**
 * Opens a connection.
 *
 * @param signal gives it up
 * @throws Error when nobody listens there
 */
export function openStream(place: SocketPlace, signal?: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const isTls = 'tls' in place && place.tls !== undefined;
    const socket = isTls
      ? connectTls({ host: place.host, port: place.port, ...place.tls })
      : connectTcp('path' in place ? { path: place.path } : { host: place.host, port: place.port });
    const giveUp = (): void => void socket.destroy(new Error('given up'));
    socket.setNoDelay(true);
    socket.once('error', reject);
    signal?.addEventListener('abort', giveUp, { once: true });
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      socket.off('error', reject);
      signal?.removeEventListener('abort', giveUp);
      resolve(socket);
    });
  });
}

/** Packages on a stream of bytes. */
export class StreamChannel implements PackageChannel {
  readonly #socket: Socket;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  send(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  listen(received: (bytes: Uint8Array) => void, ended: (error: Error) => void): void {
    let failure = new Error('the connection has ended');
    this.#socket.on('data', received);
    this.#socket.on('error', (error) => {
      failure = error;
    });
    this.#socket.once('close', () => ended(failure));
  }

  close(): void {
    this.#socket.destroy();
  }
}
