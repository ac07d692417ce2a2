/** Does the simulator find bugs? Each planted one is looked for in so many seeds. */
import { WHOLE } from './cut.js';
import { SEEDS_TRIED_FIRST } from './first-seeds.js';
import { KNOWN_SURVIVORS } from './mutants.js';
import type { Job, Pool } from './pool.js';

/** The first tries of a search end after so many events: few runs have more, and those few take most of the time. */
const SHORT_TRIES = 100;
const SHORT_TURNS_MAX = 30_000;

export interface Sought {
  /** Names of the planted bugs. */
  readonly names: readonly string[];
  /** The first seed, behind those that found a bug before. */
  readonly from: number;
  /** The number of seeds that are tried for each bug. */
  readonly seeds: number;
  /** The number of seeds that are to find it. */
  readonly times: number;
}

/**
 * Looks for planted bugs. Each process looks for another one, until there are fewer bugs than processes.
 *
 * @returns 0 if every planted bug was found; those that can't be are not looked for
 */
export async function findMutants(pool: Pool, { names, from, seeds, times }: Sought): Promise<number> {
  const searches = names
    .filter((name) => !KNOWN_SURVIVORS.has(name))
    .map((name) => new Search(name, from, seeds, times));
  await pool.run(() => {
    const open = searches.filter(({ isOpen }) => isOpen);
    const fewest = Math.min(...open.map(({ running }) => running));
    return open.find(({ running }) => running === fewest)?.next() ?? null;
  });
  for (const [name, reason] of KNOWN_SURVIVORS)
    console.log(`${name.padEnd(36)} is not looked for: ${reason}`);
  if (times > 1)
    for (const { name, finders } of searches) console.log(`  ['${name}', [${finders.join(', ')}]],`);
  const found = searches.filter((search) => search.isFound).length;
  console.log(`${found} found, ${searches.length - found} not found`);
  return found === searches.length ? 0 : 1;
}

/** The search for one planted bug. */
class Search {
  /** Seeds that found it, in this search. */
  readonly finders: number[] = [];
  /** Runs that have not ended yet. */
  running = 0;
  private tried = 0;
  private readonly order: readonly number[];

  constructor(
    readonly name: string,
    from: number,
    seeds: number,
    private readonly times: number,
  ) {
    const all = Array.from({ length: seeds }, (_, at) => from + at);
    this.order = [...new Set([...(SEEDS_TRIED_FIRST.get(name) ?? []), ...all])].slice(0, seeds);
  }

  get isFound(): boolean {
    return this.finders.length >= this.times;
  }

  /** True if there are seeds to try, and a reason to. */
  get isOpen(): boolean {
    return !this.isFound && this.tried < this.order.length;
  }

  next(): Job | null {
    const seed = this.order[this.tried];
    if (seed === undefined) return null;
    const run = { seed, mutants: [this.name], cut: WHOLE };
    const assignment = this.tried < SHORT_TRIES ? { ...run, turnsMax: SHORT_TURNS_MAX } : run;
    this.tried += 1;
    this.running += 1;
    return { assignment, onResult: ({ error, ended }) => this.onResult(seed, ended ? error : null) };
  }

  /** @param error null too where the run did not end: that tells nothing */
  private onResult(seed: number, error: string | null): void {
    this.running -= 1;
    if (this.isFound) return;
    const name = this.name.padEnd(36);
    if (error !== null) {
      this.finders.push(seed);
      if (this.isFound) console.log(`${name} seed ${seed}, try ${this.tried}: ${error.slice(0, 140)}`);
    }
    if (!this.isFound && !this.isOpen && this.running === 0)
      console.log(`${name} NOT FOUND in ${this.order.length} seeds`);
  }
}
