import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { decodeMessagePack, encodeMessagePack, type WireValue, wireMap } from '@althing/client';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { main } from '../index.js';
import { FakeIo, portOf } from '../testing.js';

let server: Server;
let url: string;
let received: { readonly headers: IncomingHttpHeaders; readonly path: string; readonly body: WireValue }[];
let told: WireValue;

beforeEach(async () => {
  received = [];
  server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const { headers, url: path = '' } = request;
    received.push({ headers, path, body: decodeMessagePack(Buffer.concat(parts)) });
    response.end(encodeMessagePack(told));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${portOf(server)}`;
  told = explained();
});

afterEach(() => {
  server.close();
});

const usage = (ms: number, steps: bigint, memory: bigint, disk: bigint): Record<string, WireValue> => ({
  ms,
  steps,
  from_memory: memory,
  from_disk: disk,
  records: disk,
});

function explained(more: Record<string, WireValue> = {}): WireValue {
  const filter = wireMap({
    in: 'grown',
    line: 2n,
    column: 25n,
    code: 'u.age > least',
    runs: 1200n,
    ...usage(14.25, 1200n, 900n, 300n),
    total_ms: 14.25,
    total_steps: 1200n,
    memory: 2_400_000n,
    hints: [
      "looked at 1200 `User` for `age`: one_by and all_by would find them by an index, as new_index('User', 'age') makes it",
    ],
  });
  const query = wireMap({
    in: null,
    line: 1n,
    column: 1n,
    code: ".n = one_by('User', 'email', who)",
    runs: 1n,
    ...usage(0.5, 18n, 1n, 0n),
    total_ms: 14.75,
    total_steps: 1218n,
    memory: 640n,
    changes: wireMap({ properties: 1n }),
    indexes: [
      wireMap({ type: 'User', index: 'email', look_ups: 1n, entries: 1n }),
      wireMap({ type: 'User', index: '#', look_ups: 1n, entries: 1200n }),
    ],
  });
  return wireMap({
    result: null,
    changes: wireMap({ properties: 1n }),
    explain: wireMap({
      ...usage(15, 1220n, 901n, 300n),
      memory: 2_500_000n,
      packing: wireMap(usage(0.25, 2n, 0n, 0n)),
      statements: [filter, query],
    }),
    ...more,
  });
}

async function explain(io: FakeIo, ...args: string[]): Promise<number> {
  return main(['explain', ...args, '--url', url, '--user', 'admin:pass'], io);
}

describe('althing explain', () => {
  test('shows what each statement took, the costliest first', async () => {
    const io = new FakeIo();

    const exitCode = await explain(
      io,
      '//stuff',
      "grown(30); .n = one_by('User', 'email', who);",
      '--vars',
      '{"who": "ann"}',
    );

    expect([exitCode, io.errors]).toEqual([0, '']);
    expect(received[0]?.headers).toMatchObject({ 'althing-dry-run': 'explain' });
    expect(received[0]?.body).toEqual(
      wireMap({
        type: 'query',
        code: "grown(30); .n = one_by('User', 'email', who);",
        vars: wireMap({ who: 'ann' }),
      }),
    );
    expect(io.output).toBe(`\
    ms  with calls  runs  steps  in memory  from disk    heap  place       statement
14.250      14.250  1200   1200        900        300  2.4 MB  grown:2:25  u.age > least
 0.500      14.750     1     18          1          0  0.6 kB  1:1         .n = one_by('User', 'email', who)

grown:2:25: looked at 1200 \`User\` for \`age\`: one_by and all_by would find them by an index, as new_index('User', 'age') makes it
1:1: changed properties 1
1:1: index \`email\` of \`User\`: 1 entries, 1 look-ups
1:1: went over all \`User\` by their ids: 1200 entries, 1 look-ups

in all 15.000 ms, of which 0.250 to pack the result; 1220 steps; things looked into 901 in memory, 300 from disk; 300 records; heap 2.5 MB
nothing was changed; it would change properties 1
`);
  });

  test('tells the error of what failed, with its place, and exit code 1', async () => {
    const at = wireMap({ line: 3n, column: 2n, offset: 9n, length: 5n });
    told = explained({
      error: wireMap({
        code: -58n,
        name: 'zero_div_err',
        message: 'division or modulo by zero',
        at,
        in: 'grown',
      }),
      futures: 2n,
    });
    const io = new FakeIo();
    expect(await explain(io, '@thingsdb', '1 / 0;')).toBe(1);
    expect(io.output).toContain('futures that were not started: 2\n');
    expect(io.output).toContain(
      'it failed: zero_div_err: division or modulo by zero (line 3, column 2 of grown)\n',
    );
  });

  test('says so where statements are told to others alone, or were left off', async () => {
    const packing = wireMap(usage(0, 0n, 0n, 0n));
    told = wireMap({
      result: 1n,
      changes: wireMap({}),
      explain: wireMap({ ...usage(1, 1n, 0n, 0n), memory: 0n, packing }),
    });
    const io = new FakeIo();
    await explain(io, '//stuff', '--run', 'grown');
    expect(io.output).toMatch(/^statements are told to users with QUERY alone/);

    const explain3 = wireMap({ ...usage(1, 1n, 0n, 0n), memory: 0n, packing, statements: [], left_off: 3n });
    told = wireMap({ result: 1n, changes: wireMap({}), explain: explain3 });
    await explain(io, '//stuff', '1;');
    expect(io.output).toContain('... and 3 statements that took less');
  });

  test('runs a procedure with arguments by position or by name', async () => {
    const io = new FakeIo();
    await explain(io, '//stuff', '--run', 'grown', '--args', '[30, "x"]');
    await explain(io, '//stuff', '--run', 'grown', '--args', '{"least": 30}');
    expect(received.map(({ body }) => body)).toEqual([
      wireMap({ type: 'run', name: 'grown', args: [30n, 'x'] }),
      wireMap({ type: 'run', name: 'grown', args: wireMap({ least: 30n }) }),
    ]);
  });

  test('gives one line of JSON without the result, which is not what it is for', async () => {
    const io = new FakeIo();
    await explain(io, '//stuff', '1;', '--json');
    const line = JSON.parse(io.output);
    expect(io.output.endsWith('}\n')).toBe(true);
    expect(line).not.toHaveProperty('result');
    expect(line.explain.statements[0]).toMatchObject({ in: 'grown', runs: 1200 });
  });

  test.each([
    [[], 'there is no query'],
    [['//stuff', '1;', '--run', 'p'], 'give one of CODE, --file and --run'],
    [['//stuff', '--run', 'p', '--args', '7'], '--args must be a JSON list or object'],
    [['//stuff', '--run', 'p', '--args', '{'], '--args is no JSON'],
    [['//stuff', '--file', '/nowhere/at/all'], "can't read /nowhere/at/all"],
  ])('is refused with %j: %s', async (args, words) => {
    const io = new FakeIo();
    expect(await explain(io, ...args)).toBe(2);
    expect(io.errors).toContain(words);
    expect(received).toEqual([]);
  });
});
