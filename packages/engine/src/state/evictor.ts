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
        const isPart = (thing.bits & ThingBit.PAGED) !== 0;
        if (thing.holders === 0 && !isKept && !isPart) store.forgetStub(thing);
        else this.counted += STUB_BYTES + (isPart ? store.bytesOfPart(thing) : 0);
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
    if ((thing.bits & ThingBit.LOADED) === 0) {
      if ((thing.bits & (ThingBit.PAGED | ThingBit.USED)) === ThingBit.PAGED) this.store.unloadPart(thing);
      thing.bits &= ~ThingBit.USED;
      return;
    }
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

/** Bytes that a loaded thing takes in memory, roughly. */
export function bytesOf(thing: Thing): number {
  let bytes = THING_BYTES + 8 * thing.slots.length;
  for (const value of thing.slots) bytes += bytesOfValue(value);
  return bytes;
}
