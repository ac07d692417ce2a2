/** Sessions of users, at the nodes of a cluster. */
import { SocketClient } from '@althing/client';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type Answer,
  basic,
  FREE_PORT,
  RealCluster,
  type RealNode,
  type RequestOptions,
  unpacked,
  until,
} from '../../testing/index.js';

let cluster: RealCluster;

beforeAll(async () => {
  cluster = await RealCluster.start(3, {
    drain_delay_ms: 0,
    login_backoff_ms: 0,
    listen_client_port: FREE_PORT,
  });
  await newUser('ann');
});
afterAll(() => cluster.stop());

const PASSWORD = 'a good password';

/** A user who may only read one collection. */
async function newUser(name: string): Promise<void> {
  await cluster.node(1).value('/t', `new_user('${name}'); set_password('${name}', '${PASSWORD}');`);
  await cluster.node(1).value('/t', `grant('//stuff', '${name}', QUERY);`);
}

interface Session {
  readonly token: string;
  readonly user: string;
  readonly expires_at: number;
}

const ask = (
  node: RealNode,
  method: string,
  authorization: string | null,
  body = '',
  more: RequestOptions = {},
) => node.post('/@session', body, { method, authorization, ...more });

const bearer = (token: string): string => `Bearer ${token}`;

async function begin(node: RealNode, name = 'ann'): Promise<Session> {
  const answer = await ask(node, 'POST', basic(name, PASSWORD));
  if (answer.status !== 200) throw node.explained(answer.text);
  return sessionOf(answer);
}

function sessionOf({ json }: Answer): Session {
  if (typeof json !== 'object' || json === null) throw new Error('no session');
  const { token, user, expires_at }: { token?: unknown; user?: unknown; expires_at?: unknown } = json;
  return { token: String(token), user: String(user), expires_at: Number(expires_at) };
}

const statusAt = async (node: RealNode, token: string): Promise<number> =>
  (await node.query('//stuff', '1 + .len();', undefined, { authorization: bearer(token) })).status;

/** Waits until all nodes have heard that a session has ended. */
async function hasEnded(token: string): Promise<void> {
  for (const node of cluster.nodes) {
    await until(async () => (await statusAt(node, token)) === 401, 'the session has ended');
  }
}

describe('a session', () => {
  test('a session that a node began for a user without privileges on @thingsdb works at all, until one ends it', async () => {
    const [first, second, third] = [cluster.node(1), cluster.node(2), cluster.node(3)];
    const before = Math.floor(Date.now() / 1000);
    const session = await begin(first);
    expect(session).toMatchObject({ user: 'ann', token: expect.stringMatching(/^ses_[A-Za-z0-9+/]{22}$/) });
    expect(session.expires_at - before).toBeGreaterThanOrEqual(1800);
    expect(session.expires_at - Date.now() / 1000).toBeLessThanOrEqual(1800);
    for (const node of cluster.nodes) expect(await statusAt(node, session.token)).toBe(200);
    const { token } = session;
    expect(sessionOf(await ask(second, 'POST', bearer(token)))).toEqual(session);
    expect(
      (
        await third.query('//stuff', 'user_info().load().sessions.len();', undefined, {
          authorization: bearer(token),
        })
      ).json,
    ).toBe(1);

    const ended = await ask(third, 'DELETE', bearer(token));
    expect([ended.status, ended.text]).toEqual([200, 'null']);
    await hasEnded(token);
    const refused = await ask(first, 'POST', bearer(token));
    expect([refused.verdict, refused.headers.has('www-authenticate')]).toEqual(['401 -56', true]);
  });

  test('ends at all nodes with the password that it was begun with', async () => {
    await newUser('bob');
    const { token } = await begin(cluster.node(2), 'bob');
    expect(await statusAt(cluster.node(3), token)).toBe(200);
    await cluster.node(3).value('/t', "set_password('bob', 'another');");
    await hasEnded(token);
  });

  test('is begun with a token, too, and ends with that; each one counts by itself', async () => {
    const node = cluster.node(2);
    const key = String(await node.value('/t', "new_token('ann');"));
    const { token } = sessionOf(await ask(node, 'POST', bearer(key)));
    const other = await begin(node);
    expect(other.token).not.toBe(token);
    await cluster.node(1).value('/t', `del_token('${key}');`);
    await hasEnded(token);
    expect(await statusAt(node, other.token)).toBe(200);
    expect(await node.value('/t', "del_sessions('ann');")).toBe(1);
    await hasEnded(other.token);
  });

  test('can be asked for in MessagePack', async () => {
    const node = cluster.node(1);
    const more = { contentType: 'application/msgpack' };
    const answer = await node.post('/@session', Buffer.of(0x80), {
      authorization: basic('ann', PASSWORD),
      ...more,
    });
    expect(unpacked(answer.body)).toMatchObject({ user: 'ann' });
    const { token } = await begin(node);
    expect(unpacked((await ask(node, 'DELETE', bearer(token), '', more)).body)).toBeNull();
  });
});

describe('a read-only session', () => {
  const READ_ONLY = '{"read_only": true}';

  test('a read-only session of a user who may do everything changes nothing, at any node, and can be renewed and ended', async () => {
    await cluster.node(1).value('/t', `set_password('admin', '${PASSWORD}');`);
    const answer = await ask(cluster.node(1), 'POST', basic('admin', PASSWORD), READ_ONLY);
    const { token } = sessionOf(answer);
    const authorization = bearer(token);
    const lenient = { authorization, headers: { 'Althing-Read-Only': 'false' } };
    for (const node of cluster.nodes) {
      expect((await node.query('//stuff', '.len();', undefined, { authorization })).status).toBe(200);
      for (const options of [{ authorization }, lenient]) {
        expect((await node.query('//stuff', '.x = 1;', undefined, options)).verdict).toBe('403 -55');
        expect((await node.query('/t', "new_user('eve');", undefined, options)).verdict).toBe('403 -55');
      }
      expect((await node.query('/n', "set_log_level('error');", undefined, { authorization })).verdict).toBe(
        '403 -55',
      );
      expect((await node.post('/@export/stuff', '', { authorization })).verdict).toBe('403 -55');
    }
    expect((await ask(cluster.node(2), 'POST', authorization)).status).toBe(200);
    expect((await ask(cluster.node(2), 'POST', authorization, '{"read_only": false}')).verdict).toBe(
      '400 -53',
    );
    expect((await ask(cluster.node(3), 'DELETE', authorization)).status).toBe(200);
  });

  test('over a socket changes nothing either', async () => {
    const body = Buffer.from('81a9726561645f6f6e6c79c3', 'hex');
    const contentType = 'application/msgpack';
    const answer = await cluster
      .node(1)
      .post('/@session', body, { authorization: basic('admin', PASSWORD), contentType });
    const session = unpacked(answer.body);
    if (typeof session !== 'object' || session === null || !('token' in session))
      throw new Error('no session');
    const { token } = session;
    const socket = await SocketClient.connect({ host: '127.0.0.1', port: cluster.node(2).nativePort });
    try {
      await socket.login(String(token));
      await expect(socket.query('//stuff', '.x = 1;')).rejects.toMatchObject({ code: -55 });
      await expect(socket.query('//stuff', '1;', null, { readOnly: false })).resolves.toBe(1n);
      await expect(socket.query('//stuff', '.x = 1;', null, { readOnly: false })).rejects.toMatchObject({
        code: -55,
      });
    } finally {
      socket.close();
    }
  });
});

describe('a request that is none for a session', () => {
  const wrong = (authorization: string | null, method = 'POST', body = '', more: RequestOptions = {}) =>
    ask(cluster.node(3), method, authorization, body, more);

  test.each(['{"a": 1}', '{"read_only": 1}', '[]', 'null', '{', '{}{}', `{${' '.repeat(2000)}}`])(
    'the body %.20s is refused',
    async (body) => {
      expect((await wrong(basic('ann', PASSWORD), 'POST', body)).verdict).toBe('400 -53');
    },
  );

  test('has the status that other requests would have', async () => {
    expect((await wrong(null)).verdict).toBe('401 -56');
    expect((await wrong(basic('ann', 'wrong'))).verdict).toBe('401 -56');
    expect((await wrong(bearer('ses_AAAAAAAAAAAAAAAAAAAAAA'))).verdict).toBe('401 -56');
    expect((await wrong(basic('ann', PASSWORD), 'DELETE')).verdict).toBe('400 -53');
    expect((await wrong(basic('ann', PASSWORD), 'POST', 'x', { contentType: 'text/plain' })).verdict).toBe(
      '415 -53',
    );
    expect((await wrong(basic('ann', PASSWORD), 'PUT')).verdict).toBe('405 -53');
    expect(
      (await cluster.node(1).post('/@session?x', '', { authorization: basic('ann', PASSWORD) })).verdict,
    ).toBe('404 -54');
  });
});

test('more sessions than one may have within a minute are put off, and none before is lost', async () => {
  await newUser('wild');
  const sessions: Session[] = [];
  for (let i = 0; i < 20; i++) sessions.push(await begin(cluster.node(1 + (i % 3)), 'wild'));
  const refused = await ask(cluster.node(2), 'POST', basic('wild', PASSWORD));
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
  for (const { token } of sessions) expect(await statusAt(cluster.node(3), token)).toBe(200);
});
