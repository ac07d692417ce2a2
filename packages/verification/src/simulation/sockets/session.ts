/**
 * The client's end of a session of the native protocol: requests, answers, events. It holds the node to what the protocol says of their
 * order: answers come in that of the requests, the events of a JOIN behind its answer, that of a LEAVE before it, and nothing of a room
 * where it is not; and the node ends no session without a word (I19).
 */
import {
  decodeMessagePack,
  encodeMessagePack,
  encodePackage,
  isWireMap,
  type Package,
  PackageDecoder,
  PackageType,
  type WireValue,
} from '@althing/client';
import type { Hearing, RoomWitness } from '../room-witness.js';
import type { PipeEnd } from './pipe.js';

/** The answer to a request: a value, nil for one without, or an error. */
export type Answer =
  | { readonly ok: true; readonly value: WireValue }
  | { readonly ok: false; readonly code: number; readonly message: string; readonly outcome: string | null };

/** Takes the answer to a request; null when the session ended before it came. */
export type Answered = (answer: Answer | null) => void;

interface Waiting {
  readonly id: number;
  readonly type: number;
  readonly scope: string;
  readonly done: Answered;
}

/** The client's end of a connection. */
export interface SessionConnection {
  send(bytes: Uint8Array): void;
  /** Closes it in order. */
  close(): void;
  /**
   * Loses it, with what is on its way.
   *
   * @param noticedMs after which the node notices
   */
  sever(noticedMs: number): void;
}

/** The run that a session takes part in. */
export interface SessionRun {
  readonly witness: RoomWitness;
  /** The time of the history, in milliseconds. */
  readonly now: () => number;
  /** Something is wrong, by the invariant of sessions if not by another one. */
  readonly onProblem: (text: string, invariant?: 'I18' | 'I19') => void;
  readonly onReached: (place: string) => void;
}

/** Codes of WARN: what the node has to say of the connection. */
const WARN_CONNECTION = 1;

/** Ids of pings are above those of requests. */
const PINGS_FROM = 40_000;

export class Session {
  /** Events that it hears, by the scope of the room: one of each is named in this protocol's events. */
  readonly hearings = new Map<string, Hearing>();
  /** The tags of events that it sent to all others. */
  readonly own = new Set<string>();
  /** True if the node asked it to go elsewhere. */
  isLeaving = false;
  /** True if it is over. */
  isOver = false;
  /** The connection that carries it; to be set before anything is sent. */
  connection: SessionConnection | null = null;
  private readonly decoder = new PackageDecoder();
  private readonly waiting: Waiting[] = [];
  private readonly pings = new Map<number, Answered>();
  /** When joins were answered whose event did not come yet, by scope. */
  private readonly joining = new Map<string, number>();
  private lastId = 0;
  private lastPing = PINGS_FROM;
  private isLoggedIn = false;
  /** True if the node told why it ends the connection. */
  private isWarned = false;

  /** @param who the session, in words */
  constructor(
    readonly who: string,
    private readonly run: SessionRun,
  ) {}

  /** True if requests are not answered. */
  get isBusy(): boolean {
    return this.waiting.length > 0 || this.pings.size > 0;
  }

  /** True if the node has said that it ends the session. */
  get isTold(): boolean {
    return this.isLeaving || this.isWarned;
  }

  /** Sends a request: an array that begins with a scope, or what AUTH takes, which may be a token. */
  ask(type: number, data: readonly WireValue[] | string, done: Answered): void {
    if (this.isOver) return done(null);
    this.lastId = (this.lastId + 1) % PINGS_FROM;
    const id = this.lastId;
    this.waiting.push({ id, type, scope: String(data[0]), done });
    this.connection?.send(encodePackage(type, id, encodeMessagePack(data)));
  }

  /** It is answered at once, whatever waits. */
  ping(done: Answered): void {
    if (this.isOver) return done(null);
    const id = this.lastPing++;
    this.pings.set(id, done);
    this.connection?.send(encodePackage(PackageType.PING, id));
  }

  received(bytes: Uint8Array): void {
    if (this.isOver) return;
    try {
      for (const each of this.decoder.push(bytes)) if (!this.isOver) this.take(each);
    } catch (error) {
      this.run.onProblem(`${this.who} got what is no package: ${String(error)}`);
    }
  }

  ended(how: PipeEnd): void {
    if (this.isOver) return;
    this.over();
    // A client that is not logged in is told nothing.
    if (how === 'end' && this.isLoggedIn && !this.isTold)
      this.run.onProblem(`${this.who} was ended without a word`);
  }

  /** The client gives it up: in order, or as a connection that is lost, which the node notices after a while. */
  giveUp(noticedMs: number | null): void {
    if (this.isOver) return;
    this.isOver = true;
    if (noticedMs === null) this.connection?.close();
    else this.connection?.sever(noticedMs);
    this.isOver = false;
    this.over();
  }

  private over(): void {
    this.isOver = true;
    for (const hearing of this.hearings.values()) this.run.witness.leave(hearing);
    const open = [...this.waiting.splice(0).map(({ done }) => done), ...this.pings.values()];
    this.pings.clear();
    for (const done of open) done(null);
  }

  private take({ type, id, data }: Package): void {
    if (type < PackageType.PONG) return this.hear(type, data);
    const answer = answerOf(type, data);
    if (type === PackageType.PONG) {
      const done = this.pings.get(id);
      this.pings.delete(id);
      if (done === undefined) this.run.onProblem(`${this.who} got a PONG that answers no ping`);
      return done?.(answer);
    }
    const waiting = this.waiting.shift();
    if (waiting?.id !== id) {
      this.run.onProblem(`${this.who} got the answer to request ${id} before that to ${waiting?.id}`);
      return;
    }
    if (answer.ok && waiting.type === PackageType.AUTH) this.isLoggedIn = true;
    if (answer.ok && waiting.type === PackageType.JOIN && hasJoined(answer.value))
      this.joining.set(waiting.scope, this.run.now());
    if (answer.ok && waiting.type === PackageType.LEAVE && this.hearings.get(waiting.scope)?.isOver === false)
      this.run.onProblem(`${this.who} got the answer to LEAVE before the event`);
    waiting.done(answer);
  }

  private hear(type: number, data: Uint8Array): void {
    const event = decodeMessagePack(data);
    const { onProblem, onReached } = this.run;
    if (!isWireMap(event)) return onProblem(`${this.who} got an event that is no map`);
    if (type === PackageType.WARN) {
      if (event.get('warn_code') !== BigInt(WARN_CONNECTION)) return;
      this.isWarned = true;
      onReached(
        `a session is warned: ${String(event.get('warn_msg')).replace(/@collection:\w+/, 'a collection')}`,
      );
    } else if (type === PackageType.NODE_STATUS) {
      if (event.get('status') === 'SHUTTING_DOWN') this.isLeaving = true;
    } else this.hearOfRoom(type, String(event.get('scope')), event);
  }

  private hearOfRoom(type: number, scope: string, event: ReadonlyMap<string, WireValue>): void {
    const { who } = this;
    const { witness, onProblem, onReached } = this.run;
    const hearing = this.hearings.get(scope);
    if (type === PackageType.ROOM_JOIN) {
      const joinedAt = this.joining.get(scope);
      this.joining.delete(scope);
      if (joinedAt === undefined)
        return onProblem(`${who} got the event of a join before its answer, or again`);
      if (hearing?.isOver === false) return onProblem(`${who} joined ${scope} twice`);
      this.hearings.set(scope, witness.join(scope, who, joinedAt, this.own));
      return;
    }
    if (hearing === undefined || hearing.isOver)
      return onProblem(`${who} heard of ${scope}, where it is not: ${type}`);
    if (type === PackageType.ROOM_EMIT) {
      onReached('a session heard an event');
      const problem = witness.hear(hearing, heardIn(event));
      if (problem !== null) onProblem(problem);
    } else {
      onReached(
        type === PackageType.ROOM_DELETE
          ? 'a session is told that its room is gone'
          : 'a session leaves a room',
      );
      witness.leave(hearing);
    }
  }
}

/** The tag of an event, and the number that it tells: see the room of the counter in `workload.ts`. */
function heardIn(event: ReadonlyMap<string, WireValue>): {
  readonly tag: string;
  readonly number: number | null;
} {
  const args = event.get('args');
  const all: readonly WireValue[] = Array.isArray(args) ? args : [];
  const isNumber = event.get('event') === 'n';
  return { tag: String(all.at(-1)), number: isNumber ? Number(all[0]) : null };
}

function answerOf(type: number, data: Uint8Array): Answer {
  const value = data.length === 0 ? null : decodeMessagePack(data);
  if (type !== PackageType.ERROR) return { ok: true, value };
  const error = isWireMap(value) ? value : new Map<string, WireValue>();
  const outcome = error.get('outcome');
  return {
    ok: false,
    code: Number(error.get('error_code')),
    message: String(error.get('error_msg')),
    outcome: typeof outcome === 'string' ? outcome : null,
  };
}

/** True if an answer to JOIN names a room. */
export function hasJoined(value: WireValue): boolean {
  return Array.isArray(value) && value[0] !== null;
}
