/** Clients that mean no good, at a real node: others are served all the while. */

import { encodeMessagePack, encodePackage, SocketClient } from '@althing/client';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { FREE_PORT, RawLine, RealNode, until } from '../../testing/index.js';

let node: RealNode;
let token: string;
let good: SocketClient;

beforeAll(async () => {
  node = await RealNode.start({
    listen_client_port: FREE_PORT,
    login_timeout_ms: 1000,
    body_timeout_ms: 1000,
    login_backoff_ms: 50,
    max_connections_per_address: 40,
    request_memory_limit_mb: 32,
  });
  token = node.authorization.slice('Bearer '.length);
  good = await SocketClient.connect({ host: '127.0.0.1', port: node.nativePort });
  await good.login(token);
});
afterAll(async () => {
  good.close();
  await node.stop();
});

const MiB = 1024 * 1024;

/** The good client is answered in a moment. */
async function isServed(): Promise<void> {
  const begun = performance.now();
  expect(await good.query('//stuff', '1 + 1;')).toBe(2n);
  expect(performance.now() - begun).toBeLessThan(2000);
}

function open(localAddress = '127.0.0.1'): Promise<RawLine> {
  return RawLine.open({ host: '127.0.0.1', port: node.nativePort, localAddress });
}

async function loggedIn(): Promise<RawLine> {
  const line = await open();
  line.send(33, 1, encodeMessagePack(token));
  expect(await line.next()).toBe('00000000010011ee');
  return line;
}

describe('others are served while a client', () => {
  test('sends 64 MB before AUTH', async () => {
    const line = await open();
    const header = encodePackage(34, 1);
    header.writeUInt32LE(64 * MiB);
    line.sendBytes(header);
    for (let i = 0; i < 64; i++) line.sendBytes(Buffer.alloc(MiB));
    await isServed();
    await line.ended();
    await isServed();
  });

  test('sends half a package, and then nothing', async () => {
    const line = await loggedIn();
    const header = encodePackage(34, 1);
    header.writeUInt32LE(1000);
    line.sendBytes(Buffer.concat([header, Buffer.alloc(10)]));
    await isServed();
    expect(await line.ended()).toBe('');
  });

  test('sends a million pings and reads nothing', async () => {
    const line = await loggedIn();
    line.pause();
    const pings = Buffer.concat(Array.from({ length: 10_000 }, () => encodePackage(32, 1)));
    node.forgetPeak();
    const before = node.memory.nowMb;
    for (let i = 0; i < 100; i++) line.sendBytes(pings);
    await isServed();
    // It takes nothing for so long that it is dropped.
    await until(async () => node.memory.peakMb - before < 100, 'memory stays', 2000);
    line.resume();
    line.close();
    await isServed();
  });

  test('asks for large answers and reads nothing', async () => {
    const line = await loggedIn();
    line.pause();
    const query = encodePackage(34, 2, encodeMessagePack(['//stuff', 'range(100000);']));
    for (let i = 0; i < 200; i++) line.sendBytes(query);
    await isServed();
    const begun = performance.now();
    await until(
      async () => Number(await good.query('@n', 'node_info().load().connected_clients')) <= 1,
      'it is dropped',
    );
    expect(performance.now() - begun).toBeLessThan(10_000);
    line.resume();
    line.close();
  });

  test('follows changes and reads nothing', async () => {
    const figure = async (name: string): Promise<number> =>
      Number(new RegExp(`^${name} (\\d+)`, 'm').exec((await node.probe('/metrics')).text)?.[1]);
    await good.query('//stuff', '.big = range(50000).map(|| "0123456789").join("");');
    const before = await figure('althing_feed_characters_total');
    const line = await loggedIn();
    line.send(45, 2, encodeMessagePack(['//stuff']));
    expect(await line.next()).toContain('0200');
    line.pause();
    // 20 MB of lines, of which the system takes some MB, 1 MB waits, and the rest stays in the log.
    for (let i = 0; i < 40; i++) await good.query('//stuff', `.x = .big + "${i}";`);
    await isServed();
    expect((await figure('althing_feed_characters_total')) - before).toBeLessThan(14 * MiB);
    await until(async () => (await figure('althing_feed_followers')) === 0, 'it is dropped');
    line.resume();
    line.close();
    await good.query('//stuff', '.del("big"); .del("x");');
  });

  test('logs in a hundred times with wrong passwords', async () => {
    const strangers = await Promise.all(
      Array.from({ length: 10 }, () => SocketClient.connect({ host: '127.0.0.1', port: node.nativePort })),
    );
    const codeOf = (client: SocketClient, password: string): Promise<number> =>
      client.login({ user: 'admin', password }).then(
        () => 0,
        (error: { code?: number }) => error.code ?? 1,
      );
    expect(await codeOf(strangers[0] as SocketClient, 'wrong')).toBe(-56);
    const codes = strangers.flatMap((client) =>
      Array.from({ length: 10 }, (_, i) => codeOf(client, `wrong ${i}`)),
    );
    await isServed();
    // Refused, put off, or, on a machine that has much else to do, all too late.
    const all = await Promise.all(codes);
    expect(all.every((code) => code === -56 || code === -57 || code === 1)).toBe(true);
    for (const client of strangers) client.close();
    await isServed();
  });

  test('joins 10,000 rooms that do not exist, and sends what is wrong in ten thousand ways', async () => {
    const line = await loggedIn();
    line.send(
      38,
      7,
      encodeMessagePack(['//stuff', ...Array.from({ length: 9000 }, (_, i) => BigInt(i + 100))]),
    );
    const answer = await line.next();
    expect(answer.slice(8, 14)).toBe('070012');
    const wrong = Buffer.concat(
      Array.from({ length: 10_000 }, (_, i) =>
        encodePackage(33 + (i % 9), i % 65_535, Buffer.of(i & 0xff, (i >> 3) & 0xff)),
      ),
    );
    line.sendBytes(wrong);
    await isServed();
    line.close();
  });

  test('opens more connections than an address may have', async () => {
    const lines = await Promise.all(Array.from({ length: 80 }, () => open()));
    await isServed();
    const other = await open('127.0.0.9');
    other.send(32, 1, Buffer.alloc(0));
    expect(await other.next()).toBe('00000000010010ef');
    // Connections that were let in have to log in.
    for (const line of [...lines, other]) await line.ended();
    await isServed();
  });
});
