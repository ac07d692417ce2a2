/** One run: a cluster, clients, faults, healing, and what every node holds then. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '@althing/storage';
import { Draw } from '../simulation/random.js';
import { Clients } from './clients.js';
import { Copies } from './copies.js';
import type { FaultKind } from './fault-kind.js';
import { runFaults } from './fault-schedule.js';
import { Fleet } from './fleet.js';
import { FleetAccess } from './fleet-access.js';
import { readFinals } from './members.js';
import type { Network } from './network.js';
import { Recorder } from './record.js';
import { SocketClients } from './socket-clients.js';
import { Tampering } from './tampering.js';

export interface RunOptions {
  readonly seed: number;
  readonly durationMs: number;
  readonly clients: number;
  /** Clients of the native protocol. */
  readonly sockets: number;
  readonly network: Network;
  readonly kinds: readonly FaultKind[];
  /** Why nodes have no disks of their own; null when they have. */
  readonly diskProblem: string | null;
  /** The folder of data, logs and the record. */
  readonly folder: string;
  readonly isInterrupted: () => boolean;
  readonly tell: (text: string) => void;
}

/** Attempts of a request with a key of its own. */
const ATTEMPTS_MAX = 4;
/** Clients work undisturbed for a while at the beginning and at the end. */
const QUIET_MS = 1000;
const LAST_WORDS_MS = 100;

export async function run(options: RunOptions): Promise<Recorder> {
  const { seed, network, folder, kinds, tell, diskProblem } = options;
  mkdirSync(folder, { recursive: true });
  const built = Tampering.build(folder, network.places.length);
  const tampering = typeof built === 'string' ? null : built;
  if (typeof built === 'string') tell(`clocks and disks are left alone: ${built}`);
  const recorder = new Recorder(join(folder, 'history.jsonl'), {
    seed,
    nodes: network.places.length,
    network: network.title,
    version: process.version,
  });
  const fleet = new Fleet({
    network,
    folder,
    ownDisks: diskProblem === null,
    tampering,
    onEnd: (node, how) => {
      node.start();
      // Its last words may still be in the pipe.
      setTimeout(() => {
        const words = lastWords(node.log);
        if (node.diskWasFull && hadNoRoomToStart(how, words)) return;
        recorder.finding(`${node.name} ended by itself with ${how}: ${words}`);
      }, LAST_WORDS_MS);
    },
  });
  const token = (): string => fleet.requests.authorization.replace(/^Bearer /, '');
  const finding = (text: string): void => recorder.finding(text);
  const copies = new Copies({
    endpoints: fleet.nodes.map(({ endpoint }) => endpoint),
    token,
    collection: () => clients.collection,
    finding,
  });
  const habits = new Draw(seed, 'clients');
  const clients = new Clients({
    access: new FleetAccess(fleet, habits),
    recorder,
    draw: habits,
    keyed: () => habits.chance(0.3),
    attempts: ATTEMPTS_MAX,
  });
  const sockets = new SocketClients({
    places: fleet.nodes,
    token,
    collection: () => clients.collection,
    nextId: () => clients.nextId(),
    recorder,
    draw: new Draw(seed, 'sockets'),
  });
  try {
    const possible = possibleKinds(kinds, fleet, tampering, tell);
    await fleet.start();
    tell(`${fleet.nodes.length} nodes serve`);
    await clients.start(options.clients);
    sockets.start(options.sockets);
    copies.start();
    await until(performance.now() + QUIET_MS, options.isInterrupted);
    const draw = new Draw(seed, 'faults');
    const end = performance.now() + options.durationMs;
    const parts = { fleet, clients, recorder, draw, kinds: possible, tell, until: end };
    const { isInterrupted } = options;
    await runFaults({ ...parts, tampering, isInterrupted });
    tell('the faults are over');
    await until(performance.now() + QUIET_MS, options.isInterrupted);
    await clients.stop();
    await sockets.rest();
    await fleet.settle(false);
    await readFinals(fleet.members, clients.collections, recorder);
    await sockets.check(recorder.finals);
    tell(sockets.summary);
    await copies.check(recorder.finals);
    tell(copies.summary);
  } catch (error) {
    recorder.finding(messageOf(error));
  } finally {
    await clients.stop();
    copies.stop();
    await sockets.stop();
    await fleet.close();
    await recorder.close();
  }
  return recorder;
}

/** The faults that are possible here; tells why others are not. */
function possibleKinds(
  kinds: readonly FaultKind[],
  fleet: Fleet,
  tampering: Tampering | null,
  tell: (text: string) => void,
): FaultKind[] {
  return kinds.filter(({ name, problem }) => {
    const why = problem?.({ fleet, tampering }) ?? null;
    if (why !== null) tell(`${name} is left out: ${why}`);
    return why === null;
  });
}

async function until(moment: number, isInterrupted: () => boolean): Promise<void> {
  while (performance.now() < moment && !isInterrupted()) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * True if a node has ended because it could not be started on a full disk, not even with its reserve: as it should, since its supervisor
 * starts it again. One that runs goes on.
 */
export function hadNoRoomToStart(how: string, words: string): boolean {
  const last = words.slice(words.lastIndexOf(' | ') + 1);
  return how === 'code 1' && /The disk is full: the (data folder|log) can not be opened\./.test(last);
}

function lastWords(log: string): string {
  return log.trimEnd().split('\n').slice(-3).join(' | ').slice(-1500);
}
