/** Tasks that each append values that nobody else appends: what the list holds in the end tells which runs there were. */
import { Anomaly, type Operation, placesIn } from './history.js';

/**
 * Each run that was due happened once, in its order; of a task that may have been made, all did or none.
 *
 * @param final what the list of the runs holds, when no task is scheduled any more
 * @throws Anomaly
 */
export function checkTasks(operations: readonly Operation[], final: readonly string[]): void {
  const places = placesIn('tasks', final);
  const known = new Set<string>();
  for (const { id, action, outcome } of operations) {
    if (action.kind !== 'task') continue;
    const runs = Array.from({ length: action.runs }, (_, n) => `${action.value} ${n + 1}`);
    const at = runs.map((run) => places.get(run)).filter((place) => place !== undefined);
    for (const run of runs) known.add(run);
    const isWhole = at.length === runs.length || (at.length === 0 && outcome !== 'ok');
    if (!isWhole || (outcome === 'failed' && at.length > 0)) {
      throw new Anomaly(
        'tasks',
        `${at.length} of ${runs.length} runs of operation ${id}, which is ${outcome}: ${runs.join(', ')}`,
      );
    }
    if (at.some((place, n) => n > 0 && place < (at[n - 1] ?? 0)))
      throw new Anomaly('tasks', `the runs of operation ${id} are at ${at.join(', ')}`);
  }
  const foreign = final.filter((run) => !known.has(run));
  if (foreign.length > 0)
    throw new Anomaly('tasks', `there are runs that no task was to have: ${foreign.join(', ')}`);
}
