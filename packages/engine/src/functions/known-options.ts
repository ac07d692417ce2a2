import { valueError } from '../error.js';
import type { Runtime } from '../run/runtime.js';
import type { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';

/**
 * The entries of a thing with options.
 *
 * @param name of the function
 * @throws QueryError value_err for one that is not known
 */
export function knownOptions(
  rt: Runtime,
  name: string,
  given: Thing,
  known: readonly string[],
): ReadonlyMap<string, Value> {
  rt.load(given);
  const values = new Map(given.entries());
  for (const key of values.keys()) {
    if (!known.includes(key))
      throw valueError(`${name}() has no option '${key}'; known: ${known.join(', ')}`);
  }
  return values;
}
