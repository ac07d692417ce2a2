/** A connection that is logged in. */
import type { Credentials } from '../api/options.js';
import { AuthErr, Code, type ErrorAnswer, type QueryError, queryErrorOf } from '../errors/query-errors.js';
import type { NodeAddress } from '../request/node-list.js';
import { originIn, outcomeOf } from '../transport/http-message.js';
import { decodeMessagePack, encodeMessagePack } from '../wire/msgpack.js';
import { isWireMap, type WireValue } from '../wire/value.js';
import { type PackageChannel, PackageConnection, type SocketEvent } from './connection.js';
import { type Package, PackageType } from './package.js';
import { GoingAway } from './websocket.js';

/** Opens connections to nodes: over TCP, or as WebSockets. */
export type Dial = (node: NodeAddress, signal: AbortSignal) => Promise<PackageChannel>;

/** Why a node ends a connection, as it says in a WARN. */
const WARN_CONNECTION = 1n;

export class Session {
  /** Takes the events of rooms. */
  onRoomEvent: (event: SocketEvent) => void = () => {};
  readonly node: NodeAddress;
  readonly connection: PackageConnection;
  /** Answers that have come. */
  answers = 0;
  /** True if the node said that it stops. */
  isLeaving = false;
  /** Why the node ends the connection, as it says itself; null for no reason. */
  warning: string | null = null;

  /**
   * Connects and logs in.
   *
   * @throws {QueryError} when the node refuses the credentials; Error when there is no connection
   */
  static async open(
    dial: Dial,
    node: NodeAddress,
    credentials: Credentials | null,
    bytesMax: number,
    signal: AbortSignal,
  ): Promise<Session> {
    const session = new Session(node, await dial(node, signal), bytesMax);
    const giveUp = (): void => session.close();
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      if (credentials !== null) await session.#login(credentials);
      return session;
    } catch (error) {
      session.close();
      throw error;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  private constructor(node: NodeAddress, channel: PackageChannel, bytesMax: number) {
    this.node = node;
    this.connection = new PackageConnection(channel, bytesMax);
    this.connection.onEvent = (event) => this.#hear(event);
  }

  /** True if the end of the connection is that of a node which goes. */
  get wentAway(): boolean {
    return this.isLeaving || this.connection.failure instanceof GoingAway;
  }

  /** Sends a request. @throws Error when the connection ends first */
  async send(type: number, data: Uint8Array): Promise<Package> {
    const answer = await this.connection.send(type, data);
    this.answers += 1;
    return answer;
  }

  /**
   * Asks something about rooms.
   *
   * @throws {QueryError} that the node answers
   */
  async ask(type: number, data: WireValue): Promise<WireValue> {
    const answer = await this.send(type, encodeMessagePack(data));
    if (answer.type === PackageType.ERROR) throw socketError(answer);
    return answer.data.length === 0 ? null : decodeMessagePack(answer.data);
  }

  close(): void {
    this.connection.close();
  }

  async #login(credentials: Credentials): Promise<void> {
    const data = 'token' in credentials ? credentials.token : [credentials.user, credentials.password];
    await this.ask(PackageType.AUTH, data);
  }

  #hear(event: SocketEvent): void {
    const { type, data } = event;
    if (type === PackageType.NODE_STATUS) {
      if (isWireMap(data) && data.get('status') === 'SHUTTING_DOWN') this.isLeaving = true;
    } else if (type === PackageType.WARN) {
      if (!isWireMap(data) || data.get('warn_code') !== WARN_CONNECTION) return;
      this.warning = String(data.get('warn_msg'));
    } else this.onRoomEvent(event);
  }
}

/** The content of a package of type ERROR: `{error_code, error_msg, outcome?, at?, in?, calls?, detail?}`; null for what it must not hold. */
export function socketErrorAnswer({ data }: Package): ErrorAnswer | null {
  let map: WireValue;
  try {
    map = decodeMessagePack(data);
  } catch {
    return null;
  }
  const code = isWireMap(map) ? map.get('error_code') : undefined;
  if (!isWireMap(map) || typeof code !== 'bigint') return null;
  return {
    code: Number(code),
    message: String(map.get('error_msg') ?? ''),
    outcome: outcomeOf(map.get('outcome')),
    ...originIn(map),
    requestId: null,
    node: null,
  };
}

/** True if an error says that nobody is logged in. */
export function isAuthError(error: unknown): error is AuthErr {
  return error instanceof AuthErr && error.code === Code.AUTH;
}

function socketError(answer: Package): QueryError | Error {
  const told = socketErrorAnswer(answer);
  // Requests about rooms change nothing, and have no options, so their errors say no outcome.
  return told === null
    ? new Error('the node answered with an error that is none')
    : queryErrorOf({ ...told, outcome: 'none' });
}
