import { decodeMessagePack, encodeMessagePack } from '../wire/msgpack.js';
import { isWireMap, WireError, type WireValue, wireMap } from '../wire/value.js';
import { PackageConnection } from './connection.js';
import { type Package, PackageType, packageBytes } from './package.js';
import { openStream, type SocketPlace, StreamChannel } from './tcp.js';

/** The bytes of a package. */
export function encodePackage(type: number, id: number, data?: Uint8Array): Buffer {
  return Buffer.from(packageBytes(type, id, data).buffer);
}

/** The fourth element of QUERY and RUN: how a request is to be carried out. */
export interface SocketOptions {
  /** `CLIENT.SEQUENCE.LOW`: the client's name for the request, by which it takes effect once. */
  readonly request?: string;
  /** The client's own name for the request, by which it takes effect once. */
  readonly key?: string;
  readonly minIndex?: bigint;
  readonly readOnly?: boolean;
  readonly dryRun?: boolean | 'explain';
  readonly consistency?: 'linearizable' | 'stale' | 'snapshot';
  readonly timeoutMs?: bigint;
}

/** An error that the node answered. */
export class SocketError extends Error {
  /** The code of the protocol, such as -54. */
  readonly code: number;
  /** The outcome of the changes: `none`, `unknown` or `made`; null when the request had no options. */
  readonly outcome: string | null;

  constructor(code: number, message: string, outcome: string | null) {
    super(message);
    this.name = 'SocketError';
    this.code = code;
    this.outcome = outcome;
  }
}

/** A client of the native protocol on one connection, for tests and tools: it connects once, and does not connect again. */
export class SocketClient extends PackageConnection {
  /**
   * Connects to a node, without logging in.
   *
   * @throws Error when nobody listens there
   */
  static async connect(place: SocketPlace): Promise<SocketClient> {
    return new SocketClient(new StreamChannel(await openStream(place)));
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
}

function optionsOf(options: SocketOptions | undefined): WireValue[] {
  if (options === undefined) return [];
  const { request, key, minIndex, consistency, timeoutMs, readOnly, dryRun } = options;
  return [
    wireMap({
      request,
      key,
      min_index: minIndex,
      consistency,
      timeout_ms: timeoutMs,
      read_only: readOnly,
      dry_run: dryRun,
    }),
  ];
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
