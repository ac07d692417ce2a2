import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { decodeMessagePack, encodeMessagePack, isWireMap, type WireValue, wireMap } from '@althing/client';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { main } from './index.js';
import { FakeIo, portOf } from './testing.js';

interface Received {
  readonly path: string;
  readonly code: string;
  readonly vars: WireValue | undefined;
}

let server: Server;
let url: string;
let received: Received[];
/** The node's answer; undefined makes it close the connection. */
let answer: (request: Received) => WireValue | undefined;

beforeEach(async () => {
  received = [];
  server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const body = decodeMessagePack(Buffer.concat(parts));
    const code = isWireMap(body) ? body.get('code') : undefined;
    if (!isWireMap(body) || typeof code !== 'string') throw new Error('no query');
    const asked = { path: request.url ?? '', code, vars: body.get('vars') };
    received.push(asked);
    const value = answer(asked);
    if (value === undefined) {
      request.socket.destroy();
      return;
    }
    response.writeHead(isWireMap(value) && value.has('error') ? 422 : 200);
    response.end(encodeMessagePack(value));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${portOf(server)}`;
  answer = (request) => (isLevel(request) ? LEVEL : STATUS);
});

afterEach(() => {
  server.close();
});

function cluster(io: FakeIo, ...args: string[]): Promise<number> {
  return main(['cluster', ...args, '--url', url, '--user', 'admin:pass'], io);
}

const node = (number: number, status = 'READY') =>
  wireMap({
    node_id: BigInt(number),
    status,
    node_name: `node-${number}`,
    port: 9220n,
    committed_change_id: BigInt(100 + number),
  });

const group = (scope: string, leader: number | null) =>
  wireMap({ scope, leader: leader === null ? null : BigInt(leader), voters: [0n, 1n], learners: [2n] });

const STATUS = [
  [node(0), node(1), node(2)],
  [group('@thingsdb', 0), group('@collection:stuff', 1), group('@collection:other', 1)],
];

const failure = (message: string) =>
  wireMap({ error: wireMap({ code: -63n, name: 'operation_err', message, outcome: 'none' }) });

const LEVEL = wireMap({ level: 2n, known: 2n, waits_for: [], warnings: [] });

const isLevel = ({ code }: Received): boolean => code.includes('level_info');

const isStatus = ({ code }: Received): boolean => code.includes('nodes_info');

describe('cluster status', () => {
  test('shows the nodes and how many groups each leads', async () => {
    const io = new FakeIo();

    expect(await cluster(io, 'status')).toBe(0);

    expect(io.output).toBe(
      [
        'NODE  NAME    PORT  STATUS  LEADS   APPLIED',
        '0     node-0  9220  READY   1 of 3  100',
        '1     node-1  9220  READY   2 of 3  101',
        '2     node-2  9220  READY   0 of 3  102',
        'level 2',
        '',
      ].join('\n'),
    );
    expect(received[0]?.path).toBe('/@node');
  });

  test('shows each group when it is asked for', async () => {
    const io = new FakeIo();
    await cluster(io, 'status', '--groups');
    expect(io.output.split('\n').slice(6)).toEqual([
      'SCOPE              LEADER  VOTERS  LEARNERS',
      '@thingsdb          0       0 1     2',
      '@collection:stuff  1       0 1     2',
      '@collection:other  1       0 1     2',
      '',
    ]);
  });

  test('says what is not well, and ends with another code', async () => {
    const io = new FakeIo();
    answer = (request) =>
      isLevel(request) ? LEVEL : [[node(0), node(1, 'OFFLINE')], [group('@thingsdb', null)]];

    expect(await cluster(io, 'status')).toBe(3);

    expect(io.output).toContain('! node 1 (node-1) is OFFLINE');
    expect(io.output).toContain('! 1 of 1 groups have no leader: @thingsdb');
  });

  test('is JSON for programs', async () => {
    const io = new FakeIo();
    await cluster(io, 'status', '--format', 'json');
    expect(JSON.parse(io.output)).toMatchObject({
      nodes: [{ number: 0, name: 'node-0', leads: 1 }, { number: 1 }, { number: 2 }],
      groups: [{ scope: '@thingsdb', leader: 0 }, {}, {}],
      problems: [],
      level: { level: 2, known: 2, waitsFor: [], warnings: [] },
    });
  });

  test('says whom a higher level waits for, and nothing where nodes know no levels', async () => {
    const waiting = wireMap({
      level: 1n,
      known: 2n,
      waits_for: ['node-1', 'node-2'],
      warnings: ['mind this'],
    });
    answer = (request) => (isLevel(request) ? waiting : STATUS);
    const io = new FakeIo();
    expect(await cluster(io, 'status')).toBe(0);
    expect(io.output).toContain('\nlevel 1; level 2 waits for node-1, node-2\n');
    // A cluster of one was set up so: no reason to tell that something is wrong.
    expect(io.output).toContain('! mind this\n');

    const heard = wireMap({ level: 1n, known: 2n, waits_for: [], warnings: [] });
    answer = (request) => (isLevel(request) ? heard : STATUS);
    const soon = new FakeIo();
    expect(await cluster(soon, 'status')).toBe(0);
    expect(soon.output).toContain('\nlevel 1; level 2 is about to come\n');

    answer = (request) => (isLevel(request) ? failure('no such function') : STATUS);
    const old = new FakeIo();
    expect(await cluster(old, 'status')).toBe(0);
    expect(old.output).not.toContain('level');
  });

  test('cluster status of something that is no such node is an error', async () => {
    const io = new FakeIo();
    answer = () => [[wireMap({ node_id: 'x' })], []];
    expect(await cluster(io, 'status')).toBe(1);
    expect(io.errors).toContain("lacks 'node_id'");
  });
});

describe('cluster add', () => {
  const secret = { SERVICE_CLUSTER_SECRET: 'the secret of the cluster' };

  test('invites a node and waits until it is in', async () => {
    const io = new FakeIo(secret);
    let looks = 0;
    answer = (request) => {
      if (!isStatus(request)) return 3n;
      looks += 1;
      return [[node(0), node(3, looks < 3 ? 'OFFLINE' : 'READY')], []];
    };

    expect(await cluster(io, 'add', 'node-3.example:9999')).toBe(0);

    expect(received[0]).toEqual({
      path: '/@thingsdb',
      code: 'new_node(secret, host, port);',
      vars: wireMap({ secret: 'the secret of the cluster', host: 'node-3.example', port: 9999n }),
    });
    expect(io.output).toBe('node 3 (node-3) is in\n');
    expect(looks).toBe(3);
  });

  test('gives up waiting, and says what can be done', async () => {
    const io = new FakeIo(secret);
    answer = (request) => (isStatus(request) ? [[node(3, 'OFFLINE')], []] : 3n);
    expect(await cluster(io, 'add', '[::1]', '--timeout', '0.3')).toBe(1);
    expect(io.errors).toContain('althing cluster remove 3');
  });

  test('asks for the secret on a terminal', async () => {
    const io = new FakeIo();
    io.terminal();
    answer = (request) => (isStatus(request) ? [[node(3)], []] : 3n);

    const done = cluster(io, 'add', 'node-3');
    await io.rawMode(true);
    io.stdin.write('typed secret\r');

    expect(await done).toBe(0);
    expect(received[0]?.vars).toEqual(wireMap({ secret: 'typed secret', host: 'node-3', port: 9220n }));
  });

  test('tells what the cluster has against it', async () => {
    const io = new FakeIo(secret);
    answer = () => failure('the secret is another one');
    expect(await cluster(io, 'add', 'node-3')).toBe(1);
    expect(io.errors).toBe('althing cluster: operation_err (-63): the secret is another one\n');
  });

  test.each([['a b'], ['host:0'], ['host:70000'], ['host:x'], [':9220'], ['']])(
    'takes no %j for an address',
    async (place) => {
      const io = new FakeIo(secret);
      expect(await cluster(io, 'add', place)).toBe(2);
      expect(received).toEqual([]);
    },
  );

  test('needs a secret', async () => {
    const io = new FakeIo();
    expect(await cluster(io, 'add', 'node-3')).toBe(2);
    expect(io.errors).toContain('SERVICE_CLUSTER_SECRET');
  });
});

describe('cluster remove', () => {
  test.each(['1', 'node-1'])('removes node %s and waits until it is gone', async (which) => {
    const io = new FakeIo();
    let looks = 0;
    answer = (request) => {
      if (isStatus(request)) return STATUS;
      if (request.code.startsWith('remove_node')) return null;
      looks += 1;
      return looks < 3;
    };

    expect(await cluster(io, 'remove', which)).toBe(0);

    expect(received[1]).toMatchObject({ path: '/@thingsdb', vars: wireMap({ number: 1n }) });
    expect(io.output).toBe('node 1 is removed\n');
  });

  test('goes on when it takes longer than one waits', async () => {
    const io = new FakeIo();
    answer = (request) => (isStatus(request) ? STATUS : true);
    expect(await cluster(io, 'remove', '1', '--timeout', '0.3')).toBe(1);
    expect(io.errors).toContain('the removal goes on');
  });

  test('cluster remove of the node that is asked can not be watched to its end', async () => {
    const io = new FakeIo();
    answer = (request) =>
      isStatus(request) ? STATUS : request.code.startsWith('remove_node') ? null : undefined;
    expect(await cluster(io, 'remove', '0')).toBe(0);
    expect(io.errors).toContain('ask another one');
  });

  test('cluster remove of a node that there is not names those that there are', async () => {
    const io = new FakeIo();
    expect(await cluster(io, 'remove', 'nobody')).toBe(2);
    expect(io.errors).toContain('0 (node-0), 1 (node-1), 2 (node-2)');
  });
});

describe('cluster transfer', () => {
  test('asks a node to give away what it leads, and waits for it', async () => {
    const io = new FakeIo();
    const left = [5n, 2n, 0n];
    answer = (request) => {
      if (isStatus(request)) return STATUS;
      return request.code.startsWith('transfer') ? null : left.shift();
    };

    expect(await cluster(io, 'transfer', '--from', 'node-1', '--to', '2')).toBe(0);

    const command = received.find(({ code }) => code.startsWith('transfer'));
    expect(command).toEqual({
      path: '/@node:1',
      code: 'transfer_leadership(to);',
      vars: wireMap({ to: 2n }),
    });
    expect(io.output).toBe('5 of 5 leaderships were given away\n');
  });

  test('is for the node that is asked, and for whoever is furthest, by default', async () => {
    const io = new FakeIo();
    answer = (request) => (isStatus(request) ? STATUS : request.code.startsWith('transfer') ? null : 0n);
    expect(await cluster(io, 'transfer')).toBe(0);
    expect(received.at(-1)?.path).toBe('/@node');
    expect(received.some(({ code }) => code === 'transfer_leadership();')).toBe(true);
  });

  test('cluster transfer that does not get to its end has failed', async () => {
    const io = new FakeIo();
    answer = (request) => (isStatus(request) ? STATUS : request.code.startsWith('transfer') ? null : 4n);
    expect(await cluster(io, 'transfer', '--timeout', '0.3')).toBe(1);
    expect(io.output).toBe('0 of 4 leaderships were given away\n');
  });
});

describe('usage', () => {
  test('each part has its help', async () => {
    for (const part of ['status', 'add', 'remove', 'transfer']) {
      const io = new FakeIo();
      expect(await main(['cluster', part, '--help'], io)).toBe(0);
      expect(io.output).toContain(`althing cluster ${part}`);
    }
  });

  test('a command without credentials asks for them', async () => {
    const io = new FakeIo();
    expect(await main(['cluster', 'status', '--url', url], io)).toBe(2);
    expect(io.errors).toContain('who are you?');
  });
});
