/**
 * A crowd whose requests take memory, at a real node with a heap of 400 MB: bodies and answers as large as they may be, values that are stored,
 * and clients that read nothing. The node has to live, and who asks something small is answered, and waits for one query at most.
 */
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { RealNode } from '@althing/node/testing';
import { Bystander, postTo, type Waits } from '../harness/bystander.js';
import type { Draw } from '../simulation/random.js';

const HEAP_MB = 400;
const MiB = 1024 * 1024;

/** Clients at once, of so many users, and how long they come, in milliseconds. */
const CLIENTS = 16;
const USERS = 4;
const CROWD_MS = 10_000;

/** Statuses behind which the bystander asks again: the machine may be slow, and 0 is a connection that ended. */
const AGAIN: readonly number[] = [0, 503, 504];

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
  let bystander: Bystander | null = null;
  try {
    const statuses = new Map<number, number>();
    await node.value('//stuff', '.n = 0;');
    const tokens = await node.value(
      '/t',
      `range(${USERS}).map(|i| { u = 'u' + str(i); new_user(u); grant('//stuff', u, FULL); new_token(u); });`,
    );
    if (!Array.isArray(tokens)) throw new Error('there are no users');
    const users = tokens.map((token) => `Bearer ${token}`);
    const asks = Bystander.begin(node, query('.n += 1;'), { again: AGAIN });
    bystander = asks;
    const end = performance.now() + crowdMs;
    const crowd = Array.from({ length: clients }, async () => {
      while (performance.now() < end) {
        const status = await ask(node, draw, draw.pick(users));
        if (status !== null) statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    });
    const [waits] = await Promise.all([asks.waits, Promise.all(crowd).then(() => asks.end())]);
    if (!node.running) throw new Error(`the node has ended: ${node.log.slice(-2000)}`);
    // A change whose connection ended was asked for again.
    if (Number(await node.value('//stuff', '.n;')) < waits.answers) throw new Error('the node lost a change');
    if (/internal_error|FATAL/.test(node.log)) throw new Error(node.log.slice(-2000));
    return { statuses, ...waits };
  } finally {
    await bystander?.stop();
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

function query(code: string, x = 'null'): string {
  return `{"type":"query","code":${JSON.stringify(code)},"vars":{"x":${x}}}`;
}
