import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { median, medianInterval, quantile, table, timeText } from '../harness/table.js';
import { rowsText } from './contest.js';
import { Load } from './load.js';
import { Machine } from './machine.js';
import { newText, TEXT_LENGTHS, TEXTS_SETUP } from './new-texts.js';
import { benchRequests } from './requests.js';
import { ResponseError, ResponseReader } from './response.js';
import { requestOf, requestsOf, scenarios, titleOf } from './scenarios.js';

describe('the reader of responses', () => {
  const response = (body: string, status = '200 OK') =>
    `HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

  test('finds the ends of responses, however they are cut', () => {
    const texts = [
      response('2'),
      response('2'),
      response(''),
      response('no', '404 Not Found'),
      response('x'.repeat(99)),
    ];
    fc.assert(
      fc.property(fc.infiniteStream(fc.integer({ min: 1, max: 60 })), (sizes) => {
        const reader = new ResponseReader();
        const statuses: number[] = [];
        for (const text of texts) {
          const bytes = Buffer.from(text);
          for (let at = 0; at < bytes.length; ) {
            const size = sizes.next().value;
            const isComplete = reader.take(bytes.subarray(at, at + size));
            at += size;
            expect(isComplete).toBe(at >= bytes.length);
          }
          statuses.push(reader.status);
        }
        expect(statuses).toEqual([200, 200, 200, 404, 200]);
      }),
    );
  });

  test.each([
    ['another protocol', 'SSH-2.0\r\n\r\n'],
    ['no length', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'],
    ['more than one response', `${response('2')}x`],
    ['an endless head', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}`],
  ])('%s is refused', (_, text) => {
    expect(() => new ResponseReader().take(Buffer.from(text))).toThrow(ResponseError);
  });
});

describe('load', () => {
  const servers: Server[] = [];

  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  async function serve(onRequest: (socket: Socket, count: number) => void): Promise<number> {
    let count = 0;
    const server = createServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.on('data', () => onRequest(socket, ++count));
    });
    servers.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  const request = Buffer.from('POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n');
  const answer = (status: string) => `HTTP/1.1 ${status}\r\nContent-Length: 2\r\n\r\nok`;

  async function until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise(setImmediate);
  }

  test('keeps one request under way on each connection, and counts the answers', async () => {
    const waiting: Socket[] = [];
    const port = await serve((socket) => {
      waiting.push(socket);
      // Nobody is answered before all three have asked.
      if (waiting.length === 3) for (const asking of waiting.splice(0)) asking.write(answer('200 OK'));
    });
    const load = new Load({ ports: [port], requests: [request], connections: 3 });
    await until(() => load.result().answers >= 300);
    load.stop();

    expect(waiting.length).toBeLessThan(3);
    expect(load.result()).toMatchObject({ errors: 0, lastError: undefined });
    expect(load.result().times.length).toBe(load.result().answers);
  });

  test('other statuses and broken connections are errors, and the load goes on', async () => {
    const port = await serve((socket, count) => {
      if (count === 5) socket.destroy();
      else socket.write(answer(count === 3 ? '503 Service Unavailable' : '200 OK'));
    });
    const load = new Load({ ports: [port], requests: [request], connections: 1 });
    await until(() => load.result().answers >= 10);
    load.stop();

    expect(load.result()).toMatchObject({ errors: 2, lastError: 'the server closed the connection' });
  });

  test('stops when there are only errors', async () => {
    const port = await serve((socket) => socket.write('SSH-2.0\r\n\r\n'));
    const load = new Load({ ports: [port], requests: [request], connections: 4 });
    await until(() => load.result().errors >= 1000);
    const { errors } = load.result();
    await new Promise(setImmediate);
    expect(load.result()).toMatchObject({ answers: 0, errors });
    expect(load.result().lastError).toContain('no response');
  });
});

describe('scenarios', () => {
  test('have different titles and requests whose length is right', () => {
    const titles = scenarios.map(titleOf);
    expect(new Set(titles).size).toBe(titles.length);
    for (const scenario of scenarios) {
      const [head = '', ...rest] = requestOf(scenario, { token: 'abc' }).toString('latin1').split('\r\n\r\n');
      expect(head).toMatch(/^POST \/\/bench HTTP\/1\.1\r\n/);
      expect(head).toContain('Authorization: Bearer abc');
      expect(Number(/Content-Length: (\d+)/.exec(head)?.[1])).toBe(rest.join('\r\n\r\n').length);
    }
  });
});

test('requests differ where their bodies do', () => {
  const countOf = (title: string): number => {
    const scenario = scenarios.find((one) => titleOf(one) === title);
    if (scenario === undefined) throw new Error(`there is no scenario ${title}`);
    return new Set(requestsOf(scenario, { token: 'abc' }).map((request) => request.toString('latin1'))).size;
  };
  expect(countOf('sum, json, token')).toBe(1);
  expect(countOf('sum of two variables, msgpack, token')).toBe(100);
});

test('new texts have about the length that is wanted, run, change nothing, and never come twice', () => {
  const machine = new Machine();
  machine.run(TEXTS_SETUP);
  const seen = new Set<string>();
  for (const length of TEXT_LENGTHS) {
    for (let n = 1; n <= 100; n++) {
      const text = newText(length, n * 997);
      expect(Math.abs(text.length - length)).toBeLessThanOrEqual(0.3 * length);
      machine.run(text);
      seen.add(text);
    }
  }
  expect(seen.size).toBe(100 * TEXT_LENGTHS.length);
});

describe('measuring', () => {
  test('requests of this build are measured beside those of another one', async () => {
    const against = fileURLToPath(new URL('../../../..', import.meta.url));
    const rows = await benchRequests(scenarios.slice(0, 1), {
      connections: [2],
      durationMs: 50,
      warmupMs: 20,
      heatMs: 50,
      rounds: 1,
      workers: 2,
      against,
      storage: tmpdir(),
    });
    expect(rows).toMatchObject([
      {
        name: 'sum, json, token',
        connections: 2,
        errors: 0,
        others: [{ name: against }],
      },
    ]);
    expect(rows[0]?.own.ratePerS).toBeGreaterThan(1);
    expect(rows[0]?.others[0]?.ratios.p50.median).toBeGreaterThan(0);
    expect(rowsText(rows)).toMatch(/\nsum, json, token, 2 +(?:[0-9.]+|NaN) µs.*\n {2}of \//);
  });
});

test('figures as text', () => {
  expect(
    table([
      ['', 'n'],
      ['abc', '1'],
      ['d', '100'],
    ]),
  ).toBe('       n\nabc    1\nd    100');
  expect([median([3, 1, 2]), median([4, 1, 2, 3])]).toEqual([2, 2.5]);
  expect([0.01, 0.5, 0.99, 1].map((share) => quantile([4, 1, 3, 2], share))).toEqual([1, 2, 4, 4]);
  const values = Array.from({ length: 12 }, (_, i) => i);
  // 12 values: between the third and the tenth with 96 %, since 2 * (1 + 12 + 66) / 4096 is 0.04.
  expect([medianInterval(values), medianInterval([3, 1, 2])]).toEqual([
    { low: 2, high: 9 },
    { low: 1, high: 3 },
  ]);
  expect([timeText(0.0871), timeText(2.345), timeText(12.34)]).toEqual(['87 µs', '2.35 ms', '12.3 ms']);
});
