/** Faults of what a process has from its system: the reader of its log, file descriptors. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { ChaosNode } from './chaos-node.js';
import { anyNode, type FaultKind, msUntil, nothing, startAll, type Target } from './fault-kind.js';

/** Milliseconds that the reader of a log stands still. */
const BLOCKED_MS = 10_000;

/** Milliseconds that an answer may take while the log can't be written. */
const ANSWER_MS = 2000;

/** Writes 180 kB to the log of a node. */
const LOG_QUERY = `x = '${'x'.repeat(900)}'; range(200).each(|i| log('a line of the log, and a long one: ' + x));`;
const LOG_PAUSE_MS = 200;

/** Memory in MB by which a node may grow while its log waits. */
const GROWTH_MB = 200;

/** Milliseconds that a node may take to have room for clients again. */
const ROOM_MS = 15_000;

const IDLE_MS = 3000;

export const processFaultKinds: readonly FaultKind[] = [
  {
    name: 'blocked_log',
    doc: 'who reads the log of a node stops for 10 s while much is logged: it must go on to serve',
    alone: true,
    lastsMs: [0, 0],
    begin: async (target) => {
      const node = anyNode(target);
      const before = node.memoryMb ?? 0;
      node.logReader.stop();
      const slowestMs = await logALot(target, node);
      const dropped = await droppedLines(node);
      const grownMb = (node.memoryMb ?? 0) - before;
      if (dropped === 0) target.finding(`${node.name} dropped no line of a log that nobody reads`);
      if (grownMb > GROWTH_MB) target.finding(`${node.name} grew by ${grownMb} MB while nobody read its log`);
      const detail = `${node.name}, slowest answer ${slowestMs} ms, ${dropped} lines dropped, ${grownMb} MB more`;
      if (target.draw.chance(0.5)) {
        node.logReader.resume();
        return { detail, undo: nothing };
      }
      const how = await node.stop();
      if (how !== 'code 0') target.finding(`${node.name} ended with ${how} while nobody read its log`);
      node.logReader.resume();
      return { detail: `${detail}, stopped`, undo: () => startAll([node]) };
    },
  },
  {
    name: 'descriptors',
    doc: 'a node may open few files, and idle clients take many: it must go on, and have room when they leave',
    alone: true,
    lastsMs: [0, 0],
    begin: async (target) => {
      const node = anyNode(target);
      const files = target.draw.pick([128, 256, 512]);
      await restart(node, files);
      const clients = await idleClients(node, files);
      await pause(IDLE_MS);
      const left = clients.filter(({ destroyed }) => !destroyed).length;
      for (const client of clients) client.destroy();
      const { fleet } = target;
      const tookMs = await msUntil(
        async () => (await fleet.member(node.at).ask('/n', '1;')).outcome === 'ok',
        ROOM_MS,
      );
      if (tookMs > ROOM_MS)
        target.finding(`${node.name} has no room for clients ${tookMs} ms after others left`);
      const detail = `${node.name}, ${files} files, ${left} of ${clients.length} clients taken, answers after ${tookMs} ms`;
      return { detail, undo: () => restart(node) };
    },
  },
];

/** Lets a node log for a while, and gives how long the slowest answer took, in milliseconds. */
async function logALot({ fleet, finding }: Target, node: ChaosNode): Promise<number> {
  const end = performance.now() + BLOCKED_MS;
  let slowestMs = 0;
  while (performance.now() < end) {
    const begin = performance.now();
    const { outcome, error } = await fleet.member(node.at).ask('/n', LOG_QUERY);
    const tookMs = Math.round(performance.now() - begin);
    slowestMs = Math.max(slowestMs, tookMs);
    if (outcome !== 'ok') finding(`${node.name} while nobody reads its log: ${error}`);
    await pause(LOG_PAUSE_MS);
  }
  if (slowestMs > ANSWER_MS)
    finding(`${node.name} took ${slowestMs} ms for an answer while nobody read its log`);
  return slowestMs;
}

async function droppedLines(node: ChaosNode): Promise<number> {
  const { text } = await node.probe('/metrics');
  return Number(/^althing_log_lines_dropped_total (\d+)/m.exec(text)?.[1] ?? 0);
}

/** @param filesMax how many files the node may have open from now on */
async function restart(node: ChaosNode, filesMax?: number): Promise<void> {
  await node.stop();
  node.start(filesMax);
  await node.whenReady();
}

/** @param each how many for each of its ports for clients */
async function idleClients({ endpoint, statusEndpoint }: ChaosNode, each: number): Promise<Socket[]> {
  const endpoints = [endpoint, statusEndpoint];
  const clients = endpoints.flatMap((one) => Array.from({ length: each }, () => connect(one)));
  await Promise.all(
    clients.map(async (client) => {
      client.on('error', () => {});
      client.resume();
      await once(client, 'connect').catch(() => {});
    }),
  );
  return clients;
}
