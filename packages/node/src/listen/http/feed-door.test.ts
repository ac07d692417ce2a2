/** The feed of changes over HTTP, at a real node. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { basic, RealNode } from '../../testing/index.js';

let node: RealNode;

beforeAll(async () => {
  node = await RealNode.start();
});

afterAll(() => node.stop());

const follow = (query: string, accept: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${node.url}/@changes/stuff?${query}`, {
    headers: { accept, authorization: basic('admin', 'pass'), ...headers },
  });

/** Reads a stream until a text is in it, and leaves it. */
async function readUntil(response: Response, text: string): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) throw new Error('no body');
  let read = '';
  while (!read.includes(text)) {
    const { value, done } = await reader.read();
    if (done) break;
    read += Buffer.from(value).toString();
  }
  await reader.cancel();
  return read;
}

test('lines come with each change, and again to who comes back with its position', async () => {
  const stream = await follow('', 'application/x-ndjson');
  expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'application/x-ndjson']);
  const before = (await follow('', 'application/json')).json() as Promise<{ at: string; changes: unknown[] }>;
  const { at, changes } = await before;
  expect(changes).toEqual([]);
  await node.value('//stuff', '.x = [1];');
  await node.value('//stuff', '.x.push("näh");');
  const lines = (await readUntil(stream, 'näh')).trim().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { at, alive: true },
    { changes: [{ op: 'set', id: 1, key: 'x', value: [1] }] },
    { changes: [{ op: 'splice', id: 1, key: 'x', start: 1, removed: 0, items: ['näh'] }] },
  ]);
  const again = await (await follow(`since=${at}`, 'application/json')).json();
  expect(again).toEqual({
    at: JSON.parse(lines[2] ?? '').at,
    changes: lines.slice(1).map((line) => JSON.parse(line)),
  });
});

test('events have their positions as ids, by which browsers come back', async () => {
  const stream = await follow('ids=1', 'text/event-stream');
  await node.value('//stuff', '.y = 1;');
  const text = await readUntil(stream, '"key":"y"');
  const [alive = '', change = ''] = text.split('\n\n');
  expect(alive).toMatch(/^event: alive\nid: \d+-[0-9a-f]{8}\ndata: \{"at":"\d+-[0-9a-f]{8}","alive":true\}$/);
  const id = /^id: (\S+)/m.exec(change)?.[1] ?? '';
  await node.value('//stuff', '.y = 2;');
  const next = await readUntil(await follow('', 'text/event-stream', { 'last-event-id': id }), '"value":2');
  expect(next).toContain('"value":2');
  expect(next).not.toContain('"value":1');
});

test('an answer that waits comes with the change', async () => {
  const waiting = follow('wait=60', 'application/json');
  // It has come when there is one more request that waits.
  await node.value('//stuff', 'nil;');
  const stream = await follow('', 'application/x-ndjson');
  await node.value('//stuff', '.z = 7;');
  await readUntil(stream, '"key":"z"');
  const answer = (await (await waiting).json()) as { changes: unknown[] };
  expect(answer.changes).toMatchObject([{ changes: [{ key: 'z', value: 7 }] }]);
});

test.each([
  ['since=5000-0000abcd', 410],
  ['since=x', 400],
  ['types=A&since', 400],
  ['ids=a', 400],
  ['what=1', 400],
  ['wait=61', 400],
  ['things=2', 400],
])('%s: %d', async (query, status) => {
  const answer = await follow(query, 'application/json');
  expect(answer.status).toBe(status);
  if (status === 410) expect(await answer.json()).toMatchObject({ lost: true, oldest: expect.any(String) });
});

test('needs credentials, and the right to read the collection', async () => {
  await node.value('/t', "new_user('kim'); set_password('kim', 'pw');");
  const asked = (authorization: string, path = '/@changes/stuff'): Promise<number> =>
    fetch(`${node.url}${path}`, { headers: authorization === '' ? {} : { authorization } }).then(
      ({ status }) => status,
    );
  expect(await asked('')).toBe(401);
  expect(await asked(basic('kim', 'pw'))).toBe(403);
  expect(await asked(basic('kim', 'pw'), '/@changes/nix')).toBe(403);
  expect(await asked(basic('admin', 'pass'), '/@changes/nix')).toBe(404);
});

test('a feed does not keep a node from stopping', async () => {
  const other = await RealNode.start();
  const stream = await fetch(`${other.url}/@changes/stuff`, {
    headers: { authorization: basic('admin', 'pass') },
  });
  const text = readUntil(stream, 'ended');
  await other.stop();
  expect(await text).toContain('{"ended":"leaving"}');
});
