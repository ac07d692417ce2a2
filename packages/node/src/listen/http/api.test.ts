/** The HTTP API end to end: what clients can rely on. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type Answer,
  basic,
  Float64,
  packed,
  RealNode,
  type RequestOptions,
  unpacked,
  until,
} from '../../testing/index.js';

let node: RealNode;

beforeAll(async () => {
  node = await RealNode.start();
  await node.value('//stuff', "new_procedure('add', |a, b| a + b); new_procedure('set_x', |v| .x = v);");
  await node.value('/t', "new_procedure('root_add', |a, b| a + b);");
});

afterAll(() => node.stop());

const ONE = '{"type":"query","code":"1;"}';

const msgpack = (path: string, body: Parameters<typeof packed>[0], options: RequestOptions = {}) =>
  node.post(path, packed(body), { contentType: 'application/msgpack', ...options });

/** The value after its way in over MessagePack and out again. */
async function echo(v: Parameters<typeof packed>[0]): Promise<unknown> {
  const answer = await msgpack('//stuff', { type: 'query', code: 'v;', vars: { v } });
  if (answer.status !== 200) throw new Error(answer.body.toString('latin1'));
  return unpacked(answer.body);
}

describe('scopes', () => {
  test.each(['/t', '/thingsdb', '/@t', '/@thingsdb'])('%s is the root scope', async (path) => {
    expect((await node.query(path, "has_collection('stuff');")).json).toBe(true);
  });

  test.each(['/n', '/node', '/.node', '/@n', '/@node', '/node/', '/.node/'])(
    '%s is the node',
    async (path) => {
      expect((await node.query(path, '1 + 1;')).text).toBe('2');
      expect((await node.query(path, '.x;')).verdict).toBe('404 -54');
    },
  );

  test.each([
    '//stuff',
    '/stuff',
    '/@:stuff',
    '/c/stuff',
    '/collection/stuff',
    '/@collection:stuff',
    '/%2Fst%75ff',
  ])('%s is a collection', async (path) => {
    expect((await node.query(path, '.id();')).json).toEqual(expect.any(Number));
  });

  test('the collections t, node and n can be reached with two slashes', async () => {
    await node.value('/t', "new_collection('t'); new_collection('node');");
    expect((await node.query('//t', '.y = 5;')).text).toBe('5');
    expect((await node.query('//node', '.y = 6;')).text).toBe('6');
  });

  test.each([
    ['/t/', '404 -54'],
    ['//', '404 -54'],
    ['//../stuff', '404 -54'],
    ['//stuff?x=1', '404 -54'],
    ['//stuff%00', '404 -54'],
    ['/%zz', '400 -53'],
    ['/%C0%AF', '400 -53'],
    ['//nix', '404 -54'],
    ['//STUFF', '404 -54'],
    ['/node/63', '404 -54'],
    ['/node/64', '404 -54'],
    [`//${'x'.repeat(256)}`, '404 -54'],
  ])('%.20s: %s', async (path, verdict) => {
    expect((await node.post(path, ONE)).verdict).toBe(verdict);
  });
});

describe('names of requests', () => {
  const idOf = async (given: string | null, path = '//stuff', body = ONE): Promise<string> => {
    const headers = given === null ? {} : { 'X-Request-Id': given };
    return (await node.post(path, body, { headers })).headers.get('x-request-id') ?? '';
  };

  test('are those of the client, in answers of every kind', async () => {
    const ids = [idOf('a-1'), idOf('a-2', '//nix'), idOf('a-3', '//stuff', '{'), idOf('a-4', '//a/b/c')];
    expect(await Promise.all(ids)).toEqual(['a-1', 'a-2', 'a-3', 'a-4']);
  });

  test('are made here when there is none, or one that could do harm', async () => {
    const given = [null, '', 'a b', 'a"b', '<x>', 'x'.repeat(129)];
    const ids = await Promise.all(given.map((id) => idOf(id)));
    expect(ids.filter((id) => !/^[0-9a-f]{12}-[0-9a-z]+$/.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(given.length);
  });
});

test('a name that exists already is a conflict', async () => {
  await node.value('//stuff', "new_type('Twice'); new_procedure('twice', || 1);");
  const twoIds = "set_type('Wrapping', {inner: {a: '#', b: '#'}}, WPO);";
  for (const code of ["new_type('Twice');", "new_procedure('twice', || 1);", twoIds]) {
    expect((await node.query('//stuff', code)).verdict).toBe('409 -54');
  }
  expect((await node.query('/t', "new_collection('stuff');")).verdict).toBe('409 -54');
  expect((await node.query('//stuff', "type_info('Nothing');")).verdict).toBe('404 -54');
});

describe('formats', () => {
  test.each([
    'application/json',
    'Application/JSON',
    'text/json',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/json; a=b; c=d',
  ])('%s is JSON', async (contentType) => {
    const answer = await node.post('//stuff', ONE, { contentType });
    expect([answer.text, answer.headers.get('content-type')]).toEqual(['1', 'application/json']);
  });

  test.each(['application/msgpack', 'application/x-msgpack', 'APPLICATION/MSGPACK; v=1'])(
    '%s is MessagePack',
    async (contentType) => {
      const answer = await msgpack('//stuff', { type: 'query', code: '1;' }, { contentType });
      expect([...answer.body]).toEqual([1]);
      expect(answer.headers.get('content-type')).toBe('application/msgpack');
    },
  );

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', ''])(
    '%p is not supported',
    async (contentType) => {
      expect((await node.post('//stuff', ONE, { contentType })).verdict).toBe('415 -53');
    },
  );

  test('another charset, or a compressed body, is not supported', async () => {
    const options = { contentType: 'application/json; charset=iso-8859-1' };
    expect((await node.post('//stuff', ONE, options)).verdict).toBe('415 -53');
    for (const encoding of ['gzip', 'br', 'deflate', 'x']) {
      const answer = await node.post('//stuff', ONE, { headers: { 'Content-Encoding': encoding } });
      expect(answer.verdict).toBe('415 -53');
    }
    expect((await node.post('//stuff', ONE, { headers: { 'Content-Encoding': 'Identity' } })).text).toBe('1');
  });

  test('a body in another format than it says is bad data', async () => {
    expect((await node.post('//stuff', packed({ type: 'query', code: '1;' }))).verdict).toBe('400 -53');
    const answer = await node.post('//stuff', ONE, { contentType: 'application/msgpack' });
    expect(answer.status).toBe(400);
  });

  test('an error has the format of the request', async () => {
    const answer = await msgpack('//stuff', { type: 'query', code: 'x;' });
    expect(answer.status).toBe(404);
    expect(unpacked(answer.body)).toEqual({
      error: {
        code: -54,
        name: 'lookup_err',
        message: expect.any(String),
        outcome: 'none',
        at: { line: 1, column: 1, offset: 0, length: 2 },
      },
    });
    const refused = await msgpack('//stuff', { type: 'query', code: '1;' }, { authorization: null });
    expect(unpacked(refused.body)).toMatchObject({ error: { code: -56, outcome: 'none' } });
    const nowhere = await msgpack('/t/', {});
    expect(unpacked(nowhere.body)).toMatchObject({ error: { code: -54, outcome: 'none' } });
  });
});

describe('values over MessagePack', () => {
  test.each<[string, Parameters<typeof packed>[0]]>([
    ['nil', null],
    ['a bool', true],
    ['ints', [0, 127, 128, 65_536, 2 ** 32, 2 ** 53 - 1, -1, -32, -33, -129, -32_769]],
    ['the int64 range', [9223372036854775807n, -9223372036854775808n, 9007199254740993n]],
    ['floats', [new Float64(1), new Float64(-0.5), new Float64(1e300), new Float64(Infinity)]],
    ['bytes', Uint8Array.of(0, 255, 128)],
    ['text', ['', 'x', 'é', '😀', '\0', 'a'.repeat(70_000)]],
    ['things', { a: 1, b: { c: [{}] }, '': 2, 'a key': 3, constructor: 4 }],
  ])('%s', async (_what, value) => {
    await node.value('//stuff', 'nil;');
    const answer = await msgpack('//stuff', { type: 'query', code: 'return v, 10;', vars: { v: value } });
    expect(unpacked(answer.body)).toEqual(value);
  });

  test('an int is no float and a float no int', async () => {
    expect(await echo(1)).toBe(1);
    expect(await echo(new Float64(1))).toEqual(new Float64(1));
    expect(await echo(new Float64(Number.NaN))).toEqual(new Float64(Number.NaN));
    const code = 'type(v);';
    const types = [1, new Float64(1), Uint8Array.of(1), 'x', null].map(async (v) =>
      unpacked((await msgpack('//stuff', { type: 'query', code, vars: { v } })).body),
    );
    expect(await Promise.all(types)).toEqual(['int', 'float', 'bytes', 'str', 'nil']);
  });
});

describe('values over JSON', () => {
  test.each([
    ['1', '1'],
    ['1.0', '1.0'],
    ['1e3', '1000.0'],
    ['0.1', '0.1'],
    ['9223372036854775807', '9223372036854775807'],
    ['-9223372036854775808', '-9223372036854775808'],
    ['9007199254740993', '9007199254740993'],
    ['-0', '0'],
    ['1e300', '1e+300'],
    ['"\\ud83d\\ude00\\u0000/"', '"😀\\u0000/"'],
    ['{"a":[1,{"b":null}],"":true}', '{"a":[1,{"b":null}],"":true}'],
    ['[]', '[]'],
  ])('%s comes back as %s', async (text, expected) => {
    const body = `{"type":"query","code":"return v, 9;","vars":{"v":${text}}}`;
    const answer = await node.post('//stuff', body);
    expect(answer.text.toLowerCase()).toBe(expected.toLowerCase());
  });

  test.each([
    ["bytes('x');", '422 -61'],
    ['float("nan");', '422 -61'],
    ['float("inf");', '422 -61'],
    ['[1, {a: [float("-inf")]}];', '422 -61'],
  ])('%s can not be sent', async (code, verdict) => {
    expect((await node.query('//stuff', code)).verdict).toBe(verdict);
  });

  test('a change whose value can not be sent is not made either', async () => {
    await node.value('//stuff', '.kept = 1;');
    expect((await node.query('//stuff', ".kept = 2; bytes('x');")).status).toBe(422);
    expect(await node.value('//stuff', '.kept;')).toBe(1);
  });
});

describe('queries and procedures', () => {
  test('variables by name', async () => {
    expect(await node.value('//stuff', 'a + b;', { a: 2, b: 3 })).toBe(5);
    expect((await node.query('//stuff', '1;', { 'a b': 1 })).verdict).toBe('422 -60');
  });

  test('an empty query is nil', async () => {
    expect((await node.query('//stuff', '')).text).toBe('null');
  });

  test('arguments by position and by name; missing ones are nil, surplus and unknown ones are ignored', async () => {
    expect((await node.run('//stuff', 'add', [1, 2])).text).toBe('3');
    expect((await node.run('//stuff', 'add', { b: 1, a: 2 })).text).toBe('3');
    expect((await node.run('//stuff', 'add', [1, 2, 3])).text).toBe('3');
    expect((await node.run('//stuff', 'add', { a: 1, b: 2, c: 3 })).text).toBe('3');
    expect((await node.run('//stuff', 'set_x')).text).toBe('null');
    expect((await node.run('/t', 'root_add', [4, 5])).text).toBe('9');
    const answer = await msgpack('//stuff', { type: 'run', name: 'add', args: [new Float64(1), 1] });
    expect(unpacked(answer.body)).toEqual(new Float64(2));
  });

  test('arguments have to be those of a procedure that defines them, and of the kinds that it says', async () => {
    await node.value('//stuff', "set_procedure('typed', |uid: 'int', qty: 'int?'| [uid, qty]);");
    const takes = "procedure 'typed' takes (uid, qty)";
    for (const [args, answer] of [
      [{ uid: 1 }, '[1,null]'],
      [[1, 2], '[1,2]'],
      [{ uid: 1, qyt: 2 }, `num_arguments_err ${takes}: it has no 'qyt'`],
      [{ qty: 2 }, `num_arguments_err ${takes}: 'uid' is missing`],
      [[1, 2, 3], `num_arguments_err ${takes}, and got 3 arguments`],
      [[], `num_arguments_err ${takes}: 'uid' is missing`],
      [{ uid: '1' }, 'type_err argument `uid`: expected `int`, got "1"'],
    ] as const) {
      const got = await node.run('//stuff', 'typed', args);
      expect(got.status === 200 ? got.text : `${got.error.name} ${got.error.message}`).toBe(answer);
    }
  });

  test.each([
    ['//stuff', 'nix', '404 -54'],
    ['//stuff', 'not a name', '404 -54'],
    ['/t', 'add', '404 -54'],
    ['/n', 'add', '400 -53'],
    ['/node/7', 'add', '400 -53'],
  ])('running in %s the procedure %s: %s', async (path, name, verdict) => {
    expect((await node.run(path, name, [1, 2])).verdict).toBe(verdict);
  });
});

describe('errors', () => {
  test.each([
    ['1 +;', '400 -52'],
    ['x;', '404 -54'],
    ['"a" + 1;', '422 -61'],
    ['int("x", "y");', '422 -62'],
    ['1 / 0;', '422 -58'],
    ['9223372036854775807 + 1;', '422 -59'],
    ['assert(false);', '422 -50'],
    ['raise("mine");', '422 -100'],
    ['raise(err(-127, "mine"));', '422 -127'],
    ['raise(forbidden_err("mine"));', '403 -55'],
    ['raise(node_err("mine"));', '503 -51'],
    ['raise(auth_err("mine"));', '401 -56'],
    ['raise(bad_data_err("mine"));', '400 -53'],
    ['raise(syntax_err("mine"));', '400 -52'],
    ['raise(cancelled_err("mine"));', '422 -64'],
    ['raise(max_quota_err("mine"));', '422 -57'],
    ["'x'.nix();", '404 -54'],
  ])('%s: %s', async (code, verdict) => {
    const answer = await node.query('//stuff', code);
    expect(answer.verdict).toBe(verdict);
    expect(Object.keys(answer.error)).toEqual(['code', 'name', 'message', 'outcome', 'at']);
    expect(answer.error.outcome).toBe('none');
  });

  test('an error that is data is an answer', async () => {
    const answer = await node.query('//stuff', 'try(1 / 0);');
    expect([answer.status, typeof answer.json]).toEqual([200, 'string']);
  });

  test('statuses that ask for something say what', async () => {
    const unauthorized = await node.query('//stuff', '1;', undefined, { authorization: null });
    expect(unauthorized.headers.get('www-authenticate')).toMatch(
      /^Bearer realm="[^"]+", Basic realm="[^"]+"$/,
    );
    const method = await node.post('//stuff', '', { method: 'PUT' });
    expect([method.verdict, method.headers.get('allow')]).toEqual(['405 -53', 'POST']);
    const unavailable = await node.query('//stuff', 'raise(node_err("mine"));');
    expect(unavailable.headers.get('retry-after')).toMatch(/^\d+$/);
  });

  test.each([
    ['', '405'],
    ['Origin: https://other.example\r\n', '403'],
    ['Sec-Fetch-Site: cross-site\r\n', '403'],
  ])('HEAD gets no body, whatever it is refused for: %j', async (headers, status) => {
    const connection = await node.open();
    const whole = await connection.send(`HEAD /t HTTP/1.1\r\nHost: test\r\n${headers}\r\n`).rest();
    expect(whole).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(whole.slice(whole.indexOf('\r\n\r\n') + 4)).toBe('');
  });
});

test.each([
  ['cross-site', '403 -55'],
  ['same-site', '403 -55'],
  ['same-origin', '200'],
  ['none', '200'],
])('a browser that tells of no Origin says from where it asks: %s', async (site, verdict) => {
  const headers = { 'Sec-Fetch-Site': site };
  const told: string[] = [];
  for (const path of ['/@changes/stuff', '/@changes/stuff?since=', '/@changes/nix'])
    told.push(
      (await node.post(path, '', { method: 'GET', headers: { ...headers, accept: 'application/json' } }))
        .verdict,
    );
  told.push((await node.post('//stuff', ONE, { headers })).verdict);
  const isRefused = verdict !== '200';
  expect(told).toEqual(
    isRefused ? [verdict, verdict, verdict, verdict] : ['200', '400 -53', '404 -54', '200'],
  );
  // Any page may have a link to the first page of this node.
  expect((await node.post('/', '', { method: 'GET', headers })).status).toBe(200);
});

describe('the order of checks', () => {
  const WRONG = { authorization: null, contentType: 'text/plain' };

  test('the method, the path, the credentials, the content type, the body', async () => {
    const order: [string, RequestOptions, string, string][] = [
      ['/t/', { ...WRONG, method: 'PUT' }, '{', '405 -53'],
      ['/t/', WRONG, '{', '404 -54'],
      ['//nix', WRONG, '{', '401 -56'],
      ['//nix', { contentType: 'text/plain' }, '{', '415 -53'],
      ['//nix', {}, '{', '400 -53'],
      ['//nix', {}, '{"type":"query"}', '400 -53'],
      ['//nix', {}, '{"type":"query","code":"1 +","vars":{"a b":1', '400 -53'],
      ['//nix', {}, '{"type":"query","code":"1 +","vars":{"a b":1}}', '404 -54'],
      // Contents of values come last: they are read for who may run the code, and as a part of running
      // it.
      ['//stuff', {}, '{"type":"query","code":"1 +","vars":{"a b":1}}', '400 -52'],
      ['//stuff', {}, '{"type":"query","code":".x = 1; 1;","vars":{"a b":1}}', '422 -60'],
      ['//stuff', {}, '{"type":"query","code":".x = 1; 1;","vars":{"a":1e999}}', '400 -53'],
      ['//stuff', {}, '{"type":"query","code":".has(\'x\');","vars":{"a":1}}', '200'],
    ];
    for (const [path, options, body, verdict] of order) {
      expect((await node.post(path, body, options)).verdict).toBe(verdict);
    }
  });
});

describe('connections', () => {
  test('serve one request after the other', async () => {
    const connection = await node.open();
    for (let i = 0; i < 100; i++) {
      connection.send(node.text('//stuff', `{"type":"query","code":"${i} + 1;"}`));
      expect((await connection.answer())?.text).toBe(String(i + 1));
    }
    connection.close();
  });

  test('stay open after an error', async () => {
    const connection = await node.open();
    const requests = ['{"type":"query","code":"x;"}', '{', ONE].map((body) => node.text('//stuff', body));
    requests.splice(1, 0, node.text('//stuff', ONE, { authorization: null }));
    const statuses: (number | undefined)[] = [];
    for (const request of requests) {
      connection.send(request);
      statuses.push((await connection.answer())?.status);
    }
    expect(statuses).toEqual([404, 401, 400, 200]);
    connection.close();
  });

  test('end when the client asks for it', async () => {
    const connection = await node.open();
    connection.send(node.text('//stuff', ONE, { headers: { Connection: 'close' } }));
    expect((await connection.answer())?.text).toBe('1');
    await connection.closed();
    connection.close();
  });

  test('take requests byte by byte, but for the first line', async () => {
    const connection = await node.open();
    const text = node.text('//stuff', ONE);
    const line = text.indexOf('\r\n') + 2;
    await connection.sendAll(text.slice(0, line));
    for (const byte of text.slice(line)) await connection.sendAll(byte);
    expect((await connection.answer())?.text).toBe('1');
    connection.close();
  });

  test('reads that are sent at once are answered in order', async () => {
    const requests = Array.from({ length: 20 }, (_, i) =>
      node.text('//stuff', `{"type":"query","code":"${i};"}`),
    );
    const answered = async (): Promise<(string | undefined)[]> => {
      const connection = await node.open();
      connection.send(requests.join(''));
      const texts: (string | undefined)[] = [];
      do texts.push((await connection.answer())?.text);
      while (texts.at(-1) !== undefined && texts.length < requests.length);
      connection.close();
      return texts;
    };
    // The connection ends where the machine lets one of them wait, and so do others for the next 50 ms.
    await until(async () => {
      const texts = await answered();
      const isWhole = texts.at(-1) !== undefined;
      if (!isWhole) texts.pop();
      expect(texts).toEqual(texts.map((_, i) => String(i)));
      return isWhole;
    }, 'the node answers all of them');
  });

  test('a change that is sent with what follows is answered in order, or the connection ends behind it', async () => {
    await node.value('//stuff', '.n = 0;');
    const connection = await node.open();
    const change = '{"type":"query","code":".n += 1;"}';
    const read = '{"type":"query","code":".n;"}';
    connection.send([change, read, change, read].map((body) => node.text('//stuff', body)).join(''));
    const answers: (string | undefined)[] = [];
    for (let answer: Answer | null; answers.length < 4 && (answer = await connection.answer()) !== null; ) {
      answers.push(answer.text);
    }
    expect(['1', '1', '2', '2'].slice(0, answers.length)).toEqual(answers);
    const n = Number(await node.value('//stuff', '.n;'));
    expect(n).toBeGreaterThanOrEqual(Math.ceil(answers.length / 2));
    connection.close();
  });

  test('GET / shows a page that tells how to go on', async () => {
    const answer = await node.post('/', '', { method: 'GET', authorization: null });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(answer.text).toContain('curl');
  });

  test('no answer tells more than it must, or lets a browser guess', async () => {
    for (const answer of [await node.post('//stuff', ONE), await node.post('//stuff', '{')]) {
      const names = [...answer.headers.keys()].sort();
      expect(names.filter((name) => !['connection', 'keep-alive'].includes(name))).toEqual([
        'althing-node',
        'content-length',
        'content-type',
        'date',
        'uwebsockets',
        'x-content-type-options',
        'x-request-id',
      ]);
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    }
  });
});

describe('Althing-Dry-Run', () => {
  const options = { headers: { 'Althing-Dry-Run': 'true', 'Idempotency-Key': 'tried' } };

  test('lets a query or a procedure be tried out', async () => {
    await node.value('//stuff', '.tried = 1;');
    for (let i = 0; i < 2; i++) {
      const answer = await node.query('//stuff', '.tried += 1;', undefined, options);
      expect(answer.json).toEqual({ result: 2, changes: { properties: 1 } });
    }
    expect((await node.run('//stuff', 'set_x', [7], options)).json).toEqual({
      result: 7,
      changes: { properties: 1 },
    });
    expect(await node.value('//stuff', '.tried;')).toBe(1);
  });

  test('explains what it tries out', async () => {
    const explains = { headers: { 'Althing-Dry-Run': 'Explain' } };
    const answer = await node.query('//stuff', '.tried = 5;', undefined, explains);
    expect(answer.json).toMatchObject({
      result: 5,
      changes: { properties: 1 },
      explain: { statements: [{ in: null, line: 1, column: 1, code: '.tried = 5', runs: 1 }] },
    });
  });

  test('is refused to everything else', async () => {
    for (const path of ['/@export/stuff', '/@import/copy', '/@session'])
      expect((await node.post(path, path === '/@session' ? '{}' : 'x', options)).verdict).toBe('400 -53');
  });
});

describe('Althing-Timing', () => {
  const timing = async (code: string, value: string | null): Promise<string | undefined> => {
    const headers = value === null ? {} : { 'Althing-Timing': value };
    return (await node.query('//stuff', code, undefined, { headers })).headers.get('server-timing');
  };

  test('lets the answer say how long its request took, also where it failed', async () => {
    const parts = /^queue;dur=\d+\.\d{3}, run;dur=\d+\.\d{3}, commit;dur=\d+\.\d{3}$/;
    for (const code of ['.timed = 1;', '.timed;', '.timed = 1 / 0;', 'nonsense(']) {
      expect(await timing(code, '1')).toMatch(parts);
    }
    const commit = Number(/commit;dur=(.*)$/.exec((await timing('.timed = 2;', '1')) ?? '')?.[1]);
    expect(commit).toBeGreaterThan(0);
    expect(await timing('.timed;', null)).toBeUndefined();
    expect(await timing('.timed;', 'yes')).toBeUndefined();
  });
});

describe('Althing-Read-Only', () => {
  const ask = async (code: string, value: string): Promise<string> =>
    (await node.query('//stuff', code, undefined, { headers: { 'Althing-Read-Only': value } })).verdict;

  test('lets a request change nothing', async () => {
    expect(await ask('1;', 'true')).toBe('200');
    expect(await ask('.x = 9;', 'true')).toBe('403 -55');
    expect(await ask('.x = 9;', 'False')).toBe('200');
    expect(await ask('.x = 8;', 'yes')).toBe('400 -53');
    expect(await node.value('//stuff', '.x;')).toBe(9);
    const options = { headers: { 'Althing-Read-Only': 'true' } };
    expect((await node.run('//stuff', 'set_x', [7], options)).verdict).toBe('403 -55');
    expect((await node.post('/@export/stuff', '', options)).verdict).toBe('403 -55');
    expect((await node.post('/@import/copy', 'x', options)).verdict).toBe('403 -55');
  });

  test('twice is refused, so that the second can not lift what the first demands', async () => {
    const connection = await node.open();
    const request = node.text('//stuff', ONE);
    const both = 'Host: test\r\nAlthing-Read-Only: true\r\nAlthing-Read-Only: false';
    connection.send(request.replace('Host: test', both));
    expect((await connection.answer())?.verdict).toBe('400 -53');
    connection.close();
  });
});

describe('credentials', () => {
  test.each(['Bearer', 'bearer', 'Token', 'tOKEN'])('%s KEY', async (scheme) => {
    const authorization = node.authorization.replace('Bearer', scheme);
    expect((await node.post('//stuff', ONE, { authorization })).text).toBe('1');
  });

  test.each(['Basic', 'basic', 'BASIC'])('%s', async (scheme) => {
    const authorization = basic('admin', 'pass').replace('Basic', scheme);
    expect((await node.post('//stuff', ONE, { authorization })).text).toBe('1');
  });

  test('two of them are none, in either order', async () => {
    const lines = [`Authorization: ${node.authorization}`, 'Authorization: Bearer x'];
    for (const pair of [lines, [...lines].reverse(), [lines[0], lines[0]]]) {
      const connection = await node.open();
      const request = node.text('//stuff', ONE, { authorization: null });
      connection.send(request.replace('Host: test', ['Host: test', ...pair].join('\r\n')));
      expect((await connection.answer())?.verdict).toBe('401 -56');
      connection.close();
    }
  });
});
