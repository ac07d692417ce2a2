/** The audit log of real nodes. */
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { basic, RealCluster, RealNode, until } from '../testing/index.js';

type Line = Readonly<Record<string, unknown>>;

function linesOf(text: string): Line[] {
  const lines = text.split('\n').filter((line) => line.startsWith('{') && line.endsWith('}'));
  return lines.map((line) => JSON.parse(line) as Line);
}

const audited = (node: RealNode): Line[] => linesOf(node.log).filter(({ audit }) => audit === true);

const named = (id: string) => ({ headers: { 'X-Request-Id': id } });

/** The lines about a request, from whichever node wrote them. */
async function about(nodes: readonly RealNode[], id: string, count = 1): Promise<Line[]> {
  const found = (): Line[] => nodes.flatMap(audited).filter(({ request }) => request === id);
  await until(() => found().length >= count, `there are lines about ${id}`);
  return found();
}

describe('a cluster', () => {
  let cluster: RealCluster;
  let nodes: readonly RealNode[];

  beforeAll(async () => {
    cluster = await RealCluster.start(3, { drain_delay_ms: 0, log_level: 'critical' });
    ({ nodes } = cluster);
  });

  // One of them was removed in the end.
  afterAll(() => cluster.discard());

  test('tells who changed users and privileges, by which request, wherever it came in', async () => {
    const code = `
      new_user('iris'); set_password('iris', 'very secret'); grant('//stuff', 'iris', QUERY|CHANGE);
      rename_user('iris', 'ivy'); revoke('//stuff', 'ivy', CHANGE); new_token('ivy', nil, 'secret words');`;
    for (const [i, node] of nodes.entries()) {
      let key = '';
      let lines: Line[] = [];
      // A leader that is lost midway has told of what came to nothing, besides the one that did it after all.
      for (let attempt = 1; lines.length !== 6; attempt++) {
        expect(attempt).toBeLessThan(4);
        if (attempt > 1) await node.value('/t', "del_user('ivy');");
        const id = `users-${i}-${attempt}`;
        const answer = await node.query('/t', code, undefined, named(id));
        expect([answer.status, answer.headers.get('x-request-id')]).toEqual([200, id]);
        key = String(answer.json);
        lines = await about(nodes, id, 6);
      }
      const told = lines.map(({ event, name, to, scope, privileges, token }) =>
        [event, name, to, scope, privileges, token].filter((field) => field !== undefined).join(' '),
      );
      expect(told).toEqual([
        'user_made iris',
        'password_set iris',
        'access_set iris @collection:stuff QUERY|CHANGE',
        'user_renamed iris ivy',
        'access_set ivy @collection:stuff QUERY',
        `token_made ivy ${key.slice(0, 6)}...`,
      ]);
      expect(new Set(lines.map(({ by, outcome }) => `${by} ${outcome}`))).toEqual(new Set(['admin ok']));
      await node.value('/t', "del_user('ivy');");
      for (const { log } of nodes) for (const word of ['secret', key]) expect(log).not.toContain(word);
    }
  });

  test('tells nothing of what was taken back, or only read', async () => {
    const [node] = nodes as [RealNode];
    expect((await node.query('/t', "new_user('x'); 1/0;", undefined, named('failed'))).status).toBe(422);
    expect((await node.query('/t', 'users_info();', undefined, named('read'))).status).toBe(200);
    await node.query('/t', "new_collection('after');", undefined, named('after'));
    await about(nodes, 'after');
    const ids = nodes.flatMap(audited).map(({ request }) => request);
    expect([ids.includes('failed'), ids.includes('read')]).toEqual([false, false]);
  });

  test('tells of logins: failed ones, passwords when they are checked, tokens when they are new', async () => {
    const [, node] = nodes as [RealNode, RealNode];
    for (const password of ['wrong', 'pass', 'pass']) {
      await node.query('/n', '1;', undefined, { authorization: basic('admin', password) });
    }
    await node.query('/n', '1;', undefined, { authorization: `Bearer ${'x'.repeat(22)}` });
    const told = (): Line[] => audited(node).filter(({ event }) => event === 'login');
    await until(() => told().length === 4, 'all logins are told');
    const logins = told();
    const address = expect.stringMatching(/^127\.0\.0\.1$|^::ffff:/);
    const rest = { address, node: '127.0.0.2', audit: true, transport: 'http' };
    expect(logins).toEqual([
      expect.objectContaining({ ...rest, method: 'token', outcome: 'ok', user: 'admin' }),
      expect.objectContaining({ ...rest, method: 'password', outcome: 'failed', user: 'admin' }),
      expect.objectContaining({ ...rest, method: 'password', outcome: 'ok', user: 'admin' }),
      expect.objectContaining({ ...rest, method: 'token', outcome: 'failed', user: null }),
    ]);
    expect(node.log).not.toContain('wrong');
  });

  test('tells of backups, restores, nodes that are invited and removed', async () => {
    const [node] = nodes as [RealNode];
    await node.post('/@backup', '', named('save'));
    await node.post('/@restore', 'x', named('put-back'));
    expect(await about(nodes, 'save')).toMatchObject([{ event: 'backup', by: 'admin', outcome: 'ok' }]);
    expect(await about(nodes, 'put-back')).toMatchObject([
      { event: 'restore', by: 'admin', outcome: 'failed' },
    ]);
    await node.query('/t', 'remove_node(2);', undefined, named('leave'));
    // A leader that is lost midway has told of it, too.
    for (const line of await about(nodes, 'leave')) {
      expect(line).toMatchObject({ event: 'node_leaving', node: 2, by: 'admin' });
    }
    await until(() => nodes.flatMap(audited).some(({ event }) => event === 'node_removed'), 'it is removed');
  });
});

describe('a node', () => {
  test('writes its audit log into a file, and opens it anew on SIGHUP', async () => {
    const node = await RealNode.start({ audit_log_file: 'audit.log' });
    const path = join(node.folder, 'audit.log');
    const lines = (file: string): Line[] => linesOf(readFileSync(file, 'utf8'));
    await node.query('/t', "new_user('before');", undefined, named('r-1'));
    expect(lines(path).at(-1)).toMatchObject({
      event: 'user_made',
      name: 'before',
      request: 'r-1',
      by: 'admin',
    });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(audited(node)).toEqual([]);

    renameSync(path, `${path}.1`);
    node.signal('SIGHUP');
    await until(() => existsSync(path), 'there is a new file');
    await node.query('/t', "new_user('behind');");
    expect(lines(path)).toMatchObject([{ event: 'user_made', name: 'behind' }]);
    expect(lines(`${path}.1`).filter(({ name }) => name === 'behind')).toEqual([]);
    await node.stop();
  });

  test('opens it anew on SIGHUP also where the configuration is wrong meanwhile, which the log tells', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'althing-test-')), 'althing.conf');
    writeFileSync(file, 'max_users = 10\n');
    const node = await RealNode.launch({ audit_log_file: 'audit.log' }, undefined, [], ['--config', file]);
    await node.whenReady();
    const path = join(node.folder, 'audit.log');
    renameSync(path, `${path}.1`);
    writeFileSync(file, 'max_users = many\n');
    node.signal('SIGHUP');
    await until(() => existsSync(path), 'there is a new file');
    const refused = (): unknown[] => linesOf(node.log).filter(({ event }) => event === 'settings_refused');
    await until(() => refused().length > 0, 'the log tells it');
    expect(refused()).toMatchObject([{ error: expect.stringContaining('max_users') }]);
    await node.stop();
    rmSync(dirname(file), { recursive: true });
  });

  test('does not start when it can not write that file', async () => {
    const node = await RealNode.launch({ audit_log_file: '/no/such/folder/audit.log' });
    expect(await node.ended()).toBe(2);
    expect(node.log).toContain('audit_log_file');
    node.clear();
  });

  test('tells of slow requests, and not what they said', async () => {
    const node = await RealNode.start({ slow_request_ms: 20 });
    const slow = "x = 'hidden'; range(100000).map(|i| range(3).map(|j| str(i * j))); nil;";
    await node.query('//stuff', slow, undefined, named('slow-1'));
    // Others may be slow, too, on a busy machine.
    const slowOnes = () =>
      linesOf(node.log).filter(({ event, request }) => event === 'slow_request' && request === 'slow-1');
    await until(() => slowOnes().length > 0, 'it is told');
    const lines = slowOnes();
    expect(lines).toMatchObject([
      {
        request: 'slow-1',
        user: 'admin',
        scope: '@collection:stuff',
        characters: slow.length,
        head: 'x =...',
        things_read: 0,
        level: 'warn',
      },
    ]);
    expect(lines[0]).toMatchObject({ hash: expect.stringMatching(/^[0-9a-f]{12}$/) });
    expect(Number(lines[0]?.ran_ms)).toBeGreaterThan(20);
    expect(node.log).not.toContain('hidden');
    await node.stop();
  });
});
