import type { Store } from './store.js';

/** Counts of things that were at hand, were read, and left memory, and of look-ups in indexes. */
export interface StoreCounts {
  hits: number;
  misses: number;
  evictions: number;
  lookUps: number;
}

/** Adds what a store counted since it was opened. */
export function addCounts(to: StoreCounts, { hits, misses, evictions, indexes }: Store): void {
  to.hits += hits;
  to.misses += misses;
  to.evictions += evictions;
  to.lookUps += indexes.lookUps;
}
