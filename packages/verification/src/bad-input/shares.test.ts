/** Senders without credentials have a small share of a node: honest clients are served whatever they send. */

import { basic, type RawConnection, RealNode, until } from '@althing/node/testing';
import { afterEach, describe, expect, test } from '@jest/globals';

const ONE = '{"type":"query","code":"1;"}';
const MiB = 1024 * 1024;

const nodes: RealNode[] = [];
const open: RawConnection[] = [];

afterEach(async () => {
  for (const connection of open.splice(0)) connection.close();
  for (const node of nodes.splice(0)) await node.stop();
});

async function start(settings: Parameters<typeof RealNode.start>[0] = {}): Promise<RealNode> {
  const node = await RealNode.start(settings);
  nodes.push(node);
  return node;
}

async function connect(node: RealNode, from: string): Promise<RawConnection> {
  const connection = await node.open(from);
  open.push(connection);
  return connection;
}

/** Sends request after request from some addresses, on new connections when they end, until it is stopped. */
function flood(node: RealNode, from: readonly string[], request: (count: number) => string) {
  const state = { isOver: false, answers: 0, sent: 0 };
  const workers = from.map(async (address) => {
    while (!state.isOver) {
      const connection = await connect(node, address).catch(() => null);
      if (connection === null) continue;
      while (!state.isOver && !connection.isClosed) {
        await connection.sendAll(request(state.sent++));
        const answer = await connection.answer(60_000).catch(() => null);
        if (answer === null) break;
        state.answers += 1;
      }
      connection.close();
    }
  });
  const stop = async (): Promise<void> => {
    state.isOver = true;
    for (const connection of open.splice(0)) connection.close();
    await Promise.all(workers);
  };
  return { state, stop };
}

const wrong = (count: number): string => basic('admin', `wrong${count}`);

describe('wrong passwords', () => {
  test('wrong passwords from some addresses keep nobody else from logging in', async () => {
    const node = await start({ credential_cache_ms: 0 });
    const from = Array.from({ length: 96 }, (_, i) => `127.0.3.${(i % 3) + 1}`);
    const attack = flood(node, from, (count) => node.text('//stuff', ONE, { authorization: wrong(count) }));
    await until(() => attack.state.answers >= 16, 'the attack goes on');
    const statuses: number[] = [];
    for (let i = 0; i < 5; i++)
      statuses.push((await node.post('//stuff', ONE, { authorization: basic('admin', 'pass') })).status);
    await attack.stop();
    expect(statuses).toEqual(statuses.map(() => 200));
  });

  test('wrong passwords with large bodies keep nobody else from being served, and take little memory', async () => {
    const node = await start({ login_backoff_limit_ms: 30_000 });
    const from = Array.from({ length: 32 }, (_, i) => `127.0.4.${i + 1}`);
    const body = ' '.repeat(15 * MiB);
    node.forgetPeak();
    const before = node.memory.nowMb;
    const attack = flood(node, from, (count) => node.text('//stuff', body, { authorization: wrong(count) }));
    await until(() => attack.state.answers >= 4 || attack.state.sent > 40, 'the attack goes on');
    const statuses: number[] = [];
    const large = JSON.stringify({ type: 'query', code: 'a.len();', vars: { a: 'x'.repeat(MiB) } });
    // A connection from before the attack may have been idle for too long meanwhile.
    const honest = await connect(node, '127.0.0.1');
    for (let i = 0; i < 8; i++) {
      await honest.sendAll(node.text('//stuff', large));
      statuses.push((await honest.answer(60_000))?.status ?? 0);
    }
    const { peakMb } = node.memory;
    await attack.stop();
    expect(statuses).toEqual(statuses.map(() => 200));
    expect(peakMb - before).toBeLessThan(250);
  });
});

describe('the body of an unknown sender', () => {
  const head = (authorization: string | null, path = '//stuff'): string =>
    `POST ${path} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: ${15 * MiB}\r\n` +
    `${authorization === null ? '' : `Authorization: ${authorization}\r\n`}\r\n`;

  test('is not read, and the connection ends with the answer; it is read once the password was found right, whatever its size', async () => {
    const node = await start({ credential_cache_ms: 0 });
    for (const path of ['//stuff', '/@restore']) {
      for (const authorization of [null, 'Digest x', 'Bearer x']) {
        const connection = await connect(node, '127.0.0.1');
        connection.send(head(authorization, path));
        expect((await connection.answer())?.status).toBe(401);
        await connection.closed();
      }
    }
    const size = 12 * MiB;
    const body = JSON.stringify({ type: 'query', code: 'a.len();', vars: { a: 'x'.repeat(size) } });
    const answers = await Promise.all(
      [1, 2, 3].map(() => node.post('//stuff', body, { authorization: basic('admin', 'pass') })),
    );
    expect(answers.map(({ text }) => text)).toEqual([1, 2, 3].map(() => String(size)));
  });

  test('may be small while others have all that is for large ones', async () => {
    // 64 MB for bodies: 8 for strangers, of which 4 for large ones.
    const node = await start({
      request_memory_limit_mb: 64,
      credential_cache_ms: 0,
      request_size_limit: 16 * MiB,
    });
    const from = Array.from({ length: 24 }, (_, i) => `127.0.5.${(i % 12) + 1}`);
    const attack = flood(node, from, (count) =>
      node.text('//stuff', ' '.repeat(MiB), { authorization: wrong(count) }),
    );
    await until(() => attack.state.sent >= 40, 'the attack goes on');
    const statuses: number[] = [];
    for (let i = 0; i < 5; i++)
      statuses.push((await node.post('//stuff', ONE, { authorization: basic('admin', 'pass') })).status);
    await attack.stop();
    expect(statuses).toEqual([200, 200, 200, 200, 200]);
  });
});
