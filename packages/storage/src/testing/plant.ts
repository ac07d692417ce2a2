import { ModulePlanter } from 'raft-ts/testing';
import { LogStore } from '../log/log-store.js';
import { SnapshotReads } from '../state/snapshot-reads.js';
import { StateStore } from '../state/state-store.js';
import { STORAGE_MUTANTS, type StorageMutant } from './mutants.js';

/** The classes of both stores, and what reads snapshots, sound or not. */
export type StoreClasses = {
  readonly LogStore: Pick<typeof LogStore, 'open'>;
  readonly StateStore: Pick<typeof StateStore, 'open'>;
  readonly SnapshotReads: new (
    ...options: ConstructorParameters<typeof SnapshotReads>
  ) => Pick<SnapshotReads, 'take'>;
};

/** The stores as they are. */
export const SOUND_STORES: StoreClasses = { LogStore, StateStore, SnapshotReads };

/** Loads stores with planted bugs, each set of bugs once. */
export class StoragePlanter extends ModulePlanter<StorageMutant, StoreClasses> {
  constructor() {
    super(STORAGE_MUTANTS, {
      home: new URL('../', import.meta.url),
      folders: ['', 'disk/', 'kv/', 'log/', 'state/'],
      sound: SOUND_STORES,
      load: async (address) => {
        const log: Pick<StoreClasses, 'LogStore'> = await import(address('log/log-store'));
        const state: Pick<StoreClasses, 'StateStore'> = await import(address('state/state-store'));
        const reads: Pick<StoreClasses, 'SnapshotReads'> = await import(address('state/snapshot-reads'));
        const { SnapshotReads } = reads;
        return { LogStore: log.LogStore, StateStore: state.StateStore, SnapshotReads };
      },
    });
  }
}
