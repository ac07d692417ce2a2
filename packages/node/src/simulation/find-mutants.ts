/** Does the simulator find bugs? Each planted one is looked for in so many seeds. */
import { KNOWN_SURVIVORS } from './mutants.js';
import type { Pool } from './pool.js';

/** @returns 0 if every planted bug was found, but for those that are known not to be */
export async function findMutants(
  pool: Pool,
  names: readonly string[],
  from: number,
  seeds: number,
): Promise<number> {
  let lost = 0;
  let found = 0;
  for (const name of names) {
    const finding = await firstFinding(pool, name, from, seeds);
    const known = KNOWN_SURVIVORS.get(name);
    if (finding !== null) {
      found += 1;
      const note = known === undefined ? '' : ' (but it is listed as one that is not found)';
      console.log(`${name.padEnd(36)} seed ${finding.seed}: ${finding.error.slice(0, 140)}${note}`);
    } else if (known !== undefined) {
      console.log(`${name.padEnd(36)} not found in ${seeds} seeds, as expected: ${known}`);
    } else {
      lost += 1;
      console.log(`${name.padEnd(36)} NOT FOUND in ${seeds} seeds`);
    }
  }
  console.log(`${found} found, ${names.length - found} not found, ${lost} of them should be`);
  return lost === 0 ? 0 : 1;
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
    onResult: ({ seed, error }) => {
      if (error !== null) finding ??= { seed, error };
    },
  });
  return finding;
}
