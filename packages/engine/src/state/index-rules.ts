/** The rules that indexes keep between two changes. */
import type { Type } from '../schema/type.js';
import { isCutKey } from '../value/sort-key.js';
import type { Store } from './store.js';
import type { TypeIndex } from './type-index.js';

/** The broken rules of all indexes, a line each. Brings all instances of their types into memory. */
export function brokenIndexes(store: Store): string[] {
  const broken: string[] = [];
  for (const index of store.indexes.byId.values()) {
    const { def } = index;
    const type = store.schema.type(def.type);
    const say = (problem: string): number =>
      broken.push(`index ${def.id} (${type.name}.${def.name}): ${problem}`);
    if (type.def === null) say('its type was deleted');
    else {
      for (const problem of index.tree.problems()) say(problem);
      for (const problem of brokenEntries(store, index, type)) say(problem);
    }
  }
  return broken;
}

/**
 * I26: an index has an entry for each instance with an id up to its cursor, with the key of the values that it has now, in order, and no
 * others. I27: no two entries of a unique one have equal keys without nil.
 */
function brokenEntries(store: Store, index: TypeIndex, type: Type): string[] {
  const broken: string[] = [];
  const expected = new Map<number, string>();
  for (const id of type.instances) {
    if (!index.covers(id)) continue;
    const thing = store.thingOfId(id);
    store.load(thing);
    expected.set(id, index.keyOf(thing));
    const key = index.isUnique ? index.uniqueKeyOf(thing) : null;
    if (key !== null && !isCutKey(key) && idsOf(index, key).length > 1)
      broken.push(`the values of thing ${id} are those of others, too`);
  }
  if (index.tree.count !== expected.size)
    broken.push(`there are ${index.tree.count} entries for ${expected.size} instances`);
  let before = { key: '', id: 0 };
  index.tree.ascend(before, (key, id) => {
    if (expected.get(id) !== key) broken.push(`thing ${id} has an entry that is not its own`);
    if (key < before.key || (key === before.key && id <= before.id))
      broken.push(`thing ${id} is not in order`);
    before = { key, id };
    return true;
  });
  return broken;
}

/** The findings of a look at a part of the instances of an index. */
export interface IndexProblems {
  /** A line each. */
  readonly problems: readonly string[];
  /** Number of instances that were looked at. */
  readonly checked: number;
  /** The id of the last one, if there are more. */
  readonly next: number | null;
}

/**
 * The same for a part of the instances, which are brought into memory: each has its entry, and a unique one alone. At the end of all
 * instances there are as many entries, so there are no others.
 *
 * @param above the instances with ids above this one
 * @param max instances that are looked at
 * @param onInstance called before each
 */
export function problemsAbove(
  store: Store,
  index: TypeIndex,
  above: number,
  max: number,
  onInstance: () => void,
): IndexProblems {
  const { tree } = index;
  const type = store.schema.type(index.def.type);
  const problems: string[] = [];
  let [checked, last, isWhole] = [0, above, true];
  type.instances.eachAbove(above, (id) => {
    if (checked === max || !index.covers(id)) {
      isWhole = checked < max;
      return false;
    }
    onInstance();
    checked += 1;
    last = id;
    const thing = store.thingOfId(id);
    store.load(thing);
    const key = index.keyOf(thing);
    const isUnique = index.isUnique && !isCutKey(key) && index.uniqueKeyOf(thing) !== null;
    const ids = isUnique ? idsOf(index, key) : [id];
    if (!hasEntry(index, key, id)) problems.push(`thing ${id} has no entry with its values`);
    else if (ids.length > 1) problems.push(`the values of thing ${id} are those of others, too`);
    return true;
  });
  if (isWhole && index.isReady && tree.count !== type.instances.size)
    problems.push(`there are ${tree.count} entries for ${type.instances.size} instances`);
  return { problems, checked, next: isWhole ? null : last };
}

function hasEntry({ tree }: TypeIndex, key: string, id: number): boolean {
  let has = false;
  tree.ascend({ key, id }, (otherKey, otherId) => {
    has = otherKey === key && otherId === id;
    return false;
  });
  return has;
}

function idsOf({ tree }: TypeIndex, wanted: string): number[] {
  const ids: number[] = [];
  tree.eachOf(wanted, (id) => ids.push(id) < 2);
  return ids;
}
