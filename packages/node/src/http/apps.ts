/**
 * The native side of the listener: an app that accepts connections and, after its certificates were renewed, those
 * before it whose connections are still open.
 */
import {
  App,
  type HttpRequest,
  type HttpResponse,
  SSLApp,
  type TemplatedApp,
  us_listen_socket_close,
  us_socket_local_port,
} from 'uWebSockets.js';

/** Files with what a server needs for TLS, in PEM. */
export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface AppsOptions {
  /** Null for plain HTTP. */
  readonly tls: TlsFiles | null;
  /** Told of connections that came (1) and went (-1). */
  readonly connected: (res: HttpResponse, change: number) => void;
  readonly receive: (res: HttpResponse, req: HttpRequest) => void;
}

type ListenSocket = Parameters<typeof us_listen_socket_close>[0];

interface OpenApp {
  readonly app: TemplatedApp;
  connections: number;
}

export class Apps {
  private readonly options: AppsOptions;
  private current: OpenApp;
  private readonly old = new Set<OpenApp>();
  private socket: ListenSocket | null = null;
  private address = '';
  private port = 0;

  constructor(options: AppsOptions) {
    this.options = options;
    this.current = this.make();
  }

  /** Starts to listen; returns the port, or null when it is in use. */
  listen(address: string, port: number): number | null {
    this.current.app.listen(address, port, (socket) => {
      this.socket = socket === false ? null : socket;
    });
    if (this.socket === null) return null;
    this.address = address;
    this.port = us_socket_local_port(this.socket);
    return this.port;
  }

  /**
   * Reads the files again: connections to come get what is in them now, others stay as they are. The port is closed for
   * some microseconds: a client that connects just then is refused, and a connection that waits to be accepted is reset.
   *
   * @throws Error when the files are unfit or the port was lost; as long as the port is there, it is served as before
   */
  renew(): void {
    if (this.options.tls === null || this.socket === null) return;
    const before = this.current;
    this.current = this.make();
    us_listen_socket_close(this.socket);
    this.socket = null;
    if (this.listen(this.address, this.port) === null)
      throw new Error(`port ${this.port} was taken by someone else`);
    this.old.add(before);
    this.forget(before);
  }

  /** Accepts no more connections. */
  stopListening(): void {
    if (this.socket !== null) us_listen_socket_close(this.socket);
    this.socket = null;
  }

  /** Closes everything. */
  close(): void {
    for (const { app } of [...this.old, this.current]) app.close();
    this.old.clear();
    this.socket = null;
  }

  private make(): OpenApp {
    const { tls, connected, receive } = this.options;
    const app = tls === null ? App() : SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile });
    const open: OpenApp = { app, connections: 0 };
    const count = (res: HttpResponse, change: number): void => {
      open.connections += change;
      connected(res, change);
      this.forget(open);
    };
    app.filter((res, change) => count(res, Number(change)));
    app.any('/*', receive);
    return open;
  }

  private forget(open: OpenApp): void {
    if (open.connections > 0 || !this.old.delete(open)) return;
    // Not in the callback that tells of its last connection.
    setImmediate(() => open.app.close());
  }
}
