/**
 * Real nodes that join, leave, and take each other's place.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { ExitCode } from '../config/index.js';
import { freePorts, RealNode, type TestSettings, until } from '../testing/index.js';

const SECRET = 'what-all-of-these-nodes-know';

let nodes: RealNode[] = [];

afterEach(async () => {
  for (const node of nodes) {
    await node.kill();
    node.clear();
  }
  nodes = [];
});

describe('a cluster', () => {
  test('grows by invitations, and shrinks to its last node; whoever leads may go', async () => {
    const ports = await freePorts(3);
    const settings = ports.map((port, i) => settingsOf(i + 1, port));
    const first = await started(settings[0]);
    const second = await launched({ ...settings[1], wait_for_invitation: 'true' });
    const third = await launched({ ...settings[2], wait_for_invitation: 'true' });
    await first.value('//stuff', '.x = 1;');

    const number = await first.value('/t', 'new_node(secret, host, port);', {
      secret: SECRET,
      host: '127.0.0.2',
      port: ports[1],
    });
    expect(number).toBe(1);
    await second.whenReady();
    await first.value('/t', `new_node('${SECRET}', '127.0.0.3', ${ports[2]});`);
    await third.whenReady();
    second.authorization = first.authorization;
    third.authorization = first.authorization;
    await first.untilVoters([0, 1, 2]);
    await until(async () => {
      const statuses = await first.value('/n', 'nodes_info().map(|n| n.load().status);');
      return String(statuses) === 'READY,READY,READY';
    }, 'the first node knows that all are ready');
    expect(await third.value('//stuff', '.x += 1;')).toBe(2);

    await second.value('/t', 'remove_node(0);');
    await until(async () => (await first.probe('/ready')).status === 503, 'it turns requests away first');
    expect(await first.ended()).toBe(ExitCode.DataDamaged);
    await second.untilVoters([1, 2]);
    expect(await second.value('//stuff', '.x += 1;')).toBe(3);

    await third.value('/t', 'remove_node(1);');
    expect(await second.ended()).toBe(ExitCode.DataDamaged);
    await third.untilVoters([2]);
    expect(await third.value('//stuff', '.x += 1;')).toBe(4);
    const refused = await third.query('/t', 'remove_node(2);');
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('the last node')]);
  });

  test('goes on with one of two nodes while the other one is stopped in good order', async () => {
    const ports = await freePorts(2);
    const cluster = ports.map((port, i) => `127.0.0.${i + 1}:${port}`).join(',');
    const settings = ports.map((port, i) => ({ ...settingsOf(i + 1, port), cluster, drain_delay_ms: 0 }));
    const [first, second] = (await Promise.all(settings.map((own) => launched(own)))) as [RealNode, RealNode];
    await Promise.all([first, second].map((node) => node.whenReady()));
    await first.login();
    await first.value('/t', "new_collection('other');");
    await first.untilVoters([0, 1]);

    // Whichever leads, the other one goes on, with all collections and new ones.
    await second.stop({ keep: true });
    expect(await first.value('//stuff', '.x = 1;')).toBe(1);
    expect(await first.value('//other', '.x = 1;')).toBe(1);
    expect(await first.value('/t', "new_collection('later');")).toBe('later');
    await until(async () => {
      const statuses = await first.value('/n', 'nodes_info().map(|n| n.load().status);');
      return String(statuses) === 'READY,OFFLINE';
    }, 'the first one says that the other one is not there');

    const back = await launchedIn(second, settings[1]);
    await back.whenReady();
    back.authorization = first.authorization;
    await back.untilVoters([0, 1]);
    await first.stop({ keep: true });
    for (const name of ['stuff', 'other', 'later']) expect(await back.value(`//${name}`, '.y = 2;')).toBe(2);

    const again = await launchedIn(first, settings[0]);
    await again.whenReady();
    again.authorization = first.authorization;
    await again.untilVoters([0, 1]);
    expect(await again.value('//stuff', '[.x, .y];')).toEqual([1, 2]);
  });

  test('replaces a node that lost its data; what was lost finds no way back', async () => {
    const { settings, first, third } = await threeNodes({ replace_after_ms: 1000 });
    await first.value('//stuff', '.x = 1;');

    await third.kill();
    const replacement = await launched(settings[2]);
    await replacement.whenReady();
    replacement.authorization = first.authorization;
    // A ready node counts in full, so that the next node may be restarted.
    const voters = await replacement.value('/n', 'groups_info().map(|g| g.load().voters.has(2));');
    expect(new Set(voters as boolean[])).toEqual(new Set([true]));
    await first.untilVoters([0, 1, 2]);
    expect(await replacement.value('/n', 'node_info().load().node_id;')).toBe(2);
    expect(await replacement.value('//stuff', '.x;')).toBe(1);

    await replacement.kill();
    const zombie = await RealNode.launch(settings[2], third.folder);
    nodes.push(zombie);
    expect(await zombie.ended()).toBe(ExitCode.DataDamaged);
    expect(await first.value('//stuff', '.x += 1;')).toBe(2);
  });

  test('tells a node that was removed so whenever it comes back, and takes it in again, as a new member, if it is told to ask', async () => {
    const { settings, first, second, third } = await threeNodes();
    const asking = { ...settings[2], rejoin_when_removed: 'true' };
    await first.value('//stuff', '.x = 1;');
    await third.kill();
    await first.value('/t', 'remove_node(2);');
    await first.untilVoters([0, 1]);
    await Promise.all([first.stop({ keep: true }), second.kill()]);

    // It begins to serve before anybody could tell it.
    const early = await launchedIn(third, asking);
    const isStarted = async (): Promise<boolean> =>
      (await early.probe('/started').catch(() => null))?.status === 200;
    await until(isStarted, 'it serves what needs no others');
    const again = await Promise.all([launchedIn(first, settings[0]), launchedIn(second, settings[1])]);
    expect(await early.ended()).toBe(ExitCode.Fatal);
    for (const node of again) {
      await node.whenReady();
      node.authorization = first.authorization;
    }

    const refused = await launchedIn(third, settings[2]);
    expect(await refused.ended()).toBe(ExitCode.DataDamaged);
    expect(readdirSync(join(third.folder, 'data'))).not.toContain('removed');

    const rejoined = await launchedIn(third, asking);
    await rejoined.whenReady();
    rejoined.authorization = first.authorization;
    const number = Number(await rejoined.value('/n', 'node_info().load().node_id;'));
    expect(number).toBeGreaterThan(2);
    await again[0].untilVoters([0, 1, number]);
    expect(await rejoined.value('//stuff', '.x += 1;')).toBe(2);
    const [kept = ''] = readdirSync(join(third.folder, 'data', 'removed'));
    expect(readdirSync(join(third.folder, 'data', 'removed', kept)).sort()).toEqual([
      'cluster',
      'log',
      'state',
    ]);
    expect(rejoined.log).toContain(kept);

    // An operator who removes a node that serves wants it gone, though something may start it again at once.
    await again[0].value('/t', 'remove_node(number);', { number });
    expect(await rejoined.ended()).toBe(ExitCode.DataDamaged);
    const away = await launchedIn(third, asking);
    expect(await away.ended()).toBe(ExitCode.DataDamaged);
    expect(away.log).toContain('stays away until');
  });
});

function settingsOf(place: number, port: number): TestSettings {
  const name = `127.0.0.${place}`;
  return {
    node_name: name,
    bind_node_addr: name,
    listen_node_port: port,
    cluster_secret: SECRET,
    drain_delay_ms: 500,
  };
}

/** Three nodes that formed a cluster. */
async function threeNodes(more: TestSettings = {}) {
  const ports = await freePorts(3);
  const cluster = ports.map((port, i) => `127.0.0.${i + 1}:${port}`).join(',');
  const settings = ports.map((port, i) => ({ ...settingsOf(i + 1, port), cluster, ...more }));
  const [first, second, third] = await Promise.all(settings.map((own) => launched(own)));
  if (first === undefined || second === undefined || third === undefined) throw new Error('three nodes');
  await Promise.all([first, second, third].map((node) => node.whenReady()));
  await first.login();
  return { settings, first, second, third };
}

async function launched(settings: TestSettings = {}): Promise<RealNode> {
  const node = await RealNode.launch(settings);
  nodes.push(node);
  return node;
}

/** Starts a node with the data of one that has ended. */
async function launchedIn(former: RealNode, settings: TestSettings = {}): Promise<RealNode> {
  const node = await RealNode.launch(settings, former.folder);
  nodes.push(node);
  return node;
}

async function started(settings: TestSettings = {}): Promise<RealNode> {
  const node = await RealNode.start(settings);
  nodes.push(node);
  return node;
}
