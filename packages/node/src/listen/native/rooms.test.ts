/** Rooms over the native protocol: byte for byte on one node, and over several. */

import {
  decodeMessagePack,
  encodeMessagePack,
  SocketClient,
  type SocketEvent,
  type WireValue,
} from '@althing/client';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { FREE_PORT, RawLine, RealCluster, RealNode, until } from '../../testing/index.js';

const ADMIN = { user: 'admin', password: 'pass' };
const text = (value: string): string => Buffer.from(value).toString('hex');

describe('rooms of a node', () => {
  let node: RealNode;
  let lobby: number;
  const lines: RawLine[] = [];

  beforeAll(async () => {
    node = await RealNode.start({ listen_client_port: FREE_PORT });
    lobby = Number(
      await node.value('//stuff', ".lobby = room(); .lobby.set_name('lobby'); .other = room(); .lobby.id();"),
    );
  });
  afterAll(async () => {
    for (const line of lines) line.close();
    await node.stop();
  });

  const open = async (credentials: WireValue = ['admin', 'pass']): Promise<RawLine> => {
    const line = await RawLine.open({ host: '127.0.0.1', port: node.nativePort });
    lines.push(line);
    line.send(33, 1, encodeMessagePack(credentials));
    expect(await line.next()).toBe('00000000010011ee');
    return line;
  };
  /** Type and id in hexadecimal digits, and the value. */
  const shown = (hex: string): unknown[] => {
    const bytes = Buffer.from(hex, 'hex');
    const value = bytes.length === 8 ? 'nothing' : decodeMessagePack(bytes.subarray(8));
    const type = bytes.readUInt8(6);
    return [
      type,
      bytes.readUInt16LE(4),
      type === 19 && value instanceof Map ? value.get('error_code') : value,
    ];
  };
  const take = async (line: RawLine): Promise<unknown[]> => shown(await line.next());
  const ask = async (line: RawLine, type: number, data: WireValue | Uint8Array): Promise<unknown> => {
    line.send(type, 9, data instanceof Uint8Array ? data : encodeMessagePack(data));
    return (await take(line))[2];
  };
  const event = (fields: Record<string, WireValue>): Map<string, WireValue> =>
    new Map(Object.entries(fields));
  const scope = '@collection:stuff';

  test('JOIN, EMIT and LEAVE are as in the examples, event by event', async () => {
    const line = await open();
    const id = lobby.toString(16).padStart(2, '0');
    line.sendHex(`0a000000 0400 26 d9 92 a7 ${text('//stuff')} ${id}`);
    expect(await line.next()).toBe(`02000000040012ed91${id}`);
    const place = `82a5${text('scope')}b1${text(scope)}a2${text('id')}${id}`;
    expect(await line.next()).toBe(`1d000000ffff06f9${place}`);
    line.sendHex(`0a000000 0500 26 d9 92 a7 ${text('//stuff')} ${id}`);
    expect(await line.next()).toBe(`02000000050012ed91${id}`);
    line.sendHex(`18000000 0600 28 d7 96 a7 ${text('//stuff')} ${id} a5 ${text('hello')} a178 01 81a1619101`);
    expect(await line.next()).toBe(
      `37000000ffff08f784${place.slice(2)}a5${text('event')}a5${text('hello')}a4${text('args')}93a1780181a1619101`,
    );
    expect(await line.next()).toBe('00000000060011ee');
    line.sendHex(`10000000 0600 29 d6 94 a7 ${text('//stuff')} ${id} a4 ${text('peer')} 01`);
    expect(await line.next()).toBe('00000000060011ee');
    line.sendHex(`0a000000 0800 27 d8 92 a7 ${text('//stuff')} ${id}`);
    expect(await line.next()).toBe(`1d000000ffff07f8${place}`);
    expect(await line.next()).toBe(`02000000080012ed91${id}`);
    line.sendHex(`0a000000 0900 27 d8 92 a7 ${text('//stuff')} ${id}`);
    expect(await line.next()).toBe(`02000000090012ed91${id}`);
  });

  test('requests in one piece are answered with their events in order', async () => {
    const line = await open();
    const room = BigInt(lobby);
    line.send(38, 1, encodeMessagePack(['//stuff', 'lobby', 999n, 'none']));
    line.send(40, 2, encodeMessagePack(['//stuff', 'lobby', 'a']));
    line.send(34, 3, encodeMessagePack(['//stuff', ".lobby.emit('b', {x: {y: 1}}); log('c'); 5"]));
    line.send(39, 4, encodeMessagePack(['//stuff', room]));
    line.send(38, 5, encodeMessagePack(['//stuff']));
    const fields = { scope, id: room };
    const got: unknown[] = [];
    for (let i = 0; i < 9; i++) got.push(await take(line));
    expect(got).toEqual([
      [18, 1, [room, null, null]],
      [6, 65535, event(fields)],
      [8, 65535, event({ ...fields, event: 'a', args: [] })],
      [17, 2, 'nothing'],
      [8, 65535, event({ ...fields, event: 'b', args: [new Map([['x', new Map()]])] })],
      [5, 65535, event({ warn_code: 2n, warn_msg: 'c' })],
      [18, 3, 5n],
      [7, 65535, event(fields)],
      [18, 4, [room]],
    ]);
    expect(await take(line)).toEqual([18, 5, []]);
  });

  test('a request behind a JOIN is answered before the event that it brings', async () => {
    const line = await open();
    const [join, query] = [encodeMessagePack(['//stuff', 'lobby']), encodeMessagePack(['//stuff', '1;'])];
    line.send(38, 1, join);
    line.send(34, 2, query);
    const got = [await take(line), await take(line), await take(line)];
    expect(got.map(([type, id]) => [type, id])).toEqual([
      [18, 1],
      [18, 2],
      [6, 65535],
    ]);
  });

  test('a wrong JOIN is told, and nothing is joined', async () => {
    const stranger = await RawLine.open({ host: '127.0.0.1', port: node.nativePort });
    lines.push(stranger);
    expect(await ask(stranger, 38, ['//stuff', 'lobby'])).toBe(-56n);
    const line = await open();
    const wrong: [number, WireValue | Uint8Array, bigint][] = [
      [38, new Uint8Array(), -53n],
      [38, [], -53n],
      [38, ['@t', 'lobby'], -53n],
      [39, ['@n', 'lobby'], -53n],
      [38, ['nonsense'], -60n],
      [38, ['//nothing', 'lobby'], -54n],
      [38, ['//stuff', 'lobby', 1.5], -53n],
      [38, ['//stuff', 'lobby', null], -53n],
      [40, ['//stuff', 'lobby'], -53n],
      [40, ['//stuff', 'lobby', 1n], -53n],
      [40, ['//stuff', 999n, 'x'], -54n],
      [40, ['//stuff', -1n, 'x'], -53n],
      [40, ['//stuff', 'nobody', 'x'], -54n],
      [40, ['//stuff', 'no name!', 'x'], -60n],
      [41, ['@t', 'lobby', 'x'], -53n],
    ];
    const answers: unknown[] = [];
    for (const [type, data] of wrong) answers.push(await ask(line, type, data));
    expect(answers).toEqual(wrong.map(([, , code]) => code));
    await node.value('//stuff', ".lobby.emit('unheard');");
    expect(await ask(line, 34, ['@t', '1'])).toBe(1n);
  });

  test('a connection that logs in as somebody else hears what that one may', async () => {
    const key = await node.value('/t', "new_user('bob'); grant('//stuff', 'bob', QUERY); new_token('bob');");
    const line = await open();
    expect(await ask(line, 38, ['//stuff', 'lobby'])).toEqual([BigInt(lobby)]);
    expect((await take(line))[0]).toBe(6);
    line.send(33, 2, encodeMessagePack(String(key)));
    expect(await take(line)).toEqual([7, 65535, event({ scope, id: BigInt(lobby) })]);
    expect(await take(line)).toEqual([17, 2, 'nothing']);
    await node.value('//stuff', ".lobby.emit('unheard');");
    expect(await ask(line, 34, ['//stuff', '1'])).toBe(1n);
  });

  test('rights end at once, and a room that goes is told', async () => {
    const key = await node.value(
      '/t',
      "new_user('ann'); grant('//stuff', 'ann', JOIN|QUERY); new_token('ann');",
    );
    const line = await open(String(key));
    const admin = await open();
    expect(await ask(line, 38, ['//stuff', 'lobby'])).toEqual([BigInt(lobby)]);
    expect((await take(line))[0]).toBe(6);
    const left = [7, 65535, event({ scope, id: BigInt(lobby) })];
    await node.value('/t', "revoke('//stuff', 'ann', JOIN);");
    expect(await take(line)).toEqual(left);
    await node.value('//stuff', ".lobby.emit('unheard');");
    expect(await ask(line, 34, ['//stuff', '1'])).toBe(1n);
    expect(await ask(line, 38, ['//stuff', 'lobby'])).toBe(-55n);
    await node.value('/t', "grant('//stuff', 'ann', JOIN);");
    expect(await ask(line, 38, ['//stuff', 'lobby'])).toEqual([BigInt(lobby)]);
    expect((await take(line))[0]).toBe(6);
    await node.value('/t', `del_token('${key}');`);
    await node.value('//stuff', ".lobby.emit('unheard');");
    expect(await take(line)).toEqual(left);
    await node.value('//stuff', ".lobby.emit('unheard');");
    expect(await ask(line, 34, ['//stuff', '1'])).toBe(-56n);
    expect(await line.ended()).toBe('');
    const [other] = (await ask(admin, 38, ['//stuff', BigInt(lobby) + 1n])) as [bigint];
    expect((await take(admin))[0]).toBe(6);
    admin.send(34, 3, encodeMessagePack(['//stuff', ".del('other'); 7"]));
    expect(await take(admin)).toEqual([9, 65535, event({ scope, id: other })]);
    expect(await take(admin)).toEqual([18, 3, 7n]);
  });
});

test('over three nodes all hear the same events in the same order, whichever node they come from', async () => {
  // No leader is lost, however busy the machine: when an answer is lost with one, the next leader knows the answer, and not what code
  // said by log.
  const settings = {
    listen_client_port: FREE_PORT,
    drain_delay_ms: 0,
    election_timeout_ms: 2000,
    heartbeat_ms: 50,
  };
  const cluster = await RealCluster.start(3, settings);
  try {
    await cluster
      .node(1)
      .value(
        '//stuff',
        ".lobby = room(); .lobby.set_name('lobby'); new_procedure('say', |x| {.lobby.emit('said', x); log(x); x});",
      );
    const heard: string[][] = [[], [], []];
    const warned: WireValue[] = [];
    const clients = await Promise.all(
      cluster.nodes.map(async (node, i) => {
        const client = await SocketClient.connect({ host: '127.0.0.1', port: node.nativePort });
        client.onEvent = ({ type, data }: SocketEvent) => {
          if (!(data instanceof Map)) return;
          if (type === 8) heard[i]?.push(`${data.get('event')} ${String(data.get('args'))}`);
          if (type === 5) warned.push(data.get('warn_msg') ?? null);
        };
        await client.login(ADMIN);
        expect(await client.join('//stuff', 'lobby')).toHaveLength(1);
        return client;
      }),
    );
    const each = 10;
    await Promise.all(
      clients.flatMap((client, i) =>
        Array.from({ length: each }, async (_, n) => {
          if (n % 2 === 0) await client.run('//stuff', 'say', [`${i}-${n}`]);
          else await client.emit('//stuff', 'lobby', 'called', `${i}-${n}`);
        }),
      ),
    );
    await until(() => heard.every(({ length }) => length === 3 * each), 'all heard all of it');
    expect(heard[1]).toEqual(heard[0]);
    expect(heard[2]).toEqual(heard[0]);
    for (const i of [0, 1, 2]) {
      const own = heard[0]?.flatMap((said) => (said.includes(` ${i}-`) ? [Number(said.split('-')[1])] : []));
      expect(own).toEqual(Array.from({ length: each }, (_, n) => n));
    }
    // Lines that code logs come back from the node that ran it, to the client that asked.
    const said = [0, 1, 2].flatMap((i) => Array.from({ length: each / 2 }, (_, n) => `${i}-${2 * n}`)).sort();
    if (JSON.stringify(warned.sort()) !== JSON.stringify(said))
      throw await cluster.node(1).diagnosed(`warned of ${warned} instead of ${said}; ${heard[0]}`);
    await clients[1]?.emitPeer('//stuff', 'lobby', 'peers');
    await clients[0]?.emit('//stuff', 'lobby', 'end');
    await until(() => heard.every((own) => own.at(-1) === 'end '), 'the last event came');
    expect(heard.map((own) => own.includes('peers '))).toEqual([true, false, true]);
    for (const client of clients) client.close();
    await cluster.stop();
  } finally {
    await cluster.discard();
  }
});
