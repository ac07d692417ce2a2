/**
 * One connection of the native protocol, whichever way its packages come.
 *
 * Requests are carried out one after the other, in the order in which they came: each sees what those before
 * it changed. PING alone is answered at once. What waits for its turn is bounded, and so is what waits to be
 * sent: nothing more is read from a client that sends faster than it is served, or does not read.
 */
import { QueryError, type User } from '@althing/engine';
import { networkOf } from '../../base/network-of.js';
import type { Listener } from '../../events/listener.js';
import {
  type ChangeOutcome,
  type Client,
  LogTexts,
  type ProgramRequest,
  type Reply,
} from '../../groups/request.js';
import { Session } from '../auth/session.js';
import { BODIES_FULL, INTERNAL, LEAVING, QUEUE_FULL } from '../http/refusals.js';
import { statusOf } from '../http/reply.js';
import type { Bytes } from '../limits/byte-budget.js';
import {
  ANSWERS_FULL,
  errorData,
  LOGIN_ERRORS,
  NOT_LOGGED_IN,
  packageTooLarge,
  strangerTooLarge,
  WarnCode,
  warnData,
} from './answers.js';
import { type ConnectionHost, UNSENT_EVENTS_MAX } from './connection-host.js';
import { ConnectionFeeds } from './feed-requests.js';
import { judgeLogin } from './login.js';
import type { Ending } from './native-counts.js';
import { Outgoing } from './outgoing.js';
import { type Header, isRequest, PackageType } from './package.js';
import type { PackageSink, Taking } from './package-reader.js';
import { assertNode, readRequest } from './requests.js';
import { sendRoomRequest } from './room-requests.js';
import { UNSENT_MAX } from './socket-wire.js';
import { WaitingPackages } from './waiting-packages.js';
import type { Wire } from './wire.js';

/** Bytes of a package before the connection is logged in. */
export const STRANGER_BYTES_MAX = 64 * 1024;

/** Packages of at least so many bytes take time to read that counts, and are not copied to wait. */
const LONG_PACKAGE = 16 * 1024;

/** Packages from this size on wait for their turn to be read. */
const LARGE_PACKAGE = 64 * 1024;

export class Connection implements PackageSink, Client, Listener {
  /** Unique among all connections that this start of the node has had. */
  readonly id: number;
  readonly address: string;
  private readonly outgoing: Outgoing;
  private readonly feeds: ConnectionFeeds;
  private session: Session | null = null;
  private readonly waiting = new WaitingPackages();
  /** True if a request is being carried out. */
  private busy = false;
  /** True if requests are being taken from those that wait. */
  private isAdvancing = false;
  private isPaused = false;
  /** Texts that code logs in the request that is being carried out. */
  private readonly logs = new LogTexts();
  private closed = false;
  /** Set where packages are refused before their end has come. */
  private refused: QueryError | null = null;
  private readonly stranger: Bytes;
  /** True if it ends since a package was too large for who is not logged in. */
  private isTooLarge = false;
  /** True if a request came that the login does not allow any more. */
  private isLoginOver = false;

  /**
   * @param id unique among all connections of this start of the node, and above 0
   * @param loggedIn called when the connection has logged in for the first time
   */
  constructor(
    id: number,
    private readonly host: ConnectionHost,
    private readonly wire: Wire,
    private readonly loggedIn: () => void,
  ) {
    this.id = id;
    this.address = wire.address;
    this.outgoing = new Outgoing(wire, host, () => this.drained());
    this.feeds = new ConnectionFeeds(host, {
      tell: (type, data) => this.tell(type, data),
      unsent: () => this.outgoing.unsent,
    });
    this.stranger = host.gate.strangers.shareOf(networkOf(wire.address));
  }

  /** True if nobody waits for answers any more. */
  get gone(): boolean {
    return this.closed;
  }

  /** The user that it is logged in as; 0 for nobody. */
  get userId(): number {
    return this.session?.userId ?? 0;
  }

  /** Requests that are not answered yet. */
  get requests(): number {
    return (this.busy ? 1 : 0) + this.waiting.length;
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

  received(bytes: number): void {
    this.host.counts.bytes.received += bytes;
  }

  /** Nothing more is read, and the connection ends. */
  unreadable(): void {
    this.host.counts.ended[this.isTooLarge ? 'too_large' : 'malformed'] += 1;
  }

  skipped(header: Header): void {
    this.host.counts.came(header.type);
    const { refused } = this;
    this.refused = null;
    if (refused === null) this.answerSimple(header);
    else if (isRequest(header.type)) this.fail(header.id, refused);
  }

  full(_header: Header): void {
    this.refused = BODIES_FULL;
  }

  take(header: Header, data: Buffer): void {
    if (this.closed) return;
    this.host.counts.came(header.type);
    const mustWait = this.busy || this.waiting.length > 0 || this.outgoing.unsent > UNSENT_MAX;
    if (mustWait) this.wait(header, data);
    else this.begin(header, data);
  }

  /** All bytes that waited were sent. */
  drained(): void {
    this.outgoing.giveBack();
    this.feeds.drained();
    this.advance();
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    if (this.session !== null) this.host.counts.loggedIn[this.wire.transport] -= 1;
    this.outgoing.close();
    this.host.rooms.end(this);
    this.feeds.close();
    this.waiting.clear();
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
    if (this.outgoing.unsent > (this.host.unsentEventsMax ?? UNSENT_EVENTS_MAX)) {
      this.giveUp('unread', 'events of rooms come faster than this connection reads them');
      return;
    }
    this.outgoing.event(type, data);
  }

  /** Sends an event; false where nobody is logged in any more. */
  private tell(type: number, data: Uint8Array): boolean {
    const { session, closed, host } = this;
    if (closed || session === null || session.check(host.now()) instanceof QueryError) return false;
    this.outgoing.event(type, data);
    return true;
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

  /**
   * Ends the connection.
   *
   * @param why told to a client that still reads; null where an answer says it
   */
  private giveUp(reason: Ending, why: string | null): void {
    if (this.closed) return;
    this.host.counts.ended[reason] += 1;
    if (why !== null && this.session !== null)
      this.outgoing.event(
        PackageType.WARN,
        warnData(WarnCode.CONNECTION, `the connection is closed: ${why}`),
      );
    this.end();
    this.close();
  }

  private wait(header: Header, data: Buffer): void {
    const refused = this.waiting.add(header, data, this.memory);
    if (refused !== null) this.fail(header.id, refused);
    else if (this.waiting.isEnough) this.pause();
  }

  private pause(): void {
    if (this.isPaused) return;
    this.isPaused = true;
    this.wire.pause();
  }

  /** Carries out what waits, as far as that is possible now. */
  private advance(): void {
    if (this.isAdvancing) return;
    this.isAdvancing = true;
    while (!this.busy && !this.closed && this.outgoing.unsent <= UNSENT_MAX) {
      const next = this.waiting.shift();
      if (next === undefined) break;
      this.begin(next.header, next.data);
    }
    this.isAdvancing = false;
    if (!this.isPaused || this.closed || !this.waiting.isFew || this.outgoing.unsent > UNSENT_MAX) return;
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
    if (this.outgoing.unsent > UNSENT_MAX) this.pause();
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
      // Clients log in when they connect, and not when a login has ended.
      if (this.isLoginOver) this.giveUp('login_ended', null);
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
    if (!this.host.readsLater(session.userId, data.length, carryOut)) carryOut();
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
      if (error instanceof QueryError) this.host.figures.refused(null, error, statusOf(error));
      else this.host.onDefect(error);
      fail(error instanceof QueryError ? error : INTERNAL);
    }
  }

  private logIn(id: number, data: Buffer, done: () => boolean, fail: (error: QueryError) => void): void {
    judgeLogin(this.host, this.wire, { data, isFirst: this.session === null }, (login, authorization) => {
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
    });
  }

  private enter(user: User, authorization: string): void {
    const before = this.session;
    this.session = Session.of(this.host.root, user, authorization);
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
    const begun = data.length > LONG_PACKAGE ? host.clock.now() : 0;
    const type = header.type === PackageType.RUN ? 'run' : 'query';
    const { scope, body, options } = readRequest(data, type, host.nestingMax, host.root.level);
    assertNode(scope, host.root);
    const request: ProgramRequest = {
      scope,
      user,
      body,
      readMs: begun === 0 ? 0 : host.clock.now() - begun,
      format: 'msgpack',
      client: this,
      terms: this.session?.termsFor(options?.terms ?? null) ?? null,
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

  /** JOIN, LEAVE, EMIT, EMIT_PEER and CHANGES. */
  private requestRooms(
    { type, id }: Header,
    data: Buffer,
    done: () => boolean,
    fail: (error: QueryError) => void,
  ): void {
    const { rooms, gate, ids } = this.host;
    const user = this.served();
    if (gate.isLeaving) throw LEAVING;
    const isAnsweredOk = type !== PackageType.JOIN && type !== PackageType.LEAVE;
    const respond = (reply: Reply): void => {
      if (!reply.ok) {
        fail(reply.error);
        return;
      }
      if (!done()) return;
      if (isAnsweredOk) this.send(PackageType.OK, id, null);
      else this.answer(id, reply, false);
      if (type !== PackageType.JOIN) {
        this.advance();
        return;
      }
      // The events of a JOIN follow its answer, and come before what the next request brings.
      this.outgoing.holdEvents();
      queueMicrotask(() => this.advance());
    };
    if (type === PackageType.CHANGES) this.feeds.take(data, user, respond);
    else sendRoomRequest(rooms, { type, data, user, connection: this, id: ids.idOf(null) }, respond);
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
    if (!this.outgoing.tryLend(result.length)) {
      this.fail(id, ANSWERS_FULL, tellsOutcome ? (reply.outcome ?? 'none') : null);
      return;
    }
    this.send(PackageType.DATA, id, result);
    this.outgoing.giveBack();
  }

  private fail(id: number, error: QueryError, outcome: ChangeOutcome | null = null): void {
    this.send(PackageType.ERROR, id, errorData(error, outcome));
  }

  private send(type: number, id: number, data: Uint8Array | null): void {
    if (!this.closed) this.outgoing.answer(type, id, data);
  }
}
