/** `$login`: a session in the place of a password. */
import { afterEach, describe, expect, test } from '@jest/globals';
import { AuthErr, type ConnectOptions, connect, type Database } from '../index.js';
import {
  type Answering,
  type Asked,
  FakeNode,
  failure,
  hangUp,
  inTurn,
  value,
} from '../testing/fake-node.js';
import { wireMap } from '../wire/value.js';

const PASSWORD = 'a-very-secret-password';
const nodes: FakeNode[] = [];
const databases: Database[] = [];

afterEach(async () => {
  await Promise.all(databases.splice(0).map((db) => db.$close()));
  await Promise.all(nodes.splice(0).map((node) => node.stop()));
});

function session(token: string): Answering {
  const expiresAt = BigInt(Math.floor(Date.now() / 1000) + 1800);
  return value(wireMap({ token, user: 'ann', expires_at: expiresAt }));
}

/** A node whose sessions are answered so, one after the other, and whose queries with 1. */
async function started(...sessions: readonly Answering[]): Promise<FakeNode> {
  const ofSessions = inTurn(...sessions);
  const node = await FakeNode.start((response, asked) => {
    if (asked.path !== '/@session') value(1n)(response, asked);
    else if (asked.method === 'DELETE') value(null)(response, asked);
    else ofSessions(response, asked);
  });
  nodes.push(node);
  return node;
}

function connected(url: string, options: ConnectOptions = {}): Database {
  const db = connect(url, options);
  databases.push(db);
  return db;
}

const told = ({ method, path, headers }: Asked): string => `${method} ${path} ${headers.authorization}`;
const BASIC = `Basic ${Buffer.from(`ann:${PASSWORD}`).toString('base64')}`;

describe('$login', () => {
  test('exchanges a password for a session, asks with that, and ends it on $close', async () => {
    const node = await started(session('ses_1'));
    const db = connected(node.url);
    const { token, user, expiresAt } = await db.$login('ann', PASSWORD);
    expect([token, user]).toEqual(['ses_1', 'ann']);
    expect(expiresAt.getTime()).toBeGreaterThan(Date.now());
    await db.$root.query('1');
    await db.$with({ timeoutMs: 5000 }).$root.query('1');
    await db.$close();
    await db.$close();
    expect(node.asked.map(told)).toEqual([
      `POST /@session ${BASIC}`,
      'POST /thingsdb Bearer ses_1',
      'POST /thingsdb Bearer ses_1',
      'DELETE /@session Bearer ses_1',
    ]);
    expect(node.asked.map(({ body }) => body)[0]).toEqual(wireMap({}));
    await expect(db.$login('ann', PASSWORD)).rejects.toMatchObject({
      name: 'AbortError',
      outcome: 'not_sent',
    });
  });

  test('exchanges a token, too, and goes on with the session of one', async () => {
    const node = await started(session('ses_1'), session('ses_1'));
    const db = connected(node.url);
    await db.$login({ token: 'a-token' });
    await db.$login({ token: 'ses_1' });
    await db.$close();
    expect(node.asked.map(told)).toEqual([
      'POST /@session Bearer a-token',
      'POST /@session Bearer ses_1',
      'DELETE /@session Bearer ses_1',
    ]);
    await expect(connected(node.url).$login({ token: 'with blanks' })).rejects.toThrow(TypeError);
  });

  test('takes the place of another token; one that is to stay is not ended', async () => {
    const node = await started(session('ses_1'), session('ses_2'));
    const db = connected(node.url, { token: 'a-token' });
    await db.$root.query('1');
    await db.$login('ann', PASSWORD, { readOnly: true });
    await db.$login('ann', PASSWORD, { endsOnClose: false });
    await db.$root.query('1');
    await db.$close();
    const asked = node.asked.filter(({ method }) => method === 'POST');
    expect(asked.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer a-token',
      BASIC,
      BASIC,
      'Bearer ses_2',
    ]);
    expect(asked[1]?.body).toEqual(wireMap({ read_only: true }));
    const ended = node.asked.filter(({ method }) => method === 'DELETE').map(told);
    expect(ended).toEqual(['DELETE /@session Bearer ses_1']);
  });

  test('fails for a wrong password, which shows nowhere, and leaves the login as it was', async () => {
    const node = await started(failure(401, -56, 'none', { message: `wrong: ${PASSWORD}` }));
    const db = connected(node.url, { token: 'a-token' });
    const error: unknown = await db.$login('ann', PASSWORD).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(AuthErr);
    expect(String(error)).toContain('wrong: ***');
    await db.$root.query('1');
    expect(node.asked.map(({ headers }) => headers.authorization)).toEqual([BASIC, 'Bearer a-token']);
  });

  test('is repeated when a connection is lost, and goes to another node when one is not there', async () => {
    const node = await started(hangUp, session('ses_1'));
    const gone = await started(session('ses_0'));
    await gone.stop();
    const db = connected(`${gone.url},${node.url}`);
    expect((await db.$login('ann', PASSWORD)).token).toBe('ses_1');
  });

  test('fails for an answer that is no session', async () => {
    const node = await started(value(wireMap({ token: 1n })));
    const db = connected(node.url);
    await expect(db.$login('ann', PASSWORD)).rejects.toMatchObject({ name: 'ProtocolError' });
  });
});
