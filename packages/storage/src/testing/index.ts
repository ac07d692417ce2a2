/**
 * The second door, for tests of hosts: the stores with planted bugs, to see whether a test harness notices
 * them. Nothing in here is for production.
 */
export { isStorageMutant, STORAGE_MUTANTS, type StorageMutant } from './mutants.js';
export { SOUND_STORES, StoragePlanter, type StoreClasses } from './plant.js';
