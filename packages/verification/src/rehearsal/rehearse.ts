/** A rehearsal: the cluster of docker-compose.yml without Docker, clients that come through its balancer, and scenes. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '@althing/storage';
import { Clients } from '../chaos/clients.js';
import { readFinals } from '../chaos/members.js';
import { Recorder } from '../chaos/record.js';
import { Draw } from '../simulation/random.js';
import { BalancedClients, type Count } from './balanced-clients.js';
import type { GoalOptions } from './goals.js';
import { Machine } from './machine.js';
import type { Scene } from './scenes.js';
import { Stack } from './stack.js';

export interface RehearsalOptions extends Pick<GoalOptions, 'project' | 'folder' | 'seed' | 'tell'> {
  /** The build that the nodes run at first. */
  readonly build: string;
  readonly clients: number;
  readonly scenes: readonly Scene[];
  /** The number of nodes that are killed, besides a leader. */
  readonly kills: number;
  /** Settings of the nodes on top of the compose file's. */
  readonly environment: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** The founders are started so far apart, at most. */
const APART_MS = 1000;
/** Clients work undisturbed for a while at the beginning and at the end. */
const QUIET_MS = 1000;

/** The ways in which a node may end by itself: killed, and as one that was removed. */
const ENDS: readonly string[] = ['SIGKILL', 'code 4'];

/** @throws {DeploymentError} when this machine or the files are not fit for it */
export async function rehearse(options: RehearsalOptions): Promise<Recorder> {
  const { folder, seed, tell } = options;
  const machine = await Machine.open(folder);
  if (!machine.hasNames)
    tell('nodes are known by their addresses: names take mount and UTS namespaces (unshare)');
  const recorder = new Recorder(join(folder, 'history.jsonl'), {
    seed,
    nodes: 3,
    network: machine.hasNames ? 'names and addresses of containers' : 'addresses of containers',
    version: process.version,
  });
  const stack = new Stack({
    ...options,
    machine,
    onEnd: ({ name }, how) => {
      if (!ENDS.includes(how)) recorder.finding(`${name} ended by itself with ${how}`);
    },
  });
  const balanced = new BalancedClients(stack, recorder);
  const draw = new Draw(seed, 'scenes');
  const clients = new Clients({
    access: balanced,
    recorder,
    draw: new Draw(seed, 'clients'),
    keyed: (client) => balanced.isKeyed(client),
    attempts: 1,
  });
  try {
    await up(stack, options, draw);
    await clients.start(options.clients);
    await pause(QUIET_MS);
    for (const scene of options.scenes) {
      options.signal.throwIfAborted();
      const begin = performance.now();
      tell(scene.name);
      balanced.turn(scene.name, scene.allows);
      await scene.play({
        stack,
        draw,
        kills: options.kills,
        collection: () => clients.collection,
        answered: balanced.answered,
        tell: (text) => tell(`  ${text}`),
      });
      const end = performance.now();
      await pause(QUIET_MS);
      const count = balanced.turn('between', scene.allows);
      recorder.fault({ name: scene.name, detail: '', begin, end });
      tell(`  ${told(count)}`);
    }
    await clients.stop();
    await stack.settle(false);
    await readFinals(stack.members, clients.collections, recorder);
    const ends = (await stack.stop()).filter((how) => how !== 'code 0');
    if (ends.length > 0) recorder.finding(`when all were stopped, some ended with ${ends.join(', ')}`);
  } catch (error) {
    recorder.finding(messageOf(error));
  } finally {
    await clients.stop();
    await stack.close();
    machine.close();
    await recorder.close();
  }
  return recorder;
}

function told({ failures, forgiven, repeated }: Count): string {
  const parts = [`${failures} failed requests`];
  if (forgiven > 0) parts.push(`${forgiven} that may fail`);
  if (repeated > 0) parts.push(`${repeated} repeated by clients with their key`);
  return parts.join(', ');
}

/** `docker compose up --wait`, with the founders in random order. */
async function up(stack: Stack, { build, tell }: RehearsalOptions, draw: Draw): Promise<void> {
  await stack.makeSecrets();
  stack.startGuard();
  stack.build = build;
  const founders = draw.shuffled(stack.createFounders());
  const start = performance.now();
  for (const founder of founders) {
    founder.start();
    await pause(draw.int(0, APART_MS));
  }
  const last = performance.now();
  await Promise.all(founders.map((founder) => founder.whenReady()));
  const order = founders.map(({ name }) => name).join(', ');
  const seconds = ((performance.now() - last) / 1000).toFixed(1);
  tell(`started ${order} over ${((last - start) / 1000).toFixed(1)} s; ready ${seconds} s after the last`);
  stack.startBalancer();
  await stack.login();
  tell('the balancer serves');
}
