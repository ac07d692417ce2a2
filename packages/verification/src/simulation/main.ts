/** `npm run simulate`: simulated runs of clusters, replayable by their seeds. */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { durationOf, runProgram, UsageError, wholeIn } from '../harness/usage.js';
import { type Cut, EXTRAS } from './cut.js';
import { findMutants } from './find-mutants.js';
import { allMutants } from './mutants.js';
import { Pool } from './pool.js';
import { repeat, replay, shrinkAndReplay } from './replay.js';
import { runSeeds } from './run-seeds.js';
import { drawSwarm } from './swarm.js';
import { workAsChild } from './work.js';

const HELP = `Simulated runs of whole clusters: the real code under a virtual clock, a simulated network and simulated disks.
Each seed is a run of its own, and always the same one.

  npm run simulate                        1000 seeds
  npm run simulate -- --seeds 20000       so many seeds, --from the first of them
  npm run simulate -- --for 1h            as many as there is time for (s, m, h)
  npm run simulate -- --reached           and how many runs came into each of the situations that matter
  npm run simulate -- --mutants           plants bugs, one at a time, and looks for each in up to --seeds seeds (2000)
  npm run simulate -- --mutants --only a,b    only these
  npm run simulate -- --mutants --times 3     looks for several seeds for each, and shows them as first-seeds.ts has them

  npm run simulate -- --seed 42           one seed; when it fails, with what happened before (--log: all that happens)
  npm run simulate -- --seed 42 --only a  with planted bugs
  npm run simulate -- --seed 42 --shrink  makes a run that fails as small as it fails for the same reason; --for 1m
  npm run simulate -- --seed 42 --times 100   repeats it: each must be the same run

  Of one seed, something can be left out:
    --nodes N, --clients N, --faults MS   fewer nodes and clients, faults for a shorter time
    --without a,b                         kinds of faults; also ${EXTRAS.join(', ')}
    --keep f12,c3.7                       all faults and operations but these; none: all

  --workers N                             processes (default: as many as there are processors)
`;

/** Time that it may take to make a run small, in milliseconds. */
const SHRINK_MS = 60_000;

async function main(args: readonly string[]): Promise<number> {
  const values = valuesOf(args);
  const workers = numberOf('workers', values.workers, availableParallelism());
  const from = numberOf('from', values.from, 1);
  const names = values.only === undefined ? null : values.only.split(',');
  checkNames('mutant', names ?? [], allMutants());
  const ms = values.for === undefined ? null : durationOf('--for', values.for);
  const pool = new Pool(workers);
  try {
    if (values.seed !== undefined) {
      const seed = numberOf('seed', values.seed, 1);
      const run = { seed, mutants: names ?? [], cut: cutOf(values) };
      if (values.shrink) return await shrinkAndReplay(pool, workers, run, ms ?? SHRINK_MS);
      if (values.times === undefined) return await replay(run, values.log);
      return await repeat(pool, workers, run, numberOf('times', values.times, 1));
    }
    if (values.mutants) {
      const [seeds, times] = [numberOf('seeds', values.seeds, 2000), numberOf('times', values.times, 1)];
      return await findMutants(pool, { names: names ?? allMutants(), from, seeds, times });
    }
    const isEndless = ms !== null && values.seeds === undefined;
    const count = isEndless ? Number.MAX_SAFE_INTEGER : numberOf('seeds', values.seeds, 1000);
    return await runSeeds(pool, from, count, ms ?? Number.POSITIVE_INFINITY, values.reached);
  } finally {
    pool.close();
  }
}

type Values = ReturnType<typeof valuesOf>;

function valuesOf(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string' },
      seeds: { type: 'string' },
      from: { type: 'string' },
      for: { type: 'string' },
      log: { type: 'boolean', default: false },
      shrink: { type: 'boolean', default: false },
      times: { type: 'string' },
      nodes: { type: 'string' },
      clients: { type: 'string' },
      faults: { type: 'string' },
      without: { type: 'string' },
      keep: { type: 'string' },
      reached: { type: 'boolean', default: false },
      workers: { type: 'string' },
      mutants: { type: 'boolean', default: false },
      only: { type: 'string' },
    },
  }).values;
}

/** The parts of the run of one seed that are left out. */
function cutOf({ nodes, clients, faults, without, keep }: Values): Cut {
  const kinds = without?.split(',') ?? [];
  checkNames('kind of fault', kinds, [...EXTRAS, ...drawSwarm(1).faults.map(([kind]) => kind)]);
  return {
    nodes: nodes === undefined ? null : numberOf('nodes', nodes, 1),
    clients: clients === undefined ? null : numberOf('clients', clients, 1),
    faultsMs: faults === undefined ? null : numberOf('faults', faults, 1),
    without: kinds,
    keep: keep === undefined ? null : keep === 'none' ? [] : keep.split(','),
  };
}

function checkNames(what: string, names: readonly string[], all: readonly string[]): void {
  const unknown = names.find((name) => !all.includes(name));
  if (unknown !== undefined) throw new UsageError(`there is no ${what} ${unknown}; all: ${all.join(' ')}`);
}

function numberOf(name: string, text: string | undefined, otherwise: number): number {
  return text === undefined ? otherwise : wholeIn(`--${name}`, text, 1, Number.MAX_SAFE_INTEGER);
}

if (process.send !== undefined) workAsChild();
else await runProgram(HELP, main);
