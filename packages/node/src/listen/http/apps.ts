/**
 * The native side of the listener: an app that accepts connections and hands each to the batch that is
 * current; see `Batch`. A batch is current for a tenth of the time that a connection may have. The port stays
 * open when certificates are renewed: only the batch is another one.
 */
import type { HttpRequest, HttpResponse, TemplatedApp, WebSocketBehavior } from 'uWebSockets.js';
import { Batch } from './batch.js';
import { App, SSLApp, us_listen_socket_close, us_socket_local_port } from './native.js';

/** Files with what a server needs for TLS, in PEM. */
export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
  /** The authorities that the certificates of clients must come from; null: they need none. */
  readonly clientCaFile: string | null;
}

export interface AppsOptions {
  /** Null for plain HTTP. */
  readonly tls: TlsFiles | null;
  /** Age that a connection gets to, in milliseconds; 0: as old as it likes. */
  readonly ageMaxMs: number;
  /** Called when a connection came (1) or went (-1, without its response). */
  readonly connected: (res: HttpResponse | null, change: number) => void;
  readonly receive: (res: HttpResponse, req: HttpRequest, batch: Batch, method: string) => void;
  /** The behaviour of connections that go on as WebSockets at `/@ws`. */
  readonly sockets: WebSocketBehavior<SocketData>;
}

/** The path of requests that go on as WebSockets. */
const SOCKETS_PATH = '/@ws';

/** Data of a connection that goes on as a WebSocket. */
export interface SocketData {
  /** The client's address. */
  readonly address: string;
}

type ListenSocket = Parameters<typeof us_listen_socket_close>[0];

/**
 * The part of uWebSockets.js for apps that take the connections of another one, which its types leave out.
 */
interface ParentApp extends TemplatedApp {
  getDescriptor(): number;
  addChildAppDescriptor(descriptor: number): void;
  removeChildAppDescriptor(descriptor: number): void;
}

/** Batches in the life of a connection, and looks at a batch while it is current. */
const BATCHES = 10;
const TICKS = 20;

export class Apps {
  private readonly acceptor: ParentApp;
  private current: Batch;
  /** When the current batch began, and those before, whose connections may still be there. */
  private currentSince = performance.now();
  private readonly old = new Map<Batch, number>();
  /** Old ones whose certificate was renewed. */
  private readonly outdated = new Set<Batch>();
  private socket: ListenSocket | null = null;
  private timer: NodeJS.Timeout | null = null;
  private isLeaving = false;

  constructor(private readonly options: AppsOptions) {
    this.acceptor = this.makeApp();
    this.current = this.makeBatch();
    this.acceptor.addChildAppDescriptor(parent(this.current.app).getDescriptor());
  }

  /** Starts to listen; returns the port, or null when it is in use. */
  listen(address: string, port: number): number | null {
    this.acceptor.listen(address, port, (socket) => {
      this.socket = socket === false ? null : socket;
    });
    if (this.socket === null) return null;
    const { ageMaxMs } = this.options;
    this.currentSince = performance.now();
    if (ageMaxMs > 0) this.timer = setInterval(() => this.tick(), ageMaxMs / BATCHES / TICKS).unref();
    return us_socket_local_port(this.socket);
  }

  /**
   * Reads the files again: connections to come get what is in them now, others stay as they are.
   *
   * @throws Error when the files are unfit; then all is as before
   */
  renew(): void {
    if (this.options.tls === null) return;
    const next = this.makeBatch();
    for (const batch of [...this.old.keys(), this.current]) this.outdated.add(batch);
    this.turnTo(next);
  }

  /** Lets each answer end its connection. */
  leave(): void {
    if (this.isLeaving) return;
    this.isLeaving = true;
    if (this.timer !== null) clearInterval(this.timer);
    for (const batch of [...this.old.keys(), this.current]) batch.end(true);
  }

  /** Accepts no more connections. */
  stopListening(): void {
    if (this.socket !== null) us_listen_socket_close(this.socket);
    this.socket = null;
  }

  close(): void {
    this.stopListening();
    if (this.timer !== null) clearInterval(this.timer);
    for (const { app } of [...this.old.keys(), this.current]) app.close();
    this.old.clear();
  }

  private tick(): void {
    const now = performance.now();
    const { ageMaxMs } = this.options;
    const batchMs = ageMaxMs / BATCHES;
    for (const [batch, since] of this.old) batch.tick(now - since, ageMaxMs, batchMs / TICKS);
    if (now - this.currentSince < batchMs) return;
    if (this.current.connections === 0) this.currentSince = now;
    else this.turnTo(this.unused() ?? this.makeBatch());
  }

  private turnTo(next: Batch): void {
    const before = this.current;
    this.acceptor.addChildAppDescriptor(parent(next.app).getDescriptor());
    this.acceptor.removeChildAppDescriptor(parent(before.app).getDescriptor());
    for (const batch of this.outdated) {
      if (batch.connections > 0 || batch === before) continue;
      this.outdated.delete(batch);
      this.old.delete(batch);
    }
    this.old.set(before, this.currentSince);
    this.current = next;
    this.currentSince = performance.now();
    next.end(this.isLeaving);
  }

  /** A batch that is empty again: what an app takes is not given back. */
  private unused(): Batch | null {
    for (const batch of this.old.keys()) {
      if (batch.connections > 0 || this.outdated.has(batch)) continue;
      this.old.delete(batch);
      return batch;
    }
    return null;
  }

  private makeBatch(): Batch {
    const { connected, receive, sockets } = this.options;
    const app = this.makeApp();
    const batch = new Batch(app);
    const count = (res: HttpResponse | null, change: number): void => {
      batch.connections += change;
      connected(res, change);
    };
    app.filter((res, change) => count(Number(change) > 0 ? res : null, Number(change)));
    app.ws<SocketData>(SOCKETS_PATH, {
      ...sockets,
      close: (ws, code, message) => {
        // The filter tells that a connection went only as long as it is none of WebSocket.
        count(null, -1);
        sockets.close?.(ws, code, message);
      },
    });
    // Methods are told apart by their case, as they are here; and to be told by the app takes less than to ask.
    app.post('/*', (res, req) => receive(res, req, batch, 'POST'));
    app.any('/*', (res, req) => receive(res, req, batch, req.getCaseSensitiveMethod()));
    return batch;
  }

  private makeApp(): ParentApp {
    const { tls } = this.options;
    if (tls === null) return parent(App());
    const { certFile, keyFile, clientCaFile } = tls;
    const own = { cert_file_name: certFile, key_file_name: keyFile };
    return parent(SSLApp(clientCaFile === null ? own : { ...own, ca_file_name: clientCaFile }));
  }
}

/**
 * True if the client of a request has shown a certificate, where there is a `clientCaFile`. uWebSockets.js
 * ends connections with certificates of other authorities by itself, but lets clients without any in.
 */
export function hasCertificate(res: HttpResponse): boolean {
  return res.getX509Certificate() !== '';
}

function parent(app: TemplatedApp): ParentApp {
  if (!isParent(app)) throw new Error('uWebSockets.js hands no connections to other apps');
  return app;
}

function isParent(app: TemplatedApp): app is ParentApp {
  return 'addChildAppDescriptor' in app;
}
