/** Many runs, each seed one, in several processes. */
import { commandOf, WHOLE } from './cut.js';
import type { Pool } from './pool.js';
import { missingPlaces, REACHED_WITHIN } from './reached.js';
import { replay } from './replay.js';
import type { Result } from './work.js';

/** Runs that fail after which it is enough. */
const FAILURES_MAX = 20;

/**
 * Makes many runs, and tells what came of them.
 *
 * @returns 1 if one fails, or if none came into a situation that some should come into
 */
export async function runSeeds(
  pool: Pool,
  from: number,
  count: number,
  ms: number,
  tellsReached: boolean,
): Promise<number> {
  const began = performance.now();
  const sum = { seeds: 0, events: 0, operations: 0, acknowledged: 0 };
  let begun = 0;
  let failures = 0;
  let firstFailed: number | null = null;
  const reached = new Map<string, number>();
  const onResult = (result: Result): void => {
    sum.seeds += 1;
    if (result.error !== null) {
      failures += 1;
      console.log(`seed ${result.seed}: ${result.error}\n  replay: ${commandOf(result.seed, [], WHOLE)}`);
      if (result.ended) firstFailed ??= result.seed;
      return;
    }
    sum.events += result.events;
    sum.operations += result.operations;
    sum.acknowledged += result.acknowledged;
    for (const place of result.reached) reached.set(place, (reached.get(place) ?? 0) + 1);
  };
  await pool.run(() => {
    if (begun === count || performance.now() - began >= ms || failures >= FAILURES_MAX) return null;
    const seed = from + begun;
    begun += 1;
    return { assignment: { seed, mutants: [], cut: WHOLE }, onResult };
  });
  const seconds = (performance.now() - began) / 1000;
  const { seeds, events, operations, acknowledged } = sum;
  console.log(
    `${seeds} seeds in ${seconds.toFixed(1)} s (${(seeds / seconds).toFixed(1)} a second): ${events} events, ` +
      `${operations} operations, ${acknowledged} of them acknowledged`,
  );
  if (tellsReached) {
    for (const [place, runs] of [...reached].sort()) console.log(`${String(runs).padStart(8)} ${place}`);
  }
  const missing = missingPlaces(reached);
  // Fewer runs may miss what is rare.
  const isBlind = missing.length > 0 && seeds >= REACHED_WITHIN;
  if (isBlind) console.log(`no run came into these situations, and some should: ${missing.join('; ')}`);
  if (firstFailed !== null) await replay({ seed: firstFailed, mutants: [], cut: WHOLE }, false);
  console.log(`${seeds - failures} passed, ${failures} failed`);
  return failures === 0 && !isBlind ? 0 : 1;
}
