import { ModulePlanter } from 'raft-ts/testing';
import { LogStore } from '../log/log-store.js';
import { StateStore } from '../state/state-store.js';
import { STORAGE_MUTANTS, type StorageMutant } from './mutants.js';

/** The classes of both stores, sound or not. */
export type StoreClasses = {
  readonly LogStore: Pick<typeof LogStore, 'open'>;
  readonly StateStore: Pick<typeof StateStore, 'open'>;
};

/** The stores as they are. */
export const SOUND_STORES: StoreClasses = { LogStore, StateStore };

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
        return { LogStore: log.LogStore, StateStore: state.StateStore };
      },
    });
  }
}
