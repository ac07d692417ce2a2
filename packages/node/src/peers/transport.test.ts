import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { PROTOCOL_VERSIONS } from '../between/peer-protocol.js';
import { until } from '../testing/until.js';
import { encodeFrame, FrameKind } from './frame.js';
import { encodeOpen } from './greeting-format.js';
import type { AskError } from './questions.js';
import { CLUSTER, introduce, SECRET, TestNode } from './testing.js';
import type { TransportOptions } from './transport.js';

const random = randomFrom(Number(process.env.ALTHING_TEST_SEED));
const running: { close(): unknown }[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((thing) => thing.close()));
});

async function start(...args: Parameters<typeof TestNode.start>): Promise<TestNode> {
  const node = await TestNode.start(...args);
  running.push(node);
  return node;
}

/**
 * Sends a frame again and again until it arrives: what is under way when a connection is made anew may be
 * lost.
 */
async function arrives(from: TestNode, to: TestNode, text: string): Promise<void> {
  await until(() => {
    from.transport.send(to.nodeId, 1, Buffer.from(text));
    return to.frames.some(({ payload }) => payload === text);
  }, `"${text}" arrives`);
}

/** Two members that are connected both ways. */
async function pair(options: Partial<TransportOptions> = {}): Promise<[TestNode, TestNode]> {
  const one = await start(1, options);
  const two = await start(2, options);
  introduce(one, two);
  await until(() => one.transport.isUp(2) && two.transport.isUp(1), 'both are up');
  return [one, two];
}

describe('members of a cluster', () => {
  test('become up on both sides and get each frame once, in order', async () => {
    const [one, two] = await pair();
    const sent = Array.from({ length: 2000 }, (_, at) => `${at}`);
    for (const text of sent)
      expect(one.transport.send(2, 1 + (Number(text) % 4), Buffer.from(text))).toBe(true);
    await until(() => two.frames.length === sent.length, 'all frames are there');
    expect(two.frames.map(({ payload }) => payload)).toEqual(sent);
    expect(
      two.frames.every(({ from, kind, payload }) => from === 1 && kind === 1 + (Number(payload) % 4)),
    ).toBe(true);
    expect(one.changes).toEqual(['up 2']);
  });

  test('a payload may come in several parts, be empty, or be as large as it likes', async () => {
    const [one, two] = await pair();
    one.transport.send(2, 1, [Buffer.from('in '), Buffer.from('parts')]);
    one.transport.send(2, 2, Buffer.alloc(0));
    one.transport.send(2, 3, Buffer.alloc(20 * 1024 * 1024, 'x'));
    await until(() => two.frames.length === 3, 'all frames are there');
    expect(two.frames.slice(0, 2).map(({ payload }) => payload)).toEqual(['in parts', '']);
    expect(two.frames[2]?.payload.length).toBe(20 * 1024 * 1024);
  });

  test('bulk lets others pass, keeps its own order, and arrives whole', async () => {
    const [one, two] = await pair();
    const large = Buffer.alloc(6 * 1024 * 1024, 'b');
    expect(one.transport.send(2, 2, large, true)).toBe(true);
    expect(one.transport.send(2, 2, Buffer.from('after it'), true)).toBe(true);
    expect(one.transport.send(2, 1, Buffer.from('urgent'))).toBe(true);
    await until(() => two.frames.length === 3, 'all frames are there');
    expect(two.frames.map(({ kind, payload }) => `${kind} ${payload.length}`)).toEqual([
      '1 6',
      `2 ${large.length}`,
      '2 8',
    ]);
  });

  test('bulk says when the last of it has left', async () => {
    const [one, two] = await pair();
    const sent: string[] = [];
    const parts = [Buffer.from('head'), Buffer.alloc(1024 * 1024, 'b'), Buffer.from('tail')];
    one.transport.send(2, 2, parts, true, () => sent.push('large'));
    one.transport.send(2, 2, Buffer.from('small'), true, () => sent.push('small'));
    await until(() => two.frames.length === 2 && sent.length === 2, 'both are there and told');
    expect(sent).toEqual(['large', 'small']);
    expect(two.frames[0]?.payload).toBe(`head${'b'.repeat(1024 * 1024)}tail`);
  });

  test('messages that wait are bounded; more are refused', async () => {
    const [one] = await pair({ limits: { urgentBytesMax: 1024 * 1024, bulkBytesMax: 1024 * 1024 } });
    const chunk = Buffer.alloc(300 * 1024);
    const urgent = [1, 2, 3, 4, 5].map(() => one.transport.send(2, 1, chunk));
    const bulk = [1, 2, 3, 4, 5].map(() => one.transport.send(2, 1, chunk, true));
    expect(urgent).toEqual([true, true, true, false, false]);
    expect(bulk).toEqual([true, true, true, false, false]);
    expect(one.transport.send(2, 1, Buffer.alloc(80 * 1024 * 1024), true)).toBe(false);
  });

  test('a damaged frame is not taken, and the connection is made anew', async () => {
    const one = await start(1);
    const two = await start(2);
    const line = await NoisyLine.to(two.port);
    running.push(line);
    one.transport.setPeers([{ ...two.address, port: line.port }], []);
    two.transport.setPeers([one.address], []);
    const payload = Buffer.alloc(3000, 'payload');
    for (let round = 1; round <= 3; round++) {
      await until(() => one.transport.isUp(2) && two.transport.isUp(1), 'both are up');
      const before = two.frames.length;
      await until(() => {
        one.transport.send(2, 1, payload);
        one.transport.send(2, 2, payload, true);
        return two.frames.length > before + 20;
      }, 'frames come');
      const damaged = line.flip();
      await until(() => {
        one.transport.send(2, 1, payload);
        return damaged.isDone && line.connections > round;
      }, 'the connection is made anew');
    }
    for (const frame of two.frames) expect(frame.payload).toBe(payload.toString());
    expect(two.logs.filter(({ cause }) => cause === 'damaged').length).toBe(1);
  });

  test('nothing is sent to who is not there', async () => {
    const one = await start(1);
    expect(one.transport.send(2, 1, Buffer.from('x'))).toBe(false);
    expect(one.transport.isUp(2)).toBe(false);
    expect(one.transport.lastHeard(2)).toBe(0);
  });

  test('an idle connection stays up, by signs of life', async () => {
    const silenceMs = 1500;
    const [one, two] = await pair({ heartbeatMs: 40, silenceMs });
    const first = one.transport.lastHeard(2);
    await until(
      () => one.transport.lastHeard(2) > first + 2 * silenceMs,
      'signs of life have come for a while',
    );
    expect(one.changes).toEqual(['up 2']);
    expect(two.changes).toEqual(['up 1']);
    expect(two.frames).toEqual([]);
  });

  test('a node that ends is down at once, and up again when it comes back as another process', async () => {
    const [one, two] = await pair({ silenceMs: 60_000 });
    const { port } = two;
    await two.close();
    await until(() => one.has('down 2'), 'the end was noticed');
    const again = await start(2, { bind: { address: '127.0.0.1', port } }, CLUSTER, 2);
    introduce(one, again);
    await until(() => one.transport.isUp(2), 'it is back');
    expect(one.changes).toEqual(['up 2', 'down 2', 'up 2']);
  });

  test('a process started anew is down first even if it is quicker than the news of the end', async () => {
    const [one, two] = await pair();
    const again = await start(2, {}, CLUSTER, 7);
    again.transport.setPeers([one.address], []);
    await until(() => one.changes.length >= 3, 'the new process is up');
    expect(one.changes).toEqual(['up 2', 'down 2', 'up 2']);
    expect(one.transport.identityOf(2)?.incarnation).toBe(7);
    await until(() => two.superseded > 0, 'the old process knows');
  });

  test('a member that is not known yet is dialled back where it says that it is', async () => {
    const one = await start(1);
    const two = await start(2);
    two.transport.setPeers([one.address], []);
    await until(() => one.transport.isUp(2) && two.transport.isUp(1), 'both are up');
    await arrives(one, two, 'welcome');
  });

  test('a member that has moved is found where it says that it is', async () => {
    const [one, two] = await pair();
    await two.close();
    await until(() => one.has('down 2'), 'the end was noticed');
    const moved = await start(2, {}, CLUSTER, 2);
    moved.transport.setPeers([one.address], []);
    await until(() => one.transport.isUp(2), 'it is found');
    await arrives(one, moved, 'there you are');
  });

  test('a node that is no peer any more is down; one that was removed is told so', async () => {
    const [one, two] = await pair();
    one.transport.setPeers([], [2]);
    await until(() => two.removed > 0, 'it was told');
    expect(one.changes).toEqual(['up 2', 'down 2']);
    expect(one.transport.isUp(2)).toBe(false);
  });
});

describe('strangers', () => {
  test('a wrong secret is refused and logged on both sides, once', async () => {
    const one = await start(1);
    const two = await start(2, { secret: 'another secret here' });
    introduce(one, two);
    await until(() => one.logged('wrong_secret') && two.logged('wrong_secret'), 'both have logged it');
    const attempts = await refusals(one.port, 5);
    expect(attempts).toBe(5);
    expect(one.logs.filter(({ cause }) => cause === 'wrong_secret').length).toBe(2);
    expect([one.changes, two.changes]).toEqual([[], []]);
  });

  test('another cluster is refused and logged', async () => {
    const one = await start(1);
    const two = await start(2, {}, Buffer.from('another cluster.'));
    introduce(one, two);
    await until(() => one.logged('other_cluster') && two.logged('other_cluster'), 'both have logged it');
    expect([one.changes, two.changes]).toEqual([[], []]);
  });

  test('another node at the place of a peer is no peer', async () => {
    const one = await start(1);
    const three = await start(3);
    one.transport.setPeers([{ ...three.address, nodeId: 2 }], []);
    await until(() => one.logged('wrong_node'), 'it was noticed');
    expect(one.transport.isUp(2)).toBe(false);
  });

  test('a node that is in no cluster yet is tried again, quietly', async () => {
    const one = await start(1);
    const two = await start(2, {}, null);
    introduce(one, two);
    two.transport.setCluster(CLUSTER);
    introduce(one, two);
    await until(() => one.transport.isUp(2), 'they have found each other');
    expect(one.logs.filter(({ cause }) => cause !== 'unreachable')).toEqual([]);
  });

  test('protocol versions: ranges that meet agree on the newest, others refuse with a word on it', async () => {
    const one = await start(1, { versions: { min: 1, max: 3 } });
    const two = await start(2, { versions: { min: 2, max: 9 } });
    const three = await start(3, { versions: { min: 4, max: 9 } });
    introduce(one, two, three);
    await until(() => one.transport.isUp(2) && two.transport.isUp(3), 'who can talk does');
    await until(() => one.logged('version') && three.logged('version'), 'who can not has logged it');
    expect(one.transport.isUp(3)).toBe(false);
    expect(one.logs.find(({ cause }) => cause === 'version')?.message).toContain('4 to 9');
  });

  test.each([
    ['text', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['a huge frame', Buffer.from([0xff, 0xff, 0xff, 0xff, FrameKind.Open])],
    ['a large frame', encodeFrame(FrameKind.Open, Buffer.alloc(100_000))],
    ['a frame without a kind', Buffer.from([0, 0, 0, 0])],
    ['frames of a member', encodeFrame(1, Buffer.from('raft'))],
    ['a question without a greeting', encodeFrame(FrameKind.Question, Buffer.from('hello'))],
    ['a greeting that is cut off', encodeFrame(FrameKind.Open, Buffer.from('ALTHPEER\0\x01'))],
    ['a greeting of another program', encodeFrame(FrameKind.Open, Buffer.alloc(44, 'x'))],
    ['a proof before its time', encodeFrame(FrameKind.Prove, Buffer.alloc(100))],
    ['a short proof', Buffer.concat([opening(), encodeFrame(FrameKind.Prove, Buffer.alloc(3))])],
    ['two openings', Buffer.concat([opening(), opening()])],
  ])('garbage is closed at once and logged: %s', async (_, bytes) => {
    const one = await start(1);
    const received = await exchange(one.port, bytes);
    expect(received.length).toBeLessThan(100);
    await until(() => one.logged('garbage'), 'it was logged');
    expect(one.frames).toEqual([]);
  });

  test('random bytes never do anything but close the connection', async () => {
    const one = await start(1);
    for (let round = 0; round < 50; round++) {
      const bytes = Buffer.from(
        Array.from({ length: 1 + Math.floor(random() * 300) }, () => Math.floor(random() * 256)),
      );
      if (bytes.length >= 4 && random() < 0.5) bytes.writeUInt32BE(Math.floor(random() * bytes.length), 0);
      const socket = connect(one.port, '127.0.0.1');
      socket.on('error', () => {});
      socket.end(random() < 0.5 ? bytes : Buffer.concat([opening(), bytes]));
      socket.resume();
      await new Promise((resolve) => socket.once('close', resolve));
    }
    expect({ frames: one.frames, changes: one.changes }).toEqual({ frames: [], changes: [] });
    expect((await one.transport.ask('127.0.0.1', one.port, Buffer.from('alive'), 5000)).toString()).toBe(
      'echo alive',
    );
  });

  test('a greeting that was recorded is worth nothing a second time', async () => {
    const one = await start(1);
    const two = await start(2);
    const recorder = await Recorder.start(one.port);
    two.transport.setPeers([{ nodeId: 1, host: '127.0.0.1', port: recorder.port }], []);
    await until(
      () => one.frames.length > 0 || two.transport.send(1, 1, Buffer.from('pay once')),
      'it was sent',
    );
    await until(() => one.frames.length === 1, 'the frame is there');
    await two.close();

    const received = await exchange(one.port, recorder.recorded);
    await until(() => one.logged('wrong_secret'), 'it was refused');
    expect(kindsOf(received)).not.toContain(FrameKind.Welcome);
    expect(one.frames.length).toBe(1);
  });

  test('a stranger that says nothing, or not enough, is closed when its time is over', async () => {
    const one = await start(1, { limits: { greetingMs: 100 } });
    await Promise.all([exchange(one.port, Buffer.alloc(0)), exchange(one.port, opening())]);
    expect(one.logged('silent')).toBe(true);
  });

  test('strangers are few at a time, and the oldest give way', async () => {
    const one = await start(1, { limits: { greetingMs: 60_000 } });
    const sockets = Array.from({ length: 80 }, () => connect(one.port, '127.0.0.1'));
    let closed = 0;
    for (const socket of sockets) socket.on('close', () => closed++).on('error', () => {});
    await until(() => closed === 16, 'those beyond the limit are closed');
    expect(one.logged('crowded')).toBe(true);
    for (const socket of sockets) socket.destroy();
  });

  test.each(['on', 'off'] as const)(
    'strangers from everywhere keep no member out (encryption: %s)',
    async (encryption) => {
      const one = await start(1, { limits: { greetingMs: 60_000 }, encryption });
      const addresses = ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5'];
      const sockets = addresses.flatMap((localAddress) =>
        Array.from({ length: 80 }, () => connect({ port: one.port, host: '127.0.0.1', localAddress })),
      );
      let connected = 0;
      for (const socket of sockets) socket.on('connect', () => connected++).on('error', () => {});
      await until(() => connected === sockets.length, 'all are connected');
      const two = await start(2, { encryption });
      introduce(one, two);
      await until(() => one.transport.isUp(2) && two.transport.isUp(1), 'both are up', 5000);
      for (const socket of sockets) socket.destroy();
    },
  );
});

describe('connections that break', () => {
  test('a connection that is cut while both live is mended, and told', async () => {
    const [one, two, proxy] = await pairWithProxy({ silenceMs: 60_000 });
    await until(() => steady(one), 'the connection has stood for a while');
    proxy.cut();
    await until(() => one.has('broke 2') || one.has('down 2'), 'it was noticed');
    await until(() => one.transport.isUp(2) && two.transport.isUp(1), 'both are up');
    expect(one.has('down 2')).toBe(false);
    await arrives(one, two, 'again');
  });

  test('a connection on which nothing comes any more is down after the limit, and up when it comes again', async () => {
    const [one, two, proxy] = await pairWithProxy(SOON);
    proxy.stall();
    await until(() => two.has('down 1'), 'the silence was noticed');
    proxy.flow();
    await until(() => one.transport.isUp(2) && two.transport.isUp(1), 'both are up again');
  });

  test('a connection that dies in silence is given up by who sends on it, too', async () => {
    const [one, two, proxy] = await pairWithProxy(SOON);
    await until(() => steady(one), 'the connection has stood for a while');
    proxy.deaden();
    await until(() => two.has('down 1'), 'who hears nothing has noticed');
    await until(() => two.transport.isUp(1), 'there is another connection');
    await arrives(one, two, 'again');
  });

  /** Gives up soon what is silent. */
  const SOON = { silenceMs: 500, limits: { connectMs: 300, greetingMs: 300 } };

  /** Node 2 is dialled by way of a proxy. */
  async function pairWithProxy(
    options: Partial<TransportOptions> & { readonly silenceMs: number },
  ): Promise<[TestNode, TestNode, Recorder]> {
    const one = await start(1, options);
    const two = await start(2, { silenceMs: options.silenceMs });
    const proxy = await Recorder.start(two.port);
    one.transport.setPeers([{ nodeId: 2, host: '127.0.0.1', port: proxy.port }], []);
    two.transport.setPeers([one.address], []);
    await until(() => one.transport.isUp(2) && two.transport.isUp(1), 'both are up');
    return [one, two, proxy];
  }

  function steady(node: TestNode): boolean {
    const lastHeard = node.transport.lastHeard(2);
    if (!firstHeard.has(node)) firstHeard.set(node, lastHeard);
    return lastHeard > (firstHeard.get(node) ?? 0) + 1200;
  }
  const firstHeard = new Map<TestNode, number>();
});

describe('questions', () => {
  test('are answered without a cluster, in both directions', async () => {
    const one = await start(1, {}, null);
    const two = await start(2, {}, null);
    expect((await one.transport.ask('127.0.0.1', two.port, Buffer.from('2?'), 5000)).toString()).toBe(
      'echo 2?',
    );
    expect((await two.transport.ask('localhost', one.port, Buffer.from('1?'), 5000)).toString()).toBe(
      'echo 1?',
    );
  });

  test('fail with a reason: nobody there, no answer, another secret, no secret', async () => {
    const one = await start(1, {}, null);
    const mute = await start(2, { onAsk: () => {} }, null);
    const stranger = await start(3, { secret: 'another secret here' }, null);
    const alone = await start(4, { secret: null }, null);
    const gone = await start(5);
    await gone.close();
    const reasonOf = (node: TestNode, port: number, timeoutMs = 20_000): Promise<string> =>
      node.transport.ask('127.0.0.1', port, Buffer.from('?'), timeoutMs).then(
        () => 'answered',
        (error: AskError) => error.reason,
      );
    expect(await reasonOf(one, gone.port)).toBe('unreachable');
    expect(await reasonOf(one, mute.port, 300)).toBe('timeout');
    expect(await reasonOf(one, stranger.port)).toBe('refused');
    expect(await reasonOf(alone, one.port)).toBe('refused');
  });

  test('end when the node does', async () => {
    const one = await start(1);
    const mute = await start(2, { onAsk: () => {} });
    const asked = one.transport.ask('127.0.0.1', mute.port, Buffer.from('?'), 60_000);
    const failed = expect(asked).rejects.toMatchObject({ reason: 'unreachable' });
    await one.close();
    await failed;
  });
});

test('a port that is in use is a matter of configuration', async () => {
  const one = await start(1);
  const failed = TestNode.start(2, { bind: { address: '127.0.0.1', port: one.port } });
  await expect(failed).rejects.toThrow('listen_node_port');
});

test('a node without a secret does not listen', async () => {
  const alone = await start(1, { secret: null });
  introduce(alone);
  expect(alone.port).toBe(0);
});

/** A line to a port on which now and then a bit is flipped, on the way there. */
class NoisyLine {
  connections = 0;
  private toFlip: { isDone: boolean } | null = null;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();

  static async to(port: number): Promise<NoisyLine> {
    const line = new NoisyLine(port);
    line.server.listen(0, '127.0.0.1');
    await once(line.server, 'listening');
    return line;
  }

  private constructor(port: number) {
    this.server = createServer((near) => {
      this.connections += 1;
      const far = connect(port, '127.0.0.1');
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.sockets.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => other.destroy());
      }
      far.on('data', (chunk: Buffer) => near.write(chunk));
      near.on('data', (chunk: Buffer) => far.write(this.pass(chunk)));
    });
  }

  get port(): number {
    const address = this.server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** The next thing that goes over the line gets there with a flipped bit. */
  flip(): { readonly isDone: boolean } {
    const toFlip = { isDone: false };
    this.toFlip = toFlip;
    return toFlip;
  }

  close(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  private pass(chunk: Buffer): Buffer {
    if (this.toFlip === null) return chunk;
    this.toFlip.isDone = true;
    this.toFlip = null;
    const flipped = Buffer.from(chunk);
    const bit = Math.floor(random() * flipped.length * 8);
    flipped[bit >> 3]! ^= 1 << (bit & 7);
    return flipped;
  }
}

function opening(): Buffer {
  return encodeFrame(FrameKind.Open, encodeOpen({ ...PROTOCOL_VERSIONS, nonce: Buffer.alloc(32) }));
}

/** Sends bytes and gives back everything that comes until the other side closes. */
async function exchange(port: number, bytes: Buffer): Promise<Buffer> {
  const socket = connect(port, '127.0.0.1');
  const received: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => received.push(chunk));
  socket.on('error', () => {});
  socket.write(bytes);
  await new Promise((resolve) => socket.once('close', resolve));
  return Buffer.concat(received);
}

/** The number of some nodes with a wrong secret that were refused. */
async function refusals(port: number, count: number): Promise<number> {
  const stranger = await start(9, { secret: 'another secret here' }, null);
  const asked = Array.from({ length: count }, () =>
    stranger.transport.ask('127.0.0.1', port, Buffer.from('?'), 5000),
  );
  const outcomes = await Promise.allSettled(asked);
  return outcomes.filter(({ status }) => status === 'rejected').length;
}

function randomFrom(seed: number): () => number {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** Passes bytes on to a port, keeps what the first dialler sent, and can stop passing. */
class Recorder {
  port = 0;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private readonly chunks: Buffer[] = [];
  private isFirst = true;
  private isStalled = false;
  /** Sockets that nothing passes through any more, not even the news that they were closed. */
  private readonly dead = new Set<Socket>();

  static async start(target: number): Promise<Recorder> {
    const recorder = new Recorder(target);
    await new Promise<void>((resolve) => recorder.server.listen(0, '127.0.0.1', resolve));
    const address = recorder.server.address();
    if (typeof address === 'object' && address !== null) recorder.port = address.port;
    running.push(recorder);
    return recorder;
  }

  private constructor(target: number) {
    this.server = createServer((near) => {
      const records = this.isFirst;
      this.isFirst = false;
      const far = connect(target, '127.0.0.1');
      for (const socket of [near, far]) {
        this.sockets.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => {
          this.sockets.delete(socket);
          if (this.dead.has(socket)) return;
          near.destroy();
          far.destroy();
        });
      }
      near.on('data', (chunk: Buffer) => {
        if (records) this.chunks.push(chunk);
        if (!this.isStalled && !this.dead.has(near)) far.write(chunk);
      });
      far.on('data', (chunk: Buffer) => {
        if (!this.isStalled && !this.dead.has(far)) near.write(chunk);
      });
    });
  }

  get recorded(): Buffer {
    return Buffer.concat(this.chunks);
  }

  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  stall(): void {
    this.isStalled = true;
  }

  /** Connections that stand stall for ever; those to come do not. */
  deaden(): void {
    for (const socket of this.sockets) this.dead.add(socket);
  }

  flow(): void {
    this.isStalled = false;
  }

  close(): void {
    this.cut();
    this.server.close();
  }
}

test('the secret is never sent', async () => {
  const one = await start(1);
  const two = await start(2);
  const recorder = await Recorder.start(one.port);
  two.transport.setPeers([{ nodeId: 1, host: '127.0.0.1', port: recorder.port }], []);
  await until(() => two.transport.isUp(1), 'they are connected');
  expect(recorder.recorded.includes('node2')).toBe(true);
  expect(recorder.recorded.includes(SECRET)).toBe(false);
});

/** The kinds of the frames in a row of bytes. */
function kindsOf(bytes: Buffer): number[] {
  const kinds: number[] = [];
  for (let at = 0; at < bytes.length; at += 4 + bytes.readUInt32BE(at)) kinds.push(bytes.readUInt8(at + 4));
  return kinds;
}
