/** The native protocol in messages of WebSockets: on its own port, and on that of the API. */

import {
  clientFrame,
  encodeMessagePack,
  encodePackage,
  PackageType,
  SocketClient,
  serverFrame,
  WebSocketChannel,
} from '@althing/client';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { FREE_PORT, RawLine, RealNode, until } from '../../testing/index.js';

let node: RealNode;
let token: string;

beforeAll(async () => {
  node = await RealNode.start({
    ws_port: FREE_PORT,
    listen_client_port: FREE_PORT,
    http_allowed_origins: 'https://app.example.com',
  });
  token = node.authorization.slice('Bearer '.length);
});
afterAll(() => node.stop());

const HANDSHAKE = [
  'Host: 127.0.0.1',
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Version: 13',
];

/** Sends a request; gives the head of the answer. */
async function greeted(lines: readonly string[], line?: RawLine): Promise<string> {
  const to = line ?? (await RawLine.open({ host: '127.0.0.1', port: node.wsPort }));
  to.sendBytes(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`));
  let head = '';
  while (!head.endsWith('\r\n\r\n')) {
    const byte = await to.take(1);
    if (byte.length === 0) break;
    head += byte.toString('latin1');
  }
  if (line === undefined) to.close();
  return head;
}

async function open(): Promise<RawLine> {
  const line = await RawLine.open({ host: '127.0.0.1', port: node.wsPort });
  expect(await greeted(['GET /any?path HTTP/1.1', ...HANDSHAKE], line)).toContain('101 Switching Protocols');
  return line;
}

/** The next frame that came: opcode and payload in hexadecimal digits. */
async function frame(line: RawLine): Promise<string> {
  let bytes: Buffer = Buffer.alloc(0);
  for (;;) {
    const whole = serverFrame(bytes);
    if (whole !== null) return `${whole.opcode} ${whole.payload.toString('hex')}`;
    const byte = await line.take(1);
    if (byte.length === 0) return 'end';
    bytes = Buffer.concat([bytes, byte]);
  }
}

/** All connections of clients that the node counts. */
async function connections(): Promise<number> {
  const page = (await node.probe('/metrics')).text;
  return Number(/^althing_connections (\d+)/m.exec(page)?.[1]);
}

const PING = encodePackage(PackageType.PING, 1);
const PONG = '2 00000000010010ef';

describe('a handshake', () => {
  test('echoes the subprotocol, and takes any path', async () => {
    const plain = await greeted(['GET /any HTTP/1.1', ...HANDSHAKE, 'Origin: https://app.example.com']);
    expect(plain).toContain('Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
    expect(plain).not.toContain('Protocol:');
    const named = await greeted([
      'GET / HTTP/1.1',
      ...HANDSHAKE,
      'Sec-WebSocket-Protocol: chat, thingsdb-protocol',
    ]);
    expect(named).toContain('\r\nSec-WebSocket-Protocol: thingsdb-protocol\r\n');
    expect(named).not.toContain('Extensions');
  });

  const refusals: [string, readonly string[], string][] = [
    ['a plain request', ['GET / HTTP/1.1', 'Host: x'], '426'],
    ['another version', ['GET / HTTP/1.1', ...HANDSHAKE.slice(0, 4), 'Sec-WebSocket-Version: 8'], '426'],
    ['another subprotocol', ['GET / HTTP/1.1', ...HANDSHAKE, 'Sec-WebSocket-Protocol: chat'], '400'],
    ['no key', ['GET / HTTP/1.1', ...HANDSHAKE.slice(0, 3), 'Sec-WebSocket-Version: 13'], '400'],
    ['another method', ['POST / HTTP/1.1', ...HANDSHAKE], '400'],
    ['a page from elsewhere', ['GET / HTTP/1.1', ...HANDSHAKE, 'Origin: https://evil.example'], '403'],
    [
      'a name that a page lets point here',
      ['GET / HTTP/1.1', 'Host: evil.example', ...HANDSHAKE.slice(1), 'Origin: http://evil.example'],
      '421',
    ],
  ];
  test.each(refusals)('refuses %s', async (_name, lines, status) => {
    expect(await greeted(lines)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });
});

describe('messages', () => {
  test('hold a package each, in frames of any size, cut anywhere, with pings between them', async () => {
    const line = await open();
    const auth = encodePackage(PackageType.AUTH, 1, encodeMessagePack(token));
    line.sendBytes(clientFrame(2, auth));
    expect(await frame(line)).toBe('2 00000000010011ee');
    const query = encodePackage(PackageType.QUERY, 2, encodeMessagePack(['@t', '"x".upper();']));
    const frames = Array.from(query, (byte, i) =>
      clientFrame(i === 0 ? 1 : 0, Buffer.of(byte), i === query.length - 1),
    );
    frames.splice(5, 0, clientFrame(9, Buffer.from('hi')));
    frames.splice(9, 0, clientFrame(0, Buffer.alloc(0), false));
    for (const byte of Buffer.concat(frames)) line.sendBytes(Buffer.of(byte));
    expect(await frame(line)).toBe('10 6869');
    expect(await frame(line)).toBe('2 02000000020012eda158');
    const long = encodePackage(
      PackageType.QUERY,
      3,
      encodeMessagePack(['@t', `"${'y'.repeat(70_000)}".len();`]),
    );
    line.sendBytes(clientFrame(2, long));
    expect(await frame(line)).toBe('2 05000000030012edce00011170');
    line.sendBytes(clientFrame(8, Buffer.of(0x03, 0xe9)));
    expect(await frame(line)).toBe('8 03e9');
    await line.ended();
  });

  test('messages of two connections do not mix, and answers of any size come whole', async () => {
    const clients = await Promise.all(
      [1, 2].map(
        async () => new SocketClient(await WebSocketChannel.open({ host: '127.0.0.1', port: node.wsPort })),
      ),
    );
    await Promise.all(clients.map((client) => client.login({ user: 'admin', password: 'pass' })));
    const sizes = [1, 117, 118, 125, 126, 500, 600, 65_000, 70_000, 1_000_000];
    for (const size of sizes) {
      const answers = await Promise.all(
        clients.map((client, i) => client.query('@t', 'a;', { a: String(i).repeat(size) })),
      );
      expect(answers.every((answer, i) => answer === String(i).repeat(size))).toBe(true);
    }
    for (const client of clients) client.close();
    await Promise.all(clients.map(({ ended }) => ended));
  });

  const bad: [string, Buffer][] = [
    ['without a mask', Buffer.concat([Buffer.of(0x82, 8), PING])],
    ['with a reserved bit', Buffer.concat([Buffer.of(0xc2), clientFrame(2, PING).subarray(1)])],
    ['of an unknown type', clientFrame(3, PING)],
    ['that go on with nothing', clientFrame(0, PING)],
    ['that begin twice', Buffer.concat([clientFrame(2, PING, false), clientFrame(2, PING)])],
    ['with a ping in pieces', clientFrame(9, PING, false)],
    ['with a ping that is too long', clientFrame(9, Buffer.alloc(126))],
    ['that are empty', clientFrame(2, Buffer.alloc(0))],
    ['with half a header', clientFrame(2, PING.subarray(0, 5))],
    ['with a wrong check', clientFrame(2, Buffer.from('0000000001002020', 'hex'))],
    ['with less than announced', clientFrame(2, Buffer.from('05000000010022dd92', 'hex'))],
    ['with more than announced', clientFrame(2, Buffer.concat([PING, Buffer.of(0)]))],
    ['with two packages', clientFrame(2, Buffer.concat([PING, PING]))],
    ['with two packages in two frames', Buffer.concat([clientFrame(2, PING, false), clientFrame(0, PING)])],
    ['of 2^63 bytes', Buffer.from('82ffffffffffffffffff00000000', 'hex')],
  ];
  test.each(bad)('%s end the connection', async (_name, bytes) => {
    const line = await open();
    line.sendBytes(clientFrame(2, PING));
    expect(await frame(line)).toBe(PONG);
    line.sendBytes(bytes);
    expect(await frame(line)).toBe('8 03e9');
    await line.ended();
  });

  test('are small before AUTH', async () => {
    const other = await open();
    const header = encodePackage(PackageType.QUERY, 1);
    header.writeUInt32LE(65_537);
    other.sendBytes(clientFrame(2, header, false));
    expect(await frame(other)).toMatch(/^2 .{8}010013ec/);
    expect(await frame(other)).toBe('8 03e9');
  });
});

describe('a connection ends', () => {
  test('a connection ends with a client that goes without a word', async () => {
    const lines = await Promise.all(Array.from({ length: 40 }, open));
    for (const line of lines) {
      line.sendBytes(clientFrame(2, encodePackage(PackageType.AUTH, 1, encodeMessagePack(token))));
      expect(await frame(line)).toBe('2 00000000010011ee');
    }
    await until(async () => (await connections()) >= 40, 'they are counted');
    for (const line of lines) line.close();
    await until(async () => (await connections()) < 20, 'they are not counted any more');
  });

  test('after a refusal, when the client stays', async () => {
    const place = { host: '127.0.0.1', port: node.wsPort, allowHalfOpen: true };
    const lines = await Promise.all(Array.from({ length: 40 }, () => RawLine.open(place)));
    await until(async () => (await connections()) >= 40, 'they are counted');
    const heads = lines.map((line, i) =>
      greeted(['GET / HTTP/1.1', ...HANDSHAKE.slice(0, 1 + (i % 3))], line),
    );
    for (const head of await Promise.all(heads)) expect(head).toMatch(/ 4\d\d /);
    await until(async () => (await connections()) < 20, 'they are not counted any more');
    for (const line of lines) line.close();
  });
});

describe('/@ws on the port of the API', () => {
  const connect = async (headers: readonly string[] = [], path = '/@ws'): Promise<SocketClient> =>
    new SocketClient(await WebSocketChannel.open({ host: '127.0.0.1', port: node.port }, path, headers));

  test('speaks the same, with messages of up to 1 MB', async () => {
    const client = await connect(['Sec-WebSocket-Protocol: thingsdb-protocol']);
    await expect(client.query('@t', '1')).rejects.toMatchObject({ code: -56 });
    await client.login(token);
    await client.ping();
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) => client.query('//stuff', `.w = ${i}; .w;`)),
    );
    expect(answers).toEqual(answers.map((_, i) => BigInt(i)));
    const text = 'x'.repeat(1_000_000);
    expect((await client.query('@t', 'a;', { a: text })) === text).toBe(true);
    await expect(client.query('@t', 'a;', { a: text + text })).rejects.toThrow();
    await client.ended;
  });

  test('is for pages of origins that may use the API', async () => {
    await expect(connect(['Origin: https://elsewhere.example'])).rejects.toThrow('403');
    await expect(connect(['Sec-WebSocket-Protocol: chat'])).rejects.toThrow('400');
    await expect(connect([], '/@other')).rejects.toThrow();
    const own = await connect([`Origin: http://127.0.0.1`]);
    await own.ping();
    own.close();
  });

  test('is counted as a connection as long as it is one', async () => {
    const clients = await Promise.all(Array.from({ length: 40 }, () => connect()));
    await until(async () => (await connections()) >= 40, 'they are counted');
    for (const client of clients) client.close();
    await until(async () => (await connections()) < 20, 'they are not counted any more');
  });

  test('lets few at a time in that have not logged in', async () => {
    const strangers: SocketClient[] = [];
    for (let i = 0; i < 64; i++) strangers.push(await connect());
    await expect(connect()).rejects.toThrow('503');
    await strangers[0]?.login(token);
    strangers[1]?.close();
    await strangers[1]?.ended;
    await until(async () => (await connect().catch(() => null)) !== null, 'there is room again');
    for (const client of strangers) client.close();
  });

  test('a bad message ends the connection', async () => {
    for (const bytes of [
      Buffer.alloc(0),
      PING.subarray(0, 7),
      Buffer.concat([PING, PING]),
      Buffer.alloc(100, 1),
    ]) {
      const channel = await WebSocketChannel.open({ host: '127.0.0.1', port: node.port }, '/@ws');
      const client = new SocketClient(channel);
      await client.ping();
      channel.send(bytes);
      await client.ended;
    }
  });
});

describe('time that a user takes', () => {
  const doors: readonly [door: string, open: () => Promise<SocketClient | null>][] = [
    ['HTTP', async () => null],
    ['native sockets', () => SocketClient.connect({ host: '127.0.0.1', port: node.nativePort })],
    [
      'WebSockets',
      async () => new SocketClient(await WebSocketChannel.open({ host: '127.0.0.1', port: node.wsPort })),
    ],
    [
      'WebSockets of the API',
      async () =>
        new SocketClient(await WebSocketChannel.open({ host: '127.0.0.1', port: node.port }, '/@ws')),
    ],
  ];
  // A run is charged when it has ended, so a second one shows whose the first one was.
  test.each(doors)('over %s counts as its own', async (door, open) => {
    const user = `web${doors.findIndex(([name]) => name === door)}`;
    const key = String(
      await node.value(
        '/t',
        `new_user('${user}'); grant('//stuff', '${user}', FULL); set_limit('${user}', {share: 0.001}); new_token('${user}');`,
      ),
    );
    const client = await open();
    await client?.login(key);
    const ask = async (code: string): Promise<unknown> => {
      if (client !== null) return client.query('//stuff', code);
      const answer = await node.query('//stuff', code, undefined, { authorization: `Bearer ${key}` });
      if (answer.status !== 200) {
        expect([answer.status, answer.error.outcome]).toEqual([429, 'none']);
        const told = Number(/try again in (.*) s$/.exec(answer.error.message)?.[1]);
        expect(Math.abs(Number(answer.headers.get('retry-after')) - told - 0.5)).toBeLessThan(0.6);
        throw Object.assign(new Error(answer.error.message), answer.error);
      }
      return answer.json;
    };
    // Long enough for more than its millisecond, also where an earlier round had the loop compiled.
    const loop = 'n = 0; for (i in range(10)) { for (j in range(100000)) { n += 1; }; }; n;';
    expect(Number(await ask(loop))).toBe(1_000_000);
    await expect(ask('1;')).rejects.toMatchObject({
      code: -57,
      message: expect.stringContaining(`user '${user}' has used its share`),
    });
    expect(await node.value('//stuff', '1;')).toBe(1);
    client?.close();
  });
});
