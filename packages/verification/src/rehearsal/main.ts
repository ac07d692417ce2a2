/** `npm run rehearse`: whether the compose file, the image's entry point and the balancer do what their page says. */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { check } from '../chaos/check.js';
import { report } from '../chaos/report.js';
import { runProgram, seedOf, tellingTime, UsageError, wholeIn } from '../harness/usage.js';
import { balancerProblem } from './balancer.js';
import { DeploymentError } from './compose.js';
import { type Goal, goalTable, measureGoals } from './goals.js';
import { rehearse } from './rehearse.js';
import {
  carelessUp,
  downAndUp,
  growth,
  kill,
  lostMajority,
  lostVolume,
  rollingRestart,
  rollingUpgrade,
  type Scene,
  shrinking,
  twoOfFive,
} from './scenes.js';

const HELP = `The cluster of docker-compose.yml on this machine, without Docker: plain processes with addresses, names and
volumes of their own, the image's entry point and environment, secrets from files, and HAProxy with the project's
configuration. Clients read and write through the balancer all the time, while nodes are restarted, killed, added, removed
and emptied, and the whole of it is taken down and up again. No request may fail unless a majority is away; what the clients saw is checked for lost and doubled changes.

  npm run rehearse                      some minutes
  npm run rehearse -- --short           about 2 minutes: each scene once, and a lost volume is given up after 5 s
  npm run rehearse -- --old-build DIR   nodes run an older build at first, and are upgraded one by one; DIR is a folder
                                        of the project (git worktree add DIR COMMIT) in which npm ci has run
  npm run rehearse -- --seed 7          the same order of nodes
  npm run rehearse -- --scene 'kill -9' --kills 15
                                        that scene alone, with so many deaths besides a leader's
  npm run rehearse -- --clients 16      clients that work at the same time (default 8)
  npm run rehearse -- --keep FOLDER     keeps volumes, logs and history there; otherwise only if something is wrong
  npm run rehearse -- --goals           measures instead how fast the cluster is there, and there again after a restart of all
                                        nodes, deaths of leaders, the loss of a volume and a power cut, beside what is wanted
  npm run rehearse -- --goals --kills 5 --data 1024
                                        so many deaths of leaders (default 50), with so many MB (default 100)

It takes Linux and haproxy (apt-get install haproxy); names of nodes take root or user namespaces, else they are known by
their addresses. Exit code 0: nothing wrong, all goals met; 1: not so; 2: wrong usage, or a machine that is not fit for it.`;

const PROJECT = fileURLToPath(new URL('../../../..', import.meta.url));
/** So that a short run needs not wait a minute for the place of a lost volume. */
const SHORT = { SERVICE_REPLACE_AFTER_MS: '5s' };
const FULL_KILLS = 15;
const GOAL_KILLS = 50;

await runProgram(HELP, main);

async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      short: { type: 'boolean', default: false },
      'old-build': { type: 'string' },
      seed: { type: 'string' },
      clients: { type: 'string', default: '8' },
      scene: { type: 'string' },
      keep: { type: 'string' },
      goals: { type: 'boolean', default: false },
      kills: { type: 'string' },
      data: { type: 'string', default: '100' },
    },
  });
  const clients = wholeIn('--clients', values.clients, 1, 100);
  const seed = seedOf(values.seed);
  const oldBuild = values['old-build'] === undefined ? undefined : resolve(values['old-build']);
  if (oldBuild !== undefined && !existsSync(join(oldBuild, 'packages/node/dist/index.js')))
    throw new UsageError(`${oldBuild} holds no build of the project: run npm ci and npm run build there`);
  if (values.goals && (values.short || oldBuild !== undefined))
    throw new UsageError('--goals goes with neither --short nor --old-build');
  if (values.kills !== undefined && !values.goals && values.scene === undefined)
    throw new UsageError('--kills goes with --goals or --scene');
  if (values.goals && values.scene !== undefined) throw new UsageError('--goals goes without --scene');
  const kills = wholeIn('--kills', values.kills ?? String(killsOf(values)), 0, 1000);
  const dataMb = wholeIn('--data', values.data, 0, 100_000);
  const problem = balancerProblem();
  if (problem !== null) throw new DeploymentError(problem);
  const folder = folderOf(values.keep);
  const tell = tellingTime();
  console.log(`seed ${seed}, volumes and logs in ${folder}`);
  if (values.goals) {
    return goalsOf(folder, values.keep !== undefined, () =>
      measureGoals({ project: PROJECT, folder, seed, kills, dataMb, tell }),
    );
  }
  const recorder = await rehearse({
    project: PROJECT,
    build: oldBuild ?? PROJECT,
    folder,
    seed,
    clients,
    scenes: chosen(scenesOf(values.short, oldBuild), values.scene),
    kills,
    environment: values.short ? SHORT : {},
    signal: interruption(),
    tell,
  });
  const checked = check(recorder);
  console.log(`\n${report(recorder, checked, 'scene')}`);
  const isFine = checked.problems.length === 0;
  if (!isFine || values.keep !== undefined) console.log(`history and logs are in ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
  return isFine ? 0 : 1;
}

/** Measures, tells the outcome, and gives the exit code. */
async function goalsOf(
  folder: string,
  keeps: boolean,
  measure: () => Promise<readonly Goal[]>,
): Promise<number> {
  let isFine = false;
  // With the process end those that it started.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));
  try {
    const goals = await measure();
    console.log(`\n${goalTable(goals)}`);
    isFine = goals.every(({ isMet }) => isMet);
    return isFine ? 0 : 1;
  } finally {
    if (!isFine || keeps) console.log(`volumes and logs are in ${folder}`);
    else rmSync(folder, { recursive: true, force: true });
  }
}

function scenesOf(isShort: boolean, oldBuild: string | undefined): readonly Scene[] {
  const first = oldBuild === undefined ? [rollingRestart] : [rollingUpgrade(PROJECT)];
  const all = [...first, carelessUp, kill, growth, twoOfFive, shrinking, lostVolume, lostMajority, downAndUp];
  return isShort ? all : [...all, rollingRestart];
}

/** The number of nodes that are killed unless another one is given. */
function killsOf({ goals, short }: { readonly goals: boolean; readonly short: boolean }): number {
  return goals ? GOAL_KILLS : short ? 1 : FULL_KILLS;
}

/** The scene of a name, or all of them. */
function chosen(scenes: readonly Scene[], name: string | undefined): readonly Scene[] {
  if (name === undefined) return scenes;
  const found = scenes.find((scene) => scene.name === name);
  if (found !== undefined) return [found];
  throw new UsageError(
    `there is no scene '${name}', but ${scenes.map((scene) => `'${scene.name}'`).join(', ')}`,
  );
}

function folderOf(keep: string | undefined): string {
  if (keep === undefined) return mkdtempSync(join(tmpdir(), 'althing-rehearsal-'));
  const folder = resolve(keep);
  if (existsSync(folder)) throw new UsageError(`${folder} exists`);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Ends the rehearsal after the scene that is being played; a second one ends it at once. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  const interrupt = (): void => {
    if (controller.signal.aborted) process.exit(130);
    controller.abort(new Error('interrupted'));
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  return controller.signal;
}
