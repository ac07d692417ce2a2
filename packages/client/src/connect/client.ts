/** All that the scopes of one database share: how calls are made, and how it is closed. */

import type { Room, Variables } from '../api/database.js';
import type {
  CallOptions,
  ConnectOptions,
  Credentials,
  LoginOptions,
  LoginSession,
  ScopeOptions,
} from '../api/options.js';
import type { DryRun } from '../api/schema.js';
import { AbortError } from '../errors/errors.js';
import type { Program, Transport } from '../request/attempt.js';
import { Caller } from '../request/caller.js';
import { checkedCredentials, Login } from '../request/login.js';
import { type NodeAddress, NodeList } from '../request/node-list.js';
import { SessionLogin } from '../request/session-login.js';
import type { Surroundings } from '../request/surroundings.js';
import { laterEvents } from '../rooms/later-events.js';
import type { RoomHub, RoomHubOptions } from '../rooms/room-hub.js';
import type { ScopeName } from '../scope.js';
import { readValue, type Value } from '../values/from-wire.js';
import type { Int } from '../values/numbers.js';
import { writableOf } from '../values/to-wire.js';
import type { Writable } from '../wire/exact.js';
import { decodeMessagePack, writableWire } from '../wire/msgpack.js';
import type { WireValue } from '../wire/value.js';
import { type Places, placesOf } from './places.js';

/** The differences between Node.js and browsers. */
export interface Platform {
  readonly surroundings: Surroundings;
  /** The base of relative URLs; undefined for none. */
  readonly base?: string;
  /** May come later, where its code is loaded when it is needed. */
  makeTransport(options: ConnectOptions, parts: TransportParts): Transport | Promise<Transport>;
  makeRooms(options: ConnectOptions, parts: RoomParts): Promise<RoomHub>;
  /** All addresses of a node, for names that have several; null where the platform finds them by itself. */
  readonly addressesOf: ((url: URL) => Promise<readonly string[]>) | null;
}

export interface TransportParts {
  readonly surroundings: Surroundings;
  readonly requestsMax: number;
  readonly answerBytesMax: number;
}

/** The options of rooms, apart from how they connect. */
export type RoomParts = Omit<RoomHubOptions, 'dial'>;

const REQUESTS_MAX = 64;
const WAITING_MAX = 1000;
const SESSION_REQUESTS_MAX = 4;
const ANSWER_BYTES_MAX = 64 * 1024 ** 2;
const NESTING_MAX = 1000;
const EVENTS_MAX = 1000;
const ROOM_TIMEOUT_MS = 30_000;

export class Client {
  readonly nestingMax: number;
  readonly #makeRooms: () => Promise<RoomHub>;
  readonly #caller: Caller;
  readonly #transport: Transport | Promise<Transport>;
  /** The session of `$login`. */
  readonly #session: SessionLogin;
  /** Ends what sessions are asked by, where calls go another way. */
  readonly #closeSessions: () => void;
  /** Made when somebody listens. */
  #rooms: Promise<RoomHub> | null = null;
  #isClosed = false;

  constructor(urls: string | readonly string[], options: ConnectOptions, platform: Platform) {
    const places = placesOf(urls, platform.base);
    const { limits = {}, hooks = {} } = options;
    const { surroundings } = platform;
    const requestsMax = positive(limits.requests ?? REQUESTS_MAX, 'limits.requests');
    const answerBytesMax = positive(limits.answerBytes ?? ANSWER_BYTES_MAX, 'limits.answerBytes');
    this.nestingMax = positive(limits.nesting ?? NESTING_MAX, 'limits.nesting');
    const nodes = new NodeList(placesWithoutAddress(places), surroundings.random);
    const addresses = new Addresses(places.urls, nodes, platform);
    this.#transport = platform.makeTransport(options, { surroundings, requestsMax, answerBytesMax });
    const login = loginOf(options, places);
    const callerParts = { surroundings, nodes, refreshNodes: () => addresses.refresh(), login };
    this.#caller = new Caller({
      ...callerParts,
      transport: this.#transport,
      hooks,
      requestsMax,
      waitingMax: positive(limits.waiting ?? WAITING_MAX, 'limits.waiting', 0),
    });
    // Sessions are asked for over HTTP, whatever way calls take.
    const isHttp = (options.transport ?? 'http') === 'http';
    const sessionParts = { surroundings, requestsMax: SESSION_REQUESTS_MAX, answerBytesMax };
    const sessionTransport = isHttp
      ? this.#transport
      : platform.makeTransport({ ...options, transport: 'http' }, sessionParts);
    const sessionCaller = new Caller({
      ...callerParts,
      transport: sessionTransport,
      hooks: {},
      requestsMax: SESSION_REQUESTS_MAX,
      waitingMax: WAITING_MAX,
    });
    this.#closeSessions = () => {
      sessionCaller.close();
      if (!isHttp) close(sessionTransport);
    };
    const { clock } = surroundings;
    this.#session = new SessionLogin({ caller: sessionCaller, login, clock, wallClock: Date.now });
    const roomParts: RoomParts = {
      used: () => this.#session.used(),
      surroundings,
      nodes: new NodeList(placesWithoutAddress(places), surroundings.random),
      login,
      answerBytesMax,
      eventsMax: positive(limits.events ?? EVENTS_MAX, 'limits.events'),
      reading: { ints: options.ints ?? 'auto', nestingMax: this.nestingMax },
      timeoutMs: options.timeoutMs ?? ROOM_TIMEOUT_MS,
    };
    this.#makeRooms = () => platform.makeRooms(options, roomParts);
  }

  query(
    scope: ScopeName,
    code: string,
    vars: Variables | undefined,
    options: ScopeOptions,
  ): Promise<Value | WireValue | DryRun<unknown>> {
    const entries = vars instanceof Map ? vars : vars === undefined ? null : new Map(Object.entries(vars));
    const values = entries === null || entries.size === 0 ? null : this.#writable(entries, options);
    return this.#call(scope, { kind: 'query', text: code, values }, options);
  }

  /** @param args by position, or by name */
  run(
    scope: ScopeName,
    procedure: string,
    args: readonly unknown[] | object,
    options: ScopeOptions,
  ): Promise<Value | WireValue | DryRun<unknown>> {
    const isEmpty = Array.isArray(args) ? args.length === 0 : Object.keys(args).length === 0;
    const values = isEmpty ? null : this.#writable(args, options);
    return this.#call(scope, { kind: 'run', text: procedure, values }, options);
  }

  room(scope: ScopeName, room: string | Int, options: CallOptions): Room {
    if (scope.collection === null) throw new TypeError(`there are no rooms in ${scope.text}`);
    return {
      events: ({ signal } = {}) =>
        laterEvents(async () => {
          if (this.#isClosed) throw new AbortError('the client was closed', 'not_sent');
          this.#rooms ??= this.#makeRooms();
          return (await this.#rooms).listen(scope, room, signal ?? options.signal);
        }),
      emit: async (event, ...args) => {
        const given = args.map((arg, i) => [`arg${i}`, arg] as const);
        const vars = new Map<string, unknown>([['room', room], ['event', event], ...given]);
        const names = ['event', ...given.map(([name]) => name)].join(', ');
        await this.query(scope, `room(room).emit(${names});`, vars, options);
      },
    };
  }

  /** As `$login` of a database. */
  login(credentials: Credentials, options: LoginOptions): Promise<LoginSession> {
    if (this.#isClosed) return Promise.reject(new AbortError('the client was closed', 'not_sent'));
    return this.#session.begin(credentials, options);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#caller.close();
    void this.#rooms?.then((rooms) => rooms.close());
    await this.#session.close();
    this.#closeSessions();
    close(this.#transport);
  }

  #writable(values: unknown, { exact = false }: CallOptions): Writable {
    return exact ? exactlyWritable(values) : writableOf(values, this.nestingMax);
  }

  #call(
    scope: ScopeName,
    program: Program,
    options: ScopeOptions,
  ): Promise<Value | WireValue | DryRun<unknown>> {
    this.#session.used();
    const { ints = 'auto', exact = false, dryRun = false } = options;
    const reading = { ints, nestingMax: this.nestingMax };
    return this.#caller.call(scope, program, options, (body) => {
      const value = exact ? decodeMessagePack(body) : readValue(body, reading);
      return dryRun ? dryRunOf(body, value, this.nestingMax) : value;
    });
  }
}

function close(transport: Transport | Promise<Transport>): void {
  if (transport instanceof Promise) void transport.then((each) => each.close());
  else transport.close();
}

function loginOf({ token, user, password, credentials }: ConnectOptions, places: Places): Login {
  const given = [token, user, credentials].filter((each) => each !== undefined);
  if (given.length > 1) throw new TypeError('give one of token, user with password, and credentials');
  if ((user === undefined) !== (password === undefined)) throw new TypeError('user and password go together');
  if (credentials !== undefined) return new Login(null, credentials);
  const known: Credentials | null =
    token !== undefined
      ? { token }
      : user !== undefined && password !== undefined
        ? { user, password }
        : places.credentials;
  return new Login(known === null ? null : checkedCredentials(known), null);
}

function placesWithoutAddress({ urls }: Places): NodeAddress[] {
  return urls.map((url) => ({ url, address: null }));
}

/** The answer of a dry run: its counts are numbers, in whatever form the caller wants the result. */
function dryRunOf(body: Uint8Array, value: unknown, nestingMax: number): DryRun<unknown> {
  const counts = Object(readValue(body, { ints: 'auto', nestingMax }));
  return { ...counts, result: value instanceof Map ? value.get('result') : Object(value).result };
}

/** Values as on the wire, in what holds them. */
function exactlyWritable(values: unknown): Writable {
  if (Array.isArray(values)) return values.map((value: WireValue) => writableWire(value));
  const entries = values instanceof Map ? [...values] : Object.entries(Object(values));
  return new Map(entries.map(([name, value]) => [String(name), writableWire(value)]));
}

function positive(value: number, name: string, min = 1): number {
  if (!(value >= min)) throw new RangeError(`${name} must be ${min} or more`);
  return value;
}

/** Time that a list of addresses is good for, in milliseconds. */
const ADDRESSES_MS = 60_000;

/** Finds names with several addresses: each is a node. */
class Addresses {
  readonly #urls: readonly URL[];
  readonly #nodes: NodeList;
  readonly #platform: Platform;
  #until = 0;
  #isFirst = true;
  #finding: Promise<void> | null = null;

  constructor(urls: readonly URL[], nodes: NodeList, platform: Platform) {
    this.#urls = urls;
    this.#nodes = nodes;
    this.#platform = platform;
  }

  /** Finds them again when that is due; gives a promise only when there are none yet. */
  refresh(): Promise<void> | null {
    const { addressesOf, surroundings } = this.#platform;
    if (addressesOf === null || surroundings.clock.now() < this.#until)
      return this.#isFirst ? this.#finding : null;
    this.#until = surroundings.clock.now() + ADDRESSES_MS;
    this.#finding ??= this.#find(addressesOf);
    return this.#isFirst ? this.#finding : null;
  }

  async #find(addressesOf: (url: URL) => Promise<readonly string[]>): Promise<void> {
    const places = await Promise.all(
      this.#urls.map(async (url): Promise<NodeAddress[]> => {
        const addresses = await addressesOf(url);
        return addresses.length < 2
          ? [{ url, address: null }]
          : addresses.map((address) => ({ url, address }));
      }),
    );
    this.#isFirst = false;
    this.#finding = null;
    this.#nodes.replace(places.flat());
  }
}
