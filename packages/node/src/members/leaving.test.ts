/**
 * Real nodes with ordinals in their names, of which those from a certain number on are to leave when they are
 * stopped.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ExitCode } from '../config/index.js';
import { freePorts, RealNode, type TestSettings, until } from '../testing/index.js';

/** Has the name `node-3` lead to 127.0.0.4, also in the consensus thread. */
const NAMES = `
  import dns from 'node:dns';
  const { lookup } = dns;
  const addressOf = (name) => name.replace(/^node-(\\d)$/, (_, ordinal) => '127.0.0.' + (Number(ordinal) + 1));
  dns.lookup = (name, ...rest) => lookup(addressOf(name), ...rest);
`;
const NODE_ARGS = ['--import', `data:text/javascript,${encodeURIComponent(NAMES)}`];

let folder: string;
let file: string;
let nodes: RealNode[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'althing-leaving-'));
  file = join(folder, 'leave-from-ordinal');
  nodes = [];
});

afterEach(async () => {
  for (const node of nodes) {
    await node.kill();
    node.clear();
  }
  rmSync(folder, { recursive: true });
});

test('a node leaves at SIGTERM when the file names its ordinal or a lower one, and at no other time', async () => {
  const { settings, members } = await severalNodes(3);
  const [first, second, third] = members;
  await first.value('//stuff', '.x = 1;');

  writeFileSync(file, '');
  await third.stop({ keep: true });
  const again = await restarted(third, settings[2]);
  await untilMembers(first, [0, 1, 2]);

  writeFileSync(file, '2\n');
  await second.stop({ keep: true });
  expect(second.log).not.toContain('"event":"left"');
  const other = await restarted(second, settings[1]);
  await untilMembers(first, [0, 1, 2]);

  // It leads everything, the list of members included.
  await transferTo(2, [first, other], again);
  const clients = [again, again, first].map((node) => clientOf(node, first));
  await until(() => clients.every(({ count }) => count > 0), 'clients work');
  again.signal('SIGTERM');
  expect(await again.ended()).toBe(ExitCode.Done);
  expect(again.log).toContain('"event":"left"');
  await untilMembers(first, [0, 1]);
  const counts = await Promise.all(clients.map((client) => client.stop()));
  const sum = counts.reduce((all, count) => all + count, 1);
  expect(await first.value('//stuff', '.x;')).toBe(sum);

  const back = await restarted(again, { ...settings[2], rejoin_when_removed: 'true' });
  expect(await back.value('//stuff', '.x;')).toBe(sum);
  expect(await back.value('/n', 'node_info().load().node_id;')).toBe(3);
});

test('several leave at the same time', async () => {
  const { members } = await severalNodes(4);
  const [first, second, third, fourth] = members;
  writeFileSync(file, '2');
  expect(await Promise.all([third, fourth].map((node) => node.stop({ keep: true })))).toHaveLength(2);
  await untilMembers(second, [0, 1]);
  expect(await first.value('//stuff', '.x = 1;')).toBe(1);
});

test('a node that can not leave, since too few would stay, stops as a member', async () => {
  const { members } = await severalNodes(4, { shutdown_timeout_ms: 3000 });
  const [first, second, , fourth] = members;
  writeFileSync(file, '3');
  await Promise.all([first, second].map((node) => node.kill()));
  fourth.signal('SIGTERM');
  expect(await fourth.ended()).toBe(ExitCode.Done);
  expect(fourth.log).toContain('stops without having left the cluster');
});

/** A cluster with three founders, and with a fourth node that joins. */
async function severalNodes(count: 3 | 4, more: TestSettings = {}) {
  const ports = await freePorts(count);
  const cluster = ports
    .slice(0, 3)
    .map((port, i) => `node-${i}:${port}`)
    .join(',');
  const settings = ports.map((port, i) => ({
    node_name: `node-${i}`,
    bind_node_addr: `127.0.0.${i + 1}`,
    listen_node_port: port,
    cluster,
    cluster_secret: 'what-all-of-these-nodes-know',
    drain_delay_ms: 500,
    leave_from_ordinal_file: file,
    ...more,
  }));
  const members: RealNode[] = [];
  for (const own of settings) {
    const node = await RealNode.launch(own, undefined, NODE_ARGS);
    nodes.push(node);
    members.push(node);
    // The fourth one is no founder: it joins, with the highest number.
    if (members.length >= 3) await Promise.all(members.map((each) => each.whenReady()));
  }
  const [first, second, third, fourth = third] = members;
  if (first === undefined || second === undefined || third === undefined || fourth === undefined)
    throw new Error('three nodes');
  await first.login();
  for (const node of members) node.authorization = first.authorization;
  await untilMembers(first, [...members.keys()]);
  return { settings, members: [first, second, third, fourth] as const };
}

/** Starts a node with the data of one that has ended, and waits until it serves. */
async function restarted(former: RealNode, settings: TestSettings = {}): Promise<RealNode> {
  const node = await RealNode.launch(settings, former.folder, NODE_ARGS);
  nodes.push(node);
  await node.whenReady();
  node.authorization = former.authorization;
  return node;
}

/**
 * Writes to a node again and again, and to another one from when the first says that it closes the
 * connection.
 */
function clientOf(node: RealNode, other: RealNode) {
  let isStopped = false;
  const client = {
    count: 0,
    /** Gives how often it wrote; fails when it could not. */
    stop: async (): Promise<number> => {
      isStopped = true;
      await work;
      return client.count;
    },
  };
  const write = async (): Promise<void> => {
    let place = node;
    while (!isStopped) {
      await pause(5);
      const answer = await place.query('//stuff', '.x += 1;');
      if (answer.status !== 200) throw place.explained(`${answer.statusLine} ${answer.text}`);
      client.count += 1;
      if (answer.headers.get('connection') === 'close') place = other;
    }
  };
  const work = write();
  work.catch(() => {});
  return client;
}

/** Has the others give what they lead to a node, until it leads the root group. */
async function transferTo(number: number, others: readonly RealNode[], node: RealNode): Promise<void> {
  await until(async () => {
    for (const other of others) await other.value('/n', 'transfer_leadership(number);', { number });
    return (await node.probe('/leader')).status === 200;
  }, 'it leads');
}

/** Waits until the members have these numbers, and all of them take part in every group: four with three voters. */
async function untilMembers(node: RealNode, numbers: readonly number[]): Promise<void> {
  const code = '[nodes_info().map(|n| n.load().node_id), groups_info().map(|g| g.load())];';
  await until(async () => {
    const [members, groups] = (await node.value('/n', code)) as [
      number[],
      { voters: number[]; learners: number[] }[],
    ];
    const all = groups.map(({ voters, learners }) => [...voters, ...learners].sort());
    const isOdd = groups.every(({ voters }) => voters.length === (numbers.length === 4 ? 3 : numbers.length));
    return isOdd && [members, ...all].every((list) => String(list) === String(numbers));
  }, `the members are ${numbers}`);
}
