/** Packages in the messages of a WebSocket, one in each: by the WebSocket of browsers and of Node.js 22. */
import type { PackageChannel } from './connection.js';

/** The part of the standard WebSocket that is used. */
interface StandardSocket {
  binaryType: string;
  addEventListener(
    type: string,
    listener: (event: { readonly data?: unknown; readonly code?: number; readonly reason?: string }) => void,
  ): void;
  send(bytes: Uint8Array): void;
  close(code?: number): void;
}

type SocketClass = new (url: string) => StandardSocket;

/** The WebSocket of this platform; null where there is none. */
export function standardWebSocket(): SocketClass | null {
  const found: unknown = Reflect.get(globalThis, 'WebSocket');
  return isSocketClass(found) ? found : null;
}

function isSocketClass(value: unknown): value is SocketClass {
  return typeof value === 'function';
}

/**
 * Opens `/@ws` of a node.
 *
 * @throws Error when the node can't be reached, or does not go on as a WebSocket; the platform does not tell which
 */
export function openWebSocket(Socket: SocketClass, url: URL, signal: AbortSignal): Promise<PackageChannel> {
  const place = new URL(url);
  place.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  place.pathname = `${url.pathname.replace(/\/+$/, '')}/@ws`;
  return new Promise((resolve, reject) => {
    const socket = new Socket(place.href);
    socket.binaryType = 'arraybuffer';
    const giveUp = (): void => socket.close();
    signal.addEventListener('abort', giveUp, { once: true });
    const failed = (): void => reject(new Error(`no WebSocket at ${place.host}${place.pathname}`));
    socket.addEventListener('error', failed);
    socket.addEventListener('close', failed);
    socket.addEventListener('open', () => {
      signal.removeEventListener('abort', giveUp);
      resolve(new MessageChannel(socket));
    });
  });
}

/** The code by which a node says that it goes. */
const GOING_AWAY = 1001;

/** The end of a connection whose node goes. */
export class GoingAway extends Error {
  constructor() {
    super('the node is going away');
    this.name = 'GoingAway';
  }
}

class MessageChannel implements PackageChannel {
  readonly #socket: StandardSocket;

  constructor(socket: StandardSocket) {
    this.#socket = socket;
  }

  send(bytes: Uint8Array): void {
    this.#socket.send(bytes);
  }

  listen(received: (bytes: Uint8Array) => void, ended: (error: Error) => void): void {
    this.#socket.addEventListener('message', ({ data }) => {
      if (data instanceof ArrayBuffer) received(new Uint8Array(data));
    });
    this.#socket.addEventListener('close', ({ code, reason }) => {
      ended(
        code === GOING_AWAY ? new GoingAway() : new Error(reason || `the connection has ended (${code})`),
      );
    });
  }

  close(): void {
    this.#socket.close();
  }
}
