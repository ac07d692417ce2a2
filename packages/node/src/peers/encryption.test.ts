import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { until } from '../testing/until.js';
import { type Encryption, isToBeEncrypted } from './encryption.js';
import { CLUSTER, introduce, TestNode } from './testing.js';
import type { TransportOptions } from './transport.js';

const running: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of running.splice(0)) await each.close();
});

test.each([
  ['127.0.0.1', false],
  ['::1', false],
  ['::ffff:127.0.0.3', false],
  ['10.0.0.1', true],
  ['::ffff:10.0.0.1', true],
  ['fd00::1', true],
  ['', true],
])('a connection with %s is to be encrypted: %s', (address, is) => {
  expect(isToBeEncrypted('auto', address)).toBe(is);
  expect(isToBeEncrypted('on', address)).toBe(true);
  expect(isToBeEncrypted('off', address)).toBe(false);
});

describe('two nodes', () => {
  test('two nodes that encrypt everywhere talk in TLS, and nothing of it can be read on the way', async () => {
    const [one, two] = [await start(1, 'on'), await start(2, 'on')];
    const line = await tap(two.port);
    two.transport.setPeers([one.address, two.address], []);
    one.transport.setPeers([one.address, { ...two.address, port: line.port }], []);
    await bothUp(one, two);
    one.transport.send(2, 7, Buffer.from('a word that nobody else may read'));
    await until(() => two.frames.length === 1, 'it arrives');
    const all = Buffer.concat(line.seen).toString('latin1');
    expect(all[0]).toBe('\x16');
    for (const word of ['nobody else', 'ALTHPEER', 'node1']) expect(all).not.toContain(word);
  });

  test('two nodes with another secret each are told so', async () => {
    const one = await start(1, 'on');
    const two = await start(2, 'on', { secret: 'another secret, long enough' });
    introduce(one, two);
    await until(() => one.logged('wrong_secret') && two.logged('wrong_secret'), 'both have logged it');
    expect(one.transport.isUp(2)).toBe(false);
  });

  test.each<[Encryption, Encryption]>([
    ['on', 'off'],
    ['auto', 'on'],
    ['off', 'off'],
  ])(
    'two nodes that are set to "%s" and "%s" understand each other: so the setting can be changed node by node',
    async (a, b) => {
      const [one, two] = [await start(1, a), await start(2, b)];
      introduce(one, two);
      await bothUp(one, two);
    },
  );
});

describe('a connection whose TLS is ended in between', () => {
  test('is never tried in plain', async () => {
    const [one, two] = [await start(1, 'on'), await start(2, 'on')];
    let tried = 0;
    let plain = 0;
    const line = await tap(two.port, (socket, chunk) => {
      tried += 1;
      if (chunk[0] === 0x16) socket.destroy();
      else plain += 1;
    });
    one.transport.setPeers([one.address, { ...two.address, port: line.port }], []);
    await until(() => tried >= 3, 'it was tried again and again');
    expect(plain).toBe(0);
    expect(one.transport.isUp(2)).toBe(false);
    expect(two.changes).toEqual([]);
  });
});

async function start(
  nodeId: number,
  encryption: Encryption,
  options: Partial<TransportOptions> = {},
): Promise<TestNode> {
  const node = await TestNode.start(nodeId, { encryption, ...options }, CLUSTER);
  running.push(node);
  return node;
}

function bothUp(one: TestNode, two: TestNode): Promise<void> {
  return until(() => one.transport.isUp(2) && two.transport.isUp(1), 'both are up');
}

/** A line to a port that shows what the dialer sends first, and may do something about it. */
async function tap(
  port: number,
  first: (socket: Socket, chunk: Buffer) => unknown = () => {},
): Promise<{ readonly port: number; readonly seen: Buffer[] }> {
  const seen: Buffer[] = [];
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    const onward = connect(port, '127.0.0.1');
    for (const each of [socket, onward]) {
      sockets.add(each);
      each.on('error', () => {});
    }
    socket.once('data', (chunk: Buffer) => {
      first(socket, chunk);
      if (socket.destroyed) onward.destroy();
    });
    socket.on('data', (chunk: Buffer) => {
      seen.push(chunk);
      if (!socket.destroyed) onward.write(chunk);
    });
    onward.on('data', (chunk: Buffer) => socket.write(chunk));
    socket.on('close', () => onward.destroy());
    onward.on('close', () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  running.push({
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  });
  const bound = server.address();
  return { port: typeof bound === 'object' && bound !== null ? bound.port : 0, seen };
}
