/** The collections of a node whose state is open, and the memory that their things take. */
import type { RootGroup } from '../admin/root-group.js';
import { keepRoom } from '../run/room.js';
import type { Runtime } from '../run/runtime.js';
import { CollectionScope } from '../run/scopes.js';
import { CollectionGroup } from '../state/collection-group.js';
import { Evictor } from '../state/evictor.js';
import { Expiry } from '../state/expiry.js';
import type { RecordSource } from '../state/records.js';
import { Removal } from '../state/removal.js';

export interface OpenCollection {
  readonly scope: CollectionScope;
  readonly group: CollectionGroup;
  readonly evictor: Evictor;
  readonly expiry: Expiry;
  readonly removal: Removal;
}

/** Counts of things that were at hand, were read, and left memory, and of look-ups in indexes. */
interface StoreCounts {
  readonly hits: number;
  readonly misses: number;
  readonly evictions: number;
  readonly lookUps: number;
}

export interface CollectionsOptions {
  readonly root: RootGroup;
  readonly runtime: Runtime;
  /** Memory for the things of snapshots; undefined where nothing but the present state is read. */
  readonly readingBytes: number | undefined;
  /** Monotonic time, in milliseconds. */
  readonly monotonic: () => number;
}

/** Changes of so large a part of the memory for things make it be counted: they take several times as much in memory. */
const UNCOUNTED_PART = 1 / 16;

export class Collections {
  private readonly collections = new Map<number, OpenCollection>();
  /** Counts of collections that are closed. */
  private closedCounts: StoreCounts = { hits: 0, misses: 0, evictions: 0, lookUps: 0 };

  constructor(private readonly options: CollectionsOptions) {}

  get(id: number): OpenCollection | undefined {
    return this.collections.get(id);
  }

  /** Makes the state of a collection's group, empty but for what `source` has. */
  open(id: number, source: RecordSource): CollectionGroup {
    const { root, runtime, readingBytes } = this.options;
    const group = new CollectionGroup(id, runtime.shapes, source, root);
    keepRoom(runtime, group.store, readingBytes);
    this.close(id);
    this.collections.set(id, {
      scope: new CollectionScope(root, group),
      group,
      evictor: new Evictor(group.store),
      expiry: new Expiry(group.store),
      removal: new Removal(group.jobs),
    });
    return group;
  }

  close(id: number): void {
    const open = this.collections.get(id);
    if (open === undefined) return;
    this.closedCounts = plus(this.closedCounts, open);
    this.collections.delete(id);
  }

  /** Counts from the start on, those of collections that are closed included. */
  get counts(): StoreCounts {
    return [...this.collections.values()].reduce(plus, this.closedCounts);
  }

  /** Estimated bytes that things take in memory. */
  get bytes(): number {
    return this.evictors.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** True if things take more than they may, or may do so, since much has changed since they were counted. */
  isOver(bytesMax: number): boolean {
    const uncounted = this.evictors.reduce((sum, { store }) => sum + store.uncounted, 0);
    return uncounted > bytesMax * UNCOUNTED_PART || this.bytes > bytesMax;
  }

  /**
   * Counts things, and takes those out of memory that were not used for a while, until there are few enough or the time is up.
   *
   * @param bytesMax what things may take in memory
   * @param until end of the time, by the environment's monotonic clock
   * @returns whether there is more to do
   */
  evict(bytesMax: number, until: number): boolean {
    for (const evictor of this.evictors) {
      const { store } = evictor;
      // A step is a page of things, so the clock may be looked at after each.
      while (!store.dirty.freezing && this.isOver(bytesMax)) {
        const isTooMuch = this.bytes > bytesMax;
        if ((!isTooMuch && store.uncounted === 0) || !evictor.step(isTooMuch)) break;
        if (this.options.monotonic() >= until) return true;
      }
    }
    return false;
  }

  private get evictors(): readonly Evictor[] {
    return Array.from(this.collections.values(), ({ evictor }) => evictor);
  }
}

function plus(counts: StoreCounts, { group }: OpenCollection): StoreCounts {
  const { hits, misses, evictions, indexes } = group.store;
  return {
    hits: counts.hits + hits,
    misses: counts.misses + misses,
    evictions: counts.evictions + evictions,
    lookUps: counts.lookUps + indexes.lookUps,
  };
}
