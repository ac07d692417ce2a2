/** One simulated run of a cluster: faults, then healing, then everything is looked at. */

import { LAG_LOW_MS, ROOT_GROUP, votersWanted } from '@althing/node/parts';
import { checkHistory } from './check-history.js';
import { checkIndexes } from './check-order.js';
import { checkRights } from './check-rights.js';
import { checkSessions } from './check-sessions.js';
import type { Operation } from './history.js';
import type { Machine } from './machine.js';
import { Planters, plantedBy } from './mutants.js';
import type { Process } from './process.js';
import { Draw } from './random.js';
import { compareStates } from './same-state.js';
import { Violation } from './watcher.js';
import { COUNT_MORTALS, counterIn, READ_ALL } from './workload.js';
import { World } from './world.js';
import type { WorldOptions } from './world-options.js';

export interface SimulationReport {
  readonly seed: number;
  readonly events: number;
  readonly operations: number;
  readonly acknowledged: number;
  readonly traceHash: number;
  /** Situations that it came into. */
  readonly reached: readonly string[];
}

/** Time that the first start may take, in milliseconds of virtual time: where calls get lost, a snapshot may need minutes. */
const START_MS = 240_000;
/** Time that a healed cluster may take until everything is as it should be. */
const HEAL_MS = 120_000;

/** Time that expired things may still be there, where others are given their moment by the same time, in milliseconds. */
const EXPIRY_MS = 30_000;

/** Time that a majority may take until it takes changes again, in milliseconds. */
const CORE_MS = 60_000;
/** Comparisons of the states until no change comes in between. */
const ATTEMPTS_MAX = 10;

/**
 * @param planters kept by callers that make many runs, so that each planted bug is loaded once
 * @throws Violation, Anomaly, and what else goes wrong
 */
export async function simulate(options: WorldOptions, planters = new Planters()): Promise<SimulationReport> {
  const world = new World(options, await plantedBy(options.mutants ?? new Set(), planters));
  const rejected = (error: unknown): void => world.violate(error);
  process.on('unhandledRejection', rejected);
  try {
    await live(world);
  } finally {
    process.off('unhandledRejection', rejected);
  }
  const { history } = world.clients;
  world.reached.onOperations(history);
  return {
    seed: options.seed,
    events: world.scheduler.turns,
    operations: history.length,
    acknowledged: history.filter(({ outcome }) => outcome === 'ok').length,
    traceHash: world.traceHash,
    reached: world.reached.all,
  };
}

async function live(world: World): Promise<void> {
  const { swarm, clients, sockets, nemesis } = world;
  const { seed } = world;
  const draw = new Draw(seed, 'life');
  const [triesCore, restMs, restarts] = [draw.chance(0.4), draw.exponential(500), draw.chance(0.3)];
  const starts = new Draw(seed, 'starts');
  for (const machine of world.machines)
    world.scheduler.after(starts.exponential(50), () => world.start(machine));
  await world.run(() => isSettled(world), START_MS);
  demandSettled(world, 'after the start');
  clients.start();
  sockets.start();
  world.listeners.start();
  world.followers.start();
  world.snapshotLooks.start();
  nemesis.start();
  await world.run(() => false, swarm.faultsMs);
  nemesis.stop();
  if (triesCore) await coreWorks(world, new Draw(seed, 'core'));
  heal(world, world.present);
  await world.run(() => false, restMs);
  clients.stop();
  sockets.stop();
  world.listeners.stop();
  world.snapshotLooks.stop();
  await world.run(() => isQuiet(world), HEAL_MS);
  demandSettled(world, 'after healing');
  // Behind a restart of all most copies begin anew.
  world.followers.check();
  await expires(world);
  await checkEverything(world);
  if (restarts) {
    for (const machine of world.present) world.crash(machine, starts.chance(0.5));
    for (const machine of world.present) world.start(machine);
    // Sockets may have something on its way still.
    await world.run(() => isQuiet(world), HEAL_MS);
    demandSettled(world, 'after a restart of all');
    await checkEverything(world);
  }
}

/** Checks that instances expire in time. */
async function expires(world: World): Promise<void> {
  const { clients, processes, scheduler } = world;
  const isOver = (): boolean =>
    clients.collections.every((collection) =>
      processes.every((process) => readLocally(process, collection, COUNT_MORTALS) === 0),
    );
  await world.run(() => scheduler.turns % 50 === 0 && isOver(), EXPIRY_MS);
  if (!isOver()) throw new Violation('I16', 'things that expired are still there');
}

/** A majority that is whole must work, whatever the others do: here they are dead. */
async function coreWorks(world: World, draw: Draw): Promise<void> {
  const { present, clients, nemesis } = world;
  // Not all of many nodes vote: these may all be voters.
  const dead = draw.shuffled(present).slice(0, Math.floor((votersWanted(present.length) - 1) / 2));
  const core = present.filter((machine) => !dead.includes(machine));
  heal(world, core);
  for (const machine of dead) world.crash(machine, draw.chance(0.5));
  const ids = present.map(({ nodeId }) => nodeId);
  const isOnlyPresent = core.every(({ process }) => process?.isOpen && process.membersAreAmong(ids));
  // Where a removal is under way it may yet be one of the core that goes, and so may one whose data are damaged.
  if (!isOnlyPresent || nemesis.hasRemoved || core.some(({ isDamaged }) => isDamaged)) return;
  const begin = world.scheduler.now;
  const collections = clients.collections;
  const works = (): boolean =>
    collections.every((collection) => clients.history.some((each) => isChange(each, collection, begin)));
  await world.run(() => world.scheduler.turns % 50 === 0 && works(), CORE_MS);
  if (!works())
    throw new Violation('I16', `${core.length} of ${present.length} nodes are well and take no changes`);
}

function isChange({ action, outcome, collection, begin }: Operation, name: string, after: number): boolean {
  return collection === name && begin >= after && outcome === 'ok' && action.kind === 'append';
}

function heal(world: World, machines: readonly Machine[]): void {
  world.note(() => 'heal');
  world.drains.endAll();
  const { network } = world;
  network.heal();
  network.quality = { ...network.quality, lostPerMille: 0 };
  for (const machine of machines) {
    machine.diskSlowness = 1;
    machine.logIsFull = false;
    machine.isStateFull = false;
    machine.clockOffsetMs = 0;
    world.start(machine);
    machine.process?.consensusThread.resume();
    machine.process?.engineThread.resume();
  }
}

/** True if every node is up, every group has one leader, and everybody has everything. */
function isSettled(world: World): boolean {
  if (world.scheduler.turns % 50 !== 0) return false;
  return unsettled(world) === null;
}

/** The first thing that is not settled; null when all is well. */
export function unsettled(world: World): string | null {
  const processes = world.present.map(({ process }) => process);
  const groups = new Set<number>([ROOT_GROUP]);
  for (const process of processes) {
    if (!process?.isOpen) return 'a node is not open';
    const { root, side } = process;
    if (root === null || side === null) return 'a node is not open';
    const { members } = root;
    const isListed = world.present.every(({ nodeId }) => members.get(nodeId)?.leaving === false);
    if (!isListed || members.size !== processes.length) return `${process.machine.name} has other members`;
    if (root.users.size === 0) return `${process.machine.name} has no users`;
    const invitation = world.newcomers.staleInvitation(process);
    if (invitation !== null) return invitation;
    if (side.router.busy > 0) return `requests wait at ${process.machine.name}`;
    for (const id of root.collections.keys()) groups.add(id);
    const lagMs = process.host?.lag(world.scheduler.now).ms ?? 0;
    if (lagMs >= LAG_LOW_MS) return `${process.machine.name} may lag by ${lagMs.toFixed(0)} ms`;
  }
  if (!world.isComplete) return 'the groups do not have the members that there are';
  for (const group of groups) {
    const problem = unsettledGroup(processes as Process[], group);
    if (problem !== null) return `group ${group}: ${problem}`;
  }
  return null;
}

function unsettledGroup(processes: readonly Process[], group: number): string | null {
  let leaders = 0;
  let applied = -1;
  for (const process of processes) {
    const { host, machine } = process;
    const session = process.session(group);
    const status = host?.status(group);
    if (session === undefined || status === undefined) return `not open at ${machine.name}`;
    if (session.hasUncommitted) return `something is not committed at ${machine.name}`;
    if (session.group.tasks.scheduled > 0) return `tasks are still to run at ${machine.name}`;
    if (process.side?.engine.upkeep.jobs.isDue(group) === true) return `a job is not done at ${machine.name}`;
    if (session.leading) leaders += 1;
    else if (session.leader === 0) return `no leader is known at ${machine.name}`;
    const { commitIndex, appliedIndex, lastIndex } = status;
    if (commitIndex !== lastIndex || appliedIndex !== lastIndex) {
      return `${machine.name} stands at ${appliedIndex}/${commitIndex}/${lastIndex}`;
    }
    if (applied >= 0 && applied !== appliedIndex)
      return `${machine.name} stands at ${appliedIndex}, another at ${applied}`;
    applied = appliedIndex;
  }
  return leaders === 1 ? null : `${leaders} leaders`;
}

/** True if nothing is under way, and nobody waits for an answer. */
function isQuiet(world: World): boolean {
  return !world.clients.busy && world.sockets.isQuiet && isSettled(world);
}

function demandSettled(world: World, when: string): void {
  const problem = unsettled(world);
  if (problem !== null) throw new Violation('I16', `${when} things do not settle: ${problem}`);
  if (world.clients.busy || !world.sockets.isQuiet) throw new Violation('I16', `${when} requests hang`);
}

async function checkEverything(world: World): Promise<void> {
  if (world.contents.check() > 0) world.reached.add('checkpoints are compared with the entries');
  world.snapshotLooks.check();
  for (let attempt = 1; ; attempt++) {
    const before = marksOf(world);
    let isCompared = false;
    try {
      isCompared = await compareStates(world);
    } catch (error) {
      // A request that a client gave up may take effect late; then the comparison was not of one moment.
      if (attempt === ATTEMPTS_MAX || marksOf(world) === before) throw error;
    }
    await world.run(() => isQuiet(world), HEAL_MS);
    demandSettled(world, 'after the comparison');
    if (isCompared && marksOf(world) === before) break;
    if (attempt === ATTEMPTS_MAX)
      throw new Violation('I16', 'changes do not end, though nobody asks for any');
  }
  for (const collection of world.clients.collections) checkCollection(world, collection);
  world.listeners.check((process, collection) => counterIn(readLocally(process, collection)));
  checkSockets(world);
  checkRights(world.clients.history);
  checkSessions(world.clients.history);
  checkIndexes(world.clients.history.filter(({ collection }) => collection === null));
}

function checkSockets({ sockets, processes }: World): void {
  const [process] = processes;
  if (process === undefined) throw new Violation('I16', 'no node is there');
  sockets.check((collection) => counterIn(readLocally(process, collection)));
}

/** The commit index of each group. */
function marksOf(world: World): string {
  const marks = world.processes.map(({ groups, host }) =>
    groups.map((id) => host?.status(id)?.commitIndex).join(),
  );
  return marks.join(' ');
}

function checkCollection(world: World, collection: string): void {
  const operations = world.clients.history.filter((operation) => operation.collection === collection);
  const finals = world.processes.map((process) => JSON.stringify(readLocally(process, collection)));
  if (new Set(finals).size > 1) throw new Violation('I4', `nodes hold different data: ${finals.join(' ')}`);
  checkHistory(operations, JSON.parse(finals[0] ?? '[]'));
}

/** The answer of a node by its own state, whether that lags behind or not. */
function readLocally({ engine, machine }: Process, collection: string, code = READ_ALL): unknown {
  if (engine === null) throw new Violation('I16', `${machine.name} is not open`);
  const id = engine.root.collectionsByName.get(collection)?.id;
  const user = engine.root.usersByName.get('admin');
  const scope = id === undefined ? undefined : engine.scope(id);
  if (user === undefined || scope === undefined)
    throw new Violation('I7', `${machine.name} lacks ${collection}`);
  const prepared = engine.prepare(code);
  const outcome = engine.run({ scope, user, format: 'json', body: { kind: 'query', prepared, vars: null } });
  if (outcome.kind !== 'value')
    throw new Violation('I7', `${machine.name} can not read ${collection}`, outcome);
  return JSON.parse(String(outcome.result));
}
