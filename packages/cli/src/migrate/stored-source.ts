import type * as Node from '../node.js';
import type { MigrationSource } from './source.js';

/**
 * Opens the store of a ThingsDB: a backup archive, or the folder of a node that is stopped.
 *
 * @throws BackupError
 */
export async function openStoredSource(node: typeof Node, path: string): Promise<MigrationSource> {
  const store = await node.openThingsdbStore(path);
  const { root } = store;
  return {
    root,
    gaps: [],
    read: async (collection) => node.readCollection(store, collection),
    close: () => {},
  };
}
