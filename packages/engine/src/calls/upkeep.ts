/** Work on collections that no call asks for: the node that leads a collection does it, as changes like any other. */

import type { Freshness } from '../run/execution.js';
import { buildSlice, unfinishedIndex } from '../state/index-build.js';
import { Marking } from '../state/marking.js';
import type { Behind, Change } from './call.js';
import type { Collections } from './collections.js';
import { type Executor, NOTHING_FRESH } from './executor.js';
import { JobRuns } from './jobs.js';

/** Work that is done a slice at a time. How far it is must be a part of the state, so that another leader can go on. */
export interface SlicedWork<Done = Change> {
  /** True if there is something to do in a collection. */
  isDue(collection: number): boolean;
  /**
   * Does a slice of it; null where nothing changed. A job may need that this node has all that was acknowledged in another scope first.
   *
   * @param isOver whether the slice has lasted long enough; asked after each thing that is looked at
   * @param fresh the scopes of which this node is known to have all that was acknowledged; default: none
   */
  slice(collection: number, isOver: () => boolean, fresh?: Freshness): Done | null;
}

export class Upkeep {
  /** Things that were removed because only circles of garbage held them. */
  garbageCount = 0;
  /** Takes up instances into an index that is not complete. */
  readonly indexes: SlicedWork;
  /** Lets go of things that have expired. */
  readonly expiry: SlicedWork;
  /** Works on the job of a collection whose turn it is. See `JobRuns.run`. */
  readonly jobs: SlicedWork<Change | Behind>;

  constructor(
    private readonly executor: Executor,
    private readonly collections: Collections,
    now: () => number,
  ) {
    const jobRuns = new JobRuns(executor);
    this.indexes = {
      isDue: (id) => {
        const store = collections.get(id)?.group.store;
        return store !== undefined && unfinishedIndex(store) !== undefined;
      },
      slice: (id, isOver) => {
        const group = collections.get(id)?.group;
        const index = group === undefined ? undefined : unfinishedIndex(group.store);
        if (group === undefined || index === undefined) return null;
        const transaction = executor.transactionOf(group);
        buildSlice(group.store, transaction, index, isOver);
        return executor.changeOf(group, transaction);
      },
    };
    this.expiry = {
      isDue: (id) => collections.get(id)?.expiry.isDue(now()) ?? false,
      slice: (id, isOver) => {
        const open = collections.get(id);
        if (open === undefined) return null;
        const transaction = executor.transactionOf(open.group);
        open.expiry.step(transaction, now(), isOver);
        return executor.changeOf(open.group, transaction);
      },
    };
    this.jobs = {
      isDue: (id) => collections.get(id)?.group.jobs.current !== undefined,
      slice: (id, isOver, fresh = NOTHING_FRESH) => {
        const open = collections.get(id);
        return open === undefined ? null : jobRuns.run(open.group, open.removal, isOver, fresh);
      },
    };
  }

  /** Number of things in a collection that may be part of circles of garbage. */
  suspectsOf(collection: number): number {
    return this.collections.get(collection)?.group.store.suspects.size ?? 0;
  }

  /**
   * Starts to search a collection for circles of garbage; one search at a time.
   *
   * @param circleMax weight of a circle that goes in one step
   */
  searchGarbage(collection: number, circleMax?: number): Marking {
    const store = this.collections.get(collection)?.group.store;
    if (store === undefined || store.marking !== null) throw new Error('no search can be started');
    return new Marking(store, circleMax);
  }

  /** Removes some of what a search found, in which everything is marked; null when it is over. */
  removeGarbage(collection: number, marking: Marking): Change | null {
    const group = this.collections.get(collection)?.group;
    for (;;) {
      const garbage = marking.next();
      // The state may have been replaced meanwhile, by a snapshot.
      if (group === undefined || !marking.isOf(group.store) || garbage.length === 0) return null;
      const { thingCount } = group.store;
      const transaction = this.executor.transactionOf(group);
      marking.remove(garbage, transaction);
      const change = this.executor.changeOf(group, transaction);
      this.garbageCount += thingCount - group.store.thingCount;
      // Things of a large circle may have nothing that they could let go of.
      if (change !== null) return change;
    }
  }
}
