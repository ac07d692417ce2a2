/**
 * Faults of a cluster. A fault begins, gives a text that tells what it did, and what ends it; what has to be whole
 * before it can be undone waits for that itself.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { ChaosNode } from './chaos-node.js';
import { diskFaultKinds } from './disk-fault-kinds.js';
import {
  ALONE,
  amongOthers,
  anyNode,
  type Begun,
  type FaultKind,
  leader,
  leaderOrAny,
  nothing,
  startAll,
  type Target,
} from './fault-kind.js';
import { linkFaultKinds } from './link-fault-kinds.js';
import type { Cut } from './network.js';
import { processFaultKinds } from './process-fault-kinds.js';

/** Milliseconds that a node that was removed may take to find out and end. */
const REMOVAL_MS = 30_000;

export const faultKinds: readonly FaultKind[] = [
  {
    name: 'kill',
    doc: 'SIGKILL of some node',
    lastsMs: [200, 3000],
    begin: (target) => kill(anyNode(target)),
  },
  {
    name: 'kill_leader',
    doc: 'SIGKILL of the leader',
    lastsMs: [200, 3000],
    begin: async (target) => kill(await leader(target)),
  },
  {
    name: 'kill_again',
    doc: 'SIGKILL, and again while it recovers',
    lastsMs: [0, 500],
    begin: async (target) => {
      const node = anyNode(target);
      for (let round = 0; round < 3; round++) {
        await node.kill();
        node.start();
        await pause(target.draw.int(20, 800));
      }
      return kill(node);
    },
  },
  {
    name: 'kill_all',
    doc: 'SIGKILL of all nodes at the same moment',
    lastsMs: [0, 1000],
    begin: async ({ fleet }) => {
      await Promise.all(fleet.nodes.map((node) => node.kill()));
      return { detail: 'all nodes', undo: () => startAll(fleet.nodes) };
    },
  },
  {
    name: 'pause',
    doc: 'SIGSTOP and SIGCONT of some node',
    lastsMs: [100, 5000],
    begin: async (target) => halt(anyNode(target)),
  },
  {
    name: 'pause_leader',
    doc: 'SIGSTOP and SIGCONT of the leader',
    lastsMs: [100, 5000],
    begin: async (target) => halt(await leader(target)),
  },
  {
    name: 'isolate',
    doc: 'a node is cut off from the others',
    lastsMs: [500, 5000],
    problem: amongOthers,
    begin: async (target) => cut(target, [anyNode(target)]),
  },
  {
    name: 'isolate_leader',
    doc: 'the leader is cut off from the others',
    lastsMs: [500, 5000],
    problem: amongOthers,
    begin: async (target) => cut(target, [await leader(target)]),
  },
  {
    name: 'halves',
    doc: 'a minority is cut off from the majority',
    lastsMs: [500, 5000],
    problem: ({ fleet }) => (fleet.nodes.length < 5 ? 'it takes 5 nodes' : null),
    begin: async (target) => {
      const { nodes } = target.fleet;
      return cut(target, target.draw.shuffled(nodes).slice(0, (nodes.length - 1) / 2));
    },
  },
  {
    name: 'one_way',
    doc: 'what a node sends is lost, but not what it gets, or the other way round',
    lastsMs: [500, 5000],
    problem: amongOthers,
    begin: async (target) => {
      const { fleet, draw } = target;
      const node = await leaderOrAny(target);
      const isSender = draw.chance(0.5);
      const others = fleet.nodes.filter((other) => other !== node);
      fleet.network.cut(others.map(({ at }): Cut => (isSender ? [node.at, at] : [at, node.at])));
      const detail = `${isSender ? 'from' : 'to'} ${node.name}`;
      return { detail, undo: async () => fleet.network.heal() };
    },
  },
  {
    name: 'ring',
    doc: 'each node reaches its neighbours only',
    lastsMs: [500, 5000],
    problem: amongOthers,
    begin: async ({ fleet, draw }) => {
      const places = draw.shuffled(fleet.nodes.map(({ at }) => at));
      const count = places.length;
      // In a cluster of three everybody is everybody's neighbour: then one link is cut.
      const far = (i: number, j: number): boolean =>
        count === 3 ? i + j === 1 : Math.abs(i - j) > 1 && Math.abs(i - j) < count - 1;
      const cuts = places.flatMap((from, i) =>
        places.flatMap((to, j): Cut[] => (i !== j && far(i, j) ? [[from, to]] : [])),
      );
      fleet.network.cut(cuts);
      return { detail: places.map((at) => at + 1).join(' '), undo: async () => fleet.network.heal() };
    },
  },
  {
    name: 'flapping',
    doc: 'a node is cut off and reached again every 200 ms',
    lastsMs: [0, 0],
    problem: amongOthers,
    begin: async (target) => {
      const node = anyNode(target);
      const times = target.draw.int(3, 10);
      for (let round = 0; round < times; round++) {
        const { undo } = cut(target, [node]);
        await pause(200);
        await undo();
        await pause(200);
      }
      return { detail: `${node.name}, ${times} times`, undo: nothing };
    },
  },
  {
    name: 'loss',
    doc: 'some packets between all nodes are lost',
    lastsMs: [1000, 5000],
    problem: ({ fleet }) =>
      fleet.nodes.length === 1 ? ALONE : fleet.network.canLose ? null : 'proxies lose no packets',
    begin: async ({ fleet, draw }) => {
      const percent = draw.pick([1, 5, 20, 40]);
      fleet.network.lose(percent);
      return { detail: `${percent} %`, undo: async () => fleet.network.heal() };
    },
  },
  {
    name: 'delay',
    doc: 'everything between the nodes takes longer',
    lastsMs: [1000, 5000],
    problem: ({ fleet }) =>
      fleet.nodes.length === 1 ? ALONE : fleet.network.canDelay ? null : 'only the proxies delay (--proxies)',
    begin: async ({ fleet, draw }) => {
      const ms = draw.pick([10, 50, 200]);
      fleet.network.delay(ms);
      return { detail: `${ms} ms`, undo: async () => fleet.network.heal() };
    },
  },
  {
    name: 'disk',
    doc: "a node's disk is full",
    lastsMs: [500, 4000],
    problem: ({ fleet }) =>
      fleet.nodes.every(({ disk }) => disk !== null) ? null : 'only root can mount file systems for it',
    begin: async (target) => {
      const node = await leaderOrAny(target);
      node.diskWasFull = true;
      node.disk?.fill();
      return { detail: node.name, undo: async () => node.disk?.clear() };
    },
  },
  {
    name: 'clock',
    doc: "a node's clock jumps, and back again",
    lastsMs: [200, 3000],
    problem: ({ tampering }) => (tampering === null ? 'it takes Linux and a C compiler' : null),
    begin: async (target) => {
      const node = await leaderOrAny(target);
      const seconds = target.draw.pick([-172_800, -3600, -5, 5, 3600, 172_800]);
      target.tampering?.setClock(node.at, seconds);
      const undo = async (): Promise<void> => target.tampering?.setClock(node.at, 0);
      return { detail: `${node.name} by ${seconds} s`, undo };
    },
  },
  {
    name: 'transfer',
    doc: 'the leader hands over',
    lastsMs: [0, 500],
    problem: amongOthers,
    begin: async (target) => {
      const node = await leader(target);
      const { error } = await target.fleet.member(node.at).ask('/n', 'transfer_leadership();');
      return { detail: `${node.name}${error === '' ? '' : `: ${error}`}`, undo: nothing };
    },
  },
  {
    name: 'restart',
    doc: 'all nodes are stopped and started in order, one after the other',
    alone: true,
    lastsMs: [0, 0],
    begin: async ({ fleet, finding }) => {
      for (const node of fleet.nodes) {
        const how = await node.stop();
        if (how !== 'code 0') finding(`${node.name} was asked to stop, and ended with ${how}`);
        node.start();
        await node.whenReady();
      }
      return { detail: 'all nodes', undo: nothing };
    },
  },
  {
    name: 'wipe',
    doc: 'a node loses its disk, and an empty one takes its place',
    alone: true,
    lastsMs: [0, 500],
    problem: amongOthers,
    begin: async (target) => {
      const node = anyNode(target);
      await node.kill();
      node.wipe();
      return { detail: node.name, undo: () => startAll([node]) };
    },
  },
  {
    name: 'remove',
    doc: 'a node is removed from the cluster, and comes back empty',
    alone: true,
    lastsMs: [0, 500],
    problem: amongOthers,
    begin: async (target) => {
      const { fleet, draw, finding } = target;
      const node = await leaderOrAny(target);
      const number = await fleet.numberOf(node);
      const other = draw.pick(fleet.nodes.filter((each) => each !== node));
      const { outcome, error } = await fleet.member(other.at).ask('/t', `remove_node(${number});`);
      if (outcome === 'failed') return { detail: `${node.name}: ${error}`, undo: nothing };
      try {
        await node.endsByItself(REMOVAL_MS);
      } catch (problem) {
        finding(`a removed node goes on: ${(problem as Error).message}`);
        await node.kill();
      }
      node.wipe();
      return { detail: node.name, undo: () => startAll([node]) };
    },
  },
  ...diskFaultKinds,
  ...linkFaultKinds,
  ...processFaultKinds,
];

async function kill(node: ChaosNode): Promise<Begun> {
  await node.kill();
  return { detail: node.name, undo: () => startAll([node]) };
}

function halt(node: ChaosNode): Begun {
  node.pause();
  return { detail: node.name, undo: async () => node.resume() };
}

function cut({ fleet }: Target, part: readonly ChaosNode[]): Begun {
  const rest = fleet.nodes.filter((node) => !part.includes(node));
  fleet.network.cut(
    part.flatMap((one) =>
      rest.flatMap((other): Cut[] => [
        [one.at, other.at],
        [other.at, one.at],
      ]),
    ),
  );
  return { detail: part.map(({ name }) => name).join(', '), undo: async () => fleet.network.heal() };
}
