/**
 * Clients of the native protocol, over TCP and over WebSockets, each with one session at a time, at whatever node is up: they ask, run
 * procedures, are in the room of the collection and tell others what happens there. Whatever ends a session, its client goes to another node, repeats there what has a
 * name and was not answered, and joins again. What they did stands in the history of all; what they hear is held against what all
 * others hear. A session that a node ends which is stopped in order was told so.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { openStream, PackageType, StreamChannel, WebSocketChannel } from '@althing/client';
import { within } from '@althing/node/testing';
import type { Draw } from '../simulation/random.js';
import { RoomWitness } from '../simulation/room-witness.js';
import { type Answer, hasJoined, Session } from '../simulation/sockets/session.js';
import { SocketClient, type SocketRun } from '../simulation/sockets/socket-client.js';
import { counterIn, drawAction, roomOf } from '../simulation/workload.js';
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

interface SocketClientsOptions {
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
/** Numbers of these clients, beside those of others. */
const CLIENTS_FROM = 1000;
/** Milliseconds that the end of a session may be on its way. */
const END_MS = 2000;

export class SocketClients {
  private readonly witness = new RoomWitness();
  private readonly clients: RealClient[] = [];
  private work: Promise<unknown> = Promise.resolve();
  private emits = 0;

  constructor(private readonly options: SocketClientsOptions) {}

  /** Their acts, in words. */
  get summary(): string {
    const { sessions } = this;
    return (
      `${sessions.length} sessions over sockets, of which ${sessions.filter(({ isTold }) => isTold).length} were told ` +
      `that their node ends them, told ${this.emits} events and heard ${this.witness.events}`
    );
  }

  /** Sessions that have not ended. */
  get open(): number {
    return this.sessions.filter(({ isOver }) => !isOver).length;
  }

  private get sessions(): Session[] {
    return this.clients.flatMap(({ sessions }) => sessions);
  }

  start(clients: number): void {
    const { recorder, nextId } = this.options;
    const run: SocketRun = {
      witness: this.witness,
      patienceMs: ANSWER_MS,
      endMs: END_MS,
      now: () => performance.now(),
      after: (ms, work) => {
        const timer = setTimeout(work, ms).unref();
        return () => clearTimeout(timer);
      },
      begun: (client, node, collection, action) => ({
        id: nextId(),
        client,
        collection,
        action,
        node,
        begin: performance.now(),
        end: Number.POSITIVE_INFINITY,
        outcome: 'unknown',
        answer: null,
        index: 0,
        error: '',
      }),
      ended: (operation) => recorder.operation(operation),
      onProblem: (text) => recorder.finding(text),
      onReached: (place) => {
        if (place === 'a session emits') this.emits += 1;
      },
      note: () => {},
    };
    for (let client = 0; client < clients; client++)
      this.clients.push(new RealClient(this.options, run, client));
    this.work = Promise.all(this.clients.map((client) => client.work()));
  }

  /** They ask nothing new, and go on to listen. */
  async rest(): Promise<void> {
    for (const client of this.clients) client.rest();
    await this.work;
  }

  async stop(): Promise<void> {
    for (const client of this.clients) client.stop();
    await this.work;
  }

  /** Looks at what was heard when nothing changes any more, and at how sessions ended. */
  async check(finals: readonly Final[], lastMs = LAST_MS): Promise<void> {
    const { recorder } = this.options;
    const untold = this.clients.flatMap((client) => client.untold());
    const found = this.witness.judge(recorder.operations, roomOf);
    for (const problem of [...found, ...untold]) recorder.finding(problem);
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
}

/** The end of a session that its client did not want, and that was not told before. */
interface UntoldEnd {
  readonly who: string;
  readonly place: SocketPlace;
  /** When it was logged in, and when it ended. */
  readonly since: number;
  readonly endedAt: number;
}

/** One of them: what it does, and when it goes where. */
class RealClient extends SocketClient {
  readonly sessions: Session[] = [];
  protected isResting = false;
  private readonly untoldEnds: UntoldEnd[] = [];
  /** The collection in whose room the session is; empty for none. */
  private joined = '';

  constructor(
    private readonly options: SocketClientsOptions,
    run: SocketRun,
    client: number,
  ) {
    super(run, options.draw, `s${client}`, CLIENTS_FROM + client);
  }

  rest(): void {
    this.isResting = true;
  }

  stop(): void {
    this.isResting = true;
    this.session?.giveUp(null);
  }

  /** Sessions that ended when their node was stopped in order, and that it did not tell so. */
  untold(): string[] {
    return this.untoldEnds
      .filter(({ place, since, endedAt }) =>
        place.drains.some(({ begin, end }) => since < begin && endedAt > begin && endedAt <= end),
      )
      .map(({ who }) => `${who} was ended by a node that was stopped, and was not told so`);
  }

  /** Does one thing after the other until it rests; then its session stays open, and listens. */
  async work(): Promise<void> {
    while (!this.isResting) {
      const { session } = this;
      if (session === null || session.isOver || session.isLeaving) await this.settle();
      else {
        await this.step(session);
        await pause(this.draw.exponential(CLIENT_MS));
      }
    }
  }

  protected connect(done: () => void): void {
    this.settle().then(done);
  }

  /** Goes from node to node until one takes it, or it rests. */
  private async settle(): Promise<void> {
    const { places, draw } = this.options;
    this.session?.giveUp(null);
    this.session = null;
    while (!this.isResting) {
      const up = places.filter(({ isUp }) => isUp);
      try {
        if (up.length > 0 && (await this.logIn(draw.pick(up)))) return;
      } catch {
        // Nodes end, sleep and lose their connections: the next one will do.
      }
      await pause(AGAIN_MS);
    }
  }

  /** Begins a session at a node; gives whether it is logged in. */
  private async logIn(place: SocketPlace): Promise<boolean> {
    const channel = await connected(place, this.draw.chance(0.5));
    const who = `session ${this.name}-${this.sessions.length + 1} at ${place.name}`;
    const session = new Session(who, this.run);
    this.sessions.push(session);
    let since = Number.POSITIVE_INFINITY;
    session.connection = {
      send: (bytes) => channel.send(bytes),
      close: () => channel.close(),
      sever: () => channel.close(),
    };
    channel.listen(
      (bytes) => session.received(bytes),
      () => {
        const isWanted = session.isOver || session.isTold;
        if (!isWanted) this.untoldEnds.push({ who, place, since, endedAt: performance.now() });
        session.ended('reset');
      },
    );
    const answer = await new Promise<Answer | null>((resolve) =>
      this.ask(session, PackageType.AUTH, this.options.token(), resolve),
    );
    if (answer?.ok !== true) {
      session.giveUp(null);
      return false;
    }
    since = performance.now();
    this.joined = '';
    this.node = place.name;
    this.session = session;
    return true;
  }

  private async step(session: Session): Promise<void> {
    const collection = this.options.collection();
    if (this.joined !== collection) await this.move(session, collection);
    await new Promise<void>((done) => this.act(session, collection, done));
  }

  /** Leaves the room of the collection of before, and joins that of another one, if it is there. */
  private async move(session: Session, collection: string): Promise<void> {
    const { joined } = this;
    if (joined !== '') await new Promise<void>((done) => this.leave(session, joined, done));
    const answer = await new Promise<Answer | null>((done) => this.join(session, collection, done));
    this.joined = answer?.ok === true && hasJoined(answer.value) ? collection : '';
  }

  private act(session: Session, collection: string, done: () => void): void {
    const { draw } = this;
    const kind = draw.weighted([
      ['operate', 8],
      ['increment', 4],
      ['emit', 4],
      ['emit_to_peers', 0.5],
      ['look', 2],
      ['close', 0.2],
    ] as const);
    const isPeers = kind === 'emit_to_peers';
    if (kind === 'close') {
      session.giveUp(null);
      return done();
    }
    if (kind === 'look') return this.look(session, collection, done);
    const tag = `s${this.options.nextId()}`;
    if (kind === 'emit' || isPeers) return this.emit(session, collection, tag, isPeers, done);
    const action =
      kind === 'increment'
        ? ({ kind, tag } as const)
        : drawAction(draw, () => tag, Math.floor(Date.now() / 1000), false);
    this.operate(session, collection, action, action.kind !== 'dry_run' && draw.chance(0.5), done);
  }
}

/** A connection; one that comes too late is closed. */
function connected(
  { endpoint, socketEndpoint }: SocketPlace,
  isWebSocket: boolean,
): Promise<WebSocketChannel | StreamChannel> {
  const connecting: Promise<WebSocketChannel | StreamChannel> = isWebSocket
    ? WebSocketChannel.open(endpoint, '/@ws')
    : openStream(socketEndpoint).then((socket) => new StreamChannel(socket));
  return within(connecting, 'a connection', ANSWER_MS).catch((error: unknown) => {
    connecting.then(
      (late) => late.close(),
      () => {},
    );
    throw error;
  });
}
