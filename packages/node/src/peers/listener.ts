/**
 * Connections of other nodes, up to where both sides have proved who they are. Strangers get little of
 * anything.
 */
import { randomBytes } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import { StrangerSockets } from '../base/stranger-sockets.js';
import { portInUse } from '../config/problem.js';
import { Channel } from './channel.js';
import type { Credentials, PeerTls } from './dial.js';
import { isOtherKey, isToBeEncrypted, securingServer, sniff, tlsKeyOf } from './encryption.js';
import { FrameError } from './frame.js';
import { type Greeted, type Judge, ListenerGreeting, type RefusedGreeting } from './greeting.js';
import { GreetingFormatError, NONCE_BYTES, Refusal } from './greeting-format.js';
import { mismatchText } from './missed.js';
import type { PeerLogCause } from './refusal-log.js';

export interface PeerListenerOptions {
  readonly credentials: () => Credentials;
  readonly judge: Judge;
  readonly accept: (channel: Channel, greeted: Greeted) => void;
  readonly note: (cause: PeerLogCause, address: string, message: string) => void;
  /** Time for a greeting, and before it for that of TLS, in milliseconds. */
  readonly greetingMs: number;
}

/** Connections that have not proved anything. */
const STRANGERS_MAX = 256;

export class PeerListener {
  private server: Server | TlsServer | null = null;
  private readonly strangers: StrangerSockets;
  /** The sockets of TCP below those that have not proved anything, by their names. */
  private readonly sockets = new Map<string, Socket>();

  constructor(private readonly options: PeerListenerOptions) {
    this.strangers = new StrangerSockets(STRANGERS_MAX, (address) =>
      options.note('crowded', address, 'too many connections that do not say who they are'),
    );
  }

  /**
   * Resolves with the port.
   *
   * @throws ConfigurationError when the port is in use
   */
  listen(address: string, port: number): Promise<number> {
    const server = this.createServer();
    this.server = server;
    return new Promise((resolve, reject) => {
      server.once('error', (error: NodeJS.ErrnoException) => {
        reject(error.code === 'EADDRINUSE' ? portInUse('listen_node_port', address, port) : error);
      });
      server.listen({ host: address, port, backlog: STRANGERS_MAX }, () => {
        server.on('error', () => {});
        const bound = server.address();
        resolve(typeof bound === 'object' && bound !== null ? bound.port : port);
      });
    });
  }

  /** Takes other certificates for connections to come. */
  renewTls(tls: PeerTls): void {
    if (this.server !== null && 'setSecureContext' in this.server) {
      this.server.setSecureContext({ cert: tls.cert, key: tls.key, ca: tls.ca });
    }
  }

  /** Connections that were accepted stay open. */
  close(): Promise<void> {
    const { server } = this;
    this.server = null;
    return new Promise((resolve) => {
      if (server === null) resolve();
      else server.close(() => resolve());
    });
  }

  private createServer(): Server | TlsServer {
    const { tls } = this.options.credentials();
    if (tls === null) {
      const { key } = this.options.credentials();
      const securing = securingServer(tlsKeyOf(key), this.options.greetingMs, (socket) => this.greet(socket));
      securing.on('tlsClientError', (error, socket) => this.noTls(error, socket));
      return createServer({ noDelay: true }, (socket) => {
        this.admit(socket);
        this.receive(socket, securing);
      });
    }
    const server = createTlsServer(
      {
        cert: tls.cert,
        key: tls.key,
        ca: tls.ca,
        requestCert: true,
        rejectUnauthorized: true,
        minVersion: 'TLSv1.3',
        handshakeTimeout: this.options.greetingMs,
      },
      (socket) => this.greet(socket),
    );
    server.on('connection', (socket: Socket) => this.admit(socket));
    server.on('tlsClientError', (error, socket) => this.noTls(error, socket));
    return server;
  }

  private noTls(error: Error, socket: Socket): void {
    const host = hostOf(socket);
    // A connection that ends in the middle is no news, as in plain.
    const isGone = 'code' in error && error.code === 'ECONNRESET';
    if (isOtherKey(error))
      this.options.note('wrong_secret', host, 'a node has another cluster_secret than this one');
    else if (!isGone)
      this.options.note('tls', host, `a connection without the TLS of this cluster: ${error.message}`);
    socket.destroy();
  }

  /** A connection may be encrypted, or in plain: its first byte tells. */
  private receive(socket: Socket, securing: TlsServer): void {
    const failed = (): void => {
      clearTimeout(timer);
      socket.destroy();
    };
    const timer = setTimeout(() => {
      failed();
      this.options.note('silent', hostOf(socket), 'a connection that did not say in time who it is');
    }, this.options.greetingMs);
    socket.on('error', failed);
    socket.once('close', failed);
    sniff(socket, (isTls) => {
      clearTimeout(timer);
      socket.off('close', failed);
      if (isTls) securing.emit('connection', socket);
      else {
        this.greet(socket);
        socket.resume();
      }
    });
  }

  /** Takes a connection that has not proved anything. */
  private admit(socket: Socket): void {
    const key = keyOf(socket);
    this.sockets.set(key, socket);
    socket.once('close', () => {
      if (this.sockets.get(key) === socket) this.sockets.delete(key);
    });
    this.strangers.add(socket, hostOf(socket));
  }

  /** A connection has proved that it is of a node, or its greeting is over. */
  private known(key: string): void {
    const socket = this.sockets.get(key);
    if (socket === undefined) return;
    this.sockets.delete(key);
    this.strangers.delete(socket);
  }

  private greet(socket: Socket): void {
    const { options } = this;
    const key = keyOf(socket);
    const host = hostOf(socket);
    const channel = new Channel(socket, host);
    const { key: secret, versions, identity, encryption } = options.credentials();
    // Encryption takes the secret, or a certificate of the cluster.
    if (channel.isEncrypted) this.known(key);
    const isFar = encryption !== 'off' && isToBeEncrypted(encryption, host);
    const context = {
      key: secret,
      versions,
      identity,
      binding: channel.binding,
      nonce: randomBytes(NONCE_BYTES),
    };
    const greeting = new ListenerGreeting(context, options.judge, isFar && !channel.isEncrypted);
    const done = (): void => {
      clearTimeout(timer);
      this.known(key);
    };
    const timer = setTimeout(() => {
      done();
      channel.destroy();
      options.note('silent', host, 'a connection that did not say in time who it is');
    }, options.greetingMs);
    socket.once('close', done);
    channel.onEnd = (error) => {
      done();
      if (error instanceof FrameError || error instanceof GreetingFormatError) {
        options.note('garbage', host, `a connection that is none of a node: ${error.message}`);
      }
    };
    channel.onFrame = (kind, payload) => {
      const step = greeting.handle(kind, payload);
      if (step.frame !== null) channel.send(step.frame.kind, step.frame.payload);
      if (step.kind === 'send') return;
      done();
      if (step.kind === 'done') {
        channel.trust();
        channel.onEnd = () => {};
        options.accept(channel, step.greeted);
      } else {
        channel.end();
        const noted = refusalOf(step.refused);
        if (noted !== null) options.note(noted.cause, host, noted.message);
      }
    };
  }
}

function refusalOf({ code, versions, identity }: RefusedGreeting): {
  readonly cause: PeerLogCause;
  readonly message: string;
} | null {
  const who = identity === null ? 'a node' : `the node "${identity.name}"`;
  switch (code) {
    case Refusal.Removed:
      return { cause: 'removed', message: `${who} was removed from the cluster, and is told so` };
    case Refusal.Superseded:
      return { cause: 'superseded', message: `${who} runs twice: the older process is told to end` };
    default:
      return mismatchText(who, { code, versions });
  }
}

/** Tells connections apart that are open at the same time. */
function keyOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`;
}

function hostOf(socket: Socket): string {
  return socket.remoteAddress ?? 'unknown';
}
