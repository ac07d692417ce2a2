/**
 * Clusters of real nodes that are made as ThingsDB's are: one with `--init`, others that wait with a secret for
 * `new_node()`; all on one machine, under one name, with nothing about a cluster in their settings.
 */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { freePorts, RealNode, type TestSettings, until } from '../testing/index.js';

let nodes: RealNode[] = [];

afterEach(async () => {
  for (const node of nodes) {
    await node.kill();
    node.clear();
  }
  nodes = [];
});

test('a one-time secret brings a waiting node in; it can give its data up, and get them again', async () => {
  const [firstPort = 0, secondPort = 0, thirdPort = 0] = await freePorts(3);
  const first = await launched(firstPort, ['--init']);
  const second = await launched(secondPort, ['--secret', 'x']);
  const third = await launched(thirdPort, ['--secret', 'quite-another-secret']);
  await first.whenReady();
  await first.login();
  await first.value('//stuff', '.x = 1;');
  const invite = (secret: string, port: number): Promise<unknown> =>
    first.value('/t', 'new_node(secret, "127.0.0.1", port);', { secret, port });

  expect(await invite('x', secondPort)).toBe(1);
  await second.whenReady();
  second.authorization = first.authorization;
  expect(await second.value('//stuff', '.x += 1;')).toBe(2);
  expect(secretOf(second)).toBe(secretOf(first));
  expect(statSync(join(second.folder, 'data', 'secret')).mode & 0o777).toBe(0o600);

  // With a wrong secret a node is not told that of the cluster, and goes on waiting.
  expect(await invite('x', thirdPort)).toBe(2);
  // On a busy machine the second node may lead by now, and ask the third.
  const members = [first, second];
  await until(
    () => members.some(({ log }) => log.includes('does not come yet')),
    'the node that members says that the third does not come',
  );
  expect(existsSync(join(third.folder, 'data', 'secret'))).toBe(false);
  await first.value('/t', 'del_node(2);');
  expect(await invite('quite-another-secret', thirdPort)).toBe(3);
  await third.whenReady();
  await first.untilVoters([0, 1, 3]);

  await second.stop({ keep: true });
  const rebuilt = await launched(secondPort, ['--rebuild', '--yes'], second.folder);
  await rebuilt.whenReady();
  expect(existsSync(join(second.folder, 'data', 'removed'))).toBe(true);
  rebuilt.authorization = first.authorization;
  expect(await rebuilt.value('//stuff', '.x += 1;')).toBe(3);
  await first.untilVoters([0, 1, 3]);

  await rebuilt.kill();
  writeFileSync(join(second.folder, 'data', 'diverged'), 'its collection stuff\n');
  // Its first secret is of no use any more, and of no harm.
  const mended = await launched(secondPort, ['--secret', 'x', '--auto-rebuild'], second.folder);
  await mended.whenReady();
  expect(mended.log).toContain('--secret is ignored');
  mended.authorization = first.authorization;
  expect(await mended.value('//stuff', '.x += 1;')).toBe(4);
  for (const { log } of nodes) expect(log).not.toContain(secretOf(first));
});

async function launched(port: number, serveArgs: readonly string[], folder?: string): Promise<RealNode> {
  const settings: TestSettings = { listen_node_port: port, replace_after_ms: 1000, drain_delay_ms: 0 };
  const node = await RealNode.launch(settings, folder, [], serveArgs);
  nodes.push(node);
  return node;
}

function secretOf({ folder }: RealNode): string {
  return readFileSync(join(folder, 'data', 'secret'), 'utf8').trim();
}
