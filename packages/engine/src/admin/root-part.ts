import { ByteReader, ByteWriter } from '../bytes.js';
import { RecordKind } from '../state/records.js';
import { type CollectionInfo, writeCollection } from './collection-info.js';
import type { RootGroup } from './root-group.js';
import { readUser, type User, writeUser } from './user.js';

/**
 * The present knowledge of the root scope of one user and one collection, for a query that is checked here and runs elsewhere, beside an older
 * state of that scope.
 */
export interface RootPart {
  readonly user: Uint8Array;
  readonly collection: Uint8Array;
  readonly collectionId: number;
  /** Privileges of the user there; null where it has no entry. */
  readonly access: number | null;
}

export function rootPartOf(root: RootGroup, user: User, collection: CollectionInfo): RootPart {
  const [userBytes, collectionBytes] = [new ByteWriter(), new ByteWriter()];
  writeUser(userBytes, user);
  writeCollection(collectionBytes, collection);
  return {
    user: userBytes.take(),
    collection: collectionBytes.take(),
    collectionId: collection.id,
    access: root.access.maskOf(collection.id, user.id) ?? null,
  };
}

/**
 * Puts a part of a newer state over an older one.
 *
 * @returns the user
 */
export function takeRootPart(root: RootGroup, part: RootPart): User {
  const user = readUser(new ByteReader(part.user));
  root.putUser(user);
  const known = root.collections.get(part.collectionId);
  if (known !== undefined) root.collectionsByName.delete(known.name);
  root.loadRecord(RecordKind.COLLECTION, part.collectionId, part.collection);
  root.setAccess(part.collectionId, user.id, part.access);
  return user;
}
