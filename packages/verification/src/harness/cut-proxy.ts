/** A way to a node that a test can cut, or let fall silent. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class CutProxy {
  readonly port: number;
  readonly #sockets = new Set<Socket>();
  readonly #resets = new WeakSet<Socket>();

  /** @param port of the node behind it */
  static async start(port: number, host = '127.0.0.1'): Promise<CutProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new CutProxy(server, port, host);
  }

  private constructor(
    private readonly server: Server,
    port: number,
    host: string,
  ) {
    const address = server.address();
    this.port = isPort(address) ? address.port : 0;
    server.on('connection', (near) => {
      const far = connect(port, host);
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(socket);
        // Otherwise the second of two small pieces waits for the acknowledgement of the first one, 40 ms.
        socket.setNoDelay(true);
        socket.on('error', () => {});
        socket.on('close', () => {
          this.#sockets.delete(socket);
          if (!this.#resets.has(other)) other.destroy();
        });
        socket.pipe(other);
      }
    });
  }

  get connections(): number {
    return this.#sockets.size / 2;
  }

  /**
   * Resets all connections; new ones are taken. A socket that ends already is not reset, and none is destroyed while its reset is under
   * way: Node.js would leave its handle open for good, and the process with it.
   */
  cut(): void {
    for (const socket of this.#sockets) {
      if (socket.writableEnded || socket.readableEnded) socket.destroy();
      else {
        this.#resets.add(socket);
        socket.resetAndDestroy();
      }
    }
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

function isPort(address: AddressInfo | string | null): address is AddressInfo {
  return typeof address === 'object' && address !== null;
}
