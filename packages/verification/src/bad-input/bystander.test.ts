/**
 * Somebody who asks something quick every 20 ms waits, while others send what takes long, all at once, no longer than for one
 * query.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, RealNode } from '@althing/node/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Bystander } from '../harness/bystander.js';

const LIMIT_MS = 400;

/** One query, a tenth of a second for what else there is, and the rest for a machine that has much else to do. */
const WAIT_MAX_MS = LIMIT_MS + 700;

const MiB = 1024 * 1024;

let node: RealNode;
let tokens: string[];
let bystander: Bystander;
let probe: Probe;

beforeAll(async () => {
  node = await RealNode.start({
    query_duration_limit_ms: LIMIT_MS,
    request_timeout_ms: 3000,
    request_size_limit: 16 * MiB,
    request_memory_limit_mb: 256,
  });
  for (let i = 0; i < 8; i++) {
    const work = `|n| { x = ${i}; for (i in range(n)) { for (j in range(n)) { x = j; } }; x; }`;
    await node.value('//stuff', `new_procedure('work${i}', ${work});`);
  }
  tokens = [];
  for (let i = 0; i < 9; i++) {
    const token = await node.value(
      '/t',
      `new_user('u${i}'); grant('//stuff', 'u${i}', ${i === 7 ? 'RUN' : 31}); new_token('u${i}');`,
    );
    tokens.push(`Bearer ${String(token)}`);
  }
});

beforeEach(() => {
  bystander = Bystander.begin(node, query('1;'), { authorization: tokens[8] ?? '' });
  probe = new Probe();
});

afterEach(async () => {
  await pause(300);
  await probe.end();
  expect((await bystander.end()).heldMs).toBeLessThan(WAIT_MAX_MS);
});

afterAll(async () => {
  expect(node.log).not.toMatch(/internal_error|RangeError|defect/);
  await node.stop();
});

/** Looks whether the node says that it is ready, until it is told to end. */
class Probe {
  private isOver = false;
  private readonly probing = this.probe();

  async end(): Promise<void> {
    this.isOver = true;
    await this.probing;
  }

  private async probe(): Promise<void> {
    while (!this.isOver) {
      expect((await node.probe('/ready')).status).toBe(200);
      await pause(100);
    }
  }
}

/** Sends requests at once, each on a connection of its own, and waits for all answers. */
async function allAtOnce(requests: readonly (readonly [body: string, user: number])[]): Promise<Answer[]> {
  const connections = await Promise.all(requests.map(() => node.open()));
  requests.forEach(([body, user], i) => {
    connections[i]?.send(node.text('//stuff', body, { authorization: tokens[user] ?? '' }));
  });
  const answers = await Promise.all(connections.map((connection) => connection.answer()));
  for (const connection of connections) connection.close();
  return answers.flatMap((answer) => (answer === null ? [] : [answer]));
}

const query = (code: string, vars?: object): string => JSON.stringify({ type: 'query', code, vars });
const loop = (i: number): string =>
  `m${i} = 0; for (i in range(n)) { for (j in range(n)) { m${i} = j; } }; 1;`;
const ENDLESS = 'for (i in range(100000)) { for (j in range(100000)) { 1; } };';

describe('somebody who asks something quick waits for one query at most', () => {
  test('a quick request waits for one query at most when one user sends eight programs at once that were quick before, and are endless now', async () => {
    await allAtOnce([[query(ENDLESS), 0]]);
    const small = Array.from({ length: 8 }, (_, i) => [query(loop(i), { n: 1 }), 0] as const);
    for (let round = 0; round < 3; round++) await allAtOnce(small);
    const large = small.map((_, i) => [query(loop(i), { n: 100_000 }), 0] as const);
    const answers = await allAtOnce(large);
    expect(answers.filter(({ status }) => status !== 504 && status !== 503)).toEqual([]);
  });

  test('a quick request waits for one query at most when a user with RUN alone runs eight procedures at once that were quick before', async () => {
    const runs = (n: number) =>
      Array.from(
        { length: 8 },
        (_, i) => [JSON.stringify({ type: 'run', name: `work${i}`, args: { n } }), 7] as const,
      );
    for (let round = 0; round < 3; round++) await allAtOnce(runs(1));
    await allAtOnce(runs(100_000));
  });

  test('a quick request waits for one query at most when seven users send an endless query each', async () => {
    await allAtOnce(Array.from({ length: 7 }, (_, i) => [query(`${i}; ${ENDLESS}`), i] as const));
  });

  test('a quick request waits for one query at most when six users send a body of 15 MB each', async () => {
    const body = `{"type":"query","code":"x.len();","vars":{"x":[${'{},'.repeat(5 * 1000 * 1000 - 1)}{}]}}`;
    await allAtOnce(Array.from({ length: 6 }, (_, i) => [body, i] as const));
  });

  test('a quick request waits for one query at most when seven users send a query each that goes on in a future', async () => {
    const code = `future(|| { ${ENDLESS} });`;
    await allAtOnce(Array.from({ length: 7 }, (_, i) => [query(code), i] as const));
  });
});
