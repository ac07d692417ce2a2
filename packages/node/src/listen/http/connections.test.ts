/**
 * When connections end: nodes that stop or grow old let their clients go to others, and none of them notices.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type RawConnection, RealCluster, RealNode, until } from '../../testing/index.js';

/** Time that a client rests between two requests, in milliseconds: six that never rest would keep the machine from everything else. */
const PAUSE_MS = 5;

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const query = (code: string): string => JSON.stringify({ type: 'query', code });

describe('a connection that grows old', () => {
  test('ends with an answer that says so, in the last part of its time', async () => {
    const node = await RealNode.start({ max_connection_age_ms: 2000 });
    closers.push(() => node.stop());
    const began = performance.now();
    const connections = await Promise.all(Array.from({ length: 8 }, () => node.open()));
    const ages = await Promise.all(connections.map((connection) => lifeOf(node, connection, began)));
    // The batch that they came in with may be a tenth of the time older, and its last look at them a tick
    // late.
    for (const age of ages) {
      expect(age).toBeGreaterThan(1300);
      expect(age).toBeLessThan(3000);
    }
    // One after the other, and not all at once.
    expect(Math.max(...ages) - Math.min(...ages)).toBeGreaterThan(20);
  });

  test('goes on while it is young, and for ever where connections do not age', async () => {
    const node = await RealNode.start({ max_connection_age_ms: 0 });
    closers.push(() => node.stop());
    const connection = await node.open();
    for (let i = 0; i < 20; i++) {
      const answer = await connection.send(node.text('//stuff', query('1;'))).answer();
      expect(answer?.headers.has('connection')).toBe(false);
    }
    connection.close();
  });
});

describe('a node that stops', () => {
  test('ends connections with their next answer: clients go elsewhere, and no request fails', async () => {
    const cluster = await RealCluster.start(3, { drain_delay_ms: 1000 });
    closers.push(() => cluster.discard());
    await cluster.node(1).value('//stuff', '.n = 0;');
    const clients = Array.from({ length: 6 }, (_, i) => new PoolingClient(cluster, (i % 3) + 1));
    const work = clients.map((client) => client.run());
    const leader = await cluster.whenLed('@thingsdb');
    for (const place of [leader, (leader % 3) + 1]) {
      const node = cluster.node(place);
      const before = clients.reduce((sum, { moves }) => sum + moves, 0);
      node.signal('SIGTERM');
      expect(await node.ended()).toBe(0);
      expect(clients.reduce((sum, { moves }) => sum + moves, 0)).toBeGreaterThan(before);
      await cluster.restartNode(place);
    }
    for (const client of clients) client.stop();
    await Promise.all(work);
    expect(clients.flatMap(({ failures }) => failures)).toEqual([]);
    const answered = clients.reduce((sum, { answered: n }) => sum + n, 0);
    expect(await cluster.node(1).value('//stuff', '.n;')).toBe(answered);
  });

  test('still answers while it waits for balancers, and each answer ends its connection', async () => {
    const node = await RealNode.start({ drain_delay_ms: 300 });
    const idle = await node.open();
    await idle.send(node.text('//stuff', query('1;'))).answer();
    node.signal('SIGTERM');
    await until(() => node.log.includes('"stopping"'), 'the node stops');
    expect(idle.isClosed).toBe(false);
    const answer = await idle.send(node.text('//stuff', query('2;'))).answer();
    expect(answer?.text).toBe('2');
    expect(answer?.headers.get('connection')).toBe('close');
    await idle.closed();
    await node.stop();
  });
});

/** Asks again and again until the connection ends; how old it was. */
async function lifeOf(node: RealNode, connection: RawConnection, began: number): Promise<number> {
  for (;;) {
    const answer = await connection.send(node.text('//stuff', query('1;'))).answer();
    if (answer === null) throw node.explained('a connection ended without a word');
    expect(answer.status).toBe(200);
    if (answer.headers.get('connection') !== 'close') continue;
    await connection.closed();
    return performance.now() - began;
  }
}

/** A client that keeps its connection, and makes one to another node when it is told to close it. */
class PoolingClient {
  readonly failures: string[] = [];
  answered = 0;
  moves = 0;
  private isStopping = false;

  constructor(
    private readonly cluster: RealCluster,
    private place: number,
  ) {}

  stop(): void {
    this.isStopping = true;
  }

  async run(): Promise<void> {
    let connection: RawConnection | null = null;
    while (!this.isStopping) {
      await pause(PAUSE_MS);
      connection ??= await this.connect();
      const text = this.cluster.node(this.place).text('//stuff', query('.n += 1;'));
      const answer = await connection
        .send(text)
        .answer()
        .catch(() => null);
      if (answer?.status === 200) this.answered += 1;
      else this.failures.push(answer === null ? 'no answer' : answer.text);
      if (answer !== null && answer.headers.get('connection') !== 'close') continue;
      connection.close();
      connection = null;
      this.moves += 1;
      this.place = (this.place % 3) + 1;
    }
    connection?.close();
  }

  private async connect(): Promise<RawConnection> {
    for (;;) {
      try {
        return await this.cluster.node(this.place).open();
      } catch {
        this.place = (this.place % 3) + 1;
      }
    }
  }
}
