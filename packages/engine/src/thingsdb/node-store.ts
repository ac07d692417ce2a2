/** The store of a node of ThingsDB, with the changes that it does not hold yet: users, and one collection after the other. */
import { FormatError } from '../bytes.js';
import type { Charge } from '../state/transaction.js';
import { CollectionBuilder } from './builder.js';
import { ArchivedChanges, located, type ReadFile } from './changes.js';
import type { ThingsdbCollectionInfo, ThingsdbRoot } from './root.js';
import { repeatRootChanges } from './root-changes.js';
import { readLastChange, readRootFiles } from './root-files.js';
import { readCollectionFiles, readStoreNames, type StoreNames } from './store.js';
import { endCollection, type ThingsdbCollection } from './stored-collection.js';

/** Files by their paths from the folder that the store is in, with slashes: `store/users.mp`. */
export interface StoreFileSet {
  readonly paths: readonly string[];
  readonly read: ReadFile;
}

export class ThingsdbStore {
  private constructor(
    /** With all changes. */
    readonly root: ThingsdbRoot,
    /** Number of changes that the store does not hold. */
    readonly newerChanges: number,
    private readonly read: ReadFile,
    private readonly names: StoreNames,
    private readonly changes: ArchivedChanges,
    private readonly charge: Charge,
  ) {}

  /**
   * Opens it.
   *
   * @throws FormatError for what is no store of ThingsDB, or is damaged
   */
  static open({ paths, read }: StoreFileSet, charge: Charge): ThingsdbStore {
    // While a full store takes the place of the one before, only that one is there.
    const folder = ['store', '_prev'].find((one) => paths.includes(`${one}/collections.mp`));
    if (folder === undefined)
      throw new FormatError('this is no store of ThingsDB: it has no store/collections.mp');
    const own: ReadFile = (name) => read(`${folder}/${name}`);
    const file = (name: string): Uint8Array => {
      const data = own(name);
      if (data === null) throw new FormatError(`this is no store of ThingsDB: it has no ${folder}/${name}`);
      return data;
    };
    const last = located('idstat.mp', () => readLastChange(file('idstat.mp'), charge));
    const changes = ArchivedChanges.find(paths, read, last, charge);
    const root = readRootFiles(own, charge);
    repeatRootChanges(root, changes, charge);
    const names = located('names.mp', () => readStoreNames(file('names.mp'), charge));
    return new ThingsdbStore(root, changes.count, own, names, changes, charge);
  }

  /**
   * Reads a collection into memory.
   *
   * @throws FormatError, with the place
   */
  readCollection({ id, folder, rootId }: ThingsdbCollectionInfo): ThingsdbCollection {
    const { charge } = this;
    let builder: CollectionBuilder;
    if (folder !== null)
      builder = readCollectionFiles((name) => this.read(`${folder}/${name}`), this.names, charge);
    else {
      builder = new CollectionBuilder(charge);
      builder.rootId = rootId;
    }
    return endCollection(builder, this.changes, id, charge);
  }
}
