/** Room in memory for what a snapshot read goes over: see `ReadingMemory`. */
import { ReadingMemory } from '../state/reading-memory.js';
import type { Store } from '../state/store.js';
import type { Runtime } from './runtime.js';

/**
 * Has things of a store leave memory while queries run.
 *
 * @param bytesMax what they may take; undefined where none leave
 */
export function keepRoom(rt: Runtime, store: Store, bytesMax: number | undefined): void {
  if (bytesMax === undefined) return;
  store.reading = new ReadingMemory(store, bytesMax, () => {
    rt.isFull = true;
  });
}

/** Where a walk begins, for `makeRoom`. */
export function walkMark({ store }: Runtime): number {
  return store === null || store.reading === null ? 0 : store.reading.mark;
}

/** Lets things leave memory that came there since a walk began, between two turns of it. */
export function makeRoom(rt: Runtime, mark: number): void {
  rt.isFull = false;
  rt.store?.reading?.leave(mark);
}
