/** Files that nodes leave on their disks hold no secrets, however the requests were named that made them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { RealCluster, type RealNode } from '../testing/index.js';

let cluster: RealCluster;
/** Texts that must not be found anywhere. */
const secrets: string[] = [];

beforeAll(async () => {
  cluster = await RealCluster.start(3, {
    audit_log_file: 'audit.log',
    log_level: 'debug',
    slow_request_ms: 1,
    // A leader that is lost midway leaves a token whose answer nobody has: that is told, and not what is
    // looked for here.
    election_timeout_ms: 1000,
    heartbeat_ms: 50,
  });
});
afterAll(async () => {
  await cluster.discard();
});

test('neither tokens nor passwords are in the files of any node, nor in its logs', async () => {
  // Given tokens and passwords that were made at each node, with a name of the request and without
  for (const [at, node] of cluster.nodes.entries()) {
    secrets.push(node.authorization.slice('Bearer '.length));
    const names: Record<string, string>[] = [
      {},
      { 'Idempotency-Key': `secret-${at}` },
      { 'Althing-Request': `c${at}.1.1` },
    ];
    for (const [way, headers] of names.entries()) {
      const made = await node.query('/t', `new_token('admin', nil, 'of ${at} ${way}');`, undefined, {
        headers,
      });
      expect(made.status).toBe(200);
      secrets.push(String(made.json));
      const password = `Pass-Word-${at}-${way}-0815`;
      secrets.push(password);
      const name = `user${at}${way}`;
      expect((await node.query('/t', `new_user('${name}');`)).status).toBe(200);
      const named =
        way === 2 ? { 'Althing-Request': `c${at}.2.1` } : way === 1 ? { 'Idempotency-Key': `pw-${at}` } : {};
      const set = `set_password('${name}', '${password}');`;
      expect((await node.query('/t', set, undefined, { headers: named })).status).toBe(200);
      expect((await node.query('/t', `set_password('${name}', '${password}'`)).status).toBe(400);
    }
  }
  expect(new Set(secrets).size).toBeGreaterThan(18);

  // When a repetition comes, and a backup is taken, and the nodes write their states and end
  const again = await cluster.node(2).query('/t', "new_token('admin', nil, 'of 0 2');", undefined, {
    headers: { 'Althing-Request': 'c0.1.1' },
  });
  const backup = await cluster.node(3).post('/@backup', '');
  expect(backup.status).toBe(200);
  const live = cluster.nodes.flatMap((node) => found(node));
  await Promise.all(cluster.nodes.map((node) => node.stop({ keep: true })));

  // Then none of it is anywhere, while the nodes ran or after
  expect(live).toEqual([]);
  expect(cluster.nodes.flatMap((node) => found(node))).toEqual([]);
  expect(secrets.filter((secret) => backup.body.includes(secret))).toEqual([]);

  // And the repetition tells what to do about the token that it can't tell
  expect(again.status).toBe(500);
  expect(again.error).toMatchObject({ outcome: 'made', message: expect.stringContaining('del_token(') });
});

/** Where a node left a secret. */
function found(node: RealNode): string[] {
  const names = readdirSync(node.folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  expect(names.some((name) => name.includes('/log/'))).toBe(true);
  const texts = new Map<string, Buffer>([['its log', Buffer.from(node.log)]]);
  for (const name of names) {
    try {
      texts.set(name, readFileSync(name));
    } catch {
      // It was removed meanwhile.
    }
  }
  return secrets.flatMap((secret) =>
    [...texts].filter(([, text]) => text.includes(secret)).map(([name]) => `${secret} is in ${name}`),
  );
}
