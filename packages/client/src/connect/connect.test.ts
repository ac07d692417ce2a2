import { inspect } from 'node:util';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  AbortError,
  AnswerLostError,
  ConnectionError,
  type ConnectOptions,
  connect,
  type Database,
  type HookAnswer,
  LookupErr,
  OutcomeUnknownError,
  ProtocolError,
  QueryError,
  QueueFullError,
  SyntaxErr,
  UserErr,
  wireMap,
} from '../index.js';
import {
  type Answering,
  bytes,
  closedPort,
  FakeNode,
  failure,
  hangUp,
  inTurn,
  silent,
  value,
} from '../testing/fake-node.js';

const TOKEN = 'a-very-secret-token';
const nodes: FakeNode[] = [];
const databases: Database[] = [];

async function started(answer: Answering): Promise<FakeNode> {
  const node = await FakeNode.start(answer);
  nodes.push(node);
  return node;
}

function connected(urls: string | readonly string[], options: ConnectOptions = {}): Database {
  const db = connect(urls, { token: TOKEN, ...options });
  databases.push(db);
  return db;
}

/** A database at one node that answers so. */
async function answering(
  answer: Answering,
  options: ConnectOptions = {},
): Promise<{ node: FakeNode; db: Database }> {
  const node = await started(answer);
  return { node, db: connected(node.url, options) };
}

/** The error of a call that must fail. */
async function errorOf(
  work: Promise<unknown>,
): Promise<Error & { readonly outcome?: string; readonly requestName?: string }> {
  const error: unknown = await work.then(
    (result) => new Error(`no error, but ${inspect(result)}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error)) throw new TypeError('what was thrown is no Error');
  return error;
}

afterEach(async () => {
  await Promise.all(databases.splice(0).map((db) => db.$close()));
  await Promise.all(nodes.splice(0).map((node) => node.stop()));
});

describe('requests as they are sent', () => {
  test('a query, with who asks and a name by which it takes effect once', async () => {
    const { node, db } = await answering(value(3n));
    expect(await db.stuff?.query('x + 1;', { x: 2 })).toBe(3);
    const [asked] = node.asked;
    if (asked === undefined) throw new Error('nothing was asked');
    const { path, headers, body } = asked;
    expect(path).toBe('//stuff');
    expect(headers).toMatchObject({
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/msgpack',
    });
    expect(headers['althing-request']).toMatch(/^[0-9a-f]{24}\.1\.1$/);
    expect(body).toEqual(wireMap({ type: 'query', code: 'x + 1;', vars: wireMap({ x: 2n }) }));
  });

  test('a procedure, by position and by name', async () => {
    const { node, db } = await answering(value(null));
    await db.stuff?.procs.add_guest?.('Ann', 31);
    await db.stuff?.call('add_guest', { name: 'Ann' });
    await db.stuff?.procs.reset?.();
    expect(node.asked.map(({ body }) => body)).toEqual([
      wireMap({ type: 'run', name: 'add_guest', args: ['Ann', 31n] }),
      wireMap({ type: 'run', name: 'add_guest', args: wireMap({ name: 'Ann' }) }),
      wireMap({ type: 'run', name: 'reset' }),
    ]);
  });

  test('user and password, also of the URL', async () => {
    const { node } = await answering(value(null));
    await connected(node.url, { token: undefined, user: 'ann', password: 'päss:x' }).$root.query('1');
    await connected(node.url.replace('//', '//bob:p%40ss@'), { token: undefined }).$root.query('1');
    expect(node.asked.map(({ headers }) => headers.authorization)).toEqual([
      `Basic ${Buffer.from('ann:päss:x').toString('base64')}`,
      `Basic ${Buffer.from('bob:p@ss').toString('base64')}`,
    ]);
  });

  test('the path of a proxy in front, and scopes in any spelling', async () => {
    const { node } = await answering(value(null));
    const db = connected(`${node.url}/db/`);
    for (const scope of ['@thingsdb', '//stuff', '@:stuff', 'stuff', '@node:2', '/n', '.node', '//ü']) {
      await db.$scope(scope).query('1');
    }
    await db.$node(2).query('1');
    await db.$collection('then').query('1');
    expect(node.asked.map(({ path }) => path)).toEqual([
      '/db/@thingsdb',
      '/db//stuff',
      '/db/@:stuff',
      '/db//stuff',
      '/db/@node:2',
      '/db/n',
      '/db/.node',
      '/db//%C3%BC',
      '/db/node/2',
      '/db//then',
    ]);
    // In the scope of a node names mean nothing.
    expect(node.names.map((name) => name !== undefined)).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
      false,
      true,
      false,
      true,
    ]);
  });

  test('stale reads say the highest index that was seen in their scope', async () => {
    const { node, db } = await answering(
      inTurn(value(null, { 'Althing-Index': '7' }), value(null, { 'Althing-Index': '5' }), value(null)),
    );
    await db.stuff?.query('1');
    await db.stuff?.query('1');
    await db.stuff?.with({ consistency: 'stale' }).query('1');
    await db.other?.with({ consistency: 'stale' }).query('1');
    expect(node.asked.map(({ headers }) => [headers.consistency, headers['althing-min-index']])).toEqual([
      [undefined, undefined],
      [undefined, undefined],
      ['stale', '7'],
      ['stale', undefined],
    ]);
  });

  test('a key of the caller takes the place of the name', async () => {
    const { node, db } = await answering(inTurn(hangUp, value(1n)));
    expect(await db.stuff?.with({ idempotencyKey: 'order-1' }).query('1')).toBe(1);
    expect(node.asked.map(({ headers }) => [headers['idempotency-key'], headers['althing-request']])).toEqual(
      [
        ['order-1', undefined],
        ['order-1', undefined],
      ],
    );
  });
});

describe('names of collections and procedures', () => {
  test('a database can be awaited, shown, and made a text, and shows no secret', async () => {
    const { db } = await answering(value(null));
    expect(await Promise.resolve(db)).toBe(db);
    expect(`${db}`).toBe('[object Database]');
    expect(inspect([db, db.$root, db.stuff?.procs], { showHidden: true, depth: 9 })).not.toContain(TOKEN);
    expect(JSON.stringify(db)).toBe('{}');
    expect(Reflect.get(db, 'then')).toBeUndefined();
    expect(Reflect.get(db, '$unknown')).toBeUndefined();
  });

  test('names that every object has are collections and procedures as any others', async () => {
    const { node, db } = await answering(value(null));
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      await Reflect.get(db, name).query('1');
      await Reflect.get(Object(db.stuff?.procs), name)();
    }
    expect(node.asked.map(({ path }) => path).filter((path) => path !== '//stuff')).toEqual([
      '//constructor',
      '//__proto__',
      '//toString',
      '//hasOwnProperty',
    ]);
    expect(
      node.asked.map(({ body }) => (body instanceof Map ? body.get('name') : null)).filter(Boolean),
    ).toEqual(['constructor', '__proto__', 'toString', 'hasOwnProperty']);
  });

  test('nothing can be assigned to a database', () => {
    const db = connected('http://127.0.0.1:1');
    expect(Reflect.set(db, 'stuff', 1)).toBe(false);
  });
});

describe('errors of queries', () => {
  test.each<[number, number, new (...args: never[]) => Error]>([
    [404, -54, LookupErr],
    [400, -52, SyntaxErr],
    [422, -100, UserErr],
    [422, -127, UserErr],
    [422, -128, QueryError],
  ])('status %d with code %d is of its class, and is not sent again', async (status, code, Class) => {
    const { node, db } = await answering(failure(status, code, 'none', { message: 'why' }));
    const error = await errorOf(db.stuff?.query('1') ?? Promise.resolve());
    expect(error).toBeInstanceOf(Class);
    expect(error).toMatchObject({
      code,
      name: 'some_err',
      message: 'why',
      outcome: 'none',
      requestId: 'r-1',
      node: 'alpha',
    });
    expect(node.asked).toHaveLength(1);
  });

  test('the stack shows the line of the caller', async () => {
    const { db } = await answering(failure(404, -54, 'none'));
    async function theCaller(): Promise<void> {
      await db.stuff?.query('1');
    }
    expect((await errorOf(theCaller())).stack).toContain('theCaller');
  });

  test('a change that was made, and whose answer is lost', async () => {
    const { db } = await answering(failure(500, -6, 'made'));
    const error = await errorOf(db.$root.query('1'));
    expect(error).toBeInstanceOf(AnswerLostError);
    expect(error).toMatchObject({ code: -6, outcome: 'made' });
  });

  test('an error of a future behind a change that was made', async () => {
    const { db } = await answering(failure(422, -60, 'made'));
    expect(await errorOf(db.$root.query('1'))).toMatchObject({ code: -60, outcome: 'made' });
  });

  test('an error behind an attempt of unknown outcome does not say that nothing was changed', async () => {
    const { db } = await answering(inTurn(hangUp, failure(422, -50, 'none')));
    expect(await errorOf(db.$root.query('1'))).toMatchObject({ code: -50, outcome: 'unknown' });
  });
});

describe('requests that fail', () => {
  test('are repeated under the same name, and say that the ones before are answered', async () => {
    const { node, db } = await answering(inTurn(value(1n), hangUp, hangUp, value(2n)));
    await db.stuff?.query('1');
    expect(await db.stuff?.query('2')).toBe(2);
    const [first = ''] = node.names;
    const client = first.split('.')[0];
    expect(node.names).toEqual([`${client}.1.1`, `${client}.2.2`, `${client}.2.2`, `${client}.2.2`]);
  });

  test('go to the next node at once when one is not there', async () => {
    const there = await started(value(1n));
    const gone = await closedPort();
    for (let i = 0; i < 8; i++) {
      const db = connected([`http://127.0.0.1:${gone}`, there.url]);
      expect(await db.$root.query('1')).toBe(1);
    }
    expect(there.asked).toHaveLength(8);
  });

  test('go to another node when one says 503, and stay there', async () => {
    const busy = await started(failure(503, -51, 'none', { headers: { 'Retry-After': '0' } }));
    const there = await started(value(1n));
    const db = connected([busy.url, there.url]);
    for (let i = 0; i < 10; i++) expect(await db.$root.query('1')).toBe(1);
    expect(busy.asked.length).toBeLessThanOrEqual(1);
  });

  test('are repeated behind 502 and 504 of a proxy', async () => {
    const { node, db } = await answering(inTurn(bytes(502, '<html>'), bytes(504, ''), value(1n)));
    expect(await db.$root.query('1')).toBe(1);
    expect(new Set(node.names).size).toBe(1);
  });

  test('fail with ConnectionError when nothing was ever sent', async () => {
    const db = connected(`http://127.0.0.1:${await closedPort()}`, { timeoutMs: 200 });
    const error = await errorOf(db.$root.query('1'));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ outcome: 'none', message: expect.stringContaining('ECONNREFUSED') });
  });

  test('fail with OutcomeUnknownError, and their name, when they may have been carried out', async () => {
    const { node, db } = await answering(hangUp, { attemptsMax: 3 });
    const error = await errorOf(db.$root.query('1'));
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(`${error.requestName}.1`).toBe(node.names[0]);
    expect(node.asked.length).toBeGreaterThan(1);
  });

  test('stay in doubt when 503 comes behind a lost attempt', async () => {
    const { db } = await answering(inTurn(hangUp, failure(503, -51, 'none')), { attemptsMax: 2 });
    expect(await errorOf(db.$root.query('1'))).toBeInstanceOf(OutcomeUnknownError);
  });

  test('fail with what the node says when it has no time until the end', async () => {
    const busy = failure(503, -51, 'none', { message: 'no majority', headers: { 'Retry-After': '3600' } });
    const { db } = await answering(busy);
    expect(await errorOf(db.$root.query('1'))).toMatchObject({
      code: -51,
      message: 'no majority',
      outcome: 'none',
    });
  });

  test('are not repeated in the scope of a node, where names mean nothing', async () => {
    const { node, db } = await answering(hangUp);
    expect(await errorOf(db.$node().query('shutdown();'))).toBeInstanceOf(OutcomeUnknownError);
    expect(node.asked).toHaveLength(1);
  });

  test('have as many attempts as they are given', async () => {
    const { node, db } = await answering(hangUp, { attemptsMax: 2 });
    expect(await errorOf(db.$root.query('1'))).toBeInstanceOf(OutcomeUnknownError);
    expect(node.asked).toHaveLength(2);
  });

  test('give a silent node up after the time of an attempt, and go to another one', async () => {
    const quiet = await started(silent);
    const there = await started(value(1n));
    for (let i = 0; i < 4; i++) {
      const db = connected([quiet.url, there.url], { attemptTimeoutMs: 50 });
      expect(await db.$root.query('1')).toBe(1);
    }
  });

  test('go to another node, too, when one falls silent on a connection that was used before', async () => {
    const order: number[] = [];
    const answers = inTurn(value(1n), silent, value(2n));
    const places = await Promise.all(
      [0, 1].map((number) =>
        started((response, asked) => {
          order.push(number);
          answers(response, asked);
        }),
      ),
    );
    const db = connected(places.map(({ url }) => url));
    expect(await db.$root.query('1')).toBe(1);
    expect(await db.$root.with({ attemptTimeoutMs: 100 }).query('2')).toBe(2);
    const [first = 0] = order;
    expect(order.slice(0, 3)).toEqual([first, first, 1 - first]);
  });

  test('ask for credentials again once', async () => {
    const { node } = await answering(inTurn(failure(401, -56, 'none'), value(1n), failure(401, -56, 'none')));
    let given = 0;
    const db = connected(node.url, {
      token: undefined,
      credentials: async () => ({ token: `token-${++given}` }),
    });
    expect(await db.$root.query('1')).toBe(1);
    expect(await errorOf(db.$root.query('1'))).toMatchObject({ code: -56 });
    expect(node.asked.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer token-1',
      'Bearer token-2',
      'Bearer token-2',
      'Bearer token-3',
    ]);
  });

  test('fail at once with wrong credentials', async () => {
    const { node, db } = await answering(failure(401, -56, 'none'));
    expect(await errorOf(db.$root.query('1'))).toMatchObject({ code: -56 });
    expect(node.asked).toHaveLength(1);
  });

  test('fail when credentials() does', async () => {
    const { node } = await answering(value(1n));
    const db = connected(node.url, {
      token: undefined,
      credentials: () => Promise.reject(new Error('vault')),
    });
    expect((await errorOf(db.$root.query('1'))).message).toBe('vault');
  });

  test('are repeated at once on a new connection when the node closed an idle one', async () => {
    const { node, db } = await answering(value(1n), { timeoutMs: 5000 });
    await db.$root.query('1');
    // The client learns of it only by its next request.
    const [socket] = node.sockets;
    node.asked.length = 0;
    const next = db.$root.query('2');
    socket?.resetAndDestroy();
    expect(await next).toBe(1);
  });
});

describe('giving up', () => {
  test('before it is sent', async () => {
    const { node, db } = await answering(value(1n));
    const error = await errorOf(db.$root.with({ signal: AbortSignal.abort('enough') }).query('1'));
    expect(error).toBeInstanceOf(AbortError);
    expect(error).toMatchObject({ outcome: 'not_sent', cause: 'enough' });
    expect(node.asked).toHaveLength(0);
  });

  test('a call is given up while it is under way', async () => {
    const controller = new AbortController();
    const { db } = await answering(() => controller.abort());
    expect(await errorOf(db.$root.with({ signal: controller.signal }).query('1'))).toMatchObject({
      outcome: 'unknown',
    });
  });

  test('closing settles every call, also those that wait', async () => {
    const { node, db } = await answering(silent, { limits: { requests: 2 } });
    const calls = [1, 2, 3, 4].map(() => errorOf(db.$root.query('1')));
    while (node.asked.length < 2) await new Promise((resolve) => setImmediate(resolve));
    await db.$close();
    expect((await Promise.all(calls)).map(({ outcome }) => outcome)).toEqual([
      'unknown',
      'unknown',
      'not_sent',
      'not_sent',
    ]);
    expect(await errorOf(db.$root.query('1'))).toBeInstanceOf(AbortError);
  });

  test('10,000 aborted calls leave no socket, timer or listener behind', async () => {
    const { node, db } = await answering(silent, { limits: { requests: 100, waiting: 10_000 } });
    const controller = new AbortController();
    const aborted = db.$root.with({ signal: controller.signal });
    const before = process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length;
    const calls = Array.from({ length: 10_000 }, () => errorOf(aborted.query('1')));
    while (node.asked.length < 100) await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    const errors = await Promise.all(calls);
    expect(errors.every((error) => error instanceof AbortError)).toBe(true);
    while (node.sockets.size > 0) await new Promise((resolve) => setImmediate(resolve));
    expect(process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length).toBe(before);
    expect(inspect(controller.signal, { showHidden: true })).not.toMatch(/Map\(1\).*abort/);
  });

  test('more calls than may wait are refused', async () => {
    const { db } = await answering(silent, { limits: { requests: 1, waiting: 1 } });
    // The second one's time is over before that of the first, for whose end it waits.
    const calls = [300, 200, 300].map((timeoutMs) => errorOf(db.$root.with({ timeoutMs }).query('1')));
    const errors = await Promise.all(calls);
    expect(errors[2]).toBeInstanceOf(QueueFullError);
    expect(errors[1]).toMatchObject({
      outcome: 'none',
      message: expect.stringContaining('there was no time to send'),
    });
  });
});

describe('servers that are no nodes', () => {
  const ours: ConnectOptions = { attemptsMax: 1, limits: { answerBytes: 1000 } };

  test.each<[string, Answering, new (...args: never[]) => Error]>([
    ['a page in place of a value', bytes(200, '<html>'), ProtocolError],
    ['nothing in place of a value', bytes(200, ''), ProtocolError],
    ['half of a value', bytes(200, Buffer.of(0x92, 1)), ProtocolError],
    ['404 with a page', bytes(404, '<html>'), ProtocolError],
    ['a redirect', bytes(302, '', { Location: 'http://127.0.0.1:1/' }), ProtocolError],
    ['500 with an error that is none', bytes(500, Buffer.from('\x81\xa5error\x01', 'latin1')), ProtocolError],
    ['an answer that announces 1 GB', bytes(200, '', { 'Content-Length': String(1024 ** 3) }), ProtocolError],
    [
      'an answer that grows and grows',
      (response) => {
        response.writeHead(200);
        const more = setInterval(() => response.write(Buffer.alloc(400)), 1);
        response.once('close', () => clearInterval(more));
      },
      ProtocolError,
    ],
    [
      'half an answer',
      (response, { socket }) => {
        response.writeHead(200, { 'Content-Length': '100' });
        response.write('x', () => socket.destroy());
      },
      OutcomeUnknownError,
    ],
    ['what is no HTTP', (_, { socket }) => void socket.end('hello\r\n\r\n'), OutcomeUnknownError],
  ])('%s', async (_, answer, Class) => {
    const { db } = await answering(answer, ours);
    const error = await errorOf(db.$root.query('1'));
    expect(error).toBeInstanceOf(Class);
    expect(error).toMatchObject({ outcome: expect.stringMatching(/unknown|none/) });
  });

  test('silence', async () => {
    const { db } = await answering(silent, { timeoutMs: 300 });
    expect(await errorOf(db.$root.query('1'))).toMatchObject({
      outcome: expect.stringMatching(/unknown|none/),
    });
  });

  test('no text shows the token, also when the server sends it back', async () => {
    const { db } = await answering(failure(403, -55, 'none', { message: `who is ${TOKEN}?` }), ours);
    const error = await errorOf(db.$root.query('1'));
    expect(inspect(error, { showHidden: true, depth: 9 })).not.toContain(TOKEN);
    expect(error.message).toBe('who is ***?');
  });
});

describe('wrong usage', () => {
  test.each<[string, string | string[], ConnectOptions]>([
    ['no URL', '', {}],
    ['an empty list', [], {}],
    ['another scheme', 'ftp://127.0.0.1', {}],
    ['a token and a user', 'http://127.0.0.1', { user: 'ann', password: 'x' }],
    ['a user without a password', 'http://127.0.0.1', { token: undefined, user: 'ann' }],
    ['a token that no header can carry', 'http://127.0.0.1', { token: 'a-very-secret-token\r\nX: y' }],
  ])('%s', (_, urls, options) => {
    const attempt = (): unknown => connected(urls, options);
    expect(attempt).toThrow(TypeError);
    expect(attempt).not.toThrow(TOKEN);
  });

  test('a URL that is none is shown without its password', () => {
    expect(() => connect('ftp://ann:secret-word@host')).not.toThrow(/secret-word/);
  });

  test('values that can not be sent reject the call, and nothing is sent', async () => {
    const { node, db } = await answering(value(1n));
    expect(await errorOf(db.$root.query('x', { x: new Date() }))).toBeInstanceOf(TypeError);
    expect(await errorOf(db.stuff?.procs.f?.(undefined) ?? Promise.resolve())).toBeInstanceOf(TypeError);
    expect(node.asked).toHaveLength(0);
  });
});

describe('hooks', () => {
  test('see the calls, may add headers, and see no code and no values', async () => {
    const { node } = await answering(
      inTurn(hangUp, value('a-secret-value', { 'Server-Timing': 'run;dur=2', 'Althing-Index': '7' })),
    );
    const seen: unknown[] = [];
    const answers: HookAnswer[] = [];
    const db = connected(node.url, {
      hooks: {
        request: (call) => {
          seen.push(call);
          return { traceparent: 't-1' };
        },
        attempt: (call, attempt) => {
          seen.push(call, attempt);
          return { 'x-attempt': String(attempt.attempt) };
        },
        answer: (call, answer) => {
          seen.push(call);
          answers.push(answer);
        },
      },
    });
    await db.stuff?.call('greet', { name: 'a-secret-name' });
    expect(node.asked.map(({ headers }) => [headers.traceparent, headers['x-attempt']])).toEqual([
      ['t-1', '1'],
      ['t-1', '2'],
    ]);
    const answer = {
      attempts: 2,
      node: node.url,
      bytes: 15,
      index: 7,
      timing: 'run;dur=2',
      outcome: 'ok',
      error: null,
    };
    expect(answers).toEqual([{ durationMs: expect.any(Number), ...answer }]);
    expect(seen).toContainEqual({ attempt: 1, node: node.url, bytes: expect.any(Number), failure: null });
    expect(seen).toContainEqual(
      expect.objectContaining({ attempt: 2, failure: expect.stringMatching(/can't be reached: /) }),
    );
    expect(seen[0]).toEqual({ scope: '@:stuff', kind: 'run', procedure: 'greet' });
    expect(new Set(seen.filter((each) => each === seen[0])).size).toBe(1);
    expect(inspect([seen, answers], { depth: 9 })).not.toMatch(/secret/);
  });

  test('a hook that throws fails the call before it is sent', async () => {
    const { node } = await answering(value(1n));
    const db = connected(node.url, {
      hooks: {
        request: () => {
          throw new Error('hook');
        },
      },
    });
    expect((await errorOf(db.$root.query('1'))).message).toBe('hook');
    expect(node.asked).toHaveLength(0);
  });
});

test('a client asks so many at once, and keeps their connections', async () => {
  let open = 0;
  let most = 0;
  const { node, db } = await answering(
    (response, asked) => {
      most = Math.max(most, ++open);
      setImmediate(() => {
        open -= 1;
        value(1n)(response, asked);
      });
    },
    { limits: { requests: 5 } },
  );
  await Promise.all(Array.from({ length: 50 }, () => db.$root.query('1')));
  expect(most).toBeLessThanOrEqual(5);
  expect(node.sockets.size).toBeLessThanOrEqual(5);
});

test('a database is closed where its block ends', async () => {
  const { db } = await answering(value(1n));
  await db[Symbol.asyncDispose]();
  expect(await errorOf(db.$root.query('1'))).toBeInstanceOf(AbortError);
});
