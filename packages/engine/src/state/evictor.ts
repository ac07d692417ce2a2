import { bytesOfValue } from '../value/kinds.js';
import { type Thing, ThingBit } from '../value/thing.js';
import type { ThingMemory } from './memory.js';

/** Bytes of a thing in memory without its values, and of a stub, roughly. */
const THING_BYTES = 136;
export const STUB_BYTES = 96;

const DIRTY = ThingBit.DIRTY_EVEN | ThingBit.DIRTY_ODD;

/**
 * Takes things out of memory that are as they are on disk and were not used for a while. A clock hand goes over the
 * things, page by page: one that was used since the last round gets a second chance, another one leaves. On its way the
 * hand counts what memory takes, so that the running estimate never drifts far. Pages of indexes have their turn where a round begins.
 */
export class Evictor {
  private pages: number[] = [];
  private counted = 0;

  constructor(readonly store: ThingMemory) {}

  /** Estimated bytes of what is in memory. */
  get bytes(): number {
    return this.store.bytes + this.store.indexes.bytes;
  }

  /**
   * Moves the hand over one page of things. Must not be called while a checkpoint is under way: what it has encoded is
   * not on disk yet.
   *
   * @param evict whether to take things out, or only to count
   * @returns false when a round is complete: what could leave has left, or has been given a second chance
   */
  step(evict: boolean): boolean {
    const { store } = this;
    if (this.pages.length === 0) {
      if (evict) store.indexes.evict();
      this.pages = store.table.pageNumbers();
      this.counted = 0;
    }
    const page = this.pages.pop();
    if (page === undefined) return false;
    for (const thing of store.table.inPage(page)) {
      if (thing === undefined) continue;
      const isKept = store.isPinned(thing);
      if (evict && !thing.locked && !isKept) this.pass(thing);
      if ((thing.bits & ThingBit.LOADED) === 0) {
        if (thing.holders === 0 && !isKept) store.forgetStub(thing);
        else this.counted += STUB_BYTES;
      } else {
        this.counted += bytesOf(thing);
      }
    }
    if (this.pages.length > 0) return true;
    store.bytes = this.counted;
    store.uncounted = 0;
    return false;
  }

  private pass(thing: Thing): void {
    if ((thing.bits & ThingBit.LOADED) === 0) return;
    if ((thing.bits & DIRTY) !== 0) {
      // A list to which something is added all the time never is as it is on disk, but most of its pages are.
      if ((thing.bits & ThingBit.PAGED) !== 0) this.store.rest(thing);
      return;
    }
    if ((thing.bits & ThingBit.USED) === 0 && thing !== this.store.root) {
      this.store.unload(thing);
      return;
    }
    thing.bits &= ~ThingBit.USED;
    this.store.rest(thing);
  }
}

/** Changes of so large a part of the memory for things make it be counted: they take several times as much in memory. */
const UNCOUNTED_PART = 1 / 16;

/** Estimated bytes of what is in memory of some collections. */
export function bytesOfAll(evictors: readonly Evictor[]): number {
  return evictors.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** True if that is more than it may be, or has changed so much since it was counted that it may be. */
export function areOver(evictors: readonly Evictor[], bytesMax: number): boolean {
  const uncounted = evictors.reduce((sum, { store }) => sum + store.uncounted, 0);
  return uncounted > bytesMax * UNCOUNTED_PART || bytesOfAll(evictors) > bytesMax;
}

/** Counts what is over, and takes things out of memory; see `Engine.evict`. */
export function evictAll(evictors: readonly Evictor[], bytesMax: number, isTimeUp: () => boolean): boolean {
  for (const evictor of evictors) {
    const { store } = evictor;
    // A step is a page of things, so the clock may be looked at after each.
    while (!store.dirty.freezing && areOver(evictors, bytesMax)) {
      const isTooMuch = bytesOfAll(evictors) > bytesMax;
      if ((!isTooMuch && store.uncounted === 0) || !evictor.step(isTooMuch)) break;
      if (isTimeUp()) return true;
    }
  }
  return false;
}

/** Bytes that a loaded thing takes in memory, roughly. */
export function bytesOf(thing: Thing): number {
  let bytes = THING_BYTES + 8 * thing.slots.length;
  for (const value of thing.slots) bytes += bytesOfValue(value);
  return bytes;
}
