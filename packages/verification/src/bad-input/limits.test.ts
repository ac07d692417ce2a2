/** Limits that settings set, each with what happens there. */

import { encodeMessagePack } from '@althing/client';
import {
  type Answer,
  basic,
  FREE_PORT,
  packed,
  type RawConnection,
  RawLine,
  RealNode,
  until,
} from '@althing/node/testing';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';

const ONE = '{"type":"query","code":"1;"}';
const CONNECTIONS = 30;
const PER_ADDRESS = 10;
const QUEUE = 6;

let node: RealNode;

beforeAll(async () => {
  node = await RealNode.start({
    code_size_limit: 2000,
    nesting_limit: 600,
    program_cache_mb: 1,
    request_size_limit: 1024 ** 2,
    request_memory_limit_mb: 2,
    result_size_limit: 1024 ** 2,
    request_queue_limit: QUEUE,
    body_timeout_ms: 20_000,
    listen_client_port: FREE_PORT,
    max_connections: CONNECTIONS,
    max_connections_per_address: PER_ADDRESS,
    max_users: 3,
    max_tokens_per_user: 4,
    max_collections: 2,
    max_procedures: 3,
    login_backoff_ms: 50,
    login_backoff_limit_ms: 50,
  });
});

const open: RawConnection[] = [];

afterEach(async () => {
  for (const connection of open.splice(0)) connection.close();
  await until(
    async () => (await node.post('//stuff', ONE)).status === 200,
    'the node serves everybody again',
  );
});

afterAll(() => node.stop());

async function connect(address?: string): Promise<RawConnection> {
  const connection = await node.open(address);
  open.push(connection);
  return connection;
}

/** Opens a connection that the node does not close: it may learn a little later that others have ended. */
async function admitted(address: string): Promise<RawConnection> {
  for (;;) {
    const connection = await connect(address);
    connection.send(node.text('//stuff', ONE));
    if ((await connection.answer().catch(() => null))?.status === 200) return connection;
  }
}

/** Begins a request whose body lacks its end. */
async function begin(bytes: number, address: string): Promise<RawConnection> {
  const connection = await admitted(address);
  const head = node.text('//stuff', '').replace('Content-Length: 0', `Content-Length: ${bytes + 100}`);
  await connection.sendAll(head + ONE.padEnd(bytes, ' '));
  return connection;
}

describe('limits of one request', () => {
  test('code_size_limit', async () => {
    expect((await node.query('//stuff', '1;'.padEnd(2000))).text).toBe('1');
    const answer = await node.query('//stuff', '1;'.padEnd(2001));
    expect(answer.verdict).toBe('400 -53');
    expect(answer.error.message).toContain('code_size_limit');
  });

  test('nesting_limit', async () => {
    const nested = (levels: number) => {
      const body = packed({ type: 'query', code: '1;', vars: { v: null } });
      return Buffer.concat([body.subarray(0, -1), Buffer.alloc(levels, 0x91), Buffer.of(1)]);
    };
    const options = { contentType: 'application/msgpack' };
    // Lists nest 500 deep in the language, whatever the limit of what is read.
    expect((await node.post('//stuff', nested(499), options)).status).toBe(200);
    expect((await node.post('//stuff', nested(601), options)).status).toBe(400);
    expect((await node.post('//stuff', nested(100_000), options)).status).toBe(400);
  });

  test('program_cache_mb: queries that never come again are forgotten', async () => {
    const before = node.memory.nowMb;
    for (let i = 0; i < 1500; i++) {
      expect((await node.query('//stuff', `${'1;'.repeat(900)}${i};`)).text).toBe(String(i));
    }
    expect(node.memory.nowMb - before).toBeLessThan(150);
  });
});

describe('limits of all clients together', () => {
  test('max_connections_per_address: one more is closed at once, and others are let in', async () => {
    const mine = await Promise.all(Array.from({ length: PER_ADDRESS }, () => admitted('127.0.0.4')));
    const more = await connect('127.0.0.4');
    await more.closed();
    expect(mine.filter(({ isClosed }) => isClosed)).toHaveLength(0);
    expect((await node.post('//stuff', ONE)).text).toBe('1');
    mine[0]?.close();
    await admitted('127.0.0.4');
  });

  test('max_connections: one more is closed at once', async () => {
    const isServed = async (address: string): Promise<boolean> => {
      const connection = await connect(address);
      connection.send(node.text('//stuff', ONE));
      return (await connection.answer().catch(() => null)) !== null;
    };
    let served = 0;
    while (served <= CONNECTIONS && (await isServed(`127.0.1.${1 + served}`))) served += 1;
    // The test itself has some, for `post`.
    expect(served).toBeLessThanOrEqual(CONNECTIONS);
    expect(served).toBeGreaterThan(CONNECTIONS - 8);
  });

  test('silent connections of three addresses leave room for others at the HTTP API', async () => {
    for (const address of ['127.0.3.1', '127.0.3.2', '127.0.3.3'])
      await Promise.all(Array.from({ length: PER_ADDRESS }, () => connect(address)));
    for (const address of ['127.0.3.4', '127.0.3.5']) {
      const newcomer = await connect(address);
      newcomer.send(node.text('//stuff', ONE));
      expect((await newcomer.answer())?.status).toBe(200);
    }
  });

  test('silent connections of three addresses leave room for others at the native protocol', async () => {
    const lines: RawLine[] = [];
    const line = async (localAddress: string): Promise<RawLine> => {
      const opened = await RawLine.open({ host: '127.0.0.1', port: node.nativePort, localAddress });
      lines.push(opened);
      return opened;
    };
    try {
      for (const address of ['127.0.3.1', '127.0.3.2', '127.0.3.3'])
        for (let i = 0; i < PER_ADDRESS; i++) await line(address);
      // Clients that are logged in do not count as strangers of their network.
      for (let i = 0; i < 3; i++) {
        const newcomer = await line('127.0.3.4');
        newcomer.send(33, 1, encodeMessagePack(node.authorization.slice('Bearer '.length)));
        expect(await newcomer.next()).toBe('00000000010011ee');
      }
      expect((await node.post('//stuff', ONE)).text).toBe('1');
    } finally {
      for (const opened of lines) opened.close();
    }
  });

  test('request_queue_limit: further requests are put off', async () => {
    await Promise.all(Array.from({ length: QUEUE }, () => begin(100, '127.0.0.6')));
    await until(async () => {
      const answer = await node.post('//stuff', ONE);
      if (answer.status === 200) return false;
      expect(answer.verdict).toBe('429 -57');
      expect(answer.headers.get('retry-after')).toBe('1');
      return true;
    }, 'the queue is full');
  });

  test('request_memory_limit_mb: bodies beyond it are put off, and there is room again when others are done', async () => {
    const first = await begin(900_000, '127.0.0.5');
    const second = await begin(900_000, '127.0.0.5');
    const third = await begin(900_000, '127.0.0.5');
    const all = [first, second, third];
    await until(() => all.some(({ unread }) => unread > 0), 'one of them is refused');
    const refused = all.find(({ unread }) => unread > 0);
    const answer = await refused?.answer();
    expect(answer?.verdict).toBe('503 -51');
    expect(answer?.headers.get('retry-after')).toBe('1');
    await refused?.closed();
    for (const connection of all.filter((other) => other !== refused)) {
      connection.send(' '.repeat(100));
      expect((await connection.answer())?.text).toBe('1');
    }
    const again = await begin(900_000, '127.0.0.5');
    again.send(' '.repeat(100));
    expect((await again.answer())?.text).toBe('1');
  });
});

describe('limits of numbers', () => {
  test('max_users', async () => {
    await node.value('/t', "new_user('a'); new_user('b');");
    expect((await node.query('/t', "new_user('c');")).verdict).toBe('422 -57');
    await node.value('/t', "del_user('a'); new_user('c');");
  });

  test('max_tokens_per_user', async () => {
    const code = "for (i in range(4)) {new_token('b');};";
    await node.value('/t', code);
    expect((await node.query('/t', "new_token('b');")).verdict).toBe('422 -57');
    await node.value('/t', "new_token('admin');");
  });

  test('max_collections', async () => {
    await node.value('/t', "new_collection('one');");
    expect((await node.query('/t', "new_collection('two');")).verdict).toBe('422 -57');
    await node.value('/t', "del_collection('one'); new_collection('two');");
  });

  test('max_procedures, of each scope', async () => {
    for (const scope of ['//stuff', '/t']) {
      await node.value(
        scope,
        "new_procedure('a', || 1); new_procedure('b', || 1); new_procedure('c', || 1);",
      );
      expect((await node.query(scope, "new_procedure('d', || 1);")).verdict).toBe('422 -57');
    }
  });

  test('a million of something end with an error, and nothing of it stays', async () => {
    for (const code of [
      "for (i in range(100000)) {new_user('u' + str(i));};",
      "for (i in range(100000)) {new_token('admin');};",
      "for (i in range(100000)) {new_collection('c' + str(i));};",
      "for (i in range(100000)) {new_procedure('p' + str(i), || 1);};",
    ]) {
      expect((await node.query('/t', code)).verdict).toBe('422 -57');
    }
    expect(await node.value('/t', "[has_user('u0'), has_collection('c0'), has_procedure('p0')];")).toEqual([
      false,
      false,
      false,
    ]);
  });
});

describe('very many small requests', () => {
  test('requests on a few connections are served, however small and many, others too', async () => {
    const connections = await Promise.all([1, 2, 3, 4].map(() => admitted('127.0.2.1')));
    let served = 0;
    let ended = false;
    const flood = connections.map(async (connection) => {
      for (let i = 0; i < 1000; i++) {
        connection.send(node.text('//stuff', ONE));
        const answer = await connection.answer();
        if (answer?.status === 200) served += 1;
      }
    });
    const times: number[] = [];
    const others = (async () => {
      while (!ended) {
        const start = performance.now();
        expect((await node.post('//stuff', ONE)).status).toBe(200);
        times.push(performance.now() - start);
      }
    })();
    await Promise.all(flood);
    ended = true;
    await others;
    expect(served).toBe(4000);
    // Behind the whole flood a request waits for many seconds.
    expect(Math.max(...times)).toBeLessThan(2000);
  });
});

/** The number of queries of collections that a node has answered so far. */
async function queriesAnswered(of: RealNode): Promise<number> {
  const { text } = await of.probe('/metrics');
  const lines = text.matchAll(/^althing_requests_total\{kind="query",scope="collection",.*\} (\d+)$/gm);
  return Array.from(lines, ([, count]) => Number(count)).reduce((sum, count) => sum + count, 0);
}

describe('answers that are not read', () => {
  const LENGTH = 2 ** 24 + 7;
  const LIMIT_MB = 64;

  test('are kept for a few clients only, and a slow reader gets all of its answer', async () => {
    const other = await RealNode.start({ request_memory_limit_mb: LIMIT_MB });
    await other.value('//stuff', "s = 'x'; for (i in range(23)) {s = s + s;}; .s = s; nil;");
    const request = other.text('//stuff', '{"type":"query","code":"[.s, .s];"}');
    const connections = await Promise.all(Array.from({ length: 12 }, () => other.open()));
    const before = other.memory.nowMb;
    const answered = await queriesAnswered(other);
    for (const connection of connections) connection.pause().send(request);
    for (let i = 0; i < 10; i++) expect((await other.post('//stuff', ONE)).text).toBe('1');
    // Short requests may be answered first; an answer that comes once others were read has the room of those.
    const all = answered + connections.length + 10;
    await until(async () => (await queriesAnswered(other)) >= all, 'all of them are answered');
    let whole = 0;
    let closed = 0;
    for (const connection of connections) {
      connection.resume();
      const answer = await connection.answer().catch(() => null);
      if (answer?.body.length === LENGTH) whole += 1;
      else closed += 1;
      connection.close();
    }
    expect(whole + closed).toBe(12);
    expect(whole).toBeGreaterThan(0);
    // Each takes 16 MB of 64, beyond what the system keeps.
    expect(whole).toBeLessThanOrEqual(8);
    expect(other.memory.peakMb - before).toBeLessThan(500);
    const slow = await other.open();
    slow.pause().send(request);
    for (let i = 0; i < 20; i++) expect((await other.post('//stuff', ONE)).text).toBe('1');
    slow.resume();
    expect((await slow.answer())?.body.length).toBe(LENGTH);
    slow.close();
    await other.stop();
  });

  test('a change whose answer has no room is told as made, and a read as one that may be repeated', async () => {
    const other = await RealNode.start({ request_memory_limit_mb: LIMIT_MB });
    await other.value('//stuff', "s = 'x'; for (i in range(23)) {s = s + s;}; .s = s; .n = 0; nil;");
    // An answer to a body in chunks is handed over as a whole, and counts for ten seconds.
    const ask = async (code: string): Promise<Answer | null> => {
      const body = JSON.stringify({ type: 'query', code });
      const head = other.text('//stuff', '').replace('Content-Length: 0', 'Transfer-Encoding: chunked');
      const connection = await other.open();
      connection.send(`${head}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
      const answer = await connection.answer();
      connection.close();
      return answer;
    };
    for (let i = 0; i < 3; i++) expect((await ask('[.s, .s];'))?.body.length).toBe(LENGTH);
    const read = await ask('[.s, .s];');
    expect([read?.verdict, read?.error.outcome, read?.headers.get('retry-after')]).toEqual([
      '503 -51',
      'none',
      '1',
    ]);
    const change = await ask('.n += 1; [.s, .s];');
    expect([change?.verdict, change?.error.outcome]).toEqual(['500 -51', 'made']);
    expect(change?.headers.has('retry-after')).toBe(false);
    expect(await other.value('//stuff', '.n;')).toBe(1);
    await other.stop();
  });
});

describe('settings of a node', () => {
  test('admin_password, log_level, log_format and credential_cache_ms', async () => {
    const other = await RealNode.start({
      admin_password: 'given',
      log_level: 'error',
      log_format: 'text',
      credential_cache_ms: 0,
      login_backoff_ms: 0,
    });
    const statusOf = async (password: string) =>
      (await other.post('//stuff', ONE, { authorization: basic('admin', password) })).status;
    expect(await statusOf('pass')).toBe(401);
    expect(await statusOf('given')).toBe(200);
    const begun = performance.now();
    for (let i = 0; i < 3; i++) expect(await statusOf('given')).toBe(200);
    // Each time it is hashed anew.
    expect(performance.now() - begun).toBeGreaterThan(60);
    await other.value('//stuff', "log('a warning');");
    await other.stop();
    // The lines for auditors come at any level.
    expect(other.log.split('\n').filter((line) => line !== '' && !line.includes(' audit=true '))).toEqual([]);
  });
});
