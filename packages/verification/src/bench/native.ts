/**
 * The native protocol beside the HTTP API of the same node: the same query by each door, in turns, so that a slower minute of
 * the machine hits all; and what idle connections cost.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { encodeMessagePack, openStream, PackageType, SocketClient } from '@althing/client';
import { freePorts } from '@althing/node/testing';
import { NodeProcess } from '../harness/node-process.js';
import { cpuTimeUs } from './cpu.js';
import { type Door, type SocketMeasured, type SocketOrder, sent } from './native-worker.js';
import { median, table, timeText } from './table.js';

export interface NativeOptions {
  readonly connections: number;
  readonly inFlight: number;
  readonly durationMs: number;
  readonly warmupMs: number;
  readonly rounds: number;
  /** Idle connections whose cost is measured; 0 for none. */
  readonly idle: number;
  readonly storage: string;
}

export interface DoorRow {
  readonly name: string;
  readonly connections: number;
  readonly inFlight: number;
  readonly ratePerS: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time of the node per answer. */
  readonly serverUs: number;
  readonly generatorUs: number;
  /** Its rate beside that of HTTP without pipelining, and with it. */
  readonly ofHttp: number;
  readonly ofPipelined: number;
  readonly problem: string | undefined;
}

export interface IdleFigures {
  readonly connections: number;
  /** Memory that the node takes for them, in MB, and processor time while they do nothing, as a part of one core. */
  readonly memoryMb: number;
  readonly cpuShare: number;
}

export interface NativeFigures {
  readonly rows: readonly DoorRow[];
  readonly idle: IdleFigures | null;
}

const CODE = '1 + 1;';
const NOTHING = new Uint8Array();

interface Way {
  readonly name: string;
  readonly inFlight: number;
  readonly order: Pick<SocketOrder, 'door' | 'port' | 'greeting' | 'login' | 'request'>;
}

/** Measures a node of its own. */
export async function benchNative(options: NativeOptions): Promise<NativeFigures> {
  const [nativePort = 0, wsPort = 0] = await freePorts(2);
  const node = await NodeProcess.start({
    storage: options.storage,
    settings: {
      listen_client_port: String(nativePort),
      ws_port: String(wsPort),
      max_connections: '20000',
      max_connections_per_address: '20000',
      login_timeout_ms: '600000',
    },
  });
  const worker = fork(fileURLToPath(new URL('native-worker.js', import.meta.url)), {
    serialization: 'advanced',
  });
  try {
    const token = await tokenOf(nativePort);
    const ways = waysOf(options, { http: node.port, native: nativePort, ws: wsPort }, token);
    const rounds: { readonly way: Way; readonly measured: SocketMeasured; readonly cpuUs: number }[] = [];
    for (let round = 0; round < options.rounds; round++) {
      for (const way of ways) {
        const before = cpuTimeUs([node.pid]) ?? 0;
        const measured = await order(worker, { ...options, ...way.order, inFlight: way.inFlight });
        rounds.push({ way, measured, cpuUs: (cpuTimeUs([node.pid]) ?? 0) - before });
      }
    }
    const rateOf = (way: Way | undefined): number =>
      median(
        rounds
          .filter((each) => each.way === way)
          .map(({ measured }) => (measured.answers * 1000) / measured.elapsedMs),
      );
    const [plain, pipelined] = ways;
    const rows = ways.map((way): DoorRow => {
      const own = rounds.filter((each) => each.way === way);
      const middle = (of: (each: (typeof own)[number]) => number): number => median(own.map(of));
      return {
        name: way.name,
        connections: options.connections,
        inFlight: way.inFlight,
        ratePerS: rateOf(way),
        p50Ms: middle(({ measured }) => measured.p50Ms),
        p99Ms: middle(({ measured }) => measured.p99Ms),
        // Warming up is a part of what the node is busy with.
        serverUs: middle(
          ({ measured, cpuUs }) =>
            (cpuUs / Math.max(1, measured.answers)) *
            (options.durationMs / (options.durationMs + options.warmupMs)),
        ),
        generatorUs: middle(({ measured }) => measured.cpuUs / Math.max(1, measured.answers)),
        ofHttp: rateOf(way) / rateOf(plain),
        ofPipelined: rateOf(way) / rateOf(pipelined),
        problem: own.find(({ measured }) => measured.problem !== undefined)?.measured.problem,
      };
    });
    const idle = options.idle === 0 ? null : await idleFigures(node.pid, nativePort, token, options.idle);
    return { rows, idle };
  } finally {
    worker.disconnect();
    await node.stop();
  }
}

function waysOf(
  { inFlight }: NativeOptions,
  ports: { readonly http: number; readonly native: number; readonly ws: number },
  token: string,
): Way[] {
  const query = encodeMessagePack(['//stuff', CODE]);
  const login = encodeMessagePack(token);
  const body = JSON.stringify({ type: 'query', code: CODE });
  const head = [
    'POST //stuff HTTP/1.1',
    'Host: 127.0.0.1',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ];
  const http = {
    door: 'http',
    port: ports.http,
    greeting: NOTHING,
    login: NOTHING,
    request: Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`),
  } as const;
  const socket = (door: Door, port: number, greeting: Uint8Array): Way['order'] => ({
    door,
    port,
    greeting,
    login: sent(door, PackageType.AUTH, login),
    request: sent(door, PackageType.QUERY, query),
  });
  return [
    { name: 'HTTP, JSON', inFlight: 1, order: http },
    { name: 'HTTP, JSON, pipelined', inFlight, order: http },
    { name: 'native, TCP', inFlight: 1, order: socket('native', ports.native, NOTHING) },
    { name: 'native, TCP', inFlight, order: socket('native', ports.native, NOTHING) },
    { name: 'native, WebSocket', inFlight, order: socket('websocket', ports.ws, handshake('/')) },
    { name: 'native, /@ws', inFlight, order: socket('websocket', ports.http, handshake('/@ws')) },
  ];
}

function handshake(path: string): Buffer {
  const lines = [
    `GET ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Version: 13',
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
}

async function tokenOf(port: number): Promise<string> {
  const client = await SocketClient.connect({ host: '127.0.0.1', port });
  await client.login({ user: 'admin', password: 'pass' });
  const token = await client.query('/t', "new_token('admin');");
  client.close();
  return String(token);
}

function order(worker: ChildProcess, wanted: SocketOrder): Promise<SocketMeasured> {
  return new Promise((resolve, reject) => {
    const exited = (code: number | null): void => reject(new Error(`the load process ended with ${code}`));
    worker.once('exit', exited);
    worker.once('message', (message: SocketMeasured) => {
      worker.off('exit', exited);
      resolve(message);
    });
    worker.send(wanted);
  });
}

/** Opens connections that log in and do nothing. */
async function idleFigures(pid: number, port: number, token: string, count: number): Promise<IdleFigures> {
  const login = sent('native', PackageType.AUTH, encodeMessagePack(token));
  const before = memoryMb(pid);
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const some = await Promise.all(
      Array.from({ length: Math.min(100, count - sockets.length) }, async () => {
        const socket = await openStream({ host: '127.0.0.1', port });
        socket.write(login);
        await new Promise((resolve) => socket.once('data', resolve));
        return socket;
      }),
    );
    sockets.push(...some);
  }
  await new Promise((resolve) => setTimeout(resolve, 2000));
  const cpu = cpuTimeUs([pid]) ?? 0;
  const since = performance.now();
  await new Promise((resolve) => setTimeout(resolve, 3000));
  const cpuShare = ((cpuTimeUs([pid]) ?? 0) - cpu) / 1000 / (performance.now() - since);
  const memory = memoryMb(pid) - before;
  for (const socket of sockets) socket.destroy();
  return { connections: count, memoryMb: memory, cpuShare };
}

function memoryMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

/** Figures for people. */
export function nativeText({ rows, idle }: NativeFigures): string {
  const headings = [
    '',
    'connections',
    'in flight',
    'per s',
    'p50',
    'p99',
    'of HTTP',
    'of pipelined',
    'server CPU',
    'generator CPU',
  ];
  const lines = rows.map((row) => [
    row.name,
    String(row.connections),
    String(row.inFlight),
    row.ratePerS.toFixed(0),
    timeText(row.p50Ms),
    timeText(row.p99Ms),
    row.ofHttp.toFixed(2),
    row.ofPipelined.toFixed(2),
    `${row.serverUs.toFixed(1)} µs`,
    `${row.generatorUs.toFixed(1)} µs`,
  ]);
  const problems = rows.flatMap(({ name, problem }) =>
    problem === undefined ? [] : [`${name}: ${problem}`],
  );
  const cost =
    idle === null
      ? []
      : [
          `${idle.connections} idle connections: ${idle.memoryMb.toFixed(0)} MB, ${(idle.cpuShare * 100).toFixed(1)} % of a core (the node's own rhythm included)`,
        ];
  return [table([headings, ...lines]), ...cost, ...problems].join('\n\n');
}
