/** Credentials that are missing, wrong, old or tried by the thousand. */

import { basic, type RawConnection, RealNode, until } from '@althing/node/testing';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';

const ONE = '{"type":"query","code":"1;"}';

let node: RealNode;

const statusOf = async (authorization: string | null, path = '//stuff') =>
  (await node.post(path, ONE, { authorization })).status;

async function newToken(parameters = "'admin'"): Promise<string> {
  return String(await node.value('/t', `new_token(${parameters});`));
}

describe('wrong credentials', () => {
  beforeAll(async () => {
    node = await RealNode.start({ login_backoff_ms: 0, login_backoff_limit_ms: 0 });
    await node.value('/t', "new_user('poor'); new_user('gone');");
  });

  afterAll(() => node.stop());

  test('all get the same answer, byte for byte', async () => {
    const key = await newToken();
    const gone = await newToken("'gone'");
    const deleted = await newToken();
    await node.value('/t', `del_user('gone'); del_token('${deleted}');`);
    const headers: readonly (string | null)[] = [
      null,
      '',
      'Bearer',
      'Bearer x',
      `Bearer ${key}x`,
      `Bearer ${key.slice(0, 21)}`,
      `Bearer ${key.slice(0, 6)}...`,
      `Bearer ${key.slice(0, 21)}${key.endsWith('a') ? 'b' : 'a'}`,
      `Bearer ${key.toLowerCase() === key ? key.toUpperCase() : key.toLowerCase()}`,
      `Bearer  ${key}`,
      `Bearer ${deleted}`,
      `Bearer ${gone}`,
      `Bearer ${'aB3/'.repeat(5)}aa`,
      `Bearer ${'x'.repeat(2000)}`,
      `Basic ${key}`,
      'Basic !!!',
      basic('admin', 'wrong'),
      basic('admin', ''),
      basic('Admin', 'pass'),
      basic('ADMIN', 'pass'),
      basic('nobody', 'pass'),
      basic('poor', ''),
      basic('poor', 'pass'),
      basic('gone', 'pass'),
      basic('__proto__', 'x'),
      `Basic ${Buffer.from('admin').toString('base64')}`,
      `Basic ${Buffer.from([0xff, 0xfe, 58, 0xff]).toString('base64')}`,
      'Digest username="admin", response="x"',
      'Negotiate YII=',
    ];
    const bodies = new Set<string>();
    for (const authorization of headers) {
      const answer = await node.post('//stuff', ONE, { authorization });
      expect([authorization, answer.verdict]).toEqual([authorization, '401 -56']);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
      bodies.add(answer.text);
    }
    expect(bodies.size).toBe(1);
    expect(await statusOf(`Bearer ${key}`)).toBe(200);
  });

  test('a token of a megabyte is refused at once', async () => {
    const connection = await node.open();
    connection.send(node.text('//stuff', ONE, { authorization: `Bearer ${'x'.repeat(1_000_000)}` }));
    const answer = await connection.answer().catch(() => null);
    expect([undefined, 431]).toContain(answer?.status);
    connection.close();
  });

  test('a body is not kept for those who have none', async () => {
    const connection = await node.open();
    const size = 16_000_000;
    connection.send(
      `POST //stuff HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: ${size}\r\n\r\n`,
    );
    expect((await connection.answer())?.status).toBe(401);
    connection.close();
  });

  test('an unknown user takes as long as a wrong password', async () => {
    // In turns, and the shortest of each counts: what else the machine does lengthens some of them.
    const shortest = { admin: Infinity, nobody: Infinity, poor: Infinity };
    for (let i = 0; i < 8; i++) {
      for (const name of ['admin', 'nobody', 'poor'] as const) {
        const begun = performance.now();
        await statusOf(basic(name, `wrong${i}`));
        shortest[name] = Math.min(shortest[name], performance.now() - begun);
      }
    }
    expect(shortest.nobody).toBeGreaterThan(shortest.admin / 4);
    expect(shortest.nobody).toBeLessThan(shortest.admin * 4);
    expect(shortest.poor).toBeGreaterThan(shortest.admin / 4);
  });

  test('a token that expires stops to be good', async () => {
    const key = await newToken("'admin', datetime(now()).move('seconds', 1)");
    expect(await statusOf(`Bearer ${key}`)).toBe(200);
    await until(async () => (await statusOf(`Bearer ${key}`)) === 401, 'the token has expired');
  });

  test('credentials that are taken from a user are taken at once, on open connections too', async () => {
    await node.value('/t', "new_user('user'); set_password('user', 'first'); grant('//stuff', 'user', 1);");
    const key = await newToken("'user'");
    const connections: RawConnection[] = [];
    const ask = async (authorization: string) => {
      const connection = connections[0] ?? (await node.open());
      connections[0] = connection;
      connection.send(node.text('//stuff', ONE, { authorization }));
      return (await connection.answer())?.status;
    };
    expect(await ask(basic('user', 'first'))).toBe(200);
    expect(await ask(`Bearer ${key}`)).toBe(200);
    await node.value('/t', "set_password('user', 'second');");
    expect(await ask(basic('user', 'first'))).toBe(401);
    expect(await ask(basic('user', 'second'))).toBe(200);
    await node.value('/t', "rename_user('user', 'renamed');");
    expect(await ask(basic('user', 'second'))).toBe(401);
    expect(await ask(`Bearer ${key}`)).toBe(200);
    await node.value('/t', "revoke('//stuff', 'renamed', 1);");
    expect(await ask(`Bearer ${key}`)).toBe(403);
    await node.value('/t', `grant('//stuff', 'renamed', 1); del_token('${key}');`);
    expect(await ask(`Bearer ${key}`)).toBe(401);
    expect(await ask(basic('renamed', 'second'))).toBe(200);
    await node.value('/t', "set_password('renamed', nil);");
    expect(await ask(basic('renamed', 'second'))).toBe(401);
    await node.value('/t', "set_password('renamed', 'third');");
    expect(await ask(basic('renamed', 'third'))).toBe(200);
    await node.value('/t', "del_user('renamed');");
    expect(await ask(basic('renamed', 'third'))).toBe(401);
    connections[0]?.close();
  });

  test('a key is shown once, and passwords never', async () => {
    const key = await newToken();
    const shown = JSON.stringify(await node.value('/t', 'return users_info(), 9;'));
    expect(shown).toContain(key.slice(0, 6));
    expect(shown).not.toContain(key);
    const secret = 'Hidden-Password-1';
    await node.value('/t', `set_password('poor', '${secret}');`);
    await statusOf(basic('poor', secret));
    await statusOf(basic('poor', `${secret}x`));
    expect(node.log).not.toContain(secret);
    expect(node.log).not.toContain(key);
  });
});

describe('a thousand wrong passwords', () => {
  beforeAll(async () => {
    node = await RealNode.start({ login_backoff_ms: 100, login_backoff_limit_ms: 500 });
    await node.value('/t', "set_password('admin', 'right');");
  });

  afterAll(() => node.kill());

  const open: RawConnection[] = [];

  afterEach(() => {
    for (const connection of open.splice(0)) connection.close();
  });

  /** Sends wrong passwords on many connections; the statuses come when they come. */
  async function attack(count: number, address: string): Promise<Promise<number | undefined>[]> {
    const answers: Promise<number | undefined>[] = [];
    for (let i = 0; i < count; i++) {
      const connection = await node.open(address);
      open.push(connection);
      connection.send(node.text('//stuff', ONE, { authorization: basic('admin', `wrong${i}`) }));
      answers.push(connection.answer().then((answer) => answer?.status));
    }
    return answers;
  }

  test('are mostly put off, cost others nothing, and shut nobody out', async () => {
    expect(await statusOf(basic('admin', 'right'))).toBe(200);
    const answers = await attack(1000, '127.0.0.9');
    // Others go on meanwhile: with a token, with a password that is known, and with one that is not.
    const times: number[] = [];
    for (let i = 0; i < 50; i++) {
      const start = performance.now();
      expect(await statusOf(i % 2 === 0 ? node.authorization : basic('admin', 'right'))).toBe(200);
      times.push(performance.now() - start);
    }
    // A thousand checks one after the other take ten times as long.
    expect(Math.max(...times)).toBeLessThan(2000);
    await node.value('/t', "new_user('late'); set_password('late', 'right'); grant('//stuff', 'late', 1);");
    expect(await statusOf(basic('late', 'right'))).toBe(200);
    const statuses = await Promise.all(answers);
    const late = statuses.filter((status) => status === 429).length;
    expect(late).toBeGreaterThan(900);
    expect(statuses.filter((status) => status === 401).length).toBe(1000 - late);
    // Right credentials are taken from the attacker's address too, once the attack is over.
    const connection = await node.open('127.0.0.9');
    connection.send(node.text('//stuff', ONE, { authorization: basic('admin', 'right') }));
    expect((await connection.answer())?.status).toBe(200);
    connection.close();
  });

  test('passwords from many addresses are bounded by what the node can check', async () => {
    const answers: Promise<number | undefined>[] = [];
    for (let i = 1; i <= 60; i++) answers.push(...(await attack(1, `127.0.1.${i}`)));
    const start = performance.now();
    expect(await statusOf(node.authorization)).toBe(200);
    expect(performance.now() - start).toBeLessThan(2000);
    for (const status of await Promise.all(answers)) expect([401, 429]).toContain(status);
    expect(node.memory.nowMb).toBeLessThan(400);
  });

  test('passwords that wait for their answer do not hold up a stop', async () => {
    await attack(8, '127.0.0.8');
    const begun = performance.now();
    await node.stop();
    expect(performance.now() - begun).toBeLessThan(5000);
  });
});

describe('a fresh node', () => {
  test('refuses to listen to a network with a password that everybody knows', async () => {
    await expect(RealNode.start({ bind_client_addr: '0.0.0.0' })).rejects.toThrow(/admin_password/);
  });
});
