/**
 * Bodies and results within the limits that would take the time and the memory of a node: reading, running and packing have
 * one clock and one budget, and privileges come first. The nodes have the smallest heap that is promised to be enough.
 */

import { packed, RealNode } from '@althing/node/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const DURATION_MS = 300;

/** Longest time for a request that is ended by the clock, on a machine that is busy with other tests. */
const PATIENCE_MS = 20 * DURATION_MS;

let node: RealNode;
/** Credentials of somebody without any privilege. */
let nobody: string;

beforeAll(async () => {
  node = await RealNode.start(
    { query_duration_limit_ms: DURATION_MS, cache_size_mb: 64 },
    undefined,
    undefined,
    ['--max-old-space-size=512'],
  );
  nobody = `Bearer ${await node.value('/t', "new_user('nobody'); new_token('nobody');")}`;
  await node.value('//stuff', "new_procedure('p', |a| 1); .x = 0;");
});

afterAll(async () => {
  // The same process all the time.
  expect(await node.value('//stuff', '.x;')).toBe(0);
  expect(node.log).not.toMatch(/internal_error|RangeError|FATAL/);
  await node.stop();
});

type Format = 'json' | 'msgpack';

const ITEMS = 15_000_000;

/** A query with so many items in one variable. */
function msgpackQuery(item: Buffer, count: number, code = '.x = 1; 1;'): Buffer {
  const start = packed({ type: 'query', code, vars: { v: null } }).subarray(0, -1);
  const head = Buffer.of(0xdd, 0, 0, 0, 0);
  head.writeUInt32BE(count, 1);
  return Buffer.concat([start, head, Buffer.alloc(item.length * count, item)]);
}

function jsonQuery(item: string, count: number, code = '.x = 1; 1;'): Buffer {
  const items = `${item},`.repeat(count).slice(0, -1);
  return Buffer.from(`{"type":"query","code":${JSON.stringify(code)},"vars":{"v":[${items}]}}`);
}

const EMPTY_MAPS: readonly [Format, () => Buffer][] = [
  ['msgpack', () => msgpackQuery(Buffer.of(0x80), ITEMS)],
  ['json', () => jsonQuery('{}', ITEMS / 3)],
];

async function send(format: Format, body: Buffer, authorization?: string) {
  const contentType = `application/${format}`;
  const begun = performance.now();
  const { status } = await node.post(
    '//stuff',
    body,
    authorization === undefined ? { contentType } : { contentType, authorization },
  );
  return { status, ms: performance.now() - begun };
}

describe.each(EMPTY_MAPS)('millions of empty maps in %s', (format, body) => {
  test('maps of a user without privileges are refused before values are made of them', async () => {
    node.forgetPeak();
    const before = node.memory.nowMb;
    const { status } = await send(format, body(), nobody);
    expect(status).toBe(403);
    // The body, its parts as they come, and the room in which the buffers grow; 15 million values take 1500 MB.
    expect(node.memory.peakMb - before).toBeLessThan(150);
  });

  test('maps of a user who may run the query end with the error of a limit', async () => {
    const { status, ms } = await send(format, body());
    expect([422, 504]).toContain(status);
    expect(ms).toBeLessThan(PATIENCE_MS);
  });

  test('several at once leave the node alive, and others are served', async () => {
    const sent = Array.from({ length: 3 }, () => send(format, body()));
    const served = await node.query('//stuff', '.x;');
    expect(served.status).toBe(200);
    for (const { status } of await Promise.all(sent)) expect([422, 503, 504]).toContain(status);
  });
});

test.each<[string, Format, () => Buffer]>([
  ['empty lists', 'msgpack', () => msgpackQuery(Buffer.of(0x90), ITEMS)],
  ['empty bytes', 'msgpack', () => msgpackQuery(Buffer.of(0xc4, 0), ITEMS / 2)],
  [
    'lists inside each other',
    'msgpack',
    () => msgpackQuery(Buffer.concat([Buffer.alloc(490, 0x91), Buffer.of(0)]), 30_000),
  ],
  ['maps with keys of their own', 'msgpack', () => manyShapes(800_000)],
  [
    'unknown keys of a request',
    'json',
    () => Buffer.from(`{"type":"query","code":"1;","x":[${'{},'.repeat(5_000_000)}1]}`),
  ],
])('%s are read to their end or to a limit', async (_what, format, body) => {
  const { status, ms } = await send(format, body());
  expect([200, 422, 504]).toContain(status);
  expect(ms).toBeLessThan(PATIENCE_MS);
});

function manyShapes(count: number): Buffer {
  const body = msgpackQuery(Buffer.from('81a3000000c0', 'hex'), count);
  const start = body.length - count * 6;
  for (let i = 0; i < count; i++) {
    for (let digit = 0, rest = i; digit < 3; digit++, rest = Math.floor(rest / 90)) {
      body[start + i * 6 + 2 + digit] = 0x21 + (rest % 90);
    }
  }
  return body;
}

describe.each<Format>(['json', 'msgpack'])('results as %s', (format) => {
  test.each([
    [
      'one list many times',
      'y = []; x = range(100000).map(|i| {}); for (i in range(300)) {y.push(x)}; return y, 9;',
    ],
    ['things that hold each other twice', 't = {}; for (i in range(30)) {t = {a: t, b: t}}; return t, 100;'],
    ['a text that needs escapes', "s = '\\n'; for (i in range(23)) {s = s + s}; [s, s, s];"],
  ])('%s: end with the error of a limit', async (_what, code) => {
    const text = `.x = 1; ${code}`;
    const body =
      format === 'json'
        ? Buffer.from(JSON.stringify({ type: 'query', code: text }))
        : packed({ type: 'query', code: text });
    const { status, ms } = await send(format, body);
    expect([422, 500, 504]).toContain(status);
    expect(ms).toBeLessThan(PATIENCE_MS);
  });
});

test('values are read as the variables of a query and the arguments of a procedure', async () => {
  expect(await node.value('//stuff', '[a, b.c];', { a: 'ü', b: { c: [1, 2] } })).toEqual(['ü', [1, 2]]);
  expect((await node.run('//stuff', 'p', [1])).text).toBe('1');
  expect((await node.run('//stuff', 'p', { a: { b: 1 } })).text).toBe('1');
});
