/** The native protocol of a real node, byte for byte as its chapter has it. */

import { statSync } from 'node:fs';
import { join } from 'node:path';
import {
  decodeMessagePack,
  encodeMessagePack,
  SocketClient,
  SocketError,
  type WireValue,
} from '@althing/client';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { FREE_PORT, RawLine, RealNode, until } from '../../testing/index.js';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');

let node: RealNode;
let token: string;

beforeAll(async () => {
  node = await RealNode.start({
    listen_client_port: FREE_PORT,
    pipe_client_name: 'clients.sock',
    login_timeout_ms: 4000,
    login_backoff_ms: 10,
    request_size_limit: 100_000,
    code_size_limit: 50_000,
  });
  token = node.authorization.slice('Bearer '.length);
  await node.value('//stuff', "new_procedure('two', |a, b| [a, b]); new_procedure('set', |a| .a = a);");
});
afterAll(() => node.stop());

const lines: RawLine[] = [];
afterAll(() => {
  for (const line of lines) line.close();
});

async function open(): Promise<RawLine> {
  const line = await RawLine.open({ host: '127.0.0.1', port: node.nativePort });
  lines.push(line);
  return line;
}

async function loggedIn(): Promise<RawLine> {
  const line = await open();
  line.send(33, 1, encodeMessagePack(token));
  expect(await line.next()).toBe('0000000001 00 11 ee'.replaceAll(' ', ''));
  return line;
}

/** The answer to a request: `DATA value`, `OK`, `ERROR code`. */
async function answer(line: RawLine, type: number, data: Uint8Array | WireValue): Promise<unknown> {
  line.send(type, 7, data instanceof Uint8Array ? data : encodeMessagePack(data));
  return shown(await line.next());
}

function shown(hex: string): unknown {
  const bytes = Buffer.from(hex, 'hex');
  const type = bytes[6];
  const data = bytes.subarray(8);
  if (type === 19) {
    const map = decodeMessagePack(data) as Map<string, WireValue>;
    return [...map.keys()].join() === 'error_code,error_msg' ? Number(map.get('error_code')) : map;
  }
  return type === 18 ? decodeMessagePack(data) : `type ${type}`;
}

describe('packages', () => {
  test('are answered as in the examples', async () => {
    const line = await open();
    line.sendHex('00000000 0100 20 df');
    expect(await line.next()).toBe('00000000010010ef');
    line.send(33, 2, encodeMessagePack(['admin', 'pass']));
    expect(await line.next()).toBe('00000000020011ee');
    line.sendHex('0b000000 0300 22 dd 92a24074a631202b20313b');
    expect(await line.next()).toBe('01000000030012ed02');
    line.sendHex('0b000000 0300 22 dd 93a24074a2613b81a16105');
    expect(await line.next()).toBe('01000000030012ed05');
    line.sendHex('05000000 0300 22 dd 92a24074a0');
    expect(await line.next()).toBe('01000000030012edc0');
  });

  test('may be cut and joined in any way, and carry any id', async () => {
    const line = await loggedIn();
    const query = Buffer.from('0b0000000000' + '22dd' + '92a24074a631202b20313b', 'hex');
    const other = Buffer.from(query);
    other.writeUInt16LE(65535, 4);
    for (const byte of query) {
      line.sendBytes(Buffer.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await line.next()).toBe('01000000000012ed02');
    line.sendBytes(Buffer.concat([query, other, query, query]));
    expect([await line.next(), await line.next(), await line.next(), await line.next()]).toEqual([
      '01000000000012ed02',
      '01000000ffff12ed02',
      '01000000000012ed02',
      '01000000000012ed02',
    ]);
  });

  test('packages of unknown types are passed over, those of old get OK', async () => {
    const line = await open();
    for (const type of [31, 42, 18, 128, 0]) line.send(type, 5, Buffer.alloc(20));
    for (const type of [35, 36]) {
      line.send(type, type, Buffer.of(0xc1));
      expect(await line.next()).toBe(`00000000${type.toString(16)}0011ee`);
    }
    line.send(32, 9, Buffer.from('any data'));
    expect(await line.next()).toBe('00000000090010ef');
  });

  test('packages with a wrong header end the connection without an answer', async () => {
    for (const header of [
      '00000000 0100 20 de',
      '01000040 0100 20 df',
      'ffffffff 0100 20 df',
      '47455420 2f20 48 54',
    ]) {
      const line = await open();
      line.sendHex(header);
      expect(await line.ended()).toBe('');
    }
  });

  test('packages that are too large are refused, and others go on', async () => {
    const stranger = await open();
    stranger.sendBytes(Buffer.from('01000100010022dd', 'hex'));
    expect(shown(await stranger.next())).toBe(-53);
    await stranger.ended();
    const line = await loggedIn();
    const big = Buffer.alloc(100_001);
    expect(await answer(line, 34, big)).toBe(-53);
    expect(await answer(line, 34, ['@t', '7'])).toBe(7n);
    line.sendBytes(Buffer.from('00000040010022dd', 'hex'));
    line.sendBytes(Buffer.alloc(10_000));
    line.close();
  });
});

describe('AUTH', () => {
  const cases: [string, WireValue | Uint8Array, unknown][] = [
    ['nothing', new Uint8Array(), -53],
    ['nil', null, -53],
    ['an int', 1n, -53],
    ['bytes', Buffer.from('c403616263', 'hex'), -53],
    ['a list of one', ['admin'], -53],
    ['a list of three', ['admin', 'pass', 'x'], -53],
    ['a password that is bytes', Buffer.from('92a561646d696ec40470617373', 'hex'), -53],
    ['half a list', Buffer.from('92a5', 'hex'), -53],
    ['an unknown user', ['nobody', 'pass'], -56],
    ['an empty password', ['admin', ''], -56],
    ['a long password', ['admin', 'x'.repeat(128)], -56],
    ['a name with a colon', ['admin:pass', 'x'], -56],
    ['an unknown token', 'x'.repeat(22), -56],
    ['an empty token', '', -56],
  ];
  test.each(cases)('%s', async (_name, data, expected) => {
    const line = await open();
    expect(await answer(line, 33, data)).toBe(expected);
    expect(await answer(line, 34, ['@t', '1'])).toBe(-56);
    line.close();
  });

  test('again switches the user, or leaves the one before in place', async () => {
    await node.value('/t', "new_user('ann'); set_password('ann', 'secret-word'); grant('/t', 'ann', QUERY);");
    const line = await loggedIn();
    expect(await answer(line, 33, ['ann', 'wrong'])).toBe(-56);
    expect(await answer(line, 34, ['@t', 'user_info().load().name'])).toBe('admin');
    expect(await answer(line, 33, ['ann', 'secret-word'])).toBe('type 17');
    expect(await answer(line, 34, ['@t', 'user_info().load().name'])).toBe('ann');
    await node.value('/t', "new_user('an:n'); set_password('an:n', 'a:word'); grant('/t', 'an:n', QUERY);");
    expect(await answer(line, 33, ['an:n', 'a:word'])).toBe('type 17');
    expect(await answer(line, 34, ['@t', 'user_info().load().name'])).toBe('an:n');
    // A request behind AUTH waits for it.
    line.send(33, 1, encodeMessagePack(token));
    line.send(34, 2, encodeMessagePack(['@t', 'user_info().load().name']));
    expect([shown(await line.next()), shown(await line.next())]).toEqual(['type 17', 'admin']);
  });

  test('takes its time only so long', async () => {
    const line = await open();
    line.send(32, 1, Buffer.alloc(0));
    expect(await line.next()).toBe('00000000010010ef');
    expect(await line.ended()).toBe('');
  });

  test('holds as long as the password, the token and the user do', async () => {
    const key = await node.value(
      '/t',
      "new_user('bob'); set_password('bob', 'secret-word'); grant('/t', 'bob', QUERY); new_token('bob');",
    );
    const query: WireValue = ['@t', '1'];
    const byToken = await open();
    let byPassword = await open();
    expect(await answer(byToken, 33, String(key))).toBe('type 17');
    expect(await answer(byPassword, 33, ['bob', 'secret-word'])).toBe('type 17');
    expect([await answer(byToken, 34, query), await answer(byPassword, 34, query)]).toEqual([1n, 1n]);
    await node.value('/t', "set_password('bob', 'another-word');");
    expect([await answer(byToken, 34, query), await answer(byPassword, 34, query)]).toEqual([1n, -56]);
    expect(await byPassword.ended()).toBe('');
    await node.value('/t', `del_token('${key}');`);
    expect(await answer(byToken, 34, query)).toBe(-56);
    expect(await byToken.ended()).toBe('');
    byPassword = await open();
    expect(await answer(byPassword, 33, ['bob', 'another-word'])).toBe('type 17');
    await node.value('/t', "revoke('/t', 'bob', QUERY);");
    expect(await answer(byPassword, 34, query)).toBe(-55);
    await node.value('/t', "grant('/t', 'bob', QUERY);");
    expect(await answer(byPassword, 34, query)).toBe(1n);
    await node.value('/t', "del_user('bob');");
    expect(await answer(byPassword, 34, query)).toBe(-56);
    expect(await byPassword.ended()).toBe('');
  });

  test('a client whose AUTH has ended may begin anew before the next request', async () => {
    const key = await node.value('/t', "new_user('cid'); grant('/t', 'cid', QUERY); new_token('cid');");
    const line = await open();
    expect(await answer(line, 33, String(key))).toBe('type 17');
    await node.value('/t', `del_token('${key}');`);
    expect(await answer(line, 33, token)).toBe('type 17');
    expect(await answer(line, 34, ['@t', '1'])).toBe(1n);
  });

  test('holds on the connection by which users change their own password, and on no other one', async () => {
    await node.value('/t', "new_user('dan'); set_password('dan', 'word 0'); grant('/t', 'dan', FULL);");
    await node.value('/t', "new_procedure('renew', |word| future(|word| set_password('dan', word)));");
    const own = await open();
    const other = await open();
    for (const line of [own, other]) expect(await answer(line, 33, ['dan', 'word 0'])).toBe('type 17');
    expect(await answer(own, 34, ['@t', "set_password('dan', 'word 1');"])).toBeNull();
    expect(await answer(own, 34, ['@t', '1'])).toBe(1n);
    expect(await answer(other, 34, ['@t', '1'])).toBe(-56);
    expect(await other.ended()).toBe('');
    expect(await answer(own, 37, ['@t', 'renew', ['word 2']])).toBeNull();
    expect(await answer(own, 34, ['@t', '1'])).toBe(1n);
    const admin = await loggedIn();
    expect(await answer(admin, 34, ['@t', "set_password('dan', 'word 3');"])).toBeNull();
    // Requests that wait behind the refused one are not answered.
    own.send(34, 7, encodeMessagePack(['@t', '1']));
    own.send(34, 8, encodeMessagePack(['@t', '1']));
    expect(shown(await own.next())).toBe(-56);
    expect(await own.ended()).toBe('');
  });
});

describe('QUERY and RUN', () => {
  test('name a scope that is none, and the way out', async () => {
    const line = await loggedIn();
    line.send(34, 9, encodeMessagePack(['stuff', '1']));
    const text = Buffer.from(await line.next(), 'hex').toString();
    expect(text).toContain('"stuff" is no scope: write //stuff for a collection');
  });

  const cases: [string, number, WireValue | Uint8Array, unknown][] = [
    ['no data', 34, new Uint8Array(), -53],
    ['no array', 34, 'x', -53],
    ['an empty array', 34, [], -53],
    ['a scope that is no str', 34, [1n, '1'], -53],
    ['an empty scope', 34, ['', '1'], -60],
    ['a scope with something behind', 34, ['/t/', '1'], -60],
    ['a scope of HTTP', 34, ['/stuff', '1'], -60],
    ['a scope with both notations', 34, ['/:stuff', '1'], -60],
    ['another one', 34, ['@/stuff', '1'], -60],
    ['a scope that is not ASCII', 34, ['//stüff', '1'], -60],
    ['a node out of range', 34, ['@n:64', '1'], -60],
    ['a short scope', 34, ['@co:stuff', '1;'], 1n],
    ['a shorter one', 34, ['@:stuff', '1;'], 1n],
    ['this node', 34, ['/n/00', '2;'], 2n],
    ['a node that is not there', 34, ['@node:3', '1'], -54],
    ['no code', 34, ['@t'], -61],
    ['code that is no str', 34, ['@t', 1n], -61],
    ['a collection that is not there', 34, ['//nothing', '1'], -54],
    ['vars that are nil', 34, ['@t', '1', null], 1n],
    ['vars that are a list', 34, ['@t', '1', [1n]], 1n],
    ['vars with a name that is none', 34, hex('93 a24074 a131 81 a23361 01'), -60],
    ['vars with a key that is no str', 34, hex('93 a24074 a131 81 01 01'), -60],
    ['vars with a value that is cut', 34, hex('93 a24074 a131 81 a161 d9'), -53],
    ['vars with an int that is too large', 34, hex('93 a24074 a161 81 a161 cf ffffffffffffffff'), -59],
    ['elements that are missing', 34, hex('93 a24074 a131'), -62],
    ['more elements, and bytes behind', 34, hex('95 a24074 a131 c0 c0 c0 c1'), 1n],
    ['bad syntax', 34, ['@t', '('], -52],
    ['code with what is no UTF-8', 34, hex('92 a24074 a1ff'), -52],
    ['an error of the code', 34, ['@t', "raise(err(-100, 'x'))"], -100],
    ['no procedure', 37, ['//stuff'], -61],
    ['a procedure by an int', 37, ['//stuff', 1n], -61],
    ['a procedure of a node', 37, ['@n', 'two'], -53],
    ['a procedure that is not there', 37, ['//stuff', 'three'], -54],
    ['arguments by position', 37, ['//stuff', 'two', [1n]], [1n, null]],
    ['too many', 37, ['//stuff', 'two', [1n, 2n, 3n]], [1n, 2n]],
    [
      'by name',
      37,
      [
        '//stuff',
        'two',
        new Map([
          ['b', 1n],
          ['c', 2n],
        ]),
      ],
      [null, 1n],
    ],
    ['none', 37, ['//stuff', 'two'], [null, null]],
    ['nil', 37, ['//stuff', 'two', null], [null, null]],
    ['spread over the request', 37, ['//stuff', 'two', 1n, 2n], -53],
    ['a name that is no str', 37, hex('93 a72f2f7374756666 a374776f 81 01 01'), -60],
    ['fewer arguments than announced', 37, hex('93 a72f2f7374756666 a374776f 92 01'), -62],
  ];
  test('answer what the chapter says, and the connection goes on', async () => {
    const line = await loggedIn();
    const answers: [string, unknown][] = [];
    for (const [name, type, data] of cases) answers.push([name, await answer(line, type, data)]);
    expect(answers).toEqual(cases.map(([name, , , expected]) => [name, expected]));
  });

  test('have a float as a float, and an error with two keys', async () => {
    const line = await loggedIn();
    line.send(34, 3, encodeMessagePack(['@t', '1.0;']));
    expect(await line.next()).toBe('09000000030012ed' + 'cb3ff0000000000000');
    line.send(34, 3, encodeMessagePack(['@t', "raise(err(-127, 'abc'))"]));
    expect(await line.next()).toBe(
      `1c000000030013ec82aa${Buffer.from('error_code').toString('hex')}d081a9${Buffer.from('error_msg').toString('hex')}a3616263`,
    );
  });

  test('are carried out in the order in which they came', async () => {
    const line = await loggedIn();
    for (let i = 0; i < 200; i++) {
      line.send(34, 1, encodeMessagePack(['//stuff', `.a = ${i}; nil`]));
      line.send(37, 2, encodeMessagePack(['//stuff', 'two', [BigInt(i)]]));
      line.send(34, 3, encodeMessagePack(['//stuff', '.a']));
    }
    for (let i = 0; i < 200; i++) {
      expect([shown(await line.next()), shown(await line.next()), shown(await line.next())]).toEqual([
        null,
        [BigInt(i), null],
        BigInt(i),
      ]);
    }
  });

  test('tell where an error came from to who sends options, and to nobody else', async () => {
    await node.value('//stuff', "set_procedure('divide', |by| 1 / by);");
    const line = await loggedIn();
    const query = ['//stuff', 'x = 0; divide(x);', null];
    const keys = (error: unknown): unknown => (error instanceof Map ? [...error.keys()] : error);
    const told = await answer(line, 34, [...query, new Map()]);
    expect(keys(told)).toEqual(['error_code', 'error_msg', 'outcome', 'at', 'in', 'calls']);
    const place = (line: bigint, column: bigint, offset: bigint, length: bigint) =>
      new Map(Object.entries({ line, column, offset, length }));
    expect(told).toEqual(
      new Map<string, unknown>([
        ...['error_code', 'error_msg', 'outcome'].map((key) => [key, expect.anything()] as const),
        ['at', place(1n, 6n, 5n, 6n)],
        ['in', 'divide'],
        ['calls', [place(1n, 8n, 7n, 9n)]],
      ]),
    );
    expect(await answer(line, 34, query)).toBe(-58);
  });

  test('take options, by which a change is made once, and an error tells its outcome', async () => {
    const client = await SocketClient.connect({ host: '127.0.0.1', port: node.nativePort });
    await client.login(token);
    await client.query('//stuff', '.n = 0;');
    const options = { key: 'once', timeoutMs: 5000n, consistency: 'linearizable' } as const;
    for (let i = 0; i < 3; i++) expect(await client.query('//stuff', '.n += 1;', null, options)).toBe(1n);
    for (let i = 0; i < 2; i++)
      expect(await client.query('//stuff', '.n += 1;', null, { request: 'me.1.1' })).toBe(2n);
    expect(await client.query('//stuff', '.n', null, { minIndex: 1n })).toBe(2n);
    const failed = await client.query('//stuff', '.n += 1; 1/0', null, {}).catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: -58, outcome: 'none' });
    const readOnly = { readOnly: true };
    expect(await client.query('//stuff', '.n', null, readOnly)).toBe(2n);
    await expect(client.query('//stuff', '.n = 9', null, readOnly)).rejects.toMatchObject({ code: -55 });
    const other = await client
      .query('//stuff', '.n += 2;', null, { key: 'once' })
      .catch((error: unknown) => error);
    expect(other).toMatchObject({ code: -53, outcome: 'none' });
    for (const bad of [{ key: '' }, { request: 'x' }, { minIndex: -1n }, { timeoutMs: 0n }]) {
      await expect(client.query('//stuff', '1', null, bad)).rejects.toThrow(SocketError);
    }
    expect(await client.query('//stuff', '.n')).toBe(2n);
    client.close();
  });
});

test('values of extension types are what they would be in code, by its rules', async () => {
  const line = await loggedIn();
  const ext = (kind: number, content: string | Uint8Array): Buffer => {
    const bytes = Buffer.from(content);
    return Buffer.concat([Buffer.of(0xc8, bytes.length >> 8, bytes.length & 0xff, kind), bytes]);
  };
  const asked = (code: string, value: Buffer): Promise<unknown> =>
    answer(
      line,
      34,
      Buffer.concat([
        hex('93'),
        encodeMessagePack('//stuff'),
        encodeMessagePack(code),
        hex('81 a1 78'),
        value,
      ]),
    );
  const packed = encodeMessagePack(new Map<string, WireValue>([['#', [1n, 'two']]]));
  const cases: [code: string, value: Buffer, expected: unknown][] = [
    ['[type(x), x.len()]', ext(0, packed), ['mpdata', BigInt(packed.length)]],
    ['x', ext(0, packed), decodeMessagePack(packed)],
    ['.packed = x; .packed', ext(0, packed), decodeMessagePack(packed)],
    ['x.load()', ext(0, encodeMessagePack([1n])), [1n]],
    ['x', ext(0, ''), -53],
    ['x', ext(0, ext(1, '/a/')), -53],
    ['x', ext(0, hex('01 02')), -53],
    ['x', ext(0, hex(`${'91'.repeat(1001)}c0`)), -53],
    ["[type(x), x.test('AB/'), str(x)]", ext(1, '/b\\//i'), ['regex', true, '/b\\//i']],
    ['x', ext(1, '/(/'), -60],
    ['x', ext(1, '/a/q'), -60],
    ['x', ext(1, 'a'), -60],
    ['x', ext(1, '/'), -60],
    ['[type(x), x.call(4)]', ext(2, '|a| a * 2'), ['closure', 8n]],
    ['x.call(5); .made', ext(2, '|a| .made = a'), -63],
    ['wse(); x.call(5); .made', ext(2, '|a| .made = a'), 5n],
    ['.kept = x; .kept.call(2)', ext(2, '|a| a + 1'), 3n],
    ['new_procedure("sent", x); run("sent", 6)', ext(2, '|a| a + 1'), 7n],
    ['x', ext(2, '|a| a +'), -52],
    ['x', ext(6, 'name'), 'name'],
    ['x', ext(3, Buffer.alloc(8)), -53],
    ['x', ext(5, Buffer.alloc(8)), -53],
  ];
  const answers: unknown[] = [];
  for (const [code, value] of cases) answers.push([code, await asked(code, value)]);
  expect(answers).toEqual(cases.map(([code, , expected]) => [code, expected]));
});

test('texts that code logs come before its answer, those of the last attempt alone, whole', async () => {
  const line = await loggedIn();
  line.send(34, 3, encodeMessagePack(['//stuff', 'log("hey"); log(12); 1']));
  expect(await line.next()).toBe('19000000ffff05fa82a97761726e5f636f646502a87761726e5f6d7367a3686579');
  expect(decodeMessagePack(Buffer.from(await line.next(), 'hex').subarray(8))).toEqual(
    new Map<string, WireValue>([
      ['warn_code', 2n],
      ['warn_msg', '12'],
    ]),
  );
  expect(shown(await line.next())).toBe(1n);
  // A password has to be hashed in between, and the call runs again.
  line.send(
    34,
    4,
    encodeMessagePack(['/t', "new_user('eve'); log('once'); set_password('eve', 'secret-word');"]),
  );
  expect(await line.next()).toContain(Buffer.from('once').toString('hex'));
  expect(shown(await line.next())).toBe(null);
  line.send(
    34,
    5,
    encodeMessagePack(['//stuff', 'future(|| log("later")); for (i in range(1000)) log(i); nil']),
  );
  let count = 0;
  while ((await line.next()).slice(12, 14) === '05') count += 1;
  expect(count).toBe(100);
});

describe('a Unix socket', () => {
  const path = () => join(node.folder, 'clients.sock');

  test('is for the user of the process alone, and speaks the same', async () => {
    expect(statSync(path()).mode & 0o777).toBe(0o600);
    const line = await RawLine.open({ path: path() });
    line.send(33, 1, encodeMessagePack(['admin', 'pass']));
    line.send(34, 2, encodeMessagePack(['@t', '3']));
    expect([await line.next(), await line.next()]).toEqual(['00000000010011ee', '01000000020012ed03']);
    line.close();
  });

  test('a Unix socket that was left behind is replaced, and one in use is not', async () => {
    const second = await RealNode.launch({ pipe_client_name: path() });
    expect(await second.ended()).not.toBe(0);
    expect(second.log).toContain('pipe_client_name');
    second.clear();
    const third = await RealNode.start({ pipe_client_name: 'own.sock' });
    await third.kill();
    const again = await RealNode.start({ pipe_client_name: 'own.sock' }, third.folder, third.authorization);
    const line = await RawLine.open({ path: join(again.folder, 'own.sock') });
    line.send(32, 1, Buffer.alloc(0));
    expect(await line.next()).toBe('00000000010010ef');
    line.close();
    await again.stop();
  });
});

test('native connections are in the metrics, and the audit log knows how clients came', async () => {
  const counted = await RealNode.start({
    listen_client_port: FREE_PORT,
    pipe_client_name: 'counted.sock',
    login_backoff_ms: 10,
  });
  const place = { host: '127.0.0.1', port: counted.nativePort };
  const stranger = await RawLine.open(place);
  stranger.send(32, 1, Buffer.alloc(0));
  expect(await stranger.next()).toBe('00000000010010ef');
  expect(await answer(stranger, 33, ['admin', 'wrong'])).toBe(-56);
  const line = await RawLine.open({ path: join(counted.folder, 'counted.sock') });
  line.send(33, 1, encodeMessagePack(['admin', 'pass']));
  line.send(34, 2, encodeMessagePack(['//stuff', 'log("hey"); 1']));
  const came = [await line.next(), await line.next(), await line.next()];
  for (const bytes of ['00000000 0000 20 20', '01000100 0100 21 de']) {
    const ended = await RawLine.open(place);
    ended.sendHex(bytes);
    // The error says that it is too large, and one that is no package is not answered.
    expect((await ended.ended()).slice(12, 14)).toBe(bytes.endsWith('de') ? '13' : '');
  }
  const sent = 8 + came.reduce((sum, hexadecimal) => sum + hexadecimal.length / 2, 0);
  let told: Map<string, number> = new Map();
  const expected: readonly [string, number][] = [
    ['connections{transport="tcp",state="anonymous"}', 1],
    ['connections{transport="tcp",state="logged_in"}', 0],
    ['connections{transport="unix",state="logged_in"}', 1],
    ['packages_total{type="ping"}', 1],
    ['packages_total{type="auth"}', 2],
    ['packages_total{type="query"}', 1],
    ['packages_total{type="other"}', 0],
    ['events_total{type="warn"}', 1],
    ['connections_ended_total{reason="malformed"}', 1],
    ['connections_ended_total{reason="too_large"}', 1],
  ];
  await until(async () => {
    const { text } = await counted.probe('/metrics');
    told = new Map(
      [...text.matchAll(/^althing_native_(\w+\{.*\}) (\S+)$/gm)].map(([, name = '', value]) => [
        name,
        Number(value),
      ]),
    );
    return expected.every(([name, value]) => told.get(name) === value);
  }, 'the figures are those of what was done');
  expect(told.get('bytes_total{direction="sent"}')).toBeGreaterThan(sent);
  expect(told.get('bytes_total{direction="received"}')).toBeGreaterThan(8 * 5);
  expect(counted.log).toMatch(/"event":"login".*"outcome":"failed".*"transport":"tcp"/);
  for (const open of [stranger, line]) open.close();
  await counted.stop();
});

test('clients are told that the node goes, and their last requests are answered', async () => {
  const going = await RealNode.start({ listen_client_port: FREE_PORT, drain_delay_ms: 300 });
  const line = await RawLine.open({ host: '127.0.0.1', port: going.nativePort });
  line.send(33, 1, encodeMessagePack(['admin', 'pass']));
  expect(await line.next()).toBe('00000000010011ee');
  const stopped = going.stop();
  expect(await line.next()).toBe('1a000000ffff00ff82a2696400a6737461747573ad5348555454494e475f444f574e');
  line.send(34, 2, encodeMessagePack(['//stuff', '.last = 1;']));
  expect(await line.next()).toBe('01000000020012ed01');
  const late = await RawLine.open({ host: '127.0.0.1', port: going.nativePort });
  late.send(33, 1, encodeMessagePack(['admin', 'pass']));
  expect(shown(await late.next())).toBe(-51);
  expect(await line.next()).toBe('14000000ffff00ff82a2696400a6737461747573a74f46464c494e45');
  expect(await line.ended()).toBe('');
  late.close();
  await stopped;
});
