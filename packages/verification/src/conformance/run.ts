/**
 * Runs many cases on many lanes and says what came of it.
 */
import type { Case } from './cases.js';
import type { Lane } from './lanes.js';
import type { CaseResult } from './run-case.js';

/** Some cases and the lanes that share them. */
export interface Job {
  readonly cases: readonly Case[];
  readonly lanes: readonly Lane[];
}

/**
 * Runs all jobs side by side. A lane takes the next case of its job as soon as it is free.
 *
 * @returns the results by case, and the complaints of lanes about how nodes ended
 */
export async function runJobs(
  jobs: readonly Job[],
): Promise<{ results: Map<Case, CaseResult>; complaints: string[] }> {
  const results = new Map<Case, CaseResult>();
  const complaints: string[] = [];
  const runners = jobs.flatMap(({ cases, lanes }) => {
    const queue = cases.values();
    return lanes.map(async (lane) => {
      try {
        for (const next of queue) {
          results.set(next, await lane.run(next));
        }
      } finally {
        const complaint = await lane.close();
        if (complaint !== undefined) complaints.push(complaint);
      }
    });
  });
  const ends = await Promise.allSettled(runners);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return { results, complaints };
}
