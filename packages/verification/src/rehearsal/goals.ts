/** The goals of a deployment, measured on the cluster of docker-compose.yml: how fast it is there, and there again. */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '@althing/node/testing';
import { quantile, table } from '../harness/table.js';
import { Draw } from '../simulation/random.js';
import { Machine } from './machine.js';
import { foundersOf, leaderOf, replaced } from './scenes.js';
import { Stack } from './stack.js';
import { SteadyLoad } from './steady-load.js';

/** A goal, and how it came out. */
export interface Goal {
  readonly name: string;
  readonly measured: string;
  readonly limit: string;
  readonly isMet: boolean;
}

export interface GoalOptions {
  readonly project: string;
  /** The folder of volumes, secrets and logs. */
  readonly folder: string;
  readonly seed: number;
  /** The number of times a leader is killed. */
  readonly kills: number;
  /** Other data of the cluster, in MB. */
  readonly dataMb: number;
  readonly tell: (text: string) => void;
}

const COLLECTION = 'goals';
const WRITES = { writesPerS: 200, readsPerS: 0 };
const BOTH = { writesPerS: 200, readsPerS: 500 };
/** Time that the load goes on undisturbed before and after. */
const CALM_MS = 1000;
const SERVES_MS = 60_000;
const CHUNK_KB = 512;

const FIRST_WRITE_MS = 5000;
const ROLLING_GAP_MS = 300;
const KILL_MS = 1500;
const LOST_VOLUME_MS = 60_000;
const COLD_START_MS = 30_000;

/**
 * Measures all of them on a new cluster.
 *
 * @throws {DeploymentError} when this machine or the files are not fit for it
 * @throws {Error} when the cluster does not come as it should
 */
export async function measureGoals(options: GoalOptions): Promise<readonly Goal[]> {
  const machine = await Machine.open(options.folder);
  const ends: string[] = [];
  const stack = new Stack({
    ...options,
    machine,
    environment: {},
    onEnd: ({ name }, how) => {
      if (how !== 'SIGKILL') ends.push(`${name} ended by itself with ${how}`);
    },
  });
  try {
    const goals = await measureAll(stack, options);
    ends.push(...(await stack.down()).filter((how) => how !== 'code 0'));
    if (ends.length > 0) throw new Error(ends.join(', '));
    return goals;
  } finally {
    await stack.close();
    machine.close();
  }
}

async function measureAll(
  stack: Stack,
  { seed, kills, dataMb, tell }: GoalOptions,
): Promise<readonly Goal[]> {
  const goals: Goal[] = [];
  const note = (...found: readonly Goal[]): void => {
    goals.push(...found);
    for (const { name, measured } of found) tell(`${name}: ${measured}`);
  };
  note(await firstWrite(stack));
  await stack.login();
  await stack.settle(true);
  const load = await prepared(stack);
  await fill(stack, dataMb);
  note(...(await rollingRestart(stack, load, tell)));
  note(...(await leaderKills(stack, load, kills, tell)));
  const held = `with ${dataMb} MB`;
  note(await lostVolume(stack, new Draw(seed, 'goals'), held));
  note(await coldStart(stack, held));
  const problem = await load.problem();
  note(
    goal(
      'writes in all',
      `${load.writes}, ${problem ?? 'none lost, none doubled'}`,
      'none lost, none doubled',
      problem === null,
    ),
  );
  return goals;
}

/** The time between the start of the containers' entry points and the answer to the first write behind the balancer. */
async function firstWrite(stack: Stack): Promise<Goal> {
  await stack.makeSecrets();
  stack.beAdmin();
  const begin = performance.now();
  await stack.up();
  await until(
    async () => (await stack.ask('//stuff', '.first = 1;')).outcome === 'ok',
    'the first write',
    SERVES_MS,
  );
  return within('up to the first write', performance.now() - begin, FIRST_WRITE_MS);
}

async function rollingRestart(stack: Stack, load: SteadyLoad, tell: (text: string) => void): Promise<Goal[]> {
  load.start(BOTH);
  await pause(CALM_MS);
  const begin = performance.now();
  for (const { name } of foundersOf(stack)) await replaced(stack, name, (text) => tell(`  ${text}`));
  await stack.settle(true);
  await pause(CALM_MS);
  const gap = load.longestGap(begin, performance.now());
  await load.stop();
  const failures = load.failures.splice(0);
  const { skipped } = load;
  for (const failure of new Set(failures)) tell(`  failed: ${failure}`);
  const name = `rolling restart at ${BOTH.writesPerS} writes/s, ${BOTH.readsPerS} reads/s`;
  return [
    goal(
      `${name}: failed`,
      `${failures.length} of ${load.writes + load.reads}${skipped > 0 ? `, and ${skipped} could not be sent` : ''}`,
      '0',
      failures.length + skipped === 0,
    ),
    within(`${name}: longest write gap`, gap, ROLLING_GAP_MS),
  ];
}

async function leaderKills(
  stack: Stack,
  load: SteadyLoad,
  kills: number,
  tell: (text: string) => void,
): Promise<Goal[]> {
  const gaps: number[] = [];
  for (let count = 1; count <= kills; count++) {
    const leader = await leaderOf(stack, COLLECTION);
    if (leader === undefined) throw new Error('nobody leads the collection');
    load.start(WRITES);
    await pause(CALM_MS);
    const begin = performance.now();
    await leader.crash();
    await until(() => load.hasWritten(begin), 'a write that was sent after the kill', SERVES_MS);
    await pause(CALM_MS);
    gaps.push(load.longestGap(begin - CALM_MS / 10, performance.now()));
    await load.stop();
    await leader.whenReady();
    await stack.settle(true);
    tell(
      `  kill ${count}, ${leader.name}: ${seconds(gaps.at(-1) ?? 0)}, ${load.failures.splice(0).length} failed`,
    );
  }
  const name = `kill -9 of the leader, ${kills} times: longest write gap, p99`;
  return kills === 0 ? [] : [within(name, quantile(gaps, 0.99), KILL_MS)];
}

async function lostVolume(stack: Stack, draw: Draw, held: string): Promise<Goal> {
  const begin = performance.now();
  await stack.loseVolume(draw.pick(foundersOf(stack)).name);
  await stack.settle(true);
  return within(`loss of a volume ${held}: three voters again`, performance.now() - begin, LOST_VOLUME_MS);
}

/** All three die, as in a power cut, and are started at the same time. */
async function coldStart(stack: Stack, held: string): Promise<Goal> {
  await Promise.all(stack.containers.map((container) => container.destroy()));
  const begin = performance.now();
  for (const container of stack.containers) container.start();
  await Promise.all(stack.containers.map((container) => container.whenReady()));
  const ms = performance.now() - begin;
  await stack.settle(true);
  return within(`cold start of all three ${held}: ready`, ms, COLD_START_MS);
}

async function prepared(stack: Stack): Promise<SteadyLoad> {
  await asked(stack, '/t', `new_collection('${COLLECTION}'); nil;`);
  await stack.settle(true);
  const load = new SteadyLoad((...question) => stack.ask(...question), `//${COLLECTION}`);
  await load.prepare();
  return load;
}

async function fill(stack: Stack, dataMb: number): Promise<void> {
  for (let count = 0; count < (dataMb * 1024) / CHUNK_KB; count++) {
    const text = randomBytes(CHUNK_KB * 768).toString('base64');
    await asked(stack, '//stuff', `.set('chunk${count}', '${text}'); nil;`);
  }
}

async function asked(stack: Stack, scope: string, code: string): Promise<void> {
  const { outcome, error } = await stack.ask(scope, code, {
    'Idempotency-Key': randomBytes(8).toString('hex'),
  });
  if (outcome !== 'ok') throw new Error(`${code.slice(0, 40)}: ${error}`);
}

export function goalTable(goals: readonly Goal[]): string {
  const rows = goals.map(({ name, measured, limit, isMet }) => [
    name,
    measured,
    limit,
    isMet ? 'met' : 'MISSED',
  ]);
  return table([['goal', 'measured', 'wanted', ''], ...rows]);
}

function within(name: string, ms: number, limitMs: number): Goal {
  return goal(name, seconds(ms), `under ${seconds(limitMs)}`, ms < limitMs);
}

function goal(name: string, measured: string, limit: string, isMet: boolean): Goal {
  return { name, measured, limit, isMet };
}

function seconds(ms: number): string {
  return ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(2)} s`;
}
