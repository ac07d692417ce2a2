/**
 * Clients of the native protocol, over TCP and over WebSockets, each with one session at a time, at whatever node is up: they ask, run
 * procedures, are in the room of the collection and tell others what happens there. Whatever ends a session, its client goes to another node, repeats there what has a
 * name and was not answered, and joins again. What they did stands in the history of all; what they hear is held against what all
 * others hear. A session that a node ends which is stopped in order was told so.
 */
import { setTimeout as pause } from 'node:timers/promises';
import {
  isWireList,
  isWireMap,
  PackageType,
  SocketClient,
  SocketError,
  type SocketEvent,
  type SocketOptions,
  WebSocketChannel,
  type WireValue,
} from '@althing/client';
import { within } from '@althing/node/testing';
import type { Action, Operation, Outcome } from '../simulation/history.js';
import type { Draw } from '../simulation/random.js';
import { type Hearing, RoomWitness } from '../simulation/room-witness.js';
import { plain } from '../simulation/sockets/answers.js';
import { heardIn } from '../simulation/sockets/session.js';
import { codeOf, drawAction, ROOM, roomOf } from '../simulation/workload.js';
import type { Final, Recorder } from './record.js';
import type { Endpoint } from './requests.js';

/** A node as these clients see it. */
export interface SocketPlace {
  readonly name: string;
  readonly isUp: boolean;
  /** The API, which WebSockets go to. */
  readonly endpoint: Endpoint;
  readonly socketEndpoint: Endpoint;
  /** When it was stopped in order, and ended in order. */
  readonly drains: readonly { readonly begin: number; readonly end: number }[];
}

export interface SocketClientsOptions {
  readonly places: readonly SocketPlace[];
  readonly token: () => string;
  /** The collection in use; empty for none. */
  readonly collection: () => string;
  /** The number of the next operation. */
  readonly nextId: () => number;
  readonly recorder: Pick<Recorder, 'operation' | 'finding' | 'operations'>;
  readonly draw: Draw;
}

/** Mean time between two things that a client does, and until it connects again, in milliseconds. */
const CLIENT_MS = 25;
const AGAIN_MS = 100;
/** Longer than a node lets a request wait. */
const ANSWER_MS = 8000;
/** Milliseconds that the last event may be on its way when all nodes have it. */
const LAST_MS = 15_000;
const ATTEMPTS_MAX = 4;
/** Numbers of these clients, beside those of others. */
const CLIENTS_FROM = 1000;
/** An answer waits so long at most for the events of its change. */
const EVENTS_WAIT_MS = 2000;
/** Milliseconds that the end of a session may be on its way. */
const END_MS = 2000;

/** A request that is being made, and has a name to be repeated by. */
interface Open {
  readonly operation: Operation;
  readonly options: SocketOptions;
  attempts: number;
}

/** One session of one client. */
interface Session {
  readonly socket: SocketClient;
  readonly place: SocketPlace;
  readonly who: string;
  /** Since when it is logged in. */
  since: number;
  endedAt: number | null;
  /** True if the node said that it ends it. */
  isTold: boolean;
  /** True if its client ended it. */
  isGivenUp: boolean;
  readonly hearings: Map<string, Hearing>;
  /** The tags of events that it sent to all others. */
  readonly own: Set<string>;
}

export class SocketClients {
  private readonly witness = new RoomWitness();
  private readonly sessions: Session[] = [];
  private work: Promise<unknown> = Promise.resolve();
  private isResting = false;
  private isStopped = false;
  private emits = 0;

  constructor(private readonly options: SocketClientsOptions) {}

  /** Their acts, in words. */
  get summary(): string {
    const drained = this.sessions.filter(({ isTold }) => isTold).length;
    return (
      `${this.sessions.length} sessions over sockets, of which ${drained} were told that their node ends them, ` +
      `told ${this.emits} events and heard ${this.witness.events}`
    );
  }

  /** Sessions that have not ended. */
  get open(): number {
    return this.sessions.filter(({ endedAt }) => endedAt === null).length;
  }

  start(clients: number): void {
    this.work = Promise.all(Array.from({ length: clients }, (_, client) => this.run(client)));
  }

  /** They ask nothing new, and go on to listen. */
  async rest(): Promise<void> {
    this.isResting = true;
    await this.work;
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    for (const session of this.sessions) giveUp(session);
    await this.work;
  }

  /** Looks at what was heard when nothing changes any more, and at how sessions ended. */
  async check(finals: readonly Final[], lastMs = LAST_MS): Promise<void> {
    const { recorder } = this.options;
    const found = this.witness.judge(recorder.operations, roomOf);
    for (const problem of [...found, ...this.untold()]) recorder.finding(problem);
    const counters = new Map(finals.map(({ collection, data }) => [collection, counterIn(data)]));
    const end = performance.now() + lastMs;
    for (;;) {
      const problems = [...counters].flatMap(([name, counter]) =>
        this.witness.problems(roomOf(name), counter),
      );
      if (problems.length > 0 && performance.now() < end) await pause(AGAIN_MS);
      else {
        for (const problem of problems) recorder.finding(problem);
        return;
      }
    }
  }

  /** Sessions that ended when their node was stopped in order, and that it did not tell so. */
  private untold(): string[] {
    return this.sessions.flatMap(({ place, who, since, endedAt, isTold, isGivenUp }) => {
      if (endedAt === null || isTold || isGivenUp) return [];
      const isDrained = place.drains.some(
        ({ begin, end }) => since < begin && endedAt > begin && endedAt <= end,
      );
      return isDrained ? [`${who} was ended by a node that was stopped, and was not told so`] : [];
    });
  }

  private async run(client: number): Promise<void> {
    const open: Open[] = [];
    for (let number = 1; !this.isOver; number++) {
      try {
        await this.live(client, `session ${client}-${number}`, open);
      } catch {
        // Nodes end, sleep and lose their connections: the next one will do.
      }
      if (!this.isOver) await pause(AGAIN_MS);
    }
    for (const each of open) this.end(each.operation, { outcome: 'unknown' });
  }

  private get isOver(): boolean {
    return this.isResting || this.isStopped;
  }

  /** One session, from its connection to its end; a client that rests leaves it open. */
  private async live(client: number, name: string, open: Open[]): Promise<void> {
    const { places, collection: current, token, draw } = this.options;
    const up = places.filter(({ isUp }) => isUp);
    if (up.length === 0) return;
    const place = draw.pick(up);
    const socket = await connected(place, draw.chance(0.5));
    const hearings = new Map<string, Hearing>();
    const who = `${name} at ${place.name}`;
    const begun = {
      socket,
      place,
      who,
      hearings,
      endedAt: null,
      isTold: false,
      isGivenUp: false,
      own: new Set<string>(),
    };
    const session: Session = { ...begun, since: Number.POSITIVE_INFINITY };
    this.sessions.push(session);
    socket.onEvent = (event) => this.hear(session, event);
    socket.ended.then(() => {
      session.endedAt = performance.now();
      for (const hearing of hearings.values()) this.witness.leave(hearing);
    });
    try {
      await within(socket.login(token()), 'an answer to AUTH', ANSWER_MS);
      session.since = performance.now();
      let joined = '';
      while (session.endedAt === null && !session.isTold && !this.isOver) {
        const collection = current();
        if (joined !== collection) {
          if (joined !== '') await this.leave(session, joined);
          if (await this.join(session, collection)) joined = collection;
        }
        await this.step(client, session, collection, open);
        await pause(draw.exponential(CLIENT_MS));
      }
    } catch (error) {
      // Where the connection has ended, that is noted first.
      await pause(0);
      giveUp(session);
      throw error;
    }
    // One that is told to go has all its answers.
    if (!this.isOver) giveUp(session);
  }

  private async join({ socket }: Session, collection: string): Promise<boolean> {
    const ids = await within(socket.join(roomOf(collection), ROOM), 'an answer to JOIN', ANSWER_MS);
    return isWireList(ids) && ids[0] !== null;
  }

  private async leave({ socket, who, hearings }: Session, collection: string): Promise<void> {
    const scope = roomOf(collection);
    await within(socket.leave(scope, ROOM), 'an answer to LEAVE', ANSWER_MS);
    if (hearings.get(scope)?.isOver === false)
      this.options.recorder.finding(`${who} got the answer to LEAVE before the event`);
  }

  private async step(client: number, session: Session, collection: string, open: Open[]): Promise<void> {
    const { draw } = this.options;
    const again = open.shift();
    if (again !== undefined) return this.attempt(session, again, open);
    const kind = draw.weighted([
      ['operate', 8],
      ['increment', 4],
      ['emit', 4],
      ['emit_to_peers', 0.5],
      ['look', 2],
      ['move', 0.2],
    ] as const);
    if (kind === 'move') return giveUp(session);
    if (kind === 'emit' || kind === 'emit_to_peers')
      return this.emit(session, collection, kind === 'emit_to_peers');
    if (kind === 'look') return this.look(session, collection);
    const { nextId } = this.options;
    const id = nextId();
    const tag = `s${id}`;
    const action: Action =
      kind === 'increment'
        ? { kind, tag }
        : drawAction(draw, () => tag, Math.floor(Date.now() / 1000), false);
    const operation: Operation = {
      id,
      client: CLIENTS_FROM + client,
      collection,
      action,
      node: session.place.name,
      begin: performance.now(),
      end: Number.POSITIVE_INFINITY,
      outcome: 'unknown',
      answer: null,
      index: 0,
      error: '',
    };
    const isNamed = draw.chance(0.5);
    const options: SocketOptions =
      action.kind === 'dry_run'
        ? { dryRun: action.explains ? 'explain' : true }
        : isNamed
          ? { key: `socket ${id}` }
          : {};
    await this.attempt(session, { operation, options, attempts: 0 }, open);
  }

  /** Makes a request, and notes what came of it; one that may be repeated, and has no answer, stays open. */
  private async attempt(session: Session, request: Open, open: Open[]): Promise<void> {
    const { operation, options } = request;
    const { action, collection, id } = operation;
    const scope = roomOf(collection ?? '');
    const hearing = session.hearings.get(scope);
    const sentAt = performance.now();
    request.attempts += 1;
    const isProcedure = action.kind === 'append' && action.lists.join() === 'l3';
    const asked = isProcedure
      ? session.socket.run(scope, 'add', [action.value], options)
      : session.socket.query(scope, codeOf(action, id), null, options);
    try {
      const value = await within(asked, 'an answer', ANSWER_MS);
      if (action.kind === 'increment' && request.attempts === 1)
        this.demandHeard(session, hearing, action.tag, sentAt);
      if (action.kind === 'append_and_fail')
        this.options.recorder.finding(`operation ${id} should have failed`);
      this.end(operation, { outcome: 'ok', answer: plain(value) });
    } catch (error) {
      const known = knownAfter(error);
      if (known.outcome === 'unknown' && options.key !== undefined && request.attempts < ATTEMPTS_MAX) {
        open.push(request);
      } else {
        // A change that an earlier attempt made is not undone by a later one that was refused.
        const isCertain = known.outcome === 'failed' && request.attempts === 1;
        this.end(operation, { ...known, outcome: isCertain ? 'failed' : 'unknown' });
      }
      if (!(error instanceof SocketError)) throw error;
      if (known.outcome !== 'ok') await pause(this.options.draw.exponential(2 * CLIENT_MS));
    }
  }

  private async emit(session: Session, collection: string, toPeers: boolean): Promise<void> {
    const { socket, hearings, own } = session;
    const scope = roomOf(collection);
    const tag = `e${this.options.nextId()}`;
    const hearing = hearings.get(scope);
    const begin = performance.now();
    if (toPeers) own.add(tag);
    this.witness.sent(scope, tag);
    const sent = toPeers ? socket.emitPeer(scope, ROOM, 'chat', tag) : socket.emit(scope, ROOM, 'chat', tag);
    try {
      await within(sent, 'an answer to EMIT', ANSWER_MS);
    } catch (error) {
      // There may be no room yet, and the outcome is not told.
      if (error instanceof SocketError) return;
      throw error;
    }
    this.emits += 1;
    this.witness.acknowledged(scope, tag, begin);
    if (!toPeers) this.demandHeard(session, hearing, tag, begin);
  }

  /** Checks that the state of its node has all that a session heard of. */
  private async look({ socket, who, hearings }: Session, collection: string): Promise<void> {
    const scope = roomOf(collection);
    const heard = hearings.get(scope)?.lastNumber ?? 0;
    const asked = socket.query(scope, '.n;', null, { consistency: 'stale' });
    try {
      const counter = await within(asked, 'an answer', ANSWER_MS);
      if (Number(counter) < heard)
        this.options.recorder.finding(
          `${who} heard ${heard} in ${collection}, where its node counts ${counter}`,
        );
    } catch (error) {
      if (!(error instanceof SocketError)) throw error;
    }
  }

  /** A session hears of what it does itself before it has the answer. */
  private demandHeard(session: Session, hearing: Hearing | undefined, tag: string, sentAt: number): void {
    if (hearing === undefined || hearing.isOver || hearing.heard.has(tag)) return;
    if (performance.now() - sentAt >= EVENTS_WAIT_MS) return;
    // Where a snapshot took the place of the event, the session is ended behind the answer.
    setTimeout(() => {
      if (session.endedAt === null)
        this.options.recorder.finding(`${session.who} had the answer before it heard ${tag}`);
    }, END_MS).unref();
  }

  private hear(session: Session, { type, data }: SocketEvent): void {
    if (!isWireMap(data)) return;
    if (type === PackageType.WARN) session.isTold ||= data.get('warn_code') === WARN_CONNECTION;
    else if (type === PackageType.NODE_STATUS) session.isTold ||= data.get('status') === 'SHUTTING_DOWN';
    else this.hearOfRoom(session, type, String(data.get('scope')), data);
  }

  private hearOfRoom(
    { who, hearings, own }: Session,
    type: number,
    scope: string,
    event: ReadonlyMap<string, WireValue>,
  ): void {
    const { recorder } = this.options;
    const hearing = hearings.get(scope);
    if (type === PackageType.ROOM_JOIN) {
      if (hearing?.isOver === false) recorder.finding(`${who} joined ${scope} twice`);
      hearings.set(scope, this.witness.join(scope, who, performance.now(), own));
    } else if (hearing === undefined || hearing.isOver) {
      recorder.finding(`${who} heard of ${scope}, where it is not: ${type}`);
    } else if (type === PackageType.ROOM_EMIT) {
      const problem = this.witness.hear(hearing, heardIn(event));
      if (problem !== null) recorder.finding(problem);
    } else this.witness.leave(hearing);
  }

  private end(operation: Operation, known: Partial<Operation> & { readonly outcome: Outcome }): void {
    const end = known.outcome === 'unknown' ? Number.POSITIVE_INFINITY : performance.now();
    this.options.recorder.operation({ ...operation, ...known, end });
  }
}

/** The code of WARN for what the node has to say of the connection. */
const WARN_CONNECTION = 1n;

/** The outcome of a request that came to an error. An error that says nothing of it refuses a request that nobody looked at. */
function knownAfter(error: unknown): Pick<Operation, 'outcome' | 'error'> & { readonly isMade?: boolean } {
  if (!(error instanceof SocketError)) return { outcome: 'unknown', error: String(error) };
  const { code, message, outcome } = error;
  const text = `${code} ${outcome ?? ''} ${message}`;
  if (outcome === null || outcome === 'none') return { outcome: 'failed', error: text };
  return { outcome: 'unknown', error: text, ...(outcome === 'made' ? { isMade: true } : {}) };
}

/** A connection; one that comes too late is closed. */
function connected({ endpoint, socketEndpoint }: SocketPlace, isWebSocket: boolean): Promise<SocketClient> {
  const connecting = isWebSocket
    ? WebSocketChannel.open(endpoint, '/@ws').then((channel) => new SocketClient(channel))
    : SocketClient.connect(socketEndpoint);
  return within(connecting, 'a connection', ANSWER_MS).catch((error: unknown) => {
    connecting.then(
      (late) => late.close(),
      () => {},
    );
    throw error;
  });
}

function giveUp(session: Session): void {
  if (session.endedAt !== null) return;
  session.isGivenUp = true;
  session.socket.close();
}

/** The counter among what the checks look at: see `READ_ALL`. */
function counterIn(data: unknown): number {
  return Array.isArray(data) ? Number(data[1]) : Number.NaN;
}
