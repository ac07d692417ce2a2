/**
 * Clients that are in rooms, over WebSockets. Each increment of the counter of a collection tells its room the number that came out, so
 * what one connection hears are numbers without a gap, each once and in their order: anything else was not committed, came
 * twice, was taken back, or was missed without being told so. That a connection ends is no failure: its client connects again.
 */
import { setTimeout as pause } from 'node:timers/promises';
import {
  isWireList,
  isWireMap,
  PackageType,
  SocketClient,
  WebSocketChannel,
  type WireValue,
} from '@althing/client';
import { within } from '@althing/node/testing';
import { ROOM } from '../simulation/workload.js';
import type { Final } from './record.js';
import type { Endpoint } from './requests.js';

export interface RoomListenersOptions {
  /** Where a client may connect now; undefined while no node is up. */
  readonly endpoint: (client: number) => (Endpoint & { readonly name: string }) | undefined;
  readonly token: () => string;
  /** The collection in use; empty for none. */
  readonly collection: () => string;
  /** Called for each thing that is wrong. */
  readonly finding: (text: string) => void;
}

/** Milliseconds until a client connects again, and until it looks again for a room that is not there yet. */
const AGAIN_MS = 200;
/** How often a client that listens looks whether its node is still there, and how long that may take. */
const LOOK_MS = 500;
const ANSWER_MS = 5000;
/** How long the last event may be on its way to a client when all nodes have it. */
const LAST_MS = 15_000;

/** Events that one connection heard of the room of one collection. */
export class Hearing {
  /** The number that was heard last; null before the first. */
  last: number | null = null;

  constructor(
    readonly collection: string,
    private readonly node: string,
  ) {}

  /** Takes the next number; gives what is wrong with it, or null. */
  hear(number: number): string | null {
    const { last, node, collection } = this;
    this.last = number;
    if (Number.isSafeInteger(number) && (last === null || number === last + 1)) return null;
    return `a client in the room of ${collection} at ${node} heard ${number} behind ${last}`;
  }

  /** The error when the counter stands so in the end; null for none. */
  problemWith(counter: number): string | null {
    const { last, node, collection } = this;
    // A listener that heard nothing joined behind the last one.
    if (last === null || last === counter) return null;
    return `a client in the room of ${collection} at ${node} heard ${last} last, and the counter stands at ${counter}`;
  }
}

export class RoomListeners {
  private readonly open = new Map<SocketClient, Hearing>();
  private readonly highest = new Map<string, number>();
  private work: Promise<unknown> = Promise.resolve();
  private isStopped = false;
  private events = 0;
  private joined = 0;

  constructor(private readonly options: RoomListenersOptions) {}

  /** Their acts, in words. */
  get summary(): string {
    return `${this.joined} connections were in rooms, and heard ${this.events} events`;
  }

  start(clients: number): void {
    this.work = Promise.all(Array.from({ length: clients }, (_, client) => this.run(client)));
  }

  /**
   * Looks at what was heard when nothing changes any more: all of it is in the states of the nodes, and who still listens hears
   * everything up to the end.
   */
  async check(finals: readonly Final[]): Promise<void> {
    const counters = new Map(finals.map(({ collection, data }) => [collection, counterIn(data)]));
    for (const [collection, number] of this.highest) {
      const counter = counters.get(collection) ?? 0;
      if (number > counter)
        this.options.finding(`a client heard ${number} in ${collection}, whose counter stands at ${counter}`);
    }
    const end = performance.now() + LAST_MS;
    for (;;) {
      const problems = [...this.open.values()].map((hearing) =>
        hearing.problemWith(counters.get(hearing.collection) ?? 0),
      );
      if (problems.every((problem) => problem === null)) return;
      if (performance.now() > end) {
        for (const problem of problems) if (problem !== null) this.options.finding(problem);
        return;
      }
      await pause(AGAIN_MS);
    }
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    for (const client of this.open.keys()) client.close();
    await this.work;
  }

  private async run(client: number): Promise<void> {
    while (!this.isStopped) {
      // Nodes end, sleep and lose their connections: the next one will do.
      await this.listen(client).catch(() => {});
      await pause(AGAIN_MS);
    }
  }

  private async listen(client: number): Promise<void> {
    const { endpoint, token, collection: current } = this.options;
    const collection = current();
    const place = endpoint(client);
    if (collection === '' || place === undefined) return;
    const socket = new SocketClient(await opened(place));
    const hearing = new Hearing(collection, place.name);
    socket.onEvent = ({ type, data }) => {
      const number = type === PackageType.ROOM_EMIT ? numberIn(data) : null;
      if (number !== null) this.hear(hearing, number);
    };
    let hasEnded = false;
    const ended = socket.ended.then(() => {
      hasEnded = true;
      this.open.delete(socket);
    });
    const goesOn = (): boolean => !hasEnded && !this.isStopped && current() === collection;
    try {
      await within(socket.login(token()), 'an answer to AUTH', ANSWER_MS);
      while (goesOn()) {
        const ids = await within(socket.join(`//${collection}`, ROOM), 'an answer to JOIN', ANSWER_MS);
        if (isWireList(ids) && ids[0] !== null) break;
        await pause(AGAIN_MS);
      }
      if (!goesOn()) return;
      this.joined += 1;
      this.open.set(socket, hearing);
      while (goesOn()) {
        await Promise.race([ended, pause(LOOK_MS)]);
        await within(socket.ping(), 'an answer to PING', ANSWER_MS);
      }
    } finally {
      this.open.delete(socket);
      socket.close();
    }
  }

  private hear(hearing: Hearing, number: number): void {
    this.events += 1;
    const { collection } = hearing;
    this.highest.set(collection, Math.max(number, this.highest.get(collection) ?? 0));
    const problem = hearing.hear(number);
    if (problem !== null) this.options.finding(problem);
  }
}

/** A way to a node; one that comes too late is closed. */
function opened(place: Endpoint): Promise<WebSocketChannel> {
  const opening = WebSocketChannel.open(place, '/@ws');
  return within(opening, 'a connection', ANSWER_MS).catch((error: unknown) => {
    opening.then(
      (late) => late.close(),
      () => {},
    );
    throw error;
  });
}

/** The counter among what the checks look at: see `READ_ALL`. */
function counterIn(data: unknown): number {
  return Array.isArray(data) ? Number(data[1]) : Number.NaN;
}

/** The number that an event tells; null for one that tells something else. */
function numberIn(event: WireValue): number | null {
  if (!isWireMap(event) || event.get('event') !== 'n') return null;
  const args = event.get('args');
  return isWireList(args) ? Number(args[0]) : Number.NaN;
}
