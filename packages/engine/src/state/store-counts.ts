import type { Store } from './store.js';

/** How often things were at hand, were read, and left memory, and how often something was looked up in an index. */
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
