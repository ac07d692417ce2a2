/**
 * A process that makes load by sockets: some connections, each with some requests under way at a time. It takes one order
 * after the other from its parent and reports.
 */
import { clientFrame, encodePackage, openStream, serverFrame } from '@althing/client';
import { Histogram } from './histogram.js';

/** How requests are told from each other, and answers. */
export type Door = 'http' | 'native' | 'websocket';

export interface SocketOrder {
  readonly door: Door;
  readonly port: number;
  /** What is sent first, and must be answered once; a handshake for a WebSocket. */
  readonly greeting: Uint8Array;
  /** What logs in behind that, and must be answered once; empty for nothing. */
  readonly login: Uint8Array;
  readonly request: Uint8Array;
  readonly connections: number;
  readonly inFlight: number;
  readonly warmupMs: number;
  readonly durationMs: number;
}

export interface SocketMeasured {
  readonly answers: number;
  readonly elapsedMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuUs: number;
  /** Why it came to nothing; undefined when it did not. */
  readonly problem: string | undefined;
}

/** Answers that are complete in bytes, and where the last of them ends. */
type Count = (bytes: Buffer) => { readonly count: number; readonly end: number };

const HEAD_END = Buffer.from('\r\n\r\n');

const counts: Readonly<Record<Door, Count>> = {
  http: (bytes) => {
    let count = 0;
    let end = 0;
    for (;;) {
      const head = bytes.indexOf(HEAD_END, end);
      if (head < 0) return { count, end };
      const text = bytes.toString('latin1', end, head);
      const length = Number(/\r\nContent-Length: (\d+)/i.exec(text)?.[1]);
      if (!text.startsWith('HTTP/1.1 200 ') || Number.isNaN(length)) throw new Error(text.slice(0, 200));
      if (head + HEAD_END.length + length > bytes.length) return { count, end };
      end = head + HEAD_END.length + length;
      count += 1;
    }
  },
  native: (bytes) => {
    let count = 0;
    let end = 0;
    while (bytes.length - end >= 8) {
      const next = end + 8 + bytes.readUInt32LE(end);
      if (next > bytes.length) break;
      if (bytes[end + 6] !== 18 && bytes[end + 6] !== 17)
        throw new Error(bytes.toString('latin1', end, next));
      end = next;
      count += 1;
    }
    return { count, end };
  },
  websocket: (bytes) => {
    let count = 0;
    let end = 0;
    for (;;) {
      const frame = serverFrame(bytes.subarray(end));
      if (frame === null) return { count, end };
      if (frame.opcode !== 2 || frame.payload[6] === 19) throw new Error(frame.payload.toString('latin1'));
      end += frame.end;
      count += 1;
    }
  },
};

process.on('message', (order: SocketOrder) => {
  measure(order).then(
    (measured) => process.send?.(measured),
    (error: unknown) => {
      const problem = error instanceof Error ? error.message : String(error);
      process.send?.({ answers: 0, elapsedMs: 1, p50Ms: 0, p99Ms: 0, cpuUs: 0, problem });
    },
  );
});

process.on('disconnect', () => process.exit(0));

async function measure(order: SocketOrder): Promise<SocketMeasured> {
  const { door, port, connections, inFlight, warmupMs, durationMs } = order;
  const count = counts[door];
  const request = Buffer.from(order.request);
  const batches = Array.from({ length: inFlight + 1 }, (_, n) =>
    Buffer.concat(Array.from({ length: n }, () => request)),
  );
  const latency = new Histogram();
  let answers = 0;
  let problem: string | undefined;
  const sockets = await Promise.all(
    Array.from({ length: connections }, () => openStream({ host: '127.0.0.1', port })),
  );
  for (const socket of sockets) {
    const sentAt: number[] = [];
    let rest: Buffer = Buffer.alloc(0);
    /** What was sent before the requests and is not answered: a handshake, a login. */
    const before = [order.greeting, order.login].filter(({ length }) => length > 0);
    const send = (n: number): void => {
      const now = performance.now();
      for (let i = 0; i < n; i++) sentAt.push(now);
      socket.write(batches[n] ?? Buffer.concat(Array.from({ length: n }, () => request)));
    };
    const greet = (): void => {
      const next = before.shift();
      if (next === undefined) send(inFlight);
      else socket.write(next);
    };
    let isGreeted = before.length === 0;
    let isHandshake = order.greeting.length > 0;
    socket.on('error', () => {});
    socket.on('close', () => {
      problem ??= 'the node closed a connection';
    });
    socket.on('data', (chunk: Buffer) => {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      if (isHandshake) {
        const end = rest.indexOf(HEAD_END);
        if (end < 0) return;
        isHandshake = false;
        rest = rest.subarray(end + HEAD_END.length);
        greet();
        return;
      }
      try {
        const complete = count(rest);
        if (complete.count === 0) return;
        rest = rest.subarray(complete.end);
        if (!isGreeted) {
          isGreeted = true;
          send(inFlight);
          return;
        }
        const now = performance.now();
        answers += complete.count;
        for (const at of sentAt.splice(0, complete.count)) latency.add(now - at);
        send(complete.count);
      } catch (error) {
        problem ??= error instanceof Error ? error.message : String(error);
        socket.destroy();
      }
    });
    greet();
  }
  await pause(warmupMs);
  latency.clear();
  answers = 0;
  const cpu = process.cpuUsage();
  const since = performance.now();
  await pause(durationMs);
  const elapsedMs = performance.now() - since;
  const { user, system } = process.cpuUsage(cpu);
  const failed = problem;
  for (const socket of sockets) socket.removeAllListeners('data').destroy();
  return {
    answers,
    elapsedMs,
    p50Ms: latency.quantile(0.5),
    p99Ms: latency.quantile(0.99),
    cpuUs: user + system,
    problem: failed,
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** A package as it is sent by a door. */
export function sent(door: Door, type: number, data: Uint8Array): Buffer {
  const bytes = encodePackage(type, 1, data);
  return door === 'websocket' ? clientFrame(2, bytes) : bytes;
}
