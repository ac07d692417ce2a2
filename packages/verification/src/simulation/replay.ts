/** One run: made again, with its trace, or as often as it takes to believe that it is always the same. */
import { execFileSync } from 'node:child_process';
import { type Cut, commandOf } from './cut.js';
import type { Pool } from './pool.js';
import { shrink } from './shrink.js';
import { simulate } from './simulate.js';
import { type Happening, LEGEND, tableOf } from './table.js';

/** A run: a seed, with planted bugs, without the parts that are left out. */
export interface Run {
  readonly seed: number;
  readonly mutants: readonly string[];
  readonly cut: Cut;
}

/** Happenings that are shown before a failure. */
const LAST = 200;

/** Real time that a run gets at least, when there is hardly any left. */
const TIMEOUT_MIN_MS = 1000;

/**
 * Makes one run. When it fails, tells what happened last, and how to see that again: everything, or of a small run only
 * what is more than routine, so that more of it is seen.
 *
 * @param all whether everything is told that happens, from the beginning
 * @returns 1 if it fails
 */
export async function replay({ seed, mutants, cut }: Run, all: boolean): Promise<number> {
  let happenings: Happening[] = [];
  const log = (happening: Happening): void => {
    if (!all && cut.keep !== null && happening.isRoutine) return;
    happenings.push(happening);
    if (!all && happenings.length >= 2 * LAST) happenings = happenings.slice(-LAST);
  };
  let failure: { readonly error: unknown } | null = null;
  try {
    const report = await simulate({ seed, mutants: new Set(mutants), cut, log });
    if (!all) happenings = [];
    console.log(report);
  } catch (error) {
    failure = { error };
    if (!all) happenings = happenings.slice(-LAST);
  }
  if (happenings.length > 0) console.log(`${tableOf(happenings).join('\n')}\n\n${LEGEND}`);
  if (failure === null) return 0;
  console.log(`\nseed ${seed} fails:`, failure.error);
  console.log(`commit: ${commit()}\nreplay: ${commandOf(seed, mutants, cut)}`);
  return 1;
}

/** Makes a run that fails small, and replays what is left of it. */
export async function shrinkAndReplay(pool: Pool, workers: number, run: Run, ms: number): Promise<number> {
  const began = performance.now();
  const leftMs = (): number => began + ms - performance.now();
  const shrunk = await shrink({
    ...run,
    workers,
    live: (assignment) => pool.live(assignment, Math.max(TIMEOUT_MIN_MS, leftMs())),
    isOver: () => leftMs() <= 0,
    report: (line) => console.log(line),
  });
  if (shrunk === null) {
    console.log(`seed ${run.seed} does not fail`);
    return 0;
  }
  const { cut, runs, decisionsBefore, decisions } = shrunk;
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(
    `${decisionsBefore} decisions before, ${decisions.length} after ${runs} runs in ${seconds} s\n`,
  );
  return replay({ ...run, cut }, false);
}

/** Makes one run a number of times: each must be the same. */
export async function repeat(pool: Pool, workers: number, run: Run, times: number): Promise<number> {
  const counts = new Map<string, number>();
  let left = times;
  const worker = async (): Promise<void> => {
    while (left-- > 0) {
      const { traceHash, error, decisions } = await pool.live(run);
      const outcome = error ?? `trace ${traceHash}, ${decisions.length} decisions`;
      counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: workers }, worker));
  for (const [outcome, count] of counts) console.log(`${count} of ${times}: ${outcome}`);
  return counts.size === 1 ? 0 : 1;
}

/** The commit of the code; a mark tells that it has changes that are not committed. */
export function commit(): string {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty', '--abbrev=12'], {
      encoding: 'utf8',
    }).trim();
  } catch {
    return 'unknown';
  }
}
