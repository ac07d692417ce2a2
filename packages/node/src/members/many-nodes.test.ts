/** Real clusters of more nodes than may vote. */
import { afterEach, expect, test } from '@jest/globals';
import { freePorts, RealNode, type TestSettings, until } from '../testing/index.js';

const SECRET = 'what-all-of-these-nodes-know';

/** Time that the start of so many processes may take, in milliseconds. */
const START_MS = 60_000;

let nodes: RealNode[] = [];

afterEach(async () => {
  await Promise.all(nodes.map((node) => node.kill()));
  for (const node of nodes) node.clear();
  nodes = [];
});

test('eight founders, and a ninth node that joins, all serve; when a voter dies a learner votes in its place', async () => {
  const ports = await freePorts(9);
  const cluster = ports
    .slice(0, 8)
    .map((port, i) => `127.0.0.${i + 1}:${port}`)
    .join(',');
  const settings = ports.map((port, i) => ({ ...settingsOf(i + 1, port), cluster }));
  const founders = await Promise.all(settings.slice(0, 8).map(launched));
  for (const node of founders) node.others = () => founders;
  const [first] = founders as [RealNode, ...RealNode[]];
  await Promise.all(founders.map((node) => node.whenReady(START_MS)));
  await first.login();
  const joined = await launched({ ...settings[8], cluster: '', wait_for_invitation: 'true' });
  await first.value('/t', `new_node('${SECRET}', '127.0.0.9', ${ports[8]});`);
  await joined.whenReady(START_MS);
  for (const node of [...founders, joined]) node.authorization = first.authorization;

  const before = await votersOf(first);
  expect(before).toHaveLength(7);
  const numbers = await Promise.all(nodes.map((node) => node.value('/n', 'node_info().load().node_id;')));
  const isVoter = (node: RealNode): boolean => before.includes(numbers[nodes.indexOf(node)] as number);
  for (const [at, node] of nodes.entries()) expect(await node.value('//stuff', `.x${at} = ${at};`)).toBe(at);

  const dead = founders.slice(1).find(isVoter);
  await dead?.kill();
  const alive = nodes.filter((node) => node !== dead);
  for (const node of alive) {
    expect(await node.value('//stuff', '.x = 1; [.x0, .x8];')).toEqual([0, 8]);
    expect((await node.probe('/ready')).status).toBe(200);
  }
  const deadNumber = dead === undefined ? -1 : numbers[nodes.indexOf(dead)];
  await until(async () => {
    const groups = (await first.value('/n', 'groups_info().map(|g| g.load().voters);')) as number[][];
    return groups.every((voters) => voters.length === 7 && !voters.includes(deadNumber as number));
  }, 'a learner votes in the place of the dead node in every group');
});

async function votersOf(node: RealNode): Promise<number[]> {
  return (await node.value('/n', 'groups_info()[0].load().voters;')) as number[];
}

async function launched(settings: TestSettings): Promise<RealNode> {
  const node = await RealNode.launch(settings);
  nodes.push(node);
  return node;
}

function settingsOf(host: number, port: number | undefined): TestSettings {
  return {
    node_name: `127.0.0.${host}`,
    bind_node_addr: `127.0.0.${host}`,
    listen_node_port: port ?? 0,
    cluster_secret: SECRET,
    replace_after_ms: 2000,
    // So many processes on one machine are slow.
    election_timeout_ms: 1500,
    heartbeat_ms: 150,
    drain_delay_ms: 0,
  };
}
