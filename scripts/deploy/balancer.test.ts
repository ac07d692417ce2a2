import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePorts } from '@althing/node/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { textOf, yamlOf } from './files.js';
import { recordOf } from './kubernetes-api.js';

const config = textOf('deploy/haproxy/haproxy.cfg');
const nodes = ['node0', 'node1', 'node2'];
const names = [{ 'Althing-Request': 'c1.1.1' }, { 'Idempotency-Key': 'key' }] as const;
/** In place of 5 s and 15 s. */
const NAMED_MS = 600;
const OTHERS_MS = 1500;

const hasBalancer = spawnSync('haproxy', ['-v'], { stdio: 'ignore' }).status === 0;
if (!hasBalancer) process.stderr.write('skipped: haproxy is not installed\n');
const whenThere = hasBalancer ? describe : describe.skip;

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

const fine: Handler = (asked, response) => void asked.resume().on('end', () => response.end('"fine"'));
const frozen: Handler = () => {};
const dies: Handler = (asked) => void asked.socket.destroy();
const refuses: Handler = (asked, response) =>
  void asked.resume().on('end', () => {
    response.writeHead(503, { 'Content-Type': 'application/json', 'Retry-After': '2' });
    response.end('{"error":{"code":-51,"name":"node_err","message":"the disk is full","outcome":"none"}}');
  });

/** A node, as far as the balancer sees it. */
class FakeNode {
  handler: Handler = fine;
  isReady = true;
  asked = 0;
  private readonly server: Server;

  constructor() {
    this.server = createServer((asked, response) => {
      if (asked.url === '/ready') {
        response.statusCode = this.isReady ? 200 : 503;
        response.end();
        return;
      }
      this.asked += 1;
      this.handler(asked, response);
    });
  }

  async start(): Promise<number> {
    // Whatever "localhost" leads to.
    await new Promise<void>((resolve) => this.server.listen(0, resolve));
    return (this.server.address() as AddressInfo).port;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

whenThere('the balancer in front of three nodes', () => {
  let folder: string;
  let port: number;
  let observed: number;
  let balancer: ChildProcess;
  let servers: FakeNode[];
  let output = '';

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'althing-balancer-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  beforeEach(async () => {
    servers = nodes.map(() => new FakeNode());
    const ports = await Promise.all(servers.map((each) => each.start()));
    [port = 0, observed = 0] = await freePorts(2);
    writeFileSync(join(folder, 'haproxy.cfg'), configHere(ports));
    await startBalancer();
  });
  afterEach(() => {
    balancer.kill('SIGKILL');
    for (const each of servers) each.stop();
  });

  test('serves from its first moment', async () => {
    for (let count = 0; count < 20; count++) {
      balancer.kill('SIGKILL');
      await startBalancer();
      expect((await ask({})).status).toBe(200);
    }
  });

  test.each(names)('sends a request that has a name to another node when one is frozen: %j', async (name) => {
    servers.slice(0, 2).forEach((each) => {
      each.handler = frozen;
    });
    for (let count = 0; count < 3; count++) {
      const begin = performance.now();
      expect(await ask(name)).toMatchObject({ status: 200, body: '"fine"' });
      expect(performance.now() - begin).toBeLessThan(2 * NAMED_MS + 800);
    }
    expect(Math.min(...servers.map(({ asked }) => asked))).toBeGreaterThan(0);
  });

  test('does so when head and body come apart', async () => {
    for (const each of servers.slice(0, 2)) each.handler = frozen;
    for (let count = 0; count < 3; count++)
      expect(await ask(names[0], '/stuff', 100)).toMatchObject({ status: 200 });
  });

  test('tells that the outcome of any other is unknown, and asks no second node', async () => {
    for (const each of servers) each.handler = frozen;
    const begin = performance.now();
    expectUnknown(await ask({}), 504);
    expect(performance.now() - begin).toBeGreaterThan(OTHERS_MS - 100);
    expect(total()).toBe(1);
    await isLogged(' 504 ');
  });

  test('gives a backup its time', async () => {
    for (const each of servers)
      each.handler = (_, response) => void setTimeout(() => response.end('bytes'), OTHERS_MS + 500);
    expect(await ask({}, '/@backup')).toMatchObject({ status: 200, body: 'bytes' });
  });

  test('tells that the outcome is unknown when a node dies with a request that has no name', async () => {
    for (const each of servers) each.handler = dies;
    expectUnknown(await ask({}), 502);
    expect(total()).toBe(1);
  });

  test.each(names)('tells the same of one with a name when all die: %j', async (name) => {
    for (const each of servers) each.handler = dies;
    expectUnknown(await ask(name), 502);
    expect(total()).toBe(6);
  });

  test.each([{}, ...names])("passes on a node's own refusal: %j", async (name) => {
    for (const each of servers) each.handler = refuses;
    const { status, headers, body } = await ask(name);
    expect([status, headers['retry-after'], body]).toEqual([
      503,
      '2',
      expect.stringContaining('the disk is full'),
    ]);
    expect(total()).toBe(1);
  });

  test.each(names)('does not believe the refusal of a second node: %j', async (name) => {
    let isFirst = true;
    for (const each of servers) {
      each.handler = (...exchange) => {
        const handle = isFirst ? dies : refuses;
        isFirst = false;
        handle(...exchange);
      };
    }
    expectUnknown(await ask(name), 504);
    expect(total()).toBe(2);
  });

  test.each(names)('nor that nothing happened when all nodes are gone after one had it: %j', async (name) => {
    for (const each of servers) {
      each.handler = (asked) => {
        for (const all of servers) all.stop();
        asked.socket.destroy();
      };
    }
    expectUnknown(await ask(name), 504);
    expect(total()).toBe(1);
  });

  test('tells that nothing happened when no node can be reached', async () => {
    for (const each of servers) each.stop();
    expectNone(await ask({}));
    await isReady(503);
    for (const name of [{}, ...names]) expectNone(await ask(name));
  });

  test('tells that nothing happened when no node is ready', async () => {
    for (const each of servers) each.isReady = false;
    await isReady(503);
    for (const name of [{}, ...names]) expectNone(await ask(name));
    expect(total()).toBe(0);
  });

  test('is healthy, as Docker sees it, when a node is ready', async () => {
    await isReady(200);
    expect(healthcheck()).toBe(0);
    for (const each of servers) each.isReady = false;
    await isReady(503);
    expect(healthcheck()).not.toBe(0);
  });

  /** The configuration with addresses of this machine, and shorter times. */
  function configHere(ports: readonly number[]): string {
    const times = [
      ['timeout server 15s', `timeout server ${OTHERS_MS}ms`],
      ['set-timeout server 5s', `set-timeout server ${NAMED_MS}ms`],
    ] as const;
    let text = config
      // No name server: what is known at the start stays.
      .replace('nameserver dns 127.0.0.11:53', 'nameserver dns 127.0.0.1:9')
      .replace(/^ {2}server-template more.*\n/m, '')
      .replace('http-check connect port 9230', 'http-check connect')
      .replaceAll('bind :9210', `bind 127.0.0.1:${port}`)
      .replaceAll('bind :8404', `bind 127.0.0.1:${observed}`);
    for (const [at, name] of nodes.entries()) text = text.replace(`${name}:9210`, `localhost:${ports[at]}`);
    for (const [from, to] of times) {
      expect(text).toContain(from);
      text = text.replace(from, to);
    }
    return text;
  }

  async function startBalancer(): Promise<void> {
    output = '';
    balancer = spawn('haproxy', ['-db', '-f', join(folder, 'haproxy.cfg')], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [balancer.stdout, balancer.stderr])
      stream?.on('data', (part: Buffer) => {
        output += part.toString('utf8');
      });
    for (const end = Date.now() + 10_000; (await ask({}, '/', 0, observed)).status === 0; await pause(2))
      if (Date.now() > end) throw new Error(`haproxy does not listen: ${output}`);
  }

  async function isReady(status: number): Promise<void> {
    for (const end = Date.now() + 10_000; (await ask({}, '/ready', 0, observed)).status !== status; )
      if (Date.now() > end) throw new Error(`/ready does not answer ${status}`);
      else await pause(20);
  }

  async function isLogged(text: string): Promise<void> {
    for (const end = Date.now() + 10_000; !output.includes(text); await pause(20))
      if (Date.now() > end) throw new Error(`not in the log: ${output}`);
  }

  /** The command of the compose file. */
  function healthcheck(): number | null {
    const [file] = yamlOf('docker-compose.yml');
    const { lb } = recordOf(recordOf(file).services);
    const { test: command } = recordOf(recordOf(lb).healthcheck);
    const [kind, program, ...parameters] = Array.isArray(command) ? command.map(String) : [];
    expect(kind).toBe('CMD');
    // A dollar sign is written twice there.
    const here = parameters.map((word) => word.replace('/8404', `/${observed}`).replaceAll('$$', '$'));
    expect(here).not.toEqual(parameters);
    return spawnSync(program ?? '', here, { timeout: 5000 }).status;
  }

  function total(): number {
    return servers.reduce((sum, { asked }) => sum + asked, 0);
  }

  /** Status 0: no answer. */
  function ask(headers: object, path = '/stuff', apartMs = 0, to = port): Promise<Answer> {
    const body = '{"type":"query","code":"1;"}';
    return new Promise((resolve) => {
      const all = { 'Content-Type': 'application/json', 'Content-Length': String(body.length), ...headers };
      const asked = request({
        host: '127.0.0.1',
        port: to,
        path,
        method: 'POST',
        headers: all,
        agent: false,
      });
      asked.on('response', (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
        );
      });
      asked.on('error', () => resolve({ status: 0, headers: {}, body: '' }));
      asked.flushHeaders();
      setTimeout(() => asked.end(body), apartMs);
    });
  }
});

function expectUnknown({ status, headers, body }: Answer, expected: number): void {
  expect([status, headers['retry-after'], headers['content-type']]).toEqual([
    expected,
    undefined,
    'application/json',
  ]);
  expect(JSON.parse(body)).toEqual({
    error: { code: -51, name: 'node_err', message: expect.any(String), outcome: 'unknown' },
  });
}

function expectNone({ status, headers, body }: Answer): void {
  expect([status, headers['retry-after'], headers['content-type']]).toEqual([503, '1', 'application/json']);
  expect(JSON.parse(body)).toEqual({
    error: { code: -51, name: 'node_err', message: expect.any(String), outcome: 'none' },
  });
}
