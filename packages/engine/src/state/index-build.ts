/** Brings the instances that are there when an index is made into it: at once, or a slice at a time. */
import type { QueryError } from '../error.js';
import { type IndexDef, isUnique } from '../schema/index-def.js';
import { isCutKey } from '../value/sort-key.js';
import type { Thing } from '../value/thing.js';
import { refusalOf } from './duplicate.js';
import { IndexEditor } from './parts/indexes.js';
import type { Store } from './store.js';
import { holderOf, storedValues, unitsToCompare } from './transaction/unique.js';
import type { Transaction } from './transaction.js';
import { READY, type TypeIndex } from './type-index.js';
import { WholeTexts } from './whole-texts.js';

/** Findings of a look at some instances. */
export interface Slice {
  /** The id of the last one; null when there are no more. */
  readonly upTo: number | null;
  /** Errors for instances that have the values of others. */
  readonly found: readonly QueryError[];
}

/**
 * Looks for instances of the type of a unique index that have the same values, among those with ids above one, and those that the index
 * has.
 *
 * @param max number of errors after which it ends
 * @param tells whether these may say which values, and whose
 * @param charge takes the units of comparing texts of which the index has the beginning only
 * @param isOver asked after each instance
 */
export function duplicatesIn(
  store: Store,
  def: IndexDef,
  above: number,
  max: number,
  tells: boolean,
  charge: (units: number) => void,
  isOver: () => boolean = () => false,
): Slice {
  const type = store.schema.type(def.type);
  const index = store.indexes.byId.get(def.id) ?? store.indexes.make(def, { cursor: 0, why: null });
  const holders = new Map<string, Thing>();
  const found: QueryError[] = [];
  let last: number | null = null;
  let isWhole = true;
  type.instances.eachAbove(above, (id) => {
    if (found.length >= max || (last !== null && isOver())) {
      isWhole = false;
      return false;
    }
    last = id;
    const thing = store.thingOfId(id);
    store.load(thing);
    const key = isUnique(def) ? index.uniqueKeyOf(thing) : null;
    if (key === null) return true;
    const claim = { index, key, thing, values: storedValues(index, thing) };
    const isCut = isCutKey(key);
    if (isCut) charge(unitsToCompare(claim));
    const texts = isCut ? index.textsIn(claim.values) : '';
    const name = key + texts;
    const mayBeThere = !isCut || index.wholeTexts?.has(key, texts) !== false;
    const holder = holders.get(name) ?? (mayBeThere ? holderOf(store, claim, charge, null) : undefined);
    if (holder === undefined) holders.set(name, thing);
    else found.push(refusalOf(index, type, claim.values, holder, thing, tells));
    return true;
  });
  return { upTo: isWhole ? null : last, found };
}

/** The index of a collection that has instances still to take up; undefined when there is none. */
export function unfinishedIndex(store: Store): TypeIndex | undefined {
  for (const index of store.indexes.byId.values())
    if (!index.isReady && index.progress.why === null) return index;
  return undefined;
}

/**
 * Takes up more instances of an index that is not complete, as a change like any other: those of one slice.
 *
 * @param isOver whether the slice has lasted long enough; asked after each instance
 */
export function buildSlice(
  store: Store,
  transaction: Transaction,
  index: TypeIndex,
  isOver: () => boolean,
): void {
  const editor = new IndexEditor(store, transaction);
  if (index.isUnique && !hasWholeTexts(store, index, isOver)) return;
  const { upTo, found } = duplicatesIn(
    store,
    index.def,
    index.progress.cursor,
    DUPLICATES_TOLD,
    true,
    UNCOUNTED,
    isOver,
  );
  if (found.length > 0) editor.fail(index, found.map(({ message }) => message).join('; '));
  else editor.build(index, upTo ?? READY);
}

/** Some 100 MB. An instance of an index that has more of them is compared with all that begin alike. */
const TEXTS_NOTED_MAX = 2_000_000;

/** Notes the texts of more of the instances that a unique index has; true when they all are known. */
function hasWholeTexts(store: Store, index: TypeIndex, isOver: () => boolean): boolean {
  const { cursor } = index.progress;
  const { wholeTexts } = index;
  const known = wholeTexts ?? new WholeTexts(TEXTS_NOTED_MAX);
  index.wholeTexts = known;
  if (known.upTo >= cursor) return true;
  let isWhole = true;
  store.schema.type(index.def.type).instances.eachAbove(known.upTo, (id) => {
    if (id > cursor) return false;
    const thing = store.thingOfId(id);
    store.load(thing);
    index.noteTexts(index.keyOf(thing), thing);
    known.upTo = id;
    isWhole = !isOver();
    return isWhole;
  });
  if (isWhole) known.upTo = cursor;
  return isWhole;
}

/** A slice belongs to no query. */
const UNCOUNTED = (): void => {};

/** Duplicates that are named when the build of a unique index ends with them. */
const DUPLICATES_TOLD = 10;
