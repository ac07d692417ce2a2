/**
 * Request sessions of one kind: what a group remembers of each node that forwards requests, of each client that numbers its requests, or
 * of each key. A session belongs to an owner (the node, or a user) and has a name; it holds the results of those requests that may come
 * again. Ages are milliseconds of the group's log time.
 *
 * Sessions stand in the order of their last changes. The oldest are forgotten when they are out of date; where there is no room, they give
 * way once they are not young any more, and new requests are refused before that.
 */
import { getOrInsertComputed } from '@althing/engine';
import { NumberTable } from '../base/number-table.js';
import type { BodyHash } from './body-hash.js';
import { TOO_LARGE } from './kept-reply.js';
import type { RecordNumbers } from './record-numbers.js';

export interface SessionLimits {
  readonly sessionsMax: number;
  /** Bytes of all sessions. */
  readonly bytesMax: number;
  /** Bytes of one session from which on only the fact is kept that a request was carried out. */
  readonly sessionBytesMax: number;
  /** Age after its last change up to which a session never gives way to others, in milliseconds. */
  readonly youngMs: number;
  /** Age after its last change at which a session is forgotten, in milliseconds. */
  readonly ageMaxMs: number;
  /** Bytes that count for each session besides its name, and for each result besides the answer. */
  readonly sessionBytes: number;
  readonly resultBytes: number;
}

/** The part of each limit that one user may take, so that no user keeps the others out. */
const USER_SHARE = 0.5;

/** Numbers that are looked up one by one, without a list of those that are there: mostly a client's low watermark rises by one or two. */
const FEW = 8;

/** The shortage for which a new request is refused. */
export type Shortage = 'sessions' | 'bytes';

export interface Result {
  /** Hash of the request's body. */
  readonly body: BodyHash;
  readonly reply: Uint8Array;
  /** Bytes that count for it: who forgets it need not look at the answer, which has long left the processor's caches. */
  readonly bytes: number;
}

/** Sessions that are young, and their bytes. */
interface Share {
  sessions: number;
  bytes: number;
}

/** The results of a session, by sequence. */
type Results = Pick<NumberTable<Result>, 'get' | 'set' | 'take' | 'entries' | 'keysBetween'>;

interface Owner {
  readonly id: number;
  readonly sessions: Map<string, Session>;
  readonly young: Share;
}

export interface Session {
  readonly owner: Owner;
  readonly name: string;
  /** Number of the node's start; 0 for others. */
  readonly incarnation: number;
  /** Requests with smaller sequences are answered, and will not be sent again. */
  low: number;
  /** Age of the table at the last change. */
  age: number;
  /** Number of its record, another one after each change. */
  number: number;
  /** Records that it takes on the disk. */
  parts: number;
  bytes: number;
  isYoung: boolean;
  readonly results: Results;
  older: Session | null;
  newer: Session | null;
}

export class RequestSessions {
  private readonly owners = new Map<number, Owner>();
  private oldest: Session | null = null;
  private newest: Session | null = null;
  /** The oldest of the young ones; those behind it are young, too. */
  private oldestYoung: Session | null = null;
  private readonly young: Share = { sessions: 0, bytes: 0 };
  private bytes = 0;
  size = 0;

  constructor(
    private readonly limits: SessionLimits,
    private readonly numbers: RecordNumbers,
    private readonly makeResults: () => Results = () => new NumberTable(),
  ) {}

  find(owner: number, name: string): Session | undefined {
    const { newest } = this;
    if (newest !== null && newest.name === name && newest.owner.id === owner) return newest;
    return this.owners.get(owner)?.sessions.get(name);
  }

  /** The sessions whose records have a number or a higher one, in order. */
  since(number: number): Session[] {
    const found: Session[] = [];
    for (let session = this.newest; session !== null && session.number >= number; session = session.older) {
      found.push(session);
    }
    return found.reverse();
  }

  /**
   * The shortage that a new request meets at an age; null when there is room.
   *
   * @param before its age at the last entry
   * @param elapsed milliseconds since then; asked for where there may be no room, since those that are not young any more count until then
   */
  shortage(owner: number, name: string, before: number, elapsed: () => number): Shortage | null {
    if (this.shortageNow(owner, name) === null) return null;
    this.grownUp(before + elapsed() - this.limits.youngMs);
    return this.shortageNow(owner, name);
  }

  private shortageNow(owner: number, name: string): Shortage | null {
    const { sessionsMax, bytesMax } = this.limits;
    const { young } = this;
    const known = this.find(owner, name);
    const own = known?.owner ?? this.owners.get(owner);
    if (young.bytes >= bytesMax || (own?.young.bytes ?? 0) >= USER_SHARE * bytesMax) return 'bytes';
    if (known !== undefined) return null;
    const isFull = young.sessions >= sessionsMax || (own?.young.sessions ?? 0) >= USER_SHARE * sessionsMax;
    return isFull ? 'sessions' : null;
  }

  /**
   * The session to which a request belongs that was carried out, as the one that changed last; it begins anew with a later start of a node.
   *
   * @param age never falls
   * @returns null for a request of an earlier start
   */
  touch(owner: number, name: string, incarnation: number, low: number, age: number): Session | null {
    const known = this.find(owner, name);
    if (known === undefined || incarnation > known.incarnation) {
      if (known !== undefined) this.drop(known);
      return this.add(owner, name, { incarnation, low, age, number: this.numbers.take() });
    }
    if (incarnation < known.incarnation) return null;
    this.numbers.leave(known);
    known.number = this.numbers.take();
    if (known === this.newest && known.isYoung) known.age = age;
    else {
      this.unlink(known);
      known.age = age;
      this.link(known);
    }
    if (low > known.low) this.forgetBelow(known, low);
    return known;
  }

  /** Keeps the result of a request, if it may come again. */
  keep(session: Session, sequence: number, body: BodyHash, reply: Uint8Array): void {
    if (sequence < session.low) return;
    const { sessionBytesMax } = this.limits;
    this.forget(session, sequence);
    const isTooMuch = session.bytes + reply.length > sessionBytesMax;
    this.load(session, sequence, body, isTooMuch ? TOO_LARGE : reply);
  }

  /** Keeps a result as it was kept before. */
  load(session: Session, sequence: number, body: BodyHash, reply: Uint8Array): void {
    const bytes = this.limits.resultBytes + reply.length;
    session.results.set(sequence, { body, reply, bytes });
    this.grow(session, bytes);
  }

  /** Lets old sessions give way as long as there is not enough room. */
  makeRoom(age: number): void {
    const { sessionsMax, bytesMax, youngMs } = this.limits;
    while (this.size > sessionsMax || this.bytes > bytesMax) if (!this.dropOldest(age - youngMs)) return;
  }

  /** Forgets sessions that are out of date. */
  sweep(age: number): void {
    while (this.dropOldest(age - this.limits.ageMaxMs));
  }

  /** A session that is new here; it stands behind those that are as old, or older. */
  add(
    ownerId: number,
    name: string,
    start: Pick<Session, 'incarnation' | 'low' | 'age' | 'number'>,
  ): Session {
    const owner = getOrInsertComputed(this.owners, ownerId, () => ({
      id: ownerId,
      sessions: new Map(),
      young: { sessions: 0, bytes: 0 },
    }));
    const { incarnation, low, age, number } = start;
    const session: Session = {
      owner,
      name,
      incarnation,
      low,
      age,
      number,
      parts: 1,
      bytes: 0,
      isYoung: false,
      results: this.makeResults(),
      older: null,
      newer: null,
    };
    owner.sessions.set(name, session);
    this.size += 1;
    this.link(session);
    this.grow(session, this.limits.sessionBytes + name.length);
    return session;
  }

  drop(session: Session): void {
    const { owner, name } = session;
    this.unlink(session);
    owner.sessions.delete(name);
    if (owner.sessions.size === 0) this.owners.delete(owner.id);
    this.size -= 1;
    this.bytes -= session.bytes;
    this.numbers.leave(session);
  }

  /** @returns false when the oldest one changed at an age or later, and stays */
  private dropOldest(age: number): boolean {
    const { oldest } = this;
    if (oldest === null || oldest.age >= age) return false;
    this.drop(oldest);
    return true;
  }

  /** Sessions that changed before an age are young no more. */
  private grownUp(age: number): void {
    while (this.oldestYoung !== null && this.oldestYoung.age < age) {
      const session = this.oldestYoung;
      this.countYoung(session, -1, -session.bytes);
      session.isYoung = false;
      this.oldestYoung = session.newer;
    }
  }

  private forget(session: Session, sequence: number): void {
    const result = session.results.take(sequence);
    if (result !== undefined) this.grow(session, -result.bytes);
  }

  private forgetBelow(session: Session, low: number): void {
    const { low: from, results } = session;
    if (low - from <= FEW)
      for (let sequence = from; sequence < low; sequence++) this.forget(session, sequence);
    else for (const sequence of results.keysBetween(from, low)) this.forget(session, sequence);
    session.low = low;
  }

  private grow(session: Session, bytes: number): void {
    session.bytes += bytes;
    this.bytes += bytes;
    if (session.isYoung) this.countYoung(session, 0, bytes);
  }

  private countYoung({ owner }: Session, sessions: number, bytes: number): void {
    owner.young.sessions += sessions;
    owner.young.bytes += bytes;
    this.young.sessions += sessions;
    this.young.bytes += bytes;
  }

  /** Puts a session, which counts as young, behind those that are as old as it is, or older. */
  private link(session: Session): void {
    let older = this.newest;
    while (older !== null && older.age > session.age) older = older.older;
    const newer = older === null ? this.oldest : older.newer;
    session.older = older;
    session.newer = newer;
    if (older === null) this.oldest = session;
    else older.newer = session;
    if (newer === null) this.newest = session;
    else newer.older = session;
    if (this.oldestYoung === newer) this.oldestYoung = session;
    session.isYoung = true;
    this.countYoung(session, 1, session.bytes);
  }

  /** A session that is gone points to no other one: it would keep those from being collected. */
  private unlink(session: Session): void {
    const { older, newer } = session;
    if (older === null) this.oldest = newer;
    else older.newer = newer;
    if (newer === null) this.newest = older;
    else newer.older = older;
    if (this.oldestYoung === session) this.oldestYoung = newer;
    session.older = null;
    session.newer = null;
    if (session.isYoung) this.countYoung(session, -1, -session.bytes);
  }
}

/** The results of a session of one request, whose sequence is 0: a table for it would take four times the room of the session. */
export class SingleResult implements Results {
  private result: Result | undefined;

  get(): Result | undefined {
    return this.result;
  }

  set(_sequence: number, result: Result): void {
    this.result = result;
  }

  take(): Result | undefined {
    const { result } = this;
    this.result = undefined;
    return result;
  }

  entries(): [number, Result][] {
    return this.result === undefined ? [] : [[0, this.result]];
  }

  keysBetween(): number[] {
    return [];
  }
}
