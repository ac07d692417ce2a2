/** Does the simulator find bugs? Each planted one is looked for in so many seeds. */
import { KNOWN_SURVIVORS } from './mutants.js';
import type { Pool } from './pool.js';

/** @returns 0 if every planted bug was found; those that can't be are not looked for */
export async function findMutants(
  pool: Pool,
  names: readonly string[],
  from: number,
  seeds: number,
): Promise<number> {
  const sought = names.filter((name) => !KNOWN_SURVIVORS.has(name));
  let found = 0;
  for (const name of sought) {
    const finding = await firstFinding(pool, name, from, seeds);
    if (finding === null) {
      console.log(`${name.padEnd(36)} NOT FOUND in ${seeds} seeds`);
      continue;
    }
    found += 1;
    console.log(`${name.padEnd(36)} seed ${finding.seed}: ${finding.error.slice(0, 140)}`);
  }
  for (const [name, reason] of KNOWN_SURVIVORS)
    console.log(`${name.padEnd(36)} is not looked for: ${reason}`);
  console.log(`${found} found, ${sought.length - found} not found`);
  return found === sought.length ? 0 : 1;
}

/** The first seed, of those that were tried, that shows the bug. */
async function firstFinding(
  pool: Pool,
  name: string,
  from: number,
  seeds: number,
): Promise<{ readonly seed: number; readonly error: string } | null> {
  let finding: { readonly seed: number; readonly error: string } | null = null;
  await pool.run({
    next: (at) => (at < seeds && finding === null ? from + at : null),
    mutants: [name],
    onResult: ({ seed, error, ended }) => {
      // That a run does not end tells nothing: the machine may be slow.
      if (error !== null && ended) finding ??= { seed, error };
    },
  });
  return finding;
}
