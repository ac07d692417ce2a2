/** Queries that are only tried out. */
import { type CallOptions, type Database, type WireValue, wireMap } from '@althing/client';

/**
 * Tries a query out.
 *
 * @returns its result, what it would change, and how many futures it would start, as the node tells it
 * @throws {AlthingError}
 */
export async function tryOut(
  db: Database,
  scope: string,
  code: string,
  vars: ReadonlyMap<string, WireValue>,
  options: CallOptions,
): Promise<ReadonlyMap<string, WireValue>> {
  const trials = db.$scope(scope).with({ ...options, dryRun: true });
  const { result, changes, futures } = await trials.query<WireValue>(code, vars);
  const counts = Object.entries(changes).map(([name, count]) => [name, BigInt(count)] as const);
  return wireMap({
    result,
    changes: new Map(counts),
    futures: futures === undefined ? undefined : BigInt(futures),
  });
}
