/** When lists and sets of stored things come to lie in pages, and when they do not any more. */
import { List, ThingSet } from '../../value/containers.js';
import { eachThing, type VisitOther } from '../../value/kinds.js';
import type { Thing } from '../../value/thing.js';
import type { Value } from '../../value/value.js';
import type { ThingMemory } from '../memory.js';
import { isPagedList, ListPages } from './list-pages.js';
import { isPagedSet, MemberPages } from './member-pages.js';

/** The pages of a list or set of a stored thing, which gets some if it is large; null if it is stored as a whole. */
export function containerPages(
  value: Value,
  owner: Thing,
  store: ThingMemory,
): ListPages | MemberPages | null {
  if (isPagedList(value) || isPagedSet(value)) return value.backing;
  if (value instanceof List && ListPages.isWanted(value)) return ListPages.cut(value, store.pagesOf(owner));
  if (value instanceof ThingSet && MemberPages.isWanted(value))
    return MemberPages.cut(value, store.pagesOf(owner));
  return null;
}

/** Gives the pages of a list or set up, which is no property any more; or is stored as a whole, and in memory then. */
export function dropPages(value: Value): void {
  if (isPagedList(value) || isPagedSet(value)) value.backing.drop();
}

/** Takes `dropPages` back. */
export function restorePages(value: Value): void {
  if (isPagedList(value)) value.backing.restore();
}

/** The same as `eachThing`; pages of a list that refer to nothing stay where they are. */
export function eachReference(value: Value, visit: (thing: Thing) => void, visitOther?: VisitOther): void {
  if (isPagedList(value)) value.backing.eachReference(visit, visitOther);
  else eachThing(value, visit, visitOther);
}
