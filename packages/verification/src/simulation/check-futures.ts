/** Queries with a future that each append values that nobody else appends: what the list holds in the end tells which of both took effect. */
import { Anomaly, type Operation, placesIn } from './history.js';

/**
 * A query took effect once or never, and its future never without it, nor before it, nor twice: both did where that is the answer,
 * the query where its client was told that something was made, and neither where it was told that nothing was.
 *
 * @param final what the list holds in the end
 * @throws Anomaly
 */
export function checkFutures(operations: readonly Operation[], final: readonly string[]): void {
  const places = placesIn('futures', final);
  let known = 0;
  for (const operation of operations) {
    if (operation.action.kind !== 'future') continue;
    const [query, future] = stepsOf(operation.action.value).map((step) => places.get(step));
    known += Number(query !== undefined) + Number(future !== undefined);
    const problem = problemOf(operation, operation.action.fails, query, future);
    if (problem !== null)
      throw new Anomaly('futures', `operation ${operation.id}, which is ${toldOf(operation)}: ${problem}`);
  }
  if (known !== final.length) throw new Anomaly('futures', 'there are values that nobody appended');
}

/** The value that a query with a future appends, and the one that its future appends. */
export function stepsOf(value: string): readonly [string, string] {
  return [`${value} query`, `${value} future`];
}

function problemOf(
  { outcome, isMade = false }: Operation,
  fails: boolean,
  query: number | undefined,
  future: number | undefined,
): string | null {
  if (future !== undefined && query === undefined) return 'its future took effect without it';
  if (future !== undefined && query !== undefined && future < query)
    return `its future took effect before it, at ${future} and ${query}`;
  if (fails && future !== undefined) return 'its future failed and took effect';
  if (fails && outcome === 'ok') return 'its future should have failed';
  if (outcome === 'ok' && future === undefined) return 'its future is lost';
  if (isMade && query === undefined) return 'its change is lost';
  if (outcome === 'failed' && query !== undefined) return 'its change is there';
  return null;
}

function toldOf({ outcome, isMade = false }: Operation): string {
  return isMade ? 'made' : outcome;
}
