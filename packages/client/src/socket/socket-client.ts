/**
 * A client of the native protocol on one connection: requests are matched with answers by their ids, and events are told
 * to who wants to know. It connects once, and does not connect again: that is for what is built on it.
 */
import { connect as connectTcp, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { decodeMessagePack, encodeMessagePack } from '../msgpack.js';
import { isWireMap, WireError, type WireValue, wireMap } from '../value.js';
import { encodePackage, type Package, PackageDecoder, PackageType } from './package.js';

/** Where a node is reached: `path` is that of a Unix socket. */
export type SocketPlace =
  | { readonly host: string; readonly port: number; readonly tls?: ConnectionOptions }
  | { readonly path: string };

/** An event of the node. */
export interface SocketEvent {
  readonly type: number;
  readonly data: WireValue;
}

/** The fourth element of QUERY and RUN: how a request is to be carried out. */
export interface SocketOptions {
  /** `CLIENT.SEQUENCE.LOW`: the client's name for the request, by which it takes effect once. */
  readonly request?: string;
  /** The client's own name for the request, by which it takes effect once. */
  readonly key?: string;
  readonly minIndex?: bigint;
  readonly consistency?: 'linearizable' | 'stale';
  readonly timeoutMs?: bigint;
}

/** An error that the node answered. */
export class SocketError extends Error {
  /** Of the protocol, such as -54. */
  readonly code: number;
  /** What became of the changes: `none`, `unknown` or `made`; null when the request had no options. */
  readonly outcome: string | null;

  constructor(code: number, message: string, outcome: string | null) {
    super(message);
    this.name = 'SocketError';
    this.code = code;
    this.outcome = outcome;
  }
}

interface Waiting {
  readonly resolve: (answer: Package) => void;
  readonly reject: (error: Error) => void;
}

const IDS = 0xffff;

/** A way for packages: a stream of bytes, or messages. */
export interface PackageChannel {
  send(bytes: Uint8Array): void;
  /** Sets who is told of bytes, in pieces of any size, and of the end. */
  listen(received: (bytes: Uint8Array) => void, ended: (error: Error) => void): void;
  close(): void;
}

export class SocketClient {
  /** Told of each event. */
  onEvent: (event: SocketEvent) => void = () => {};
  /** Settles when the connection has ended. */
  readonly ended: Promise<void>;
  private readonly channel: PackageChannel;
  private readonly decoder = new PackageDecoder();
  private readonly waiting = new Map<number, Waiting>();
  private lastId = 0;
  private failure: Error | null = null;

  /**
   * Connects to a node, without logging in.
   *
   * @throws Error when nobody listens there
   */
  static async connect(place: SocketPlace): Promise<SocketClient> {
    return new SocketClient(new StreamChannel(await openStream(place)));
  }

  constructor(channel: PackageChannel) {
    this.channel = channel;
    this.ended = new Promise((resolve) => {
      channel.listen(
        (bytes) => this.received(bytes),
        (error) => {
          this.end(error);
          resolve();
        },
      );
    });
  }

  /** Logs in with a token, or a name and a password. */
  async login(credentials: string | { readonly user: string; readonly password: string }): Promise<void> {
    const data = typeof credentials === 'string' ? credentials : [credentials.user, credentials.password];
    await this.ask(PackageType.AUTH, data);
  }

  async ping(): Promise<void> {
    await this.send(PackageType.PING, new Uint8Array());
  }

  /** Runs a query. */
  async query(
    scope: string,
    code: string,
    vars: Readonly<Record<string, WireValue>> | null = null,
    options?: SocketOptions,
  ): Promise<WireValue> {
    const values = vars === null ? null : wireMap(vars);
    return this.ask(PackageType.QUERY, [scope, code, values, ...optionsOf(options)]);
  }

  /** Runs a procedure, with arguments by position or by name. */
  async run(
    scope: string,
    procedure: string,
    args: readonly WireValue[] | ReadonlyMap<string, WireValue> | null = null,
    options?: SocketOptions,
  ): Promise<WireValue> {
    return this.ask(PackageType.RUN, [scope, procedure, args, ...optionsOf(options)]);
  }

  /** Joins rooms by id or name; gives their ids, null for those that are not there. */
  async join(scope: string, ...rooms: readonly (bigint | string)[]): Promise<WireValue> {
    return this.ask(PackageType.JOIN, [scope, ...rooms]);
  }

  /** Leaves rooms; gives what `join` gives. */
  async leave(scope: string, ...rooms: readonly (bigint | string)[]): Promise<WireValue> {
    return this.ask(PackageType.LEAVE, [scope, ...rooms]);
  }

  /** Emits an event to all who joined a room. */
  async emit(
    scope: string,
    room: bigint | string,
    event: string,
    ...args: readonly WireValue[]
  ): Promise<void> {
    await this.ask(PackageType.EMIT, [scope, room, event, ...args]);
  }

  /** Emits an event to all others who joined a room. */
  async emitPeer(
    scope: string,
    room: bigint | string,
    event: string,
    ...args: readonly WireValue[]
  ): Promise<void> {
    await this.ask(PackageType.EMIT_PEER, [scope, room, event, ...args]);
  }

  /**
   * Sends a request; gives the value of its answer, null for one without.
   *
   * @throws SocketError when the node answers with an error
   */
  async ask(type: number, data: WireValue): Promise<WireValue> {
    const answer = await this.send(type, encodeMessagePack(data));
    if (answer.type === PackageType.ERROR) throw errorOf(answer);
    return answer.data.length === 0 ? null : decodeMessagePack(answer.data);
  }

  /** Sends a package under an id of its own; gives the package that answers it. */
  send(type: number, data: Uint8Array): Promise<Package> {
    if (this.failure !== null) return Promise.reject(this.failure);
    if (this.waiting.size >= IDS) return Promise.reject(new Error('all ids are in use'));
    do this.lastId = (this.lastId + 1) % IDS;
    while (this.waiting.has(this.lastId));
    const id = this.lastId;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.channel.send(encodePackage(type, id, data));
    });
  }

  close(): void {
    this.channel.close();
  }

  private received(bytes: Uint8Array): void {
    try {
      for (const each of this.decoder.push(bytes)) this.take(each);
    } catch (error) {
      this.end(error instanceof Error ? error : new Error(String(error)));
      this.channel.close();
    }
  }

  private take(each: Package): void {
    if (each.type < FIRST_ANSWER) {
      this.onEvent({ type: each.type, data: decodeMessagePack(each.data) });
      return;
    }
    const waiting = this.waiting.get(each.id);
    this.waiting.delete(each.id);
    waiting?.resolve(each);
  }

  private end(error: Error): void {
    this.failure ??= error;
    for (const { reject } of this.waiting.values()) reject(this.failure);
    this.waiting.clear();
  }
}

/** Events have lower types. */
const FIRST_ANSWER = 16;

function optionsOf(options: SocketOptions | undefined): WireValue[] {
  if (options === undefined) return [];
  const { request, key, minIndex, consistency, timeoutMs } = options;
  return [wireMap({ request, key, min_index: minIndex, consistency, timeout_ms: timeoutMs })];
}

function errorOf({ data }: Package): SocketError {
  const map = decodeMessagePack(data);
  if (!isWireMap(map)) throw new WireError('the node answered with an error that is no map');
  const outcome = map.get('outcome');
  return new SocketError(
    Number(map.get('error_code')),
    String(map.get('error_msg')),
    typeof outcome === 'string' ? outcome : null,
  );
}

class StreamChannel implements PackageChannel {
  private readonly socket: Socket;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  send(bytes: Uint8Array): void {
    this.socket.write(bytes);
  }

  listen(received: (bytes: Uint8Array) => void, ended: (error: Error) => void): void {
    let failure = new Error('the connection has ended');
    this.socket.on('data', received);
    this.socket.on('error', (error) => {
      failure = error;
    });
    this.socket.once('close', () => ended(failure));
  }

  close(): void {
    this.socket.destroy();
  }
}

/** Opens a connection. */
export function openStream(place: SocketPlace): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const isTls = 'tls' in place && place.tls !== undefined;
    const socket = isTls
      ? connectTls({ host: place.host, port: place.port, ...place.tls })
      : connectTcp('path' in place ? { path: place.path } : { host: place.host, port: place.port });
    socket.setNoDelay(true);
    socket.once('error', reject);
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
  });
}
