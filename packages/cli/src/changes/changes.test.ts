/** Changes of a real node that are followed, and the ways of nodes of which feeds are asked. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@althing/client';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { main } from '../program.js';
import { type OwnNode, startOwnNode, until } from '../shell/testing.js';
import { FakeIo, portOf } from '../testing.js';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'althing-changes-test-'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Follows `//stuff`; `ended` gives the exit code. */
function follow(
  url: string,
  ...args: readonly string[]
): { readonly io: FakeIo; readonly ended: Promise<number> } {
  const io = new FakeIo({ ALTHING_URL: url, ALTHING_USER: 'admin:pass' });
  return { io, ended: main(['changes', '//stuff', ...args], io) };
}

function opsIn(output: string): unknown[] {
  const lines = output.split('\n').filter((line) => line !== '');
  return lines.flatMap((line) => JSON.parse(line).changes.map(({ op }: { op: string }) => op));
}

describe('althing changes', () => {
  let node: OwnNode;

  beforeAll(async () => {
    node = await startOwnNode();
  });

  afterAll(() => node.stop());

  async function query(code: string): Promise<void> {
    const db = connect(node.url, { user: 'admin', password: 'pass', attemptsMax: 1 });
    await db.$scope('//stuff').query(code);
    await db.$close();
  }

  test('prints what is committed, keeps the position, and tells later what came meanwhile', async () => {
    const state = join(folder, 'position');
    await query("set_type('A', {n: 'int'}); .a = A{n: 1}; .b = 1;");
    const first = follow(node.url, '--types', 'A', '--state', state);
    await until('the position is kept', () => existsSync(state));
    await query('.b = 2; .a.n = 2;');
    await until('the change is told', () => first.io.output.includes('"set"'));
    first.io.signal('SIGINT');
    expect(await first.ended).toBe(0);
    expect(opsIn(first.io.output)).toEqual(['set']);
    await query('.a.n = 3; .c = A{n: 4};');
    const second = follow(node.url, '--types', 'A', '--state', state);
    await until('what was missed is told', () => second.io.output.includes('"new"'));
    second.io.signal('SIGTERM');
    expect(await second.ended).toBe(0);
    expect(opsIn(second.io.output)).toEqual(['set', 'new']);
    expect(JSON.parse(second.io.output).at).toBe(readFileSync(state, 'utf8').trim());
    expect(first.io.listening).toBe(0);
  });

  test.each([
    [['--since', '4711'], 2, 'no position'],
    [['--since', '0-00000001'], 1, 'not to be had any more'],
    [['--types', 'A,B', '--ids', 'x'], 1, 'ids must be ids'],
  ])('althing changes with %j is refused', async (args, code, why) => {
    const { io, ended } = follow(node.url, ...args);
    expect(await ended).toBe(code);
    expect(io.errors).toContain(why);
  });

  test('takes no file for a position that holds none', async () => {
    const state = join(folder, 'no-position');
    writeFileSync(state, 'hello\n');
    const { io, ended } = follow(node.url, '--state', state);
    expect(await ended).toBe(2);
    expect(io.errors).toContain('holds no position');
  });
});

describe('a feed', () => {
  const servers: Server[] = [];

  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  /** The URL of a node that answers so. */
  async function nodeOf(answer: (since: string | null, response: ServerResponse) => void): Promise<string> {
    const server = createServer((request: IncomingMessage, response) =>
      answer(new URL(request.url ?? '', 'http://node').searchParams.get('since'), response),
    );
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${portOf(server)}`;
  }

  const line = (at: number): string => `{"at":"${at}-0000000a","changes":[{"op":"set"}]}\n`;
  const lost = '{"lost":true,"oldest":"9-0000000a"}';

  test('goes on at the next node behind the last whole line, and ends when a node says that it is lost', async () => {
    const asked: (string | null)[] = [];
    const first = await nodeOf((since, response) => {
      asked.push(since);
      if (since !== null) response.writeHead(410).end(lost);
      else {
        response.write(`${line(1)}${line(2).slice(0, 20)}`);
        setImmediate(() => response.destroy());
      }
    });
    const second = await nodeOf((since, response) => {
      asked.push(since);
      response.write(since === '1-0000000a' ? line(2) + line(3) : `${lost}\n`);
      response.end('{"ended":"leaving"}\n');
    });
    const { io, ended } = follow(`${first},${second}`);
    expect(await ended).toBe(1);
    expect(asked).toEqual([null, '1-0000000a', '3-0000000a']);
    expect(io.output).toBe(line(1) + line(2) + line(3));
    expect(io.errors).toContain('not to be had any more');
  });

  test.each([
    [
      'can not be read any more',
      403,
      '{"error":{"code":-55,"name":"forbidden","message":"not for you"}}',
      'not for you',
    ],
    ['was replaced by a restore', 410, lost, 'not to be had any more'],
  ])('ends where the collection %s', async (_, status, answer, why) => {
    const url = await nodeOf((since, response) => {
      if (since === null) response.end(`${line(1)}{"ended":"forbidden"}\n`);
      else response.writeHead(status).end(answer);
    });
    const { io, ended } = follow(url);
    expect(await ended).not.toBe(0);
    expect(io.output).toBe(line(1));
    expect(io.errors).toContain(why);
  });

  test('a feed that never began ends where no node can be reached', async () => {
    const url = await nodeOf(() => {});
    for (const server of servers.splice(0)) server.close();
    expect(await follow(`${url},${url}`).ended).toBe(6);
  });
});
