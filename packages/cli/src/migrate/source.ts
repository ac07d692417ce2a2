/** Where a migration comes from: a ThingsDB that runs, or the store of one. */
import type { ThingsdbCollection, ThingsdbCollectionInfo, ThingsdbRoot } from '../node.js';

export interface MigrationSource {
  /** Users and settings. */
  readonly root: ThingsdbRoot;
  /** The parts that such a source does not give, in words. */
  readonly gaps: readonly string[];
  /** Reads a collection into memory. */
  read(collection: ThingsdbCollectionInfo): Promise<ThingsdbCollection>;
  close(): void;
}

/** The scopes that are no collections, by their numbers in the rights of a source. */
export const THINGSDB_SCOPE = 0;
export const NODE_SCOPE = 1;
