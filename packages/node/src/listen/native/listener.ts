/**
 * The doors of the native protocol: TCP, with TLS or without, a Unix socket, and WebSocket on a port of its own. All that
 * is said over them is said by `Connection`.
 */
import type { Server, Socket } from 'node:net';
import type { ConnectionEntry } from '@althing/engine';
import { backgroundClock, type Clock, pause } from '../../base/clock.js';
import { networkOf } from '../../base/network-of.js';
import { isLoopback } from '../../config/index.js';
import { NetworkCounts } from '../gate/network-counts.js';
import { plainAddress } from '../limits/client-addresses.js';
import { Deadlines } from '../limits/deadlines.js';
import { statusData } from './answers.js';
import { Connection } from './connection.js';
import type { ConnectionHost } from './connection-host.js';
import { type Ending, NativeCounts } from './native-counts.js';
import { PackageType } from './package.js';
import { PackageReader } from './package-reader.js';
import { type Envelope, NO_ENVELOPE, SocketWire, UNIX_ADDRESS } from './socket-wire.js';
import type { Wire } from './wire.js';
import { WritePacer } from './write-pacer.js';

export interface NativeOptions extends Omit<ConnectionHost, 'counts' | 'clock'> {
  readonly nodeNumber: () => number;
  /** Connections at once from one address, or from one network of 64 bits in IPv6. */
  readonly connectionsPerAddressMax: number;
  /** True if an address is that of a proxy, whose connections are not counted. */
  readonly isProxy: (address: string) => boolean;
  /** Time for a connection to log in, in milliseconds. */
  readonly loginTimeoutMs: number;
  /** Time for a package to come, and for an answer to be taken, in milliseconds. */
  readonly packageTimeoutMs: number;
  /** The clock of the machine by default. */
  readonly clock?: Clock;
}

/** Makes what takes packages out of the bytes of a connection. */
export type ReaderOf = (
  connection: Connection,
  wire: SocketWire,
) => Pick<PackageReader, 'isWithin' | 'push' | 'end'>;

/** A connection that somebody else reads. */
export interface OpenedConnection<W extends Wire> {
  readonly connection: Connection;
  readonly wire: W;
  /** To be called when it has ended. */
  readonly closed: () => void;
}

const NO_BYTES = Buffer.alloc(0);

/** A connection with what is kept of it here. */
export interface Line {
  readonly connection: Connection;
  readonly wire: Wire;
  /** When it began, wall clock in milliseconds. */
  readonly openedAt: number;
  /** Its number among those that have to log in; 0 for none. */
  loginDeadline: number;
  /** Its number among those of which a part of a package came; 0 for none. */
  packageDeadline: number;
}

/** The bytes that a slow reader had taken, and the time of that. */
interface Progress {
  sent: number;
  since: number;
}

/** Time between two looks at who does not read, and whose rights have ended, in milliseconds. */
const LOOK_MS = 1000;

/** Time that connections stay behind the last answer, in milliseconds. */
const LAST_WORDS_MS = 100;

export class NativeListener {
  /** Counts from the start on. */
  readonly counts = new NativeCounts();
  private readonly host: ConnectionHost;
  private readonly servers: Server[] = [];
  private readonly lines = new Set<Line>();
  private readonly networks = new NetworkCounts();
  private readonly pacer = new WritePacer();
  private readonly logins: Deadlines<Line>;
  private readonly packages: Deadlines<Line>;
  private readonly slow = new Map<Line, Progress>();
  private readonly clock: Clock;
  private readonly stopLooking: () => void;
  /** The id of the newest connection. */
  private lastId = 0;

  constructor(private readonly options: NativeOptions) {
    const { clock = backgroundClock } = options;
    this.clock = clock;
    this.host = { ...options, counts: this.counts, clock };
    this.logins = new Deadlines(options.loginTimeoutMs, (line) => this.drop(line, 'login_timeout'), clock);
    this.packages = new Deadlines(
      options.packageTimeoutMs,
      (line) => this.drop(line, 'package_timeout'),
      clock,
    );
    this.stopLooking = clock.every(LOOK_MS, () => this.look());
  }

  get connections(): number {
    return this.lines.size;
  }

  /** The connections that are open, the oldest first. */
  *connectionEntries(): Iterable<ConnectionEntry> {
    const { users } = this.options.root;
    for (const { connection, wire, openedAt } of this.lines) {
      yield {
        id: connection.id,
        transport: wire.transport,
        address: wire.address,
        user: users.get(connection.userId)?.name ?? null,
        since: Math.floor(openedAt / 1000),
        requests: connection.requests,
        count: 1,
      };
    }
  }

  /** True if requests are not answered, those included that wait for their turn. */
  get isBusy(): boolean {
    for (const { connection } of this.lines) if (connection.requests > 0) return true;
    return false;
  }

  serve(server: Server): void {
    this.servers.push(server);
  }

  /**
   * Decides about a connection before anything is read from it, and counts it.
   *
   * @returns whether it may be; it is closed otherwise
   */
  admit(socket: Socket): boolean {
    const { gate, connectionsPerAddressMax, isProxy } = this.options;
    const address = addressOf(socket);
    const network = networkOf(address);
    const isLocal = address === UNIX_ADDRESS || isLoopback(address);
    socket.on('error', () => {
      // It is followed by 'close'.
    });
    const isFull =
      (address === UNIX_ADDRESS || !isProxy(address)) &&
      (this.networks.of(network) >= connectionsPerAddressMax ||
        this.networks.strangersOf(network) >= gate.strangersOfNetworkMax);
    if (!gate.admits(isLocal, isFull)) {
      socket.destroy();
      return false;
    }
    this.networks.opened(network);
    gate.connected(1);
    socket.once('close', () => {
      gate.connected(-1);
      this.networks.closed(network);
    });
    return true;
  }

  /** True if the other end is a proxy that is believed. */
  isFromProxy(socket: Socket): boolean {
    const address = addressOf(socket);
    return address !== UNIX_ADDRESS && this.options.isProxy(address);
  }

  /**
   * Takes a connection that speaks the protocol from here on.
   *
   * @param head what came of it already
   * @param readerOf what takes packages out of its bytes
   * @param address where it comes from
   */
  open(
    socket: Socket,
    envelope: Envelope = NO_ENVELOPE,
    head: Buffer = NO_BYTES,
    readerOf: ReaderOf = (connection) => new PackageReader(connection),
    address = addressOf(socket),
  ): void {
    const { after } = this.clock;
    const wire = new SocketWire(socket, address, () => this.slowDown(line), this.pacer, envelope, after);
    const network = networkOf(addressOf(socket));
    const line = this.lineOf(wire, () => {
      this.networks.loggedIn(network);
      socket.once('close', () => this.networks.loggedOut(network));
    });
    const { connection } = line;
    const reader = readerOf(connection, wire);
    socket.on('error', () => {
      // It is followed by 'close'.
    });
    const take = (chunk: Buffer): void => {
      connection.received(chunk.length);
      const isReadable = reader.push(chunk);
      wire.flush();
      if (isReadable) this.watchPackage(line, reader.isWithin);
      else if (!wire.isEnded) {
        connection.unreadable();
        wire.end();
      }
    };
    socket.on('data', take);
    wire.onDrained = () => connection.drained();
    socket.once('close', () => {
      reader.end();
      this.closed(line);
    });
    if (head.length > 0) take(head);
  }

  /**
   * Takes a connection that somebody else reads, and that was counted.
   *
   * @param wireOf makes the way to its client; what it is given is called when the client takes less than is sent
   * @param loggedIn called when it has logged in for the first time
   */
  take<W extends Wire>(
    wireOf: (onFull: () => void, pacer: WritePacer) => W,
    loggedIn: () => void,
  ): OpenedConnection<W> {
    const wire = wireOf(() => this.slowDown(line), this.pacer);
    const line = this.lineOf(wire, loggedIn);
    return { connection: line.connection, wire, closed: () => this.closed(line) };
  }

  /** Tells clients to go elsewhere; the gate lets no new ones in. */
  leave(): void {
    this.tell('SHUTTING_DOWN');
  }

  /** Accepts no more connections. */
  stopListening(): void {
    for (const server of this.servers) server.close();
    this.servers.length = 0;
  }

  /** Tells clients that the node is gone, and closes their connections; settles when that is done. */
  async end(): Promise<void> {
    this.tell('OFFLINE');
    for (const { connection } of this.lines) connection.end();
    const end = this.clock.now() + LAST_WORDS_MS;
    while (this.lines.size > 0 && this.clock.now() < end) await pause(this.clock, 5);
    this.close();
  }

  close(): void {
    this.stopListening();
    this.stopLooking();
    this.logins.close();
    this.packages.close();
    for (const { wire } of this.lines) wire.destroy();
  }

  private lineOf(wire: Wire, loggedIn: () => void): Line {
    this.lastId += 1;
    const connection = new Connection(this.lastId, this.host, wire, () => {
      this.logins.delete(line.loginDeadline);
      line.loginDeadline = 0;
      loggedIn();
    });
    const openedAt = this.options.now();
    const line: Line = { connection, wire, openedAt, loginDeadline: 0, packageDeadline: 0 };
    this.lines.add(line);
    this.counts.opened(wire.transport);
    line.loginDeadline = this.logins.add(line);
    return line;
  }

  private closed(line: Line): void {
    line.connection.close();
    if (this.lines.delete(line)) this.counts.closed(line.wire.transport);
    this.slow.delete(line);
    this.logins.delete(line.loginDeadline);
    this.packages.delete(line.packageDeadline);
  }

  /** Waits for the rest of a package no longer than it may take. */
  private watchPackage(line: Line, isWithin: boolean): void {
    if (isWithin === (line.packageDeadline !== 0)) return;
    if (isWithin) line.packageDeadline = this.packages.add(line);
    else {
      this.packages.delete(line.packageDeadline);
      line.packageDeadline = 0;
    }
  }

  private tell(status: string): void {
    const data = statusData(this.options.nodeNumber(), status);
    for (const { connection } of this.lines) connection.push(PackageType.NODE_STATUS, data);
  }

  private slowDown(line: Line): void {
    if (!this.slow.has(line)) this.slow.set(line, { sent: line.wire.sent, since: this.clock.now() });
  }

  /** Ends connections whose client takes nothing of what is sent. */
  private look(): void {
    const now = this.clock.now();
    for (const [line, progress] of this.slow) {
      const { wire } = line;
      if (wire.unsent === 0) this.slow.delete(line);
      else if (wire.sent > progress.sent) {
        progress.sent = wire.sent;
        progress.since = now;
      } else if (now - progress.since > this.options.packageTimeoutMs) this.drop(line, 'unread');
    }
  }

  private drop({ wire }: Line, why: Ending): void {
    this.counts.ended[why] += 1;
    wire.destroy();
  }
}

function addressOf({ remoteAddress }: Socket): string {
  if (remoteAddress === undefined) return UNIX_ADDRESS;
  return plainAddress(remoteAddress) ?? remoteAddress;
}
