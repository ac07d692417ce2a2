/** The feed of changes over HTTP, and by packages of the native protocol, at a real node. */
import { SocketClient, type SocketEvent, type WireValue, wireMap } from '@althing/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { basic, FREE_PORT, RealNode, until } from '../../testing/index.js';

let node: RealNode;

beforeAll(async () => {
  node = await RealNode.start({ listen_client_port: FREE_PORT });
  // A checkpoint may cut the log behind what a test goes on from.
  await node.value('/t', "set_feed('stuff', {keep_mb: 64});");
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

describe('a feed goes with the login that it was asked for with', () => {
  const NAME = 'leaver';
  let key: string;

  beforeEach(async () => {
    const code = `new_user(name); set_password(name, 'one'); grant('//stuff', name, QUERY); new_token(name);`;
    key = String(await node.value('/t', code, { name: NAME }));
  });

  afterEach(() => node.value('/t', 'del_user(name);', { name: NAME }));

  test.each([
    ['a token that is deleted', () => `Bearer ${key}`, () => node.value('/t', 'del_token(key);', { key })],
    ['a token in small letters', () => `token ${key}`, () => node.value('/t', 'del_token(key);', { key })],
    [
      'a password that is changed',
      () => basic(NAME, 'one'),
      () => node.value('/t', "set_password(name, 'two');", { name: NAME }),
    ],
    [
      'a session that is ended',
      () => `Bearer ${key}`,
      () => node.post('/@session', '', { method: 'DELETE', authorization: `Bearer ${key}` }),
    ],
  ])('%s', async (what, authorization, end) => {
    if (what.includes('session')) {
      const begun = await node.post('/@session', '', { authorization: basic(NAME, 'one') });
      key = (begun.json as { token: string }).token;
    }
    const stream = await follow('', 'application/x-ndjson', { authorization: authorization() });
    await end();
    await node.value('//stuff', ".secret = 'seen';");
    const read = await readUntil(stream, 'secret');
    expect(read).not.toContain('secret');
    expect(read.endsWith('{"ended":"forbidden"}\n')).toBe(true);
  });
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

test('a client that does not read is slowed, or ended, and costs no memory; others go on', async () => {
  const figure = async (name: string): Promise<number> =>
    Number(new RegExp(`^${name} (\\d+)`, 'm').exec((await node.probe('/metrics')).text)?.[1]);
  const before = await figure('althing_feed_characters_total');
  const slow = await follow('', 'application/x-ndjson');
  const reader = (await follow('', 'application/x-ndjson')).body?.getReader();
  const readAll = async (): Promise<number> => {
    let size = 0;
    for (let end = ''; !end.includes('"key":"end"'); ) {
      const { value } = (await reader?.read()) ?? {};
      if (value === undefined) throw new Error('the feed ended');
      size += value.length;
      end = (end + Buffer.from(value.subarray(-200)).toString()).slice(-200);
    }
    return size;
  };
  const read = readAll();
  for (let i = 0; i < 20; i++) await node.value('//stuff', `.t = range(${900_000 + i}, 1000000);`);
  await node.value('//stuff', '.end = 1;');
  const size = await read;
  const isBehind = async (): Promise<boolean> =>
    (await figure('althing_feed_followers_behind')) === 1 || (await figure('althing_feed_followers')) === 1;
  await until(isBehind, 'one reads the log by itself');
  // Lines that the other one was sent lie between the two processes: some MB.
  const sent = (await figure('althing_feed_characters_total')) - before - size;
  expect([size > 13_000_000, sent < 12_000_000]).toEqual([true, true]);
  await Promise.all([slow.body?.cancel(), reader?.cancel()]);
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

describe('feeds by packages', () => {
  const events: SocketEvent[] = [];
  let client: SocketClient;

  beforeAll(async () => {
    client = await SocketClient.connect({ host: '127.0.0.1', port: node.nativePort });
    await client.login({ user: 'admin', password: 'pass' });
    client.onEvent = (event) => events.push(event);
  });

  afterAll(() => client.close());

  const asked = (options: Record<string, WireValue> = {}, scope = '//stuff'): Promise<WireValue> =>
    client.ask(45, [scope, wireMap(options)]);
  const lines = (): WireValue[] => events.map(({ type, data }) => [BigInt(type), data]);
  const text = (): string => JSON.stringify(lines(), (_, value) => shown(value));
  const shown = (value: unknown): unknown => {
    if (value instanceof Map) return Object.fromEntries(value);
    if (value instanceof Uint8Array) return [...value];
    return typeof value === 'bigint' ? Number(value) : value;
  };

  test('changes come as events with values as they are, from any position on, until it is stopped', async () => {
    await asked({ ids: [1n] });
    await until(() => events.length === 1, 'it is told where it stands');
    await node.value('//stuff', '.b = [bytes("ab"), 1.5, {}]; .o = {};');
    await until(() => events.length === 2, 'the change comes');
    expect(text()).toMatch(
      /^\[\[10,\["\/\/stuff",\{"at":"\d+-[0-9a-f]{8}","alive":true\}\]\],\[10,\["\/\/stuff",\{"at":"\d+-[0-9a-f]{8}","time":\d+,"changes":\[/,
    );
    expect(text()).toMatch(/"op":"set","id":1,"key":"b","value":\[\[97,98\],1.5,\{"#":\d+\}\]/);
    const since = /"at":"([^"]+)"/.exec(text())?.[1] ?? '';
    events.length = 0;
    await asked({ since, things: true, types: [] });
    await asked({ since, things: true });
    await until(() => text().includes('"op":"thing"'), 'it comes again');
    events.length = 0;
    await asked({ stop: true });
    await node.value('//stuff', '.b = 2;');
    await client.ping();
    expect(events).toEqual([]);
  });

  test('a feed by packages is told what ends it', async () => {
    events.length = 0;
    await asked({ since: '5000-0000abcd' });
    await until(() => events.length === 1, 'it is lost');
    expect(text()).toMatch(/^\[\[11,\["\/\/stuff",\{"lost":true,"oldest":"\d+-[0-9a-f]{8}"\}\]\]\]$/);
    await node.value('/t', "new_collection('brief');");
    const begun = (): Promise<boolean> =>
      asked({}, '@:brief').then(
        () => true,
        () => false,
      );
    await until(begun, 'the new collection is led');
    await node.value('/t', "del_collection('brief');");
    await until(() => events.at(-1)?.type === 11, 'it ends');
    expect(text()).toContain('[11,["@:brief",{"ended":"forbidden"}]]');
  });

  test.each([
    [{ since: 'x' }, '//stuff', -53],
    [{ ids: [0n] }, '//stuff', -53],
    [{ what: 1n }, '//stuff', -53],
    [{}, '/t', -60],
    [{}, '//nix', -54],
  ])('%p of %s is refused', async (options, scope, code) => {
    await expect(asked(options as Record<string, WireValue>, scope)).rejects.toMatchObject({ code });
  });
});
