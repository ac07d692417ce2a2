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
    const key = index.isUnique ? index.uniqueKeyOf(thing, NO_VALUES) : null;
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

function idsOf({ tree }: TypeIndex, wanted: string): number[] {
  const ids: number[] = [];
  tree.ascend({ key: wanted, id: 0 }, (key, id) => key === wanted && ids.push(id) < 2);
  return ids;
}

const NO_VALUES = new Map();
