/**
 * A crowd whose requests take memory, at a real node with a heap of 400 MB: bodies and answers as large as they may be, values that are stored,
 * and clients that read nothing. The node has to live, and who asks something small is answered, and waits for one query at most.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { RealNode } from '@althing/node/testing';
import type { Draw } from '../simulation/random.js';

const HEAP_MB = 400;
const MiB = 1024 * 1024;

/** Clients at once, of so many users, and how long they come, in milliseconds. */
const CLIENTS = 16;
const USERS = 4;
const CROWD_MS = 10_000;

/** Bodies of queries: `part` of the largest, in (0, 1]. */
const KINDS: Readonly<Record<string, (part: number, at: number) => string>> = {
  'a long text': (part) => query('x.len();', `"${'x'.repeat(part * 14 * MiB)}"`),
  'many empty things': (part) => query('x.len();', `[${'{},'.repeat(part * 4 * MiB)}1]`),
  'lists in lists': (part) => query('x.len();', `[${'[[[[1]]]],'.repeat(part * MiB)}1]`),
  'a text that is stored': (part, at) => query(`.x${at} = x; nil;`, `"${'x'.repeat(part * 4 * MiB)}"`),
  'things that are stored': (part, at) =>
    query(`.x${at} = x.map(|n| {n:, name: 'number ' + str(n)}); nil;`, `[${'1,'.repeat(part * 20_000)}1]`),
  'a long answer': (part) => query(`range(${Math.ceil(part * 20)}).map(|| range(50000));`),
  'a long text as answer': (part) =>
    query(`s = 'x'; for (i in range(${Math.ceil(16 + 8 * part)})) { s = s + s; }; s;`),
  'much that is kept meanwhile': (part) =>
    query(
      `l = []; for (i in range(${Math.ceil(part * 1000)})) { l.push(range(20000).map(|i| str(i))); }; nil;`,
    ),
};

/** Somebody who asks a node something small, see `heap-bystander.ts`; `pid` is the node's. */
export interface Bystander {
  readonly url: string;
  readonly authorization: string;
  readonly pid: number;
  readonly body: string;
}

/** Outcome of that; times in milliseconds. */
export interface Waits {
  /** The number of requests that got what they asked for. */
  readonly answers: number;
  readonly longestMs: number;
  /** The longest without the time in which the engine's thread was ready, and the machine had other things to do. */
  readonly heldMs: number;
  /** Longest time that the engine's thread ran within a wait. */
  readonly ranMs: number;
}

/** The outcome of a crowd. */
export interface HeapMet extends Waits {
  /** Answers to the crowd by their statuses; 0 for connections that the node ended. */
  readonly statuses: ReadonlyMap<number, number>;
}

/** @throws Error when the node dies, or leaves something small without its answer */
export async function meetInHeap(draw: Draw, crowdMs = CROWD_MS, clients = CLIENTS): Promise<HeapMet> {
  const node = await RealNode.start(
    { request_size_limit: 16 * MiB, request_memory_limit_mb: 64, query_duration_limit_ms: 1000 },
    undefined,
    undefined,
    [`--max-old-space-size=${HEAP_MB}`],
  );
  let bystander: Worker | null = null;
  try {
    const statuses = new Map<number, number>();
    await node.value('//stuff', '.n = 0;');
    const tokens = await node.value(
      '/t',
      `range(${USERS}).map(|i| { u = 'u' + str(i); new_user(u); grant('//stuff', u, FULL); new_token(u); });`,
    );
    if (!Array.isArray(tokens)) throw new Error('there are no users');
    const users = tokens.map((token) => `Bearer ${token}`);
    const { url, authorization, pid } = node;
    const workerData: Bystander = { url: `${url}//stuff`, authorization, pid, body: query('.n += 1;') };
    const worker = new Worker(new URL('./heap-bystander.js', import.meta.url), { workerData });
    bystander = worker;
    // It rejects with what went wrong there.
    const told: Promise<Waits[]> = once(worker, 'message');
    const end = performance.now() + crowdMs;
    const crowd = Array.from({ length: clients }, async () => {
      while (performance.now() < end) {
        const status = await ask(node, draw, draw.pick(users));
        if (status !== null) statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    });
    const [[waits]] = await Promise.all([told, Promise.all(crowd).then(() => worker.postMessage('end'))]);
    if (waits === undefined) throw new Error('the bystander told nothing');
    if (!node.running) throw new Error(`the node has ended: ${node.log.slice(-2000)}`);
    // A change whose connection ended was asked for again.
    if (Number(await node.value('//stuff', '.n;')) < waits.answers) throw new Error('the node lost a change');
    if (/internal_error|FATAL/.test(node.log)) throw new Error(node.log.slice(-2000));
    return { statuses, ...waits };
  } finally {
    await bystander?.terminate();
    await node.stop();
  }
}

/** A request of the crowd; its status, null for one that nobody reads. */
async function ask(node: RealNode, draw: Draw, authorization: string): Promise<number | null> {
  const kind = draw.pick(Object.values(KINDS));
  const body = kind(draw.pick([0.01, 0.3, 1]), draw.int(0, 9));
  if (draw.chance(0.2)) {
    const socket = connect(node.port).pause();
    socket.on('error', () => {});
    socket.write(node.text('//stuff', body, { authorization }));
    await pause(draw.int(1, 1000));
    socket.destroy();
    return null;
  }
  return await postTo(`${node.url}//stuff`, body, authorization);
}

/** The status of a request that has a connection for itself while it lasts; 0 where the node ended that. */
export async function postTo(url: string, body: string, authorization: string): Promise<number> {
  const headers = { Authorization: authorization, 'Content-Type': 'application/json' };
  try {
    const answer = await fetch(url, { method: 'POST', headers, body });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return 0;
  }
}

function query(code: string, x = 'null'): string {
  return `{"type":"query","code":${JSON.stringify(code)},"vars":{"x":${x}}}`;
}
