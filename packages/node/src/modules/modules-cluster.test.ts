/** Modules on the nodes of a real cluster: deployed code comes to all of them, and stays when one is started again. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { RealCluster } from '../testing/real-cluster.js';
import type { RealNode } from '../testing/real-node.js';
import { until } from '../testing/until.js';

/** Answers every request with its own process id, without any library. */
const SCRIPT = `#!/usr/bin/env node
let rest = Buffer.alloc(0);
process.stdin.on('data', (bytes) => {
  rest = Buffer.concat([rest, bytes]);
  while (rest.length >= 8 && rest.length >= 8 + rest.readUInt32LE(0)) {
    const end = 8 + rest.readUInt32LE(0);
    const head = Buffer.alloc(13);
    rest.copy(head, 0, 0, 8);
    head.writeUInt32LE(5, 0);
    head[6] = 81;
    head[7] = 81 ^ 255;
    head[8] = 0xce;
    head.writeUInt32BE(process.pid, 9);
    process.stdout.write(head);
    rest = rest.subarray(end);
  }
});
process.stdin.on('end', () => process.exit());
`;

let cluster: RealCluster;

beforeAll(async () => {
  cluster = await RealCluster.start(3, { enable_modules: 'deploy', drain_delay_ms: 0 });
});

afterAll(async () => {
  await cluster.stop();
});

const fileOf = (node: RealNode): string => join(node.folder, 'data/modules/PID/run');

async function runs(node: RealNode): Promise<void> {
  const status = "module_info('PID').load().status;";
  await until(
    async () => (await node.value('/n', `has_module('PID') && ${status}`)) === 'running',
    'it runs',
  );
}

test('code that is deployed runs on all nodes, each with a process of its own', async () => {
  const [first] = cluster.nodes;
  await first?.value('/t', "new_module('PID', 'run'); deploy_module('PID', bytes(code));", { code: SCRIPT });
  const pids: unknown[] = [];
  for (const node of cluster.nodes) {
    await runs(node);
    pids.push(await node.value('//stuff', 'PID({load: true}).then(|pid| pid);'));
    expect(readFileSync(fileOf(node), 'utf8')).toBe(SCRIPT);
  }
  // Code with a closure may make a change, and so runs on the leader; other code runs where it is asked.
  expect(new Set(pids).size).toBe(1);
  const own = await Promise.all(cluster.nodes.map((node) => node.value('//stuff', 'PID({});')));
  expect(new Set(own.map(String)).size).toBe(3);
});

test('it is there again after kill -9 of a node, and gone everywhere when it is deleted', async () => {
  await cluster.killNode(2);
  await cluster.restartNode(2);
  await runs(cluster.node(2));
  expect(await cluster.node(2).value('//stuff', 'PID({}, 7);')).toEqual([expect.any(Number), 7]);
  await cluster.node(3).value('/t', "del_module('PID');");
  for (const node of cluster.nodes) await until(() => !existsSync(fileOf(node)), 'the file is removed');
  expect((await cluster.node(1).query('//stuff', 'PID({});')).error.name).toBe('lookup_err');
});

/** Processes of a node of which the command line has a text. */
function processesOf(node: RealNode, text: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    try {
      const isOwn = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1] === `${node.pid}`;
      return isOwn && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text);
    } catch {
      return false;
    }
  });
}

test('a process that outlived its node and what guards it ends when the node starts', async () => {
  const stubborn = `${SCRIPT.replace('process.exit()', '{}')} process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);`;
  await cluster
    .node(1)
    .value('/t', "new_module('PID', 'run'); deploy_module('PID', bytes(code));", { code: stubborn });
  const node = cluster.node(2);
  await runs(node);
  const old = Number(await node.value('//stuff', 'PID({});'));
  for (const pid of processesOf(node, '/bin/sh')) process.kill(pid, 'SIGKILL');
  await cluster.killNode(2);
  expect(existsSync(`/proc/${old}`)).toBe(true);
  await cluster.restartNode(2);
  await runs(cluster.node(2));
  await until(() => !existsSync(`/proc/${old}`), 'it ends');
  expect(await cluster.node(2).value('//stuff', 'PID({});')).not.toBe(old);
});
