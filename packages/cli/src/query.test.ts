import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { decodeMessagePack, encodeMessagePack, type WireValue, wireMap } from '@althing/client';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { main } from './index.js';
import { FakeIo, portOf } from './testing.js';

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

let server: Server;
let url: string;
let received: Received[];
let answer: { status: number; body: string | Uint8Array };

beforeEach(async () => {
  received = [];
  answer = { status: 200, body: encodeMessagePack(2n) };
  server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    received.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(parts) });
    response.writeHead(answer.status);
    response.end(answer.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${portOf(server)}`;
});

afterEach(() => {
  server.close();
});

/** The body of the first request. */
function sent(): WireValue {
  return decodeMessagePack(received[0]?.body ?? Buffer.alloc(0));
}

async function query(io: FakeIo, ...args: string[]): Promise<number> {
  return main(['query', ...args], io);
}

const user = ['--user', 'admin:pa:ss'];

describe('a query', () => {
  test('travels as MessagePack, and its answer is a line of JSON', async () => {
    const io = new FakeIo();
    const value = wireMap({ '#': 9223372036854775807n, f: 1, b: new Uint8Array([0, 1]), n: Number.NaN });
    answer = { status: 200, body: encodeMessagePack(value) };

    const exitCode = await query(io, '@:stuff', '1 + 1;', '--url', url, ...user);

    const line = '{"#":9223372036854775807,"f":1.0,"b":"AAE=","n":"nan"}\n';
    expect([exitCode, io.output, io.errors]).toEqual([0, line, '']);
    expect(received).toHaveLength(1);
    expect(received[0]?.path).toBe('/@:stuff');
    expect(received[0]?.headers['content-type']).toBe('application/msgpack');
    expect(received[0]?.headers['idempotency-key']).toMatch(/^[0-9a-f-]{36}$/);
    expect(received[0]?.headers.authorization).toBe(`Basic ${btoa('admin:pa:ss')}`);
    expect(sent()).toEqual(wireMap({ type: 'query', code: '1 + 1;' }));
  });

  test('may be read-only, or only tried out', async () => {
    const told = wireMap({ result: 2n, changes: wireMap({ properties: 1n }), futures: 3n });
    answer = { status: 200, body: encodeMessagePack(told) };
    const io = new FakeIo();

    await query(io, '//stuff', '.x = 2;', '--dry-run', '--read-only', '--url', url, ...user);

    expect(io.output).toBe('{"result":2,"changes":{"properties":1},"futures":3}\n');
    expect(received[0]?.headers).toMatchObject({ 'althing-dry-run': 'true', 'althing-read-only': 'true' });
    expect(received[0]?.headers).not.toHaveProperty('idempotency-key');
  });

  test('takes its variables exactly as written', async () => {
    const vars = '{"a": 9007199254740993, "b": 1.0, "c": [null, "x"]}';

    await query(new FakeIo(), '//stuff', 'a;', '--vars', vars, '--url', url, ...user);

    const wire = wireMap({ a: 9007199254740993n, b: 1, c: [null, 'x'] });
    expect(sent()).toEqual(wireMap({ type: 'query', code: 'a;', vars: wire }));
  });

  test('a query for people shows what JSON lacks', async () => {
    const io = new FakeIo();
    const value: WireValue = [1n, 1, new Uint8Array([0, 1]), Number.NaN];
    answer = { status: 200, body: encodeMessagePack(value) };

    const exitCode = await query(
      io,
      '@t',
      'x;',
      '--vars',
      '{"n":1}',
      '--format',
      'pretty',
      '--url',
      url,
      ...user,
    );

    expect([exitCode, io.output]).toEqual([0, '[1, 1.0, bytes("AAE="), nan]\n']);
    expect(sent()).toEqual(wireMap({ type: 'query', code: 'x;', vars: wireMap({ n: 1n }) }));
  });

  test('comes from the standard input', async () => {
    const io = new FakeIo({}, 'return "é";\n');
    await query(io, '@t', '-', '--url', url, ...user);
    expect(sent()).toEqual(wireMap({ type: 'query', code: 'return "é";\n' }));
  });

  test('goes below the path of the URL, which may come from the environment', async () => {
    await query(new FakeIo({ ALTHING_URL: `${url}/db/`, ALTHING_TOKEN: 'abc' }), '@t', '1;');
    expect([received[0]?.path, received[0]?.headers.authorization]).toEqual(['/db/@t', 'Bearer abc']);
  });
});

describe('credentials', () => {
  test('the command line wins over the environment', async () => {
    const environment = { ALTHING_TOKEN: 'abc', ALTHING_PASSWORD: 'secret' };

    await query(new FakeIo(environment), '@t', '1;', '--url', url, '--user', 'iris');
    await query(new FakeIo(environment), '@t', '1;', '--url', url, '--token', 'def');
    await query(new FakeIo({ ALTHING_USER: 'iris:x' }), '@t', '1;', '--url', url);

    expect(received.map((request) => request.headers.authorization)).toEqual([
      `Basic ${btoa('iris:secret')}`,
      'Bearer def',
      `Basic ${btoa('iris:x')}`,
    ]);
  });

  test('a password is asked for on a terminal, and not shown', async () => {
    const io = new FakeIo();
    io.terminal();
    const running = query(io, '@t', '1;', '--url', url, '--user', 'iris');
    await io.rawMode(true);
    io.stdin.write('sex\u007fcret\r');

    expect(await running).toBe(0);
    expect(io.errors).toBe('Password of iris: \n');
    expect(received[0]?.headers.authorization).toBe(`Basic ${btoa('iris:secret')}`);
    await io.rawMode(false);
  });

  test('a user who gives up, or has no terminal, is told what to do', async () => {
    const atTerminal = new FakeIo();
    atTerminal.terminal();
    const running = query(atTerminal, '@t', '1;', '--url', url, '--user', 'iris');
    await atTerminal.rawMode(true);
    atTerminal.stdin.write('abc\u0003');
    const inScript = new FakeIo();

    expect([await running, await query(inScript, '@t', '1;', '--url', url, '--user', 'iris')]).toEqual([
      2, 2,
    ]);
    expect(inScript.errors).toContain('no password for iris: set ALTHING_PASSWORD');
    expect(received).toEqual([]);
  });
});

describe('wrong usage', () => {
  test.each([
    ['who are you?', []],
    ['no JSON', ['--vars', '{a: 1}', ...user]],
    ['must be a JSON object', ['--vars', '[1]', ...user]],
    ['is no URL', ['--url', 'localhost:9210', ...user]],
    ['must be a number', ['--timeout', 'soon', ...user]],
    ['Allowed choices', ['--format', 'xml', ...user]],
    ['unknown option', ['--tokn', 'x']],
    ['no blanks', ['--token', 'a b']],
  ])('%s', async (message, options) => {
    const io = new FakeIo();
    expect(await query(io, '@t', '1;', '--url', url, ...options)).toBe(2);
    expect(io.errors).toContain(message);
    expect([io.output, received]).toEqual(['', []]);
  });
});

describe('failures', () => {
  test('an error of the query is told by name, code and message', async () => {
    const error = { code: -54n, name: 'lookup_err', message: 'no thing 7', outcome: 'none' };
    answer = { status: 404, body: encodeMessagePack(wireMap({ error: wireMap(error) })) };
    const io = new FakeIo();
    expect(await query(io, '@t', '#7;', '--url', url, ...user)).toBe(1);
    expect([io.output, io.errors]).toEqual(['', 'lookup_err (-54): no thing 7\n']);
  });

  test('its place is shown below the line', async () => {
    const at = wireMap({ line: 2n, column: 3n, offset: 8n, length: 2n });
    const error = { code: -54n, name: 'lookup_err', message: 'no thing 7', outcome: 'none', at };
    answer = { status: 404, body: encodeMessagePack(wireMap({ error: wireMap(error) })) };
    const io = new FakeIo();
    expect(await query(io, '@t', 'x = 1;\n  #7;', '--url', url, ...user)).toBe(1);
    expect(io.errors).toMatch(/no thing 7\n.*#7;\n.*\^/);
  });

  test('an answer that is not from a node shows its status', async () => {
    const io = new FakeIo();
    answer = { status: 400, body: '<html>Bad request\n</html>' };
    expect(await query(io, '@t', '1;', '--url', url, ...user)).toBe(1);
    expect(io.errors).toBe(`${url} answered with status 400, and no error\n`);
  });

  test.each([
    [503, 'none', 6],
    [429, 'none', 6],
    [422, 'none', 1],
    [504, 'none', 1],
    [504, 'unknown', 7],
    [500, 'made', 7],
    [504, undefined, 7],
  ])('status %i with the outcome %s ends with code %i', async (status, outcome, code) => {
    const io = new FakeIo();
    const error = wireMap({ code: code === 6 ? -51n : -63n, name: 'err', message: 'no', outcome });
    answer = { status, body: encodeMessagePack(wireMap({ error })) };
    const options = ['--url', url, '--idempotency-key', 'again', ...user];
    expect(await query(io, '@t', '1;', ...options)).toBe(code);
    expect(received.at(-1)?.headers['idempotency-key']).toBe('again');
    expect(io.errors.includes('--idempotency-key again')).toBe(code === 7);
    expect(io.errors.includes('the change was made')).toBe(outcome === 'made');
  });

  test('nothing listens', async () => {
    const io = new FakeIo();
    server.close();
    await once(server, 'close');
    expect(await query(io, '@t', '1;', '--url', url, ...user)).toBe(6);
    expect(io.errors).toContain(`${url} can't be reached`);
    expect(io.errors).toContain('is the node running');
  });

  test('a listener that closes the connection, does not speak HTTP, or says nothing is told as such', async () => {
    let behaviour: 'close' | 'garbage' | 'silence' = 'close';
    const listener = createTcpServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.once('data', () => {
        if (behaviour === 'close') socket.destroy();
        if (behaviour === 'garbage') socket.end('SSH-2.0-x\r\n');
      });
    });
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const there = ['--url', `http://127.0.0.1:${portOf(listener)}`];
    const messages: string[] = [];
    for (behaviour of ['close', 'garbage', 'silence'] as const) {
      const io = new FakeIo();
      expect(await query(io, '@t', '1;', ...there, '--timeout', '0.2', ...user)).toBe(7);
      messages.push(io.errors);
    }
    listener.close();

    for (const message of messages) expect(message).toContain('a change may have been made all the same');
    // Some of the time is spent before the request is sent.
    expect(messages[2]).toMatch(/no answer within \d+ ms/);
  });
});
