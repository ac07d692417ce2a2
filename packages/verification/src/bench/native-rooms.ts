/**
 * Many connections in rooms at three real nodes, with an event every few milliseconds: what they hear, how long it takes, and what it
 * costs the leader and the others.
 */
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import {
  decodeMessagePack,
  encodeMessagePack,
  encodePackage,
  isWireList,
  isWireMap,
  openStream,
  PackageType,
  SocketClient,
} from '@althing/client';
import { freePorts, until } from '@althing/node/testing';
import { ClusterProcess } from '../harness/cluster-process.js';
import { cpuTimeUs } from './cpu.js';
import { Histogram } from './histogram.js';
import { timeText } from './table.js';

export interface NativeRoomsOptions {
  /** Connections of all nodes together. */
  readonly listeners: number;
  readonly durationMs: number;
  readonly storage: string;
}

export interface NativeRoomsFigures {
  readonly listeners: number;
  readonly rooms: number;
  readonly emits: number;
  /** Events that came to connections, of those that should have. */
  readonly heard: number;
  readonly expected: number;
  /** From sending the request to the event at a connection of each node. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time, as parts of one core: of the leader, and of the other nodes together. */
  readonly leaderShare: number;
  readonly othersShare: number;
}

const NODES = 3;
const SCOPE = '//stuff';
/** Connections in one room, spread over all nodes. */
const ROOM_SIZE = 100;
const EVERY_MS = 10;
/** Connections that emit in turns: the requests of one wait for each other's commits. */
const EMITTERS = 16;
/** Connections that are opened at once. */
const AT_ONCE = 50;
/** How long the last events may be on their way. */
const LAST_MS = 10_000;
const HEADER_BYTES = 8;

/** Measures a cluster of its own. */
export async function benchNativeRooms(options: NativeRoomsOptions): Promise<NativeRoomsFigures> {
  const ports = await freePorts(NODES);
  const cluster = await ClusterProcess.start(NODES, options.storage, (at) => ({
    listen_client_port: String(ports[at]),
    max_connections: '20000',
    max_connections_per_address: '20000',
  }));
  const sockets: Socket[] = [];
  try {
    const leader = await cluster.whenLed('@collection:stuff');
    const rooms = Math.max(1, Math.round(options.listeners / ROOM_SIZE));
    const make = `.rooms = range(${rooms}).map(|i| room()); .rooms.each(|r, i| r.set_name(\`r{i}\`)); nil;`;
    // The nodes of a new cluster agree first that all of them know rooms.
    await until(
      () =>
        cluster.query(leader, SCOPE, make).then(
          () => true,
          () => false,
        ),
      'there are rooms',
    );
    const token = 'token' in cluster.credentials ? cluster.credentials.token : '';
    const latency = new Histogram();
    const sentAt: number[] = [];
    let heard = 0;
    const listen = async (at: number): Promise<Socket> => {
      const place = { host: '127.0.0.1', port: ports[at % NODES] ?? 0 };
      // One connection of each node for each room looks at the times.
      const measures = at < NODES * rooms;
      const socket = await openStream(place);
      await joined(socket, token, `r${Math.floor(at / NODES) % rooms}`, (data) => {
        heard += 1;
        if (!measures) return;
        const since = sentAt[numberIn(data)];
        if (since !== undefined) latency.add(performance.now() - since);
      });
      return socket;
    };
    while (sockets.length < options.listeners) {
      const count = Math.min(AT_ONCE, options.listeners - sockets.length);
      const first = sockets.length;
      sockets.push(...(await Promise.all(Array.from({ length: count }, (_, i) => listen(first + i)))));
    }
    const members = Array.from({ length: rooms }, () => 0);
    sockets.forEach((_, at) => {
      const room = Math.floor(at / NODES) % rooms;
      members[room] = (members[room] ?? 0) + 1;
    });
    const pids = cluster.nodes.map(({ pid }) => pid);
    const cpuOf = (at: number): number => cpuTimeUs([pids[at] ?? 0]) ?? 0;
    const before = pids.map((_, at) => cpuOf(at));
    const emitters = await Promise.all(
      Array.from({ length: EMITTERS }, async () => {
        const emitter = await SocketClient.connect({ host: '127.0.0.1', port: ports[leader] ?? 0 });
        await emitter.login(token);
        return emitter;
      }),
    );
    const begun = performance.now();
    let expected = 0;
    const answers: Promise<void>[] = [];
    for (let due = begun; due < begun + options.durationMs; due += EVERY_MS) {
      const wait = due - performance.now();
      if (wait > 0) await pause(wait);
      const number = sentAt.length;
      expected += members[number % rooms] ?? 0;
      sentAt.push(performance.now());
      const emitter = emitters[number % EMITTERS];
      if (emitter !== undefined)
        answers.push(emitter.emit(SCOPE, `r${number % rooms}`, 'tick', BigInt(number), 'what happened'));
    }
    await Promise.all(answers);
    const end = performance.now() + LAST_MS;
    while (heard < expected && performance.now() < end) await pause(10);
    const elapsedUs = (performance.now() - begun) * 1000;
    const shares = before.map((us, at) => (cpuOf(at) - us) / elapsedUs);
    for (const emitter of emitters) emitter.close();
    return {
      listeners: options.listeners,
      rooms,
      emits: sentAt.length,
      heard,
      expected,
      p50Ms: latency.quantile(0.5),
      p99Ms: latency.quantile(0.99),
      leaderShare: shares[leader] ?? 0,
      othersShare: shares.reduce((sum, share, at) => (at === leader ? sum : sum + share), 0),
    };
  } finally {
    for (const socket of sockets) socket.destroy();
    await cluster.discard();
  }
}

/**
 * Logs a connection in, and into a room.
 *
 * @param told of the data of each event
 */
async function joined(
  socket: Socket,
  token: string,
  room: string,
  told: (data: Buffer) => void,
): Promise<void> {
  let rest: Buffer = Buffer.alloc(0);
  let isJoined = false;
  await new Promise<void>((resolve, reject) => {
    socket.on('error', () => {});
    socket.once('close', () => reject(new Error('a node closed a connection')));
    socket.on('data', (chunk: Buffer) => {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      let at = 0;
      while (rest.length - at >= HEADER_BYTES) {
        const next = at + HEADER_BYTES + rest.readUInt32LE(at);
        if (next > rest.length) break;
        const type = rest[at + 6];
        const data = rest.subarray(at + HEADER_BYTES, next);
        if (type === PackageType.ROOM_EMIT) told(data);
        else if (type === PackageType.ERROR) reject(new Error(data.toString('latin1')));
        else if (type === PackageType.ROOM_JOIN && !isJoined) {
          isJoined = true;
          resolve();
        }
        at = next;
      }
      rest = rest.subarray(at);
    });
    socket.write(encodePackage(PackageType.AUTH, 1, encodeMessagePack(token)));
    socket.write(encodePackage(PackageType.JOIN, 2, encodeMessagePack([SCOPE, room])));
  });
}

/** The number that an event tells. */
function numberIn(data: Buffer): number {
  const event = decodeMessagePack(data);
  const args = isWireMap(event) ? event.get('args') : undefined;
  return isWireList(args) ? Number(args[0]) : Number.NaN;
}

/** Figures for people. */
export function nativeRoomsText(figures: NativeRoomsFigures): string {
  const { listeners, rooms, emits, heard, expected, p50Ms, p99Ms, leaderShare, othersShare } = figures;
  const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
  return [
    `${listeners} connections at ${NODES} nodes in ${rooms} rooms, an event every ${EVERY_MS} ms: ${emits} events`,
    `heard: ${heard} of ${expected}, after ${timeText(p50Ms)} (p50), ${timeText(p99Ms)} (p99)`,
    `processor: the leader ${percent(leaderShare)} of a core, the other nodes together ${percent(othersShare)}`,
  ].join('\n');
}
