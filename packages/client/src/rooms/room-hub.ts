/**
 * All rooms of one client, on one connection. It is there as long as somebody listens; when it ends, the hub goes to another node and joins
 * again what is wanted.
 */
import type { RoomEvent } from '../api/database.js';
import { AbortError, ConnectionError } from '../errors/errors.js';
import { Code, LookupErr, QueryError } from '../errors/query-errors.js';
import { pauseMs } from '../request/backoff.js';
import type { Login } from '../request/login.js';
import type { NodeAddress, NodeList } from '../request/node-list.js';
import type { Surroundings } from '../request/surroundings.js';
import type { ScopeName } from '../scope.js';
import type { SocketEvent } from '../socket/connection.js';
import { PackageType } from '../socket/package.js';
import { type Dial, isAuthError, Session } from '../socket/session.js';
import { plainValue, type Reading } from '../values/from-wire.js';
import type { Int } from '../values/numbers.js';
import { isWireList, isWireMap, type WireValue } from '../wire/value.js';
import { EventQueue } from './event-queue.js';
import { JoinedRoom } from './joined-room.js';

export interface RoomHubOptions {
  readonly surroundings: Surroundings;
  readonly nodes: NodeList;
  readonly login: Login;
  readonly dial: Dial;
  readonly answerBytesMax: number;
  /** Called now and then while somebody listens. */
  readonly used: () => void;
  /** Events that wait to be read, for each iteration. */
  readonly eventsMax: number;
  readonly reading: Reading;
  /** Milliseconds in which a room must be joined the first time. */
  readonly timeoutMs: number;
}

/** A connection on which nothing came for so long is asked, and so long it may take to answer. */
const QUIET_MS = 10_000;
const PONG_MS = 5000;

/** Clients of a node that goes come back spread over this time. */
const GOING_AWAY_MS = 2000;

const DIAL_MS = 12_000;

export class RoomHub {
  readonly #options: RoomHubOptions;
  readonly #rooms = new Map<string, JoinedRoom>();
  #session: Session | null = null;
  /** Why there was no connection the last time. */
  #problem = 'no answer';
  #isRunning = false;
  #isClosed = false;
  /** Ends a pause, or the opening of a connection. */
  #wake: () => void = () => {};

  constructor(options: RoomHubOptions) {
    this.#options = options;
  }

  /** Listens to a room from now on until the iteration ends. */
  listen(
    scope: ScopeName,
    room: string | Int,
    signal: AbortSignal | undefined,
  ): AsyncIterator<RoomEvent, undefined> {
    const queue = new EventQueue(this.#options.eventsMax);
    const key = `${scope.text}\n${typeof room} ${room}`;
    const end = (): void => {
      signal?.removeEventListener('abort', abort);
      queue.end();
      this.#leave(key, queue);
    };
    const abort = (): void => {
      queue.clear();
      queue.fail(new AbortError('the iteration was aborted', 'not_sent', signal?.reason));
      end();
    };
    if (signal?.aborted === true) abort();
    else {
      signal?.addEventListener('abort', abort, { once: true });
      this.#enter(key, scope, room, queue);
    }
    return {
      next: async () => {
        const result = await queue.next();
        if (result.done === true) end();
        return result;
      },
      return: async () => {
        queue.clear();
        end();
        return { value: undefined, done: true };
      },
    };
  }

  close(): void {
    this.#isClosed = true;
    for (const room of this.#rooms.values()) room.fail(new AbortError('the client was closed', 'not_sent'));
    this.#rooms.clear();
    this.#session?.close();
    this.#wake();
  }

  #enter(key: string, scope: ScopeName, name: string | Int, queue: EventQueue): void {
    if (this.#isClosed) {
      queue.fail(new AbortError('the client was closed', 'not_sent'));
      return;
    }
    const known = this.#rooms.get(key);
    if (known !== undefined) {
      known.add(queue);
      return;
    }
    const room = new JoinedRoom(scope, name);
    this.#rooms.set(key, room);
    room.add(queue);
    const { surroundings, timeoutMs } = this.#options;
    room.stopWaiting = surroundings.clock.after(timeoutMs, () => this.#giveUp(key, room));
    const session = this.#session;
    if (session !== null) void this.#join(session, key, room);
    else if (!this.#isRunning) void this.#run();
  }

  #leave(key: string, queue: EventQueue): void {
    const room = this.#rooms.get(key);
    room?.remove(queue);
    if (room === undefined || room.isWanted) return;
    this.#rooms.delete(key);
    room.stopWaiting();
    const session = this.#session;
    if (this.#rooms.size === 0) {
      session?.close();
      this.#wake();
    } else if (session !== null && room.id !== null) {
      // Its events are of no interest any more, whatever becomes of this.
      session.ask(PackageType.LEAVE, [room.scope.text, room.id]).catch(() => {});
    }
  }

  /** Is connected as long as somebody listens. */
  async #run(): Promise<void> {
    const { surroundings, nodes } = this.#options;
    const { clock, random } = surroundings;
    this.#isRunning = true;
    for (let failures = 0; this.#rooms.size > 0 && !this.#isClosed; ) {
      const node = nodes.choose(clock.now(), NONE);
      const session = await this.#open(node);
      if (session instanceof Session) {
        failures = 0;
        nodes.served(node);
        await this.#serve(session);
        // Nobody listens any more: the connection was closed here.
        if (this.#rooms.size === 0) continue;
        if (session.wentAway) nodes.leaves(node, clock.now());
        else nodes.failed(node, clock.now());
        await this.#pause(session.wentAway ? random() * GOING_AWAY_MS : pauseMs(0, random));
        continue;
      }
      nodes.failed(node, clock.now());
      this.#problem = `no connection to ${node.url.host}: ${session.message}`;
      if (session instanceof QueryError && session.code !== Code.NODE) this.#failAll(session);
      else await this.#pause(pauseMs(failures, random));
      failures += 1;
    }
    this.#isRunning = false;
  }

  /** A session, or why there is none. */
  async #open(node: NodeAddress): Promise<Session | Error> {
    const { login, dial, answerBytesMax, surroundings } = this.#options;
    const controller = new AbortController();
    const callOff = surroundings.clock.after(DIAL_MS, () => controller.abort());
    this.#wake = () => controller.abort();
    try {
      const credentials = await login.current();
      try {
        return await Session.open(dial, node, credentials, answerBytesMax, controller.signal);
      } catch (error) {
        if (!isAuthError(error) || !login.canRenew) throw error;
        login.refused(credentials);
        return await Session.open(dial, node, await login.current(), answerBytesMax, controller.signal);
      }
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    } finally {
      callOff();
    }
  }

  /** Joins all rooms, and hands their events on until the connection ends. */
  async #serve(session: Session): Promise<void> {
    this.#session = session;
    let heardAt = this.#options.surroundings.clock.now();
    session.onRoomEvent = (event) => {
      heardAt = this.#options.surroundings.clock.now();
      this.#hear(event, session);
    };
    const stopWatching = this.#watch(session, () => heardAt);
    for (const [key, room] of this.#rooms) void this.#join(session, key, room);
    await session.connection.ended;
    stopWatching();
    this.#session = null;
    for (const room of this.#rooms.values()) room.left();
  }

  /** Asks a connection on which nothing comes whether it is still one. */
  #watch(session: Session, heardAt: () => number): () => void {
    const { clock } = this.#options.surroundings;
    let callOff: () => void = () => {};
    const look = (): void => {
      this.#options.used();
      if (clock.now() - heardAt() < QUIET_MS) {
        callOff = clock.after(QUIET_MS, look);
        return;
      }
      callOff = clock.after(PONG_MS, () => session.close());
      session.send(PackageType.PING, new Uint8Array()).then(
        () => {
          callOff();
          if (!session.connection.hasEnded) callOff = clock.after(QUIET_MS, look);
        },
        () => callOff(),
      );
    };
    callOff = clock.after(QUIET_MS, look);
    return () => callOff();
  }

  async #join(session: Session, key: string, room: JoinedRoom): Promise<void> {
    const name = typeof room.room === 'string' ? room.room : BigInt(room.room);
    try {
      const ids = await session.ask(PackageType.JOIN, [room.scope.text, name]);
      const id = isWireList(ids) ? ids[0] : null;
      if (this.#rooms.get(key) !== room) {
        if (typeof id === 'bigint') await session.ask(PackageType.LEAVE, [room.scope.text, id]);
      } else if (typeof id === 'bigint') room.joined(id);
      else this.#isGone(key, room);
    } catch (error) {
      // Without a connection all rooms are joined again.
      if (session.connection.hasEnded || !(error instanceof QueryError)) return;
      if (error.code === Code.NODE) session.close();
      else {
        this.#rooms.delete(key);
        room.fail(error);
      }
    }
  }

  #isGone(key: string, room: JoinedRoom): void {
    this.#rooms.delete(key);
    if (room.wasJoined) room.deleted();
    else room.fail(noSuchRoom(room));
  }

  #hear({ type, data }: SocketEvent, session: Session): void {
    if (!isWireMap(data)) return;
    const scope = data.get('scope');
    const id = data.get('id');
    for (const [key, room] of this.#rooms) {
      if (room.id !== id || `@collection:${room.scope.collection}` !== scope) continue;
      if (type === PackageType.ROOM_DELETE) {
        this.#rooms.delete(key);
        room.deleted();
      } else if (type === PackageType.ROOM_LEAVE) {
        // The node put it out. Where that was for a lost privilege, joining again says so.
        room.left();
        void this.#join(session, key, room);
      } else if (type === PackageType.ROOM_EMIT)
        room.tell(this.#emitted(data.get('event'), data.get('args')));
    }
  }

  #emitted(event: WireValue | undefined, args: WireValue | undefined): RoomEvent {
    const values = isWireList(args) ? args.map((arg) => plainValue(arg, this.#options.reading.ints)) : [];
    return { kind: 'emit', event: String(event), args: values };
  }

  /** A room could not be joined in time; one that was joined before is waited for. */
  #giveUp(key: string, room: JoinedRoom): void {
    if (room.wasJoined || this.#rooms.get(key) !== room) return;
    this.#rooms.delete(key);
    const { timeoutMs } = this.#options;
    room.fail(new ConnectionError(`the room could not be joined within ${timeoutMs} ms: ${this.#problem}`));
    if (this.#rooms.size > 0) return;
    this.#session?.close();
    this.#wake();
  }

  #failAll(error: Error): void {
    for (const room of this.#rooms.values()) room.fail(error);
    this.#rooms.clear();
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const callOff = this.#options.surroundings.clock.after(ms, resolve);
      this.#wake = () => {
        callOff();
        resolve();
      };
    });
  }
}

const NONE: ReadonlySet<NodeAddress> = new Set();

function noSuchRoom({ scope, room }: JoinedRoom): LookupErr {
  return new LookupErr({
    code: -54,
    name: 'lookup_err',
    message: `there is no room ${JSON.stringify(typeof room === 'bigint' ? Number(room) : room)} in ${scope.text}`,
    outcome: 'none',
    at: null,
    procedure: null,
    calls: [],
    detail: null,
    requestId: null,
    node: null,
  });
}
