/**
 * Compares a recorded answer with a node's: types count, ids are compared up to a one-to-one renaming.
 */
import { isWireBytes, isWireList, showValue, type WireValue } from '@althing/client';

/** Pairs of recorded ids and ids of the node; they hold for a whole case. */
export class IdPairs {
  readonly #theirs = new Map<bigint, bigint>();
  readonly #ours = new Map<bigint, bigint>();
  readonly #trail: [recorded: bigint, actual: bigint][] = [];

  /** True if the two are partners, or become partners now because neither has one. */
  meet(recorded: bigint, actual: bigint): boolean {
    const partner = this.#theirs.get(recorded);
    if (partner !== undefined || this.#ours.has(actual)) return partner === actual;
    this.#theirs.set(recorded, actual);
    this.#ours.set(actual, recorded);
    this.#trail.push([recorded, actual]);
    return true;
  }

  /** A point to come back to with `undo`. */
  mark(): number {
    return this.#trail.length;
  }

  /** Forgets the pairs that were made since a mark. */
  undo(mark: number): void {
    for (const [recorded, actual] of this.#trail.splice(mark)) {
      this.#theirs.delete(recorded);
      this.#ours.delete(actual);
    }
  }
}

/**
 * Compares two values.
 *
 * @param unordered the order of the outermost list does not count
 * @returns where and how they differ; undefined when they don't
 */
export function difference(
  expected: WireValue,
  actual: WireValue,
  ids: IdPairs,
  unordered = false,
): string | undefined {
  if (!unordered) return differ(expected, actual, ids, '');
  if (!isWireList(expected) || !isWireList(actual)) return 'both have to be lists';
  if (expected.length !== actual.length) return lengths(expected, actual, '');
  const budget = { left: matchingSteps };
  if (!isPermutation(expected, actual, new Set(), 0, ids, budget)) {
    return budget.left > 0 ? 'the items differ, whatever the order' : 'too many ways to pair the items';
  }
  return undefined;
}

/** The number of pairs of items that are tried before a comparison without order is given up. */
const matchingSteps = 100_000;

/** Pairs each expected item from `index` on with an actual one that is not taken: depth first, taking ids back. */
function isPermutation(
  expected: readonly WireValue[],
  actual: readonly WireValue[],
  taken: Set<number>,
  index: number,
  ids: IdPairs,
  budget: { left: number },
): boolean {
  const wanted = expected[index];
  if (wanted === undefined) return true;
  for (const [position, candidate] of actual.entries()) {
    if (taken.has(position) || budget.left <= 0) continue;
    budget.left--;
    const mark = ids.mark();
    if (differ(wanted, candidate, ids, '') === undefined) {
      taken.add(position);
      if (isPermutation(expected, actual, taken, index + 1, ids, budget)) return true;
      taken.delete(position);
    }
    ids.undo(mark);
  }
  return false;
}

function differ(expected: WireValue, actual: WireValue, ids: IdPairs, path: string): string | undefined {
  if (isWireBytes(expected) || isWireBytes(actual)) {
    const equal = isWireBytes(expected) && isWireBytes(actual) && Buffer.compare(expected, actual) === 0;
    return equal ? undefined : unlike(expected, actual, path);
  }
  if (isWireList(expected)) {
    if (!isWireList(actual)) return unlike(expected, actual, path);
    if (expected.length !== actual.length) return lengths(expected, actual, path);
    for (const [index, item] of expected.entries()) {
      const found = differ(item, actual[index] ?? null, ids, `${path}[${index}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (expected instanceof Map) {
    return actual instanceof Map ? differInMap(expected, actual, ids, path) : unlike(expected, actual, path);
  }
  return Object.is(expected, actual) ? undefined : unlike(expected, actual, path);
}

function differInMap(
  expected: ReadonlyMap<string, WireValue>,
  actual: ReadonlyMap<string, WireValue>,
  ids: IdPairs,
  path: string,
): string | undefined {
  for (const key of actual.keys()) {
    if (!expected.has(key)) return `${path}.${key} should not be there`;
  }
  for (const [key, wanted] of expected) {
    const found = actual.get(key);
    if (found === undefined) return `${path}.${key} is missing`;
    if (key === '#' && typeof wanted === 'bigint' && typeof found === 'bigint') {
      if (!ids.meet(wanted, found))
        return `${path}.#: the id ${found} does not stand for the recorded ${wanted}`;
      continue;
    }
    const difference = differ(wanted, found, ids, `${path}.${key}`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function unlike(expected: WireValue, actual: WireValue, path: string): string {
  return `${at(path)}${brief(actual)} instead of ${brief(expected)}`;
}

function lengths(expected: readonly WireValue[], actual: readonly WireValue[], path: string): string {
  return `${at(path)}${actual.length} items instead of ${expected.length}`;
}

function at(path: string): string {
  return path === '' ? '' : `at ${path}: `;
}

function brief(value: WireValue): string {
  const text = showValue(value);
  return text.length > 200 ? `${text.slice(0, 197)}...` : text;
}
