import { afterEach, describe, expect, test } from '@jest/globals';
import { RawConnection } from '../../testing/index.js';
import { StatusServer, type StatusView } from './status-server.js';

let server: StatusServer;
let port = 0;

afterEach(() => server.close());

const WELL = [{ name: 'all', problem: null }];

async function serve(
  view: Partial<StatusView> = {},
  servesHost?: (host: string | undefined) => boolean,
): Promise<void> {
  const whole: StatusView = {
    healthy: () => WELL,
    ready: () => WELL,
    started: () => WELL,
    leading: () => WELL,
    state: () => 'READY',
    summary: () => ({ state: 'READY' }),
    metrics: async () => 'figure 1\n',
    cancel: () => 'told',
    ...view,
  };
  server = new StatusServer(whole, null, 256, servesHost);
  port = await server.listen('127.0.0.1', 0);
}

/** Everything that the server sends for some bytes, until it closes the connection. */
async function exchange(text: string): Promise<string> {
  const connection = await RawConnection.open(port);
  connection.send(text);
  try {
    return await connection.rest();
  } finally {
    connection.close();
  }
}

const get = (path: string, method = 'GET') => exchange(`${method} ${path} HTTP/1.1\r\nHost: test\r\n\r\n`);

const statusOf = async (path: string, method = 'GET') => (await get(path, method)).slice(9, 12);

describe('the status port', () => {
  test('says what the node says', async () => {
    await serve();
    expect(await get('/healthy')).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\nOK\n$/s);
    expect(await get('/ready')).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\nOK\n$/s);
    expect(await get('/started')).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\nOK\n$/s);
    expect(await get('/leader')).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\nOK\n$/s);
    expect(await get('/')).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\nREADY\n$/s);
    expect(await get('/status')).toMatch(/^HTTP\/1\.1 200 .*application\/json.*"state": "READY"/s);
  });

  test('has a page of figures', async () => {
    await serve();
    expect(await get('/metrics')).toMatch(
      /^HTTP\/1\.1 200 .*text\/plain; version=0.0.4.*\r\n\r\nfigure 1\n$/s,
    );
  });

  test('tells why something is not as it should be, also while the rest is', async () => {
    await serve({
      ready: () => [
        ...WELL,
        { name: 'leader', problem: 'no leader yet' },
        { name: 'lag', problem: 'behind' },
      ],
      state: () => 'SYNCHRONIZING',
      started: () => [{ name: 'start', problem: 'it starts' }],
      leading: () => [{ name: 'leader', problem: 'node-2 leads' }],
    });
    expect(await get('/healthy')).toMatch(/^HTTP\/1\.1 200 /);
    expect(await get('/ready')).toMatch(/^HTTP\/1\.1 503 .*NOK: no leader yet\n$/s);
    expect(await get('/started')).toMatch(/^HTTP\/1\.1 503 .*NOK: it starts\n$/s);
    expect(await get('/leader')).toMatch(/^HTTP\/1\.1 503 .*NOK: node-2 leads\n$/s);
    expect(await get('/')).toMatch(/^HTTP\/1\.1 503 .*SYNCHRONIZING\n$/s);
  });

  test.each([
    ['/healthy', 200],
    ['/started', 200],
    ['/leader', 200],
    ['/ready', 503],
  ])('tells all that it looked at for %s?verbose', async (path, status) => {
    const ready = [
      ...WELL,
      { name: 'leader', problem: 'no leader for 4.2 s' },
      { name: 'lag', problem: 'late' },
    ];
    await serve({ ready: () => ready });
    for (const query of ['verbose', 'verbose=1', 'x=y&verbose']) {
      const text = await get(`${path}?${query}`);
      expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} .*application/json`, 's'));
      const wanted =
        status === 200
          ? { ok: true, reason: null, checks: [{ name: 'all', ok: true, reason: null }] }
          : {
              ok: false,
              reason: 'no leader for 4.2 s',
              checks: [
                { name: 'all', ok: true, reason: null },
                { name: 'leader', ok: false, reason: 'no leader for 4.2 s' },
                { name: 'lag', ok: false, reason: 'late' },
              ],
            };
      expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n')))).toEqual(wanted);
    }
  });

  test.each(['/ready?x', '/ready?', '/ready?verbosely=1', '/?%00', '/status?pretty', '/metrics?verbose'])(
    '%s is the same as without its query',
    async (path) => {
      await serve();
      const bare = path.slice(0, path.indexOf('?'));
      const body = (text: string): string => text.slice(text.indexOf('\r\n\r\n'));
      expect(body(await get(path))).toBe(body(await get(bare)));
      expect(await statusOf(path)).toBe('200');
    },
  );

  test.each([
    '/x',
    '/x?verbose',
    '/Ready',
    '/ready/',
    '//ready',
    '/%72eady',
    '/../ready',
    '/healthy%00',
    '*',
  ])('there is no %s', async (path) => {
    await serve();
    expect(['400', '404']).toContain(await statusOf(path));
  });

  test('answers probes while silent connections take all places', async () => {
    await serve();
    const silent: RawConnection[] = [];
    for (const address of ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5'])
      for (let i = 0; i < 70; i++) silent.push(await RawConnection.open(port, '127.0.0.1', address));
    expect(await statusOf('/healthy')).toBe('200');
    expect(await statusOf('/ready')).toBe('200');
    for (const connection of silent) connection.close();
  });

  test('does not answer for a name that is not its own', async () => {
    await serve({}, (host) => host === 'test');
    expect(await statusOf('/metrics')).toBe('200');
    expect((await exchange('GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n')).slice(9, 12)).toBe('421');
  });

  test.each(['POST', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'])('%s is not allowed', async (method) => {
    await serve();
    expect(await statusOf('/ready', method)).toBe('405');
  });

  test('answers each connection once, whatever follows', async () => {
    await serve();
    const text = 'GET /ready HTTP/1.1\r\nHost: test\r\n\r\n'.repeat(100);
    expect((await exchange(text)).match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(await statusOf('/ready')).toBe('200');
  });

  test('takes an order to end what runs, with the credentials that come with it', async () => {
    const asked: unknown[] = [];
    const outcomes = ['told', 'unauthorized', 'not_running', 'stale'] as const;
    await serve({
      cancel: (run, authorization) => {
        asked.push([run, authorization]);
        return outcomes[asked.length - 1] ?? 'told';
      },
    });
    const order = (path: string): Promise<string> =>
      exchange(`POST ${path} HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer key\r\n\r\n`);
    expect(await order('/cancel/7')).toMatch(/^HTTP\/1\.1 200 .*OK: it ends/s);
    expect(await order('/cancel/8')).toMatch(/^HTTP\/1\.1 401 .*WWW-Authenticate: Bearer/s);
    expect((await order('/cancel/9')).slice(9, 12)).toBe('404');
    expect((await order('/cancel/9')).slice(9, 12)).toBe('503');
    expect(asked).toEqual([7, 8, 9, 9].map((run) => [run, 'Bearer key']));
    expect(await get('/cancel/7')).toMatch(/^HTTP\/1\.1 405 .*Allow: POST/s);
    for (const run of ['x', '', '1e3', '12345678901', '%31'])
      expect((await order(`/cancel/${run}`)).slice(9, 12)).toBe('200');
    // None of these names a run, and the one that answers says so, after it has seen who asks.
    expect(asked.slice(4)).toEqual(Array(5).fill([Number.NaN, 'Bearer key']));
  });

  test.each([
    ['zeros', '\0\0\0\0\r\n\r\n'],
    ['a TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
    ['an unknown method', 'FOO / HTTP/1.1\r\n\r\n'],
    ['an endless line', 'x'.repeat(100_000)],
    ['endless headers', `GET / HTTP/1.1\r\nHost: test\r\n${'X: y\r\n'.repeat(10_000)}`],
    ['two lengths', 'GET / HTTP/1.1\r\nHost: t\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
    [
      'a length and chunks',
      'GET / HTTP/1.1\r\nHost: t\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
    ],
  ])('closes at %s, and goes on', async (_what, text) => {
    await serve();
    expect(await exchange(text)).not.toContain('200 OK');
    expect(await statusOf('/ready')).toBe('200');
  });
});
