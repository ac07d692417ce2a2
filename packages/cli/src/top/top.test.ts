import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { decodeMessagePack, encodeMessagePack, isWireMap, type WireValue, wireMap } from '@althing/client';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { main } from '../index.js';
import { FakeIo, portOf } from '../testing.js';
import { busiest } from './busiest.js';
import type { NodeSample, Runs, Sample } from './sample.js';
import { linesOf } from './view.js';

const runs = (what: string, count: number, run: number, more: Partial<Runs> = {}): Runs => ({
  kind: 'query',
  scope: '@collection:shop',
  what,
  count,
  failures: 0,
  run,
  runP99: 0.002,
  runMax: 0.004,
  wait: 0,
  reads: 0,
  coldReads: 0,
  ...more,
});

const node = (number: number, all: readonly Runs[], more: Partial<NodeSample> = {}): NodeSample => ({
  number,
  name: `node-${number}`,
  status: 'READY',
  problem: null,
  runs: all,
  clients: [],
  requests: [],
  ...more,
});

const sample = (at: number, ...nodes: readonly NodeSample[]): Sample => ({ at, nodes });

describe('the work that took most time', () => {
  test('is summed over nodes, with the longest time of all, and its part of the whole', () => {
    const now = sample(
      0,
      node(0, [runs('.a', 10, 1), runs('.b', 1, 5, { runMax: 5 })]),
      node(1, [runs('.a', 30, 2, { runMax: 0.1, failures: 3 }), runs('.a', 1, 2, { kind: 'procedure' })]),
    );
    const rows = busiest(now, null, false);
    expect(
      rows.map(({ kind, what, count, run, runMax, nodes, share }) => [
        kind,
        what,
        count,
        run,
        runMax,
        nodes,
        share,
      ]),
    ).toEqual([
      ['query', '.b', 1, 5, 5, [0], 0.5],
      ['query', '.a', 40, 3, 0.1, [1, 0], 0.3],
      ['procedure', '.a', 1, 2, 0.004, [1], 0.2],
    ]);
    expect(busiest(now, null, true).map(({ what, nodes }) => [what, nodes])).toEqual([
      ['.b', [0]],
      ['.a', [1]],
      ['.a', [1]],
      ['.a', [0]],
    ]);
  });

  test('is told since an earlier look, also where counters began anew meanwhile', () => {
    const before = sample(0, node(0, [runs('.a', 10, 1), runs('.old', 9, 9), runs('.reset', 50, 8)]));
    const now = sample(
      10_000,
      node(0, [runs('.a', 15, 3), runs('.old', 9, 9), runs('.reset', 2, 1), runs('.new', 1, 0.5)]),
      node(1, [runs('.a', 1, 0.25)]),
    );
    expect(busiest(now, before, false).map(({ what, count, run }) => [what, count, run])).toEqual([
      ['.a', 6, 2.25],
      ['.reset', 2, 1],
      ['.new', 1, 0.5],
    ]);
  });

  test('has nothing of a node that could not be asked before, whose figures are of longer than that', () => {
    const lost = node(0, [], { problem: 'is gone' });
    expect(busiest(sample(1, node(0, [runs('.a', 15, 3)])), sample(0, lost), false)).toEqual([]);
  });
});

test('the view fits into a terminal, and shows no control characters', () => {
  const many = Array.from({ length: 50 }, (_, i) => runs(`.q${i} \u001b[31m${'x'.repeat(200)}`, 1, 50 - i));
  const clients = [{ transport: 'tcp', address: '192.0.2.1', user: 'web', count: 7 }];
  const open = {
    id: 3,
    state: 'waiting',
    waitsFor: 'commit',
    since: 8,
    user: 'web',
    scope: '@thingsdb',
    text: 'f',
  };
  const now = sample(
    10_000,
    node(0, many, { clients, requests: [open] }),
    node(1, [], { problem: 'is OFFLINE' }),
  );

  const lines = linesOf({ now, before: null, isByNode: false }, 80, 24);

  expect(lines.length).toBeLessThanOrEqual(24);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  expect(lines.join('\n')).not.toContain('\u001b');
  expect(lines.slice(0, 3)).toEqual([
    '00:00:10  2 nodes, since the counters began',
    'node 0  node-0  READY  7 connections  1 requests open',
    'node 1  node-1  !      is OFFLINE',
  ]);
  expect(lines.find((line) => line.startsWith('web'))).toBe('web   tcp  192.0.2.1  7');
  expect(lines.at(-1)).toBe('0     3   2.00 s  waiting: commit  web   @thingsdb  f');
});

describe('althing top', () => {
  let server: Server;
  let url: string;
  let answer: (path: string, code: string) => WireValue;

  beforeEach(async () => {
    server = createServer(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part);
      const body = decodeMessagePack(Buffer.concat(parts));
      const code = isWireMap(body) ? String(body.get('code')) : '';
      const value = answer(request.url ?? '', code);
      response.writeHead(isWireMap(value) && value.has('error') ? 422 : 200);
      response.end(encodeMessagePack(value));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${portOf(server)}`;
    answer = (path, code) =>
      code.includes('nodes_info') ? NODES : path.includes('1') ? [[], [], [], []] : ACTIVITY;
  });

  afterEach(() => {
    server.close();
  });

  const member = (number: bigint, status = 'READY') =>
    wireMap({ node_id: number, node_name: `node-${number}`, status });
  const NODES = [member(0n), member(1n), member(2n, 'OFFLINE')];
  const figures = {
    scope: '@collection:shop',
    count: 4n,
    failures: 1n,
    run_total: 2.0,
    run_p99: 0.9,
    run_max: 1.0,
    wait_total: 0.5,
    things_read: 40n,
    cold_reads: 4n,
  };
  const ACTIVITY: WireValue = [
    [wireMap({ query: '[queries_info(), ...', ...figures, scope: '@node' })],
    [wireMap({ procedure: 'planted', ...figures })],
    [wireMap({ transport: 'http', address: '192.0.2.9', user: null, count: 3n })],
    [],
  ];

  const top = (io: FakeIo, ...args: string[]): Promise<number> =>
    main(['top', ...args, '--url', url, '--user', 'admin:pass'], io);

  test('--once names the slow procedure, who is connected, and nodes that are not there', async () => {
    const io = new FakeIo();
    expect(await top(io, '--once')).toBe(0);
    const [, ...lines] = io.output.split('\n');
    expect(lines).toEqual([
      'node 0  node-0  READY  3 connections  0 requests open',
      'node 1  node-1  READY  0 connections  0 requests open',
      'node 2  node-2  !      is OFFLINE',
      '',
      'TIME  CALLS  MEAN    P99     MAX     WAIT    READS  COLD  ERRORS  NODES  SCOPE             WHAT',
      '100%  4      500 ms  900 ms  1.00 s  125 ms  10     1     1       0      @collection:shop  planted()  [procedure]',
      '',
      'USER  BY    FROM       CONNECTIONS',
      '-     http  192.0.2.9  3',
      '',
    ]);
  });

  test('--once --format json is a line for programs', async () => {
    const io = new FakeIo();
    expect(await top(io, '--once', '--format', 'json')).toBe(0);
    const told = JSON.parse(io.output) as { since: unknown; nodes: object[]; busiest: object[] };
    expect(told.since).toBeNull();
    expect(told.nodes).toHaveLength(3);
    expect(told.busiest).toEqual([
      expect.objectContaining({ kind: 'procedure', what: 'planted', count: 4, run: 2, nodes: [0], share: 1 }),
    ]);
  });

  test('goes on until it is told to stop, and tells of the time between two looks', async () => {
    const io = new FakeIo();
    let calls = 0n;
    answer = (_path, code) => {
      if (code.includes('nodes_info')) return [member(0n)];
      calls += 2n;
      if (calls === 6n) io.signal('SIGINT');
      return [
        [],
        [wireMap({ procedure: 'add', ...figures, count: calls, run_total: Number(calls) / 10 })],
        [],
        [],
      ];
    };
    expect(await top(io, '--interval', '0.1', '--format', 'json')).toBe(0);
    const looks = io.output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { since: unknown; busiest: { count: number }[] });
    expect(looks.map(({ busiest: [row] }) => row?.count)).toEqual([2, 2, 4]);
    expect(looks.map(({ since }) => since === null)).toEqual([true, false, false]);
  });

  test('a user who may not ask is told so', async () => {
    const io = new FakeIo();
    answer = (_path, code) =>
      code.includes('nodes_info')
        ? NODES
        : wireMap({
            error: wireMap({ code: -55n, name: 'forbidden_err', message: 'no CHANGE', outcome: 'none' }),
          });
    expect(await top(io, '--once')).not.toBe(0);
    expect(io.errors).toBe('althing top: forbidden_err (-55): no CHANGE\n');
    expect(io.output).toBe('');
  });

  test.each([[['--interval', '0']], [['--interval', 'soon']], [['--format', 'xml']]])(
    'refuses %j',
    async (args) => {
      const io = new FakeIo();
      expect(await top(io, '--once', ...args)).toBe(2);
    },
  );
});
