/**
 * What one client has with the node over the native protocol, whichever way its packages come.
 *
 * Requests are carried out one after the other, in the order in which they came: each sees what those before
 * it changed. PING alone is answered at once. What waits for its turn is bounded, and so is what waits to be
 * sent: nothing more is read from a client that sends faster than it is served, or does not read.
 *
 * Long because: order, limits, sending and the end of one connection are one state, which every package and
 * every answer may change.
 */
import { ErrorCode, QueryError, type RootGroup, type User } from '@althing/engine';
import type { Clock } from '../../base/clock.js';
import { networkOf } from '../../base/network-of.js';
import { decodeEmit, decodeRooms } from '../../events/bodies.js';
import type { Listener } from '../../events/listener.js';
import type { Rooms } from '../../events/rooms.js';
import {
  type ChangeOutcome,
  type Client,
  LogTexts,
  type ProgramRequest,
  type Reply,
  type Respond,
} from '../../groups/request.js';
import type { EngineMetrics } from '../../telemetry/engine-metrics.js';
import type { Authenticator, Login } from '../auth/authenticator.js';
import type { Gate } from '../gate/gate.js';
import { BODIES_FULL, INTERNAL, LEAVING, QUEUE_FULL, TOO_MANY_LOGINS, UNSURE } from '../http/refusals.js';
import { statusOf } from '../http/reply.js';
import type { Bytes } from '../limits/byte-budget.js';
import type { RequestIds } from '../shared/request-ids.js';
import {
  ANSWERS_FULL,
  errorData,
  NOT_LOGGED_IN,
  packageTooLarge,
  strangerTooLarge,
  TOO_MANY_WAIT,
  WarnCode,
  WRONG_CREDENTIALS,
  warnData,
} from './answers.js';
import type { Ending, NativeCounts } from './native-counts.js';
import { Outgoing } from './outgoing.js';
import { type Header, PackageType } from './package.js';
import type { PackageSink, Taking } from './package-reader.js';
import { readAuth, readRequest, scopeOf } from './requests.js';
import { Session } from './session.js';
import { UNSENT_MAX } from './socket-wire.js';
import type { Wire } from './wire.js';

/** What the connections of a node have in common. */
export interface ConnectionHost {
  readonly authenticator: Pick<Authenticator, 'known' | 'login'>;
  readonly root: Pick<RootGroup, 'users' | 'accessVersion' | 'isLoading' | 'tokenByKey' | 'memberByName'>;
  /** Takes a request; the answer may come at once or later. */
  readonly handle: (request: ProgramRequest, respond: Respond) => boolean;
  /** Puts off that a large package of a user is read, where others have to be served before: then `read` is called later. */
  readonly readsLater?: (userId: number, bytes: number, read: () => void) => boolean;
  readonly gate: Gate;
  readonly rooms: Pick<Rooms, 'join' | 'leave' | 'emit' | 'answer' | 'end' | 'loggedOut' | 'userChanged'>;
  /** Arrays and maps inside each other at most. */
  readonly nestingMax: number;
  /** Bytes that a package may have. */
  readonly sizeMax: number;
  readonly ids: Pick<RequestIds, 'idOf'>;
  readonly figures: Pick<EngineMetrics, 'refused'>;
  readonly counts: NativeCounts;
  /** Reports a defect of the node itself. */
  readonly onDefect: (error: unknown) => void;
  /** Wall clock in milliseconds. */
  readonly now: () => number;
  readonly clock: Clock;
  /** Bytes that wait to be sent when an event finds them and the connection ends; 4 MiB by default. */
  readonly unsentEventsMax?: number;
}

/** Bytes of a package before the connection is logged in. */
export const STRANGER_BYTES_MAX = 64 * 1024;

/** Packages that wait for their turn before nothing more is read, and their bytes. */
const WAITING_MAX = 64;
const WAITING_BYTES_MAX = 256 * 1024;

/** Bytes that wait to be sent when an event finds them and the connection ends: its client does not read. */
const UNSENT_EVENTS_MAX = 4 * 1024 * 1024;

/** Answers from this size on count against the memory of all until they are sent. */
const LONG_ANSWER = 64 * 1024;

/** Packages that wait for their turn at most: they keep coming where reading can't be put off. */
const WAITING_LIMIT = 8192;

/** Packages of at least so many bytes take time to read that counts, and are not copied to wait. */
const LONG_PACKAGE = 16 * 1024;

/** Packages from this size on wait for their turn to be read. */
const LARGE_PACKAGE = 64 * 1024;

/** Bytes of what waits, besides its data. */
const WAITING_BYTES = 128;

interface Waiting {
  readonly header: Header;
  readonly data: Buffer;
  readonly bytes: number;
  /** Where its bytes are counted. */
  readonly memory: Bytes;
}

export class Connection implements PackageSink, Client, Listener {
  /** Unique among all connections that this start of the node has had. */
  readonly id: number;
  private readonly host: ConnectionHost;
  private readonly wire: Wire;
  private readonly outgoing: Outgoing;
  private readonly loggedIn: () => void;
  private session: Session | null = null;
  private readonly waiting: Waiting[] = [];
  private waitingBytes = 0;
  /** Whether a request is being carried out. */
  private busy = false;
  /** Whether requests are being taken from those that wait. */
  private isAdvancing = false;
  private isPaused = false;
  /** Bytes of answers that count against the memory of all. */
  private lent = 0;
  /** What code says by `log` in the request that is being carried out. */
  private readonly logs = new LogTexts();
  private closed = false;
  /** Set where packages are refused before their end has come. */
  private refused: QueryError | null = null;
  private readonly stranger: Bytes;
  /** Whether it ends since a package was too large for who is not logged in. */
  private isTooLarge = false;
  /** Whether a request came that the login does not allow any more. */
  private isLoginOver = false;

  /**
   * @param id unique among all connections of this start of the node, and above 0
   * @param loggedIn called when the connection has logged in for the first time
   */
  constructor(id: number, host: ConnectionHost, wire: Wire, loggedIn: () => void) {
    this.id = id;
    this.host = host;
    this.loggedIn = loggedIn;
    this.wire = wire;
    this.outgoing = new Outgoing(wire, host.counts, host.clock, () => this.advance());
    this.stranger = host.gate.strangers.shareOf(networkOf(wire.address));
  }

  /** Whether nobody waits for answers any more. */
  get gone(): boolean {
    return this.closed;
  }

  /** The user that it is logged in as; 0 for nobody. */
  get userId(): number {
    return this.session?.userId ?? 0;
  }

  /** Whether a request is not answered yet. */
  get isBusy(): boolean {
    return this.busy || this.waiting.length > 0;
  }

  /** Bytes that wait to be sent. */
  get unsent(): number {
    return this.outgoing.unsent;
  }

  /** Memory for a package that comes in pieces. */
  get memory(): Bytes {
    return this.session === null ? this.stranger : this.host.gate.memory;
  }

  begins({ type, id, length }: Header): Taking {
    if (this.session === null && length > STRANGER_BYTES_MAX) {
      this.fail(id, strangerTooLarge(STRANGER_BYTES_MAX));
      this.isTooLarge = true;
      return 'end';
    }
    if (!isRequest(type)) return 'skip';
    if (length <= this.host.sizeMax) return 'read';
    this.refused = packageTooLarge(this.host.sizeMax);
    return 'skip';
  }

  /** Bytes came. */
  received(bytes: number): void {
    this.host.counts.bytes.received += bytes;
  }

  /** What comes is not read any more, and the connection ends. */
  unreadable(): void {
    this.host.counts.ended[this.isTooLarge ? 'too_large' : 'malformed'] += 1;
  }

  skipped(header: Header): void {
    this.host.counts.came(header.type);
    const { refused } = this;
    this.refused = null;
    if (refused !== null) this.refusePackage(header, refused);
    else this.answerSimple(header);
  }

  full(_header: Header): void {
    this.refused = BODIES_FULL;
  }

  take(header: Header, data: Buffer): void {
    if (this.closed) return;
    this.host.counts.came(header.type);
    const mustWait = this.busy || this.waiting.length > 0 || this.unsent > UNSENT_MAX;
    if (mustWait) this.wait(header, data);
    else this.begin(header, data);
  }

  /** What waited to be sent was sent. */
  drained(): void {
    this.giveBack();
    this.advance();
  }

  /** Gives back the memory of answers, once all were taken. */
  private giveBack(): void {
    if (this.lent === 0 || this.unsent > 0) return;
    this.host.gate.memory.give(this.lent);
    this.lent = 0;
  }

  /** The connection is no more. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    if (this.session !== null) this.host.counts.loggedIn[this.wire.transport] -= 1;
    this.outgoing.close();
    this.host.rooms.end(this);
    this.host.gate.memory.give(this.lent);
    this.lent = 0;
    for (const { memory, bytes } of this.waiting) memory.give(bytes);
    this.waiting.length = 0;
    this.waitingBytes = 0;
  }

  /**
   * Sends an event to a client that is logged in, and ends one that does not read. Who is in rooms and not logged in any more is out of
   * them with the first event that it may not hear, and is told that: it would not know that it misses something.
   */
  push(type: number, data: Uint8Array): void {
    if (this.closed || this.session === null) return;
    const isFarewell = type === PackageType.ROOM_LEAVE || type === PackageType.ROOM_DELETE;
    if (!isFarewell && this.session.check(this.host.now()) instanceof QueryError) {
      if (type === PackageType.ROOM_EMIT) this.host.rooms.loggedOut(this);
      return;
    }
    if (this.unsent > (this.host.unsentEventsMax ?? UNSENT_EVENTS_MAX)) {
      this.giveUp('unread', 'events of rooms come faster than this connection reads them');
      return;
    }
    this.outgoing.event(type, data);
  }

  /** Ends the connection behind all that it was sent. */
  end(): void {
    this.outgoing.flush();
    this.wire.end();
  }

  /** Events of a collection were missed: its client has to join again. */
  gap(scope: string): void {
    this.giveUp('gap', `events of ${scope} were missed while the node caught up: connect and join again`);
  }

  /** Ends the connection, and tells why, as far as its client still reads. */
  private giveUp(reason: Ending, why: string): void {
    if (this.closed) return;
    this.host.counts.ended[reason] += 1;
    if (this.session !== null) {
      this.outgoing.event(
        PackageType.WARN,
        warnData(WarnCode.CONNECTION, `the connection is closed: ${why}`),
      );
    }
    this.end();
    this.close();
  }

  /** The login has ended, and a request was refused for it: clients that exist log in when they connect, and not before. */
  private endLogin(): void {
    this.host.counts.ended.login_ended += 1;
    this.end();
    this.close();
  }

  private wait(header: Header, data: Buffer): void {
    const { memory } = this;
    const bytes = data.length + WAITING_BYTES;
    const isFull = this.waiting.length >= WAITING_LIMIT;
    if (isFull || !memory.tryTake(bytes)) {
      this.fail(header.id, isFull ? TOO_MANY_WAIT : BODIES_FULL);
      return;
    }
    // What is small may lie in a large piece that was read.
    this.waiting.push({ header, data: data.length < LONG_PACKAGE ? Buffer.from(data) : data, bytes, memory });
    this.waitingBytes += bytes;
    if (this.isPaused || (this.waiting.length < WAITING_MAX && this.waitingBytes < WAITING_BYTES_MAX)) return;
    this.isPaused = true;
    this.wire.pause();
  }

  /** Carries out what waits, as far as that is possible now. */
  private advance(): void {
    if (this.isAdvancing) return;
    this.isAdvancing = true;
    while (!this.busy && !this.closed && this.unsent <= UNSENT_MAX) {
      const next = this.waiting.shift();
      if (next === undefined) break;
      this.waitingBytes -= next.bytes;
      next.memory.give(next.bytes);
      this.begin(next.header, next.data);
    }
    this.isAdvancing = false;
    if (!this.isPaused || this.closed || this.waiting.length > WAITING_MAX / 2) return;
    if (this.waitingBytes > WAITING_BYTES_MAX / 2 || this.unsent > UNSENT_MAX) return;
    this.isPaused = false;
    this.wire.resume();
  }

  /** PING, features of old, and what is none of our types. */
  private answerSimple({ type, id }: Header): void {
    if (this.closed) return;
    if (type === PackageType.PING) this.outgoing.transmit(PackageType.PONG, id, null);
    else if (type === PackageType.WATCH || type === PackageType.UNWATCH) {
      this.outgoing.transmit(PackageType.OK, id, null);
    }
    if (this.unsent <= UNSENT_MAX || this.isPaused) return;
    this.isPaused = true;
    this.wire.pause();
  }

  private refusePackage({ id, type }: Header, error: QueryError): void {
    if (isRequest(type)) this.fail(id, error);
  }

  private begin(header: Header, data: Buffer): void {
    const { gate } = this.host;
    this.busy = true;
    this.outgoing.requestBegins(header.type === PackageType.LEAVE);
    gate.begin();
    let isDone = false;
    const done = (): boolean => {
      if (isDone) return false;
      isDone = true;
      this.busy = false;
      gate.done();
      return true;
    };
    const fail = (error: QueryError, outcome: ChangeOutcome | null = null): void => {
      if (!done()) return;
      this.fail(header.id, error, outcome);
      if (this.isLoginOver) this.endLogin();
      this.advance();
    };
    const { session } = this;
    if (session === null || data.length < LARGE_PACKAGE) {
      this.carryOut(header, data, done, fail);
      return;
    }
    const carryOut = (): void => {
      if (this.closed) done();
      else this.carryOut(header, data, done, fail);
    };
    if (this.host.readsLater?.(session.userId, data.length, carryOut) !== true) carryOut();
  }

  private carryOut(
    header: Header,
    data: Buffer,
    done: () => boolean,
    fail: (error: QueryError, outcome?: ChangeOutcome | null) => void,
  ): void {
    try {
      if (header.type === PackageType.AUTH) this.logIn(header.id, data, done, fail);
      else if (header.type >= PackageType.JOIN) this.requestRooms(header, data, done, fail);
      else this.request(header, data, done, fail);
    } catch (error) {
      if (error instanceof QueryError) {
        this.host.figures.refused(null, error, statusOf(error));
        fail(error);
        return;
      }
      this.host.onDefect(error);
      fail(INTERNAL);
    }
  }

  private logIn(id: number, data: Buffer, done: () => boolean, fail: (error: QueryError) => void): void {
    const { authenticator, gate } = this.host;
    const authorization = readAuth(data);
    const problem = gate.stale ?? gate.refusal ?? (gate.isLeaving && this.session === null ? LEAVING : null);
    if (problem !== null) throw problem;
    if (authorization === null) throw WRONG_CREDENTIALS;
    const end = (login: Login): void => {
      if (login.kind !== 'user') {
        const error = LOGIN_ERRORS[login.kind];
        this.host.figures.refused(null, error, statusOf(error));
        fail(error);
        return;
      }
      if (!this.closed) this.enter(login.user, authorization);
      if (!done()) return;
      this.send(PackageType.OK, id, null);
      this.advance();
    };
    const { address, transport } = this.wire;
    const known = authenticator.known(authorization, () => address, transport);
    if (known !== null) end({ kind: 'user', user: known });
    else authenticator.login(authorization, address, { done: end, transport });
  }

  private enter(user: User, authorization: string): void {
    const before = this.session;
    const key = authorization.startsWith(BEARER) ? authorization.slice(BEARER.length) : null;
    this.session = new Session(this.host.root, user, key);
    if (before === null) {
      this.host.counts.loggedIn[this.wire.transport] += 1;
      this.loggedIn();
    } else if (before.userId !== user.id) this.host.rooms.userChanged();
  }

  private request(
    header: Header,
    data: Buffer,
    done: () => boolean,
    fail: (error: QueryError, outcome?: ChangeOutcome | null) => void,
  ): void {
    const { host } = this;
    const user = this.served();
    const begun = data.length > LONG_PACKAGE ? performance.now() : 0;
    const type = header.type === PackageType.RUN ? 'run' : 'query';
    const { scope, body, options } = readRequest(data, type, host.nestingMax);
    // Numbers are what clients of this protocol know nodes by: what is neither that nor a name is a mistake in writing.
    if (
      scope.kind === 'node' &&
      typeof scope.id === 'string' &&
      host.root.memberByName(scope.id) === undefined
    ) {
      throw new QueryError(
        ErrorCode.VALUE,
        `the scope names no node: write @node:NUMBER, or the name of a node`,
      );
    }
    const request: ProgramRequest = {
      scope,
      user,
      body,
      readMs: begun === 0 ? 0 : performance.now() - begun,
      format: 'msgpack',
      client: this,
      terms: options?.terms ?? null,
      ...(options === null || options.timeoutMs === null ? {} : { waitMs: options.timeoutMs }),
      ...(scope.kind === 'thingsdb' ? this.session?.ownPassword : null),
      id: host.ids.idOf(null),
      logs: this.logs,
    };
    this.logs.clear();
    const respond = (reply: Reply): void => {
      for (const text of this.logs.texts) this.push(PackageType.WARN, warnData(WarnCode.LOG, text));
      if (!reply.ok) {
        fail(reply.error, options === null ? null : (reply.outcome ?? 'none'));
        return;
      }
      if (!done()) return;
      this.answer(header.id, reply, options !== null);
      this.advance();
    };
    host.handle(request, (reply) => host.rooms.answer(this, scope, reply, respond));
  }

  /** JOIN, LEAVE, EMIT and EMIT_PEER. */
  private requestRooms(
    { type, id }: Header,
    data: Buffer,
    done: () => boolean,
    fail: (error: QueryError) => void,
  ): void {
    const { rooms, gate, ids } = this.host;
    const user = this.served();
    if (gate.isLeaving) throw LEAVING;
    const isEmit = type === PackageType.EMIT || type === PackageType.EMIT_PEER;
    const respond = (reply: Reply): void => {
      if (!reply.ok) {
        fail(reply.error);
        return;
      }
      if (!done()) return;
      if (isEmit) this.send(PackageType.OK, id, null);
      else this.answer(id, reply, false);
      if (type !== PackageType.JOIN) {
        this.advance();
        return;
      }
      // The events of a JOIN follow its answer, and come before what the next request brings.
      this.outgoing.holdEvents();
      queueMicrotask(() => this.advance());
    };
    if (isEmit) {
      const { scope, ...emitted } = decodeEmit(data);
      const except = type === PackageType.EMIT_PEER ? this : null;
      const own = { scope: scopeOf(scope), user, client: this, id: ids.idOf(null) };
      rooms.emit({ ...emitted, ...own, listener: this, except }, respond);
      return;
    }
    const named = decodeRooms(data);
    const request = { scope: scopeOf(named.scope), user, listener: this, rooms: named.rooms, client: this };
    if (type === PackageType.JOIN) rooms.join(request, respond);
    else rooms.leave(request, respond);
  }

  /**
   * The user, once it is clear that requests are served.
   *
   * @throws QueryError when the connection is not logged in, or not any more, or nobody is served
   */
  private served(): User {
    const { now, gate } = this.host;
    if (this.session === null) throw NOT_LOGGED_IN;
    const user = this.session.check(now());
    if (user instanceof QueryError) {
      this.isLoginOver = true;
      throw user;
    }
    const refused = gate.stale ?? gate.refusal;
    if (refused !== null) throw refused;
    if (gate.isQueueFull) throw QUEUE_FULL;
    return user;
  }

  private answer(id: number, reply: Extract<Reply, { ok: true }>, tellsOutcome: boolean): void {
    const result = typeof reply.result === 'string' ? Buffer.from(reply.result) : reply.result;
    if (result.length >= LONG_ANSWER) {
      if (!this.host.gate.memory.tryTake(result.length)) {
        this.fail(id, ANSWERS_FULL, tellsOutcome ? (reply.outcome ?? 'none') : null);
        return;
      }
      this.lent += result.length;
    }
    this.send(PackageType.DATA, id, result);
    this.giveBack();
  }

  private fail(id: number, error: QueryError, outcome: ChangeOutcome | null = null): void {
    this.send(PackageType.ERROR, id, errorData(error, outcome));
  }

  private send(type: number, id: number, data: Uint8Array | null): void {
    if (!this.closed) this.outgoing.answer(type, id, data);
  }
}

const BEARER = 'Bearer ';

const LOGIN_ERRORS: Readonly<Record<Exclude<Login['kind'], 'user'>, QueryError>> = {
  refused: WRONG_CREDENTIALS,
  unsure: UNSURE,
  busy: TOO_MANY_LOGINS,
};

/** Whether a type of package is carried out in its turn. Others are answered at once, or passed over. */
function isRequest(type: number): boolean {
  return (
    type === PackageType.AUTH ||
    type === PackageType.QUERY ||
    type === PackageType.RUN ||
    (type >= PackageType.JOIN && type <= PackageType.EMIT_PEER)
  );
}
