/** `npm run simulate`: simulated lives of clusters, replayable by their seeds. */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { findMutants } from './find-mutants.js';
import { allMutants } from './mutants.js';
import { Pool } from './pool.js';
import { missingPlaces, REACHED_WITHIN } from './reached.js';
import { simulate } from './simulate.js';
import { workAsChild } from './work.js';

const HELP = `Simulated lives of whole clusters: the real code under a virtual clock, a simulated network and simulated disks.
Each seed is a life of its own, and always the same one.

  npm run simulate                        1000 seeds
  npm run simulate -- --seeds 20000       so many seeds, --from the first of them
  npm run simulate -- --for 1h            as many as there is time for (s, m, h)
  npm run simulate -- --seed 42           one seed; when it fails, with what happened before (--log: all that happens)
  npm run simulate -- --reached           and how many lives came into each of the situations that matter
  npm run simulate -- --mutants           plants bugs, one at a time, and looks for each in up to --seeds seeds (2000)
  npm run simulate -- --mutants --only a,b    only these; --seed 42 --only a: one life with that bug

  --workers N                             processes (default: as many as there are processors)
`;

/** Lines that are shown before a failure. */
const LAST_LINES = 200;
const FAILURES_MAX = 20;

async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean', default: false },
      seed: { type: 'string' },
      seeds: { type: 'string' },
      from: { type: 'string', default: '1' },
      for: { type: 'string' },
      log: { type: 'boolean', default: false },
      reached: { type: 'boolean', default: false },
      workers: { type: 'string' },
      mutants: { type: 'boolean', default: false },
      only: { type: 'string' },
    },
  });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const workers = numberOf('workers', values.workers, availableParallelism());
  const from = numberOf('from', values.from, 1);
  const names = values.only === undefined ? null : values.only.split(',');
  const unknown = names?.find((name) => !allMutants().includes(name));
  if (unknown !== undefined)
    throw new UsageError(`there is no mutant ${unknown}; all: ${allMutants().join(' ')}`);
  if (values.seed !== undefined) return replay(numberOf('seed', values.seed, 1), names ?? [], values.log);
  const pool = new Pool(workers);
  try {
    if (values.mutants) {
      return await findMutants(pool, names ?? allMutants(), from, numberOf('seeds', values.seeds, 2000));
    }
    const ms = values.for === undefined ? Number.POSITIVE_INFINITY : durationOf(values.for);
    const endless = values.for !== undefined && values.seeds === undefined;
    return await runMany(
      pool,
      from,
      endless ? Number.MAX_SAFE_INTEGER : numberOf('seeds', values.seeds, 1000),
      ms,
      values.reached,
    );
  } finally {
    pool.close();
  }
}

/** Runs one seed, and shows how it went. */
async function replay(seed: number, mutants: readonly string[], all: boolean): Promise<number> {
  const lines: string[] = [];
  const log = (line: string): void => {
    if (all) console.log(line);
    else if (lines.push(line) > 2 * LAST_LINES) lines.splice(0, LAST_LINES);
  };
  try {
    console.log(await simulate({ seed, mutants: new Set(mutants), log }));
    return 0;
  } catch (error) {
    for (const line of lines.slice(-LAST_LINES)) console.log(line);
    console.log(`\nseed ${seed} fails:`, error);
    return 1;
  }
}

async function runMany(
  pool: Pool,
  from: number,
  count: number,
  ms: number,
  tellsReached: boolean,
): Promise<number> {
  const began = performance.now();
  const sum = { seeds: 0, events: 0, operations: 0, acknowledged: 0 };
  const failures: string[] = [];
  const reached = new Map<string, number>();
  await pool.run({
    next: (at) =>
      at < count && performance.now() - began < ms && failures.length < FAILURES_MAX ? from + at : null,
    mutants: [],
    onResult: (result) => {
      sum.seeds += 1;
      if (result.error !== null) {
        failures.push(`seed ${result.seed}`);
        console.log(
          `seed ${result.seed}: ${result.error}\n  replay: npm run simulate -- --seed ${result.seed}`,
        );
        return;
      }
      sum.events += result.events;
      sum.operations += result.operations;
      sum.acknowledged += result.acknowledged;
      for (const place of result.reached) reached.set(place, (reached.get(place) ?? 0) + 1);
    },
  });
  const seconds = (performance.now() - began) / 1000;
  const { seeds, events, operations, acknowledged } = sum;
  console.log(
    `${seeds} seeds in ${seconds.toFixed(1)} s (${(seeds / seconds).toFixed(1)} a second): ${events} events, ` +
      `${operations} operations, ${acknowledged} of them acknowledged`,
  );
  if (tellsReached) {
    for (const [place, lives] of [...reached].sort()) console.log(`${String(lives).padStart(8)} ${place}`);
  }
  const missing = missingPlaces(reached);
  // Fewer lives may miss what is rare.
  const isBlind = missing.length > 0 && seeds >= REACHED_WITHIN;
  if (isBlind) console.log(`no life came into these situations, and some should: ${missing.join('; ')}`);
  console.log(`${seeds - failures.length} passed, ${failures.length} failed`);
  return failures.length === 0 && !isBlind ? 0 : 1;
}

/** What is wrong with how this was called. */
class UsageError extends Error {}

function numberOf(name: string, text: string | undefined, otherwise: number): number {
  const value = text === undefined ? otherwise : Number(text);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new UsageError(`--${name} ${text}: a whole number from 1 on`);
  return value;
}

function durationOf(text: string): number {
  const match = /^(\d+)(s|m|h)$/.exec(text);
  const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };
  const unit = units[match?.[2] ?? ''];
  if (match === null || unit === undefined) throw new UsageError(`--for ${text}: for example 90s, 10m or 1h`);
  return Number(match[1]) * unit;
}

if (process.send !== undefined) {
  workAsChild();
} else {
  main(process.argv.slice(2)).then(
    (code) => {
      process.exitCode = code;
    },
    (error: unknown) => {
      console.error(error instanceof UsageError ? `${error.message}\n\n${HELP}` : error);
      process.exitCode = 2;
    },
  );
}
