import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, test } from '@jest/globals';
import { until, within } from '../testing/until.js';
import { TestNode } from './testing.js';

const children: ChildProcess[] = [];
const nodes: TestNode[] = [];

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await Promise.all(nodes.splice(0).map((node) => node.close()));
});

describe('a member that is a process of its own', () => {
  test('is down within a fraction of the silence limit when it is killed', async () => {
    const silenceMs = 30_000;
    const node = await startNode(silenceMs);
    const child = await startChild(node, 2, silenceMs);
    await until(() => node.transport.isUp(2), 'it is up');

    const killed = performance.now();
    child.kill('SIGKILL');
    await until(() => node.has('down 2'), 'its death was noticed');

    expect(performance.now() - killed).toBeLessThan(silenceMs / 10);
  });

  test('is down after the silence limit when it is halted, and up again when it goes on', async () => {
    const silenceMs = 3000;
    const node = await startNode(silenceMs);
    const child = await startChild(node, 2, silenceMs);
    await until(() => node.transport.isUp(2), 'it is up');

    child.kill('SIGSTOP');
    await until(() => node.has('down 2'), 'its silence was noticed');
    child.kill('SIGCONT');
    await until(() => node.transport.isUp(2), 'it is back');

    expect(node.changes.filter((change) => change.startsWith('down'))).toEqual(['down 2']);
  });
});

async function startNode(silenceMs: number): Promise<TestNode> {
  const node = await TestNode.start(1, { silenceMs });
  nodes.push(node);
  return node;
}

/** Starts a member that knows of this one, and that this one knows of. */
async function startChild(node: TestNode, nodeId: number, silenceMs: number): Promise<ChildProcess> {
  const module = new URL('./testing.js', import.meta.url).href;
  const script = `
    const { TestNode } = await import(${JSON.stringify(module)});
    const node = await TestNode.start(${nodeId}, { silenceMs: ${silenceMs} });
    node.transport.setPeers([${JSON.stringify(node.address)}], []);
    console.log(node.port);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [line] = await within(once(child.stdout, 'data'), 'the port of the process');
  node.transport.setPeers([{ nodeId, host: '127.0.0.1', port: Number(String(line)) }], []);
  return child;
}
