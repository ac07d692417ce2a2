/** Scenes of a rehearsal: events of the cluster, one after the other. */
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '@althing/node/testing';
import { INFO, type Info, infoOf } from '../harness/cluster-info.js';
import type { Draw } from '../simulation/random.js';
import type { Container } from './container.js';
import type { Stack } from './stack.js';

/** Requests that may fail in a scene: none; of those that a node had when it died the ones without a key, and the futures of all; any. */
export type Allowance = 'none' | 'lost' | 'any';

export interface Scene {
  readonly name: string;
  readonly allows: Allowance;
  /** @throws {Error} when it does not come as it should */
  readonly play: (stage: Stage) => Promise<void>;
}

export interface Stage {
  readonly stack: Stack;
  readonly draw: Draw;
  /** The number of nodes that are killed, besides a leader. */
  readonly kills: number;
  /** The collection that clients use now. */
  readonly collection: () => string;
  /** Nodes that answered through the balancer since they were forgotten. */
  readonly answered: Set<string>;
  readonly tell: (text: string) => void;
}

const GONE_MS = 60_000;
/** Time that somebody waits for an `up` that comes to nothing. */
const HELD_MS = 8000;
const NO_MAJORITY_MS = 3000;

export const rollingRestart: Scene = {
  name: 'rolling restart',
  allows: 'none',
  play: async ({ stack, tell }) => {
    for (const { name } of foundersOf(stack)) await replaced(stack, name, tell);
    await stack.settle(true);
  },
};

/** The everyday word, and then the one that is right. */
export const carelessUp: Scene = {
  name: 'up with a changed image',
  allows: 'none',
  play: async ({ stack, tell }) => {
    const pids = (): readonly number[] => foundersOf(stack).map(({ pid }) => pid);
    const before = pids();
    const interrupted = new AbortController();
    const up = stack.upChanged(interrupted.signal);
    await pause(HELD_MS);
    expectSame(before, pids(), 'an "up" with a changed image');
    tell(`"up" waited for ${HELD_MS / 1000} s, and no node was touched`);
    interrupted.abort();
    // As deploy/docker/upgrade.sh does it.
    for (const { name } of foundersOf(stack)) await replaced(stack, name, tell);
    await stack.replaceGuard();
    await up;
    await stack.settle(true);
  },
};

/** Nodes of an old build give way to the project's own; one of each dies while both are there. */
export function rollingUpgrade(build: string): Scene {
  return {
    name: 'rolling upgrade',
    allows: 'lost',
    play: async ({ stack, tell }) => {
      const names = foundersOf(stack).map(({ name }) => name);
      stack.build = build;
      const [first = '', ...others] = names;
      await replaced(stack, first, tell);
      for (const victim of [...others.slice(0, 1), first])
        await crashed(stack, stack.container(victim), tell);
      for (const name of others) await replaced(stack, name, tell);
      await stack.settle(true);
    },
  };
}

export const kill: Scene = {
  name: 'kill -9',
  allows: 'lost',
  play: async ({ stack, draw, kills, collection, tell }) => {
    for (let count = 0; count < kills; count++) await crashed(stack, draw.pick(stack.containers), tell);
    const leader = await leaderOf(stack, collection());
    if (leader !== undefined) await crashed(stack, leader, (text) => tell(`${text}, the leader`));
  },
};

export const growth: Scene = {
  name: 'scale to five',
  allows: 'none',
  play: async ({ stack, answered, tell }) => {
    for (let count = 0; count < 2; count++) {
      const { name } = await stack.scaleUp();
      tell(`${name} has joined`);
    }
    await stack.settle(true);
    answered.clear();
    const all = stack.containers.map(({ memberName }) => memberName);
    await until(() => all.every((name) => answered.has(name)), 'all five answer behind the balancer');
    tell('five vote, and answer behind the balancer');
  },
};

export const twoOfFive: Scene = {
  name: 'kill -9 of two of five',
  allows: 'lost',
  play: async ({ stack, draw, tell }) => {
    const victims = draw.shuffled(stack.containers).slice(0, 2);
    tell(victims.map(({ name }) => name).join(' and '));
    await Promise.all(victims.map((victim) => victim.crash()));
    await Promise.all(victims.map((victim) => victim.whenReady()));
    await stack.settle(true);
  },
};

export const shrinking: Scene = {
  name: 'scale back to three',
  allows: 'none',
  play: async ({ stack, tell }) => {
    const names = foundersOf(stack).map(({ name }) => name);
    for (const container of stack.containers) {
      if (names.includes(container.name)) continue;
      const { how, output } = await stack.runCommand('cluster', 'remove', container.memberName);
      if (how !== 'code 0') throw new Error(`althing cluster remove: ${how}: ${output.trim()}`);
      const isGone = (): boolean => container.ends.includes('code 4');
      await until(isGone, `${container.name} ends with code 4`, GONE_MS);
      await stack.scaleDown(container);
      tell(`${container.name} is removed, and has ended with code 4`);
    }
    await stack.settle(true);
  },
};

export const lostVolume: Scene = {
  name: 'loss of a volume',
  allows: 'none',
  play: async ({ stack, draw, tell }) => {
    const victim = draw.pick(foundersOf(stack));
    const start = performance.now();
    await stack.loseVolume(victim.name);
    await stack.settle(true);
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    tell(`${victim.name} is a new member under its old name after ${seconds} s`);
  },
};

export const lostMajority: Scene = {
  name: 'no majority',
  allows: 'any',
  play: async ({ stack, draw, tell }) => {
    const [left, ...lost] = draw.shuffled(foundersOf(stack));
    if (left === undefined) return;
    await Promise.all(lost.map((container) => container.destroy()));
    await until(async () => (await left.probe('/ready')) === 503, `${left.name} is not ready`);
    await pause(NO_MAJORITY_MS);
    const refused = await stack.ask('//stuff', '1 + 1;');
    if (refused.status !== 503) throw new Error(`without a majority the status is ${refused.status}`);
    // To restart nodes that are not ready makes it worse; see docs/kubernetes.md.
    const health = await left.probe('/healthy');
    if (health !== 200) throw new Error(`without a majority /healthy answers ${health}`);
    for (const container of lost) container.start();
    await Promise.all(lost.map((container) => container.whenReady()));
    await stack.settle(true);
    await until(async () => (await stack.ask('//stuff', '1 + 1;')).outcome === 'ok', 'it serves again');
    tell(`${lost.map(({ name }) => name).join(' and ')} were away: 503, and well again with them`);
  },
};

export const downAndUp: Scene = {
  name: 'down and up',
  allows: 'any',
  play: async ({ stack, tell }) => {
    const before = await clusterOf(stack);
    const ends = (await stack.down()).filter((how) => how !== 'code 0');
    if (ends.length > 0) throw new Error(`when all were stopped, some ended with ${ends.join(', ')}`);
    await stack.up();
    await stack.settle(true);
    await until(async () => (await stack.ask('//stuff', '1 + 1;')).outcome === 'ok', 'it serves again');
    expectSame(before, await clusterOf(stack), 'down and up');
    tell('the same cluster, with the same secrets, on the same volumes');
    const processes = stack.containers.map(({ pid }) => pid);
    await stack.up();
    expectSame(before, await clusterOf(stack), 'a second up');
    expectSame(
      processes,
      stack.containers.map(({ pid }) => pid),
      'a second up',
    );
    tell('a second "up" changed nothing');
  },
};

/** The identity of a cluster: what its nodes say that it is, who its members are, and its secrets. */
async function clusterOf(stack: Stack): Promise<readonly unknown[]> {
  const { nodes } = await infoFrom(stack);
  const members = nodes.map(({ node_id, node_name }) => `${node_id} ${node_name}`);
  const ids = await Promise.all(stack.containers.map((container) => container.clusterId()));
  return [...ids, ...members, ...stack.secrets];
}

function expectSame(before: readonly unknown[], after: readonly unknown[], by: string): void {
  if (String(before) !== String(after)) throw new Error(`${by} did not leave the cluster as it was`);
}

export function foundersOf(stack: Stack): readonly Container[] {
  return stack.containers.filter(({ isScaled }) => !isScaled);
}

export async function replaced(stack: Stack, name: string, tell: (text: string) => void): Promise<void> {
  const start = performance.now();
  const how = await stack.recreate(name);
  if (how !== 'code 0') throw new Error(`${name} ended with ${how} when it was stopped`);
  tell(`${name} is made again, and ready after ${((performance.now() - start) / 1000).toFixed(1)} s`);
}

async function crashed(stack: Stack, container: Container, tell: (text: string) => void): Promise<void> {
  await container.crash();
  await container.whenReady();
  await stack.settle(true);
  tell(container.name);
}

/** The node that leads a collection, as the cluster knows it. */
export async function leaderOf(stack: Stack, collection: string): Promise<Container | undefined> {
  const { nodes, groups } = await infoFrom(stack);
  const leader = groups.find(({ scope }) => scope === `@collection:${collection}`)?.leader;
  const name = nodes.find(({ node_id }) => node_id === leader)?.node_name;
  return stack.containers.find(({ memberName }) => memberName === name);
}

async function infoFrom(stack: Stack): Promise<Info> {
  const { value, outcome, error } = await stack.ask('/n', INFO);
  if (outcome !== 'ok') throw new Error(error);
  return infoOf(value);
}
