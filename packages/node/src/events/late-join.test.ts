/** A JOIN whose answer waits for a commit is decided anew by what has come meanwhile. */
import { ErrorCode } from '@althing/engine';
import { expect, test } from '@jest/globals';
import type { Reply } from '../groups/request.js';
import { MiniCluster } from '../testing/mini-cluster.js';
import type { Listener } from './listener.js';

test.each([
  ['the right to join', '/t', "revoke('//stuff', 'ann', JOIN);", ErrorCode.FORBIDDEN],
  ['the whitelist', '/t', "whitelist_add('ann', 'rooms', 'cellar');", ErrorCode.FORBIDDEN],
  ['the name of the room', 'stuff', ".r.set_name('cellar');", null],
  ['the room', 'stuff', ".del('r');", null],
])('a change of %s while the answer waits for a commit counts', async (_, scope, code, error) => {
  const cluster = await MiniCluster.begin(1);
  const node = cluster.node(1);
  const run = async (where: string, text: string): Promise<void> => {
    const reply = node.query(where, text);
    await cluster.pass(50);
    expect((await reply).ok).toBe(true);
  };
  await run('/t', "new_user('ann'); grant('//stuff', 'ann', JOIN|QUERY);");
  await run('stuff', ".r = room(); .r.set_name('hall');");
  const user = node.engine.root.usersByName.get('ann');
  if (user === undefined) throw new Error('there is no user ann');
  const pushed: number[] = [];
  const listener: Listener = { id: 1, userId: user.id, push: (type) => pushed.push(type), gap: () => {} };
  const told: Reply[] = [];

  cluster.commits = false;
  const changes = [node.query('stuff', '.x = 1;')];
  node.rooms.join(
    {
      scope: { kind: 'collection', name: 'stuff' },
      user,
      listener,
      rooms: ['hall'],
      client: { gone: false },
    },
    (reply) => told.push(reply),
  );
  await cluster.pass(10);
  changes.push(node.query(scope, code));
  await cluster.pass(10);
  expect(told).toEqual([]);
  cluster.commits = true;
  await cluster.pass(100);

  await Promise.all(changes);
  const [reply] = told;
  if (error !== null) expect(reply).toMatchObject({ ok: false, error: { code: error } });
  // One room was asked for, and it is not there any more.
  else expect(reply).toMatchObject({ ok: true, result: Uint8Array.of(0x91, 0xc0) });
  expect([told.length, pushed, node.rooms.listeners]).toEqual([1, [], 0]);
});
