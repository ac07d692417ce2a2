import { ZONE_NAMES, zoneByName } from '@althing/datetime';
import { mayKnow } from '../admin/access.js';
import type { Target } from '../admin/access-lists.js';
import type { CollectionInfo } from '../admin/collection-info.js';
import { Privilege } from '../admin/privileges.js';
import { importerOf } from '../admin/restore.js';
import type { RootGroup } from '../admin/root-group.js';
import type { ScopeDefaults } from '../admin/scope-defaults.js';
import {
  existsError,
  forbiddenError,
  lookupError,
  operationError,
  QueryError,
  quotaError,
  typeError,
  valueError,
} from '../error.js';
import { type Info, packInfo } from '../pack/info.js';
import { CHANGES_ROOT, type Entry, func, In } from '../run/builtin.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { assertName } from '../schema/name.js';
import { type TypeSize, typeSizes } from '../state/sizes.js';
import { List } from '../value/containers.js';
import { isInt } from '../value/numbers.js';
import type { MpData } from '../value/scalars.js';
import { typeName, type Value } from '../value/value.js';
import { commitCount } from './history.js';
import { targetOf } from './users.js';

/** Collections, and what results and dates default to in a scope. */
export const COLLECTIONS: readonly Entry[] = [
  func('new_collection', {
    doc: 'Makes an empty collection; the one who makes it gets all privileges on it.',
    changes: CHANGES_ROOT,
    params: [p.str('name')],
    run: (rt, name) => {
      assertName(name);
      assertFree(rt.root, name);
      if (rt.root.collections.size >= rt.quotas.collections) {
        throw quotaError(
          `there are ${rt.root.collections.size} collections, the most that max_collections allows`,
        );
      }
      const id = rt.editor.nextId();
      const { deep, timeZone } = rt.root.defaults.thingsdb;
      const members = rt.environment.voters();
      rt.editor.putCollection({ id, name, createdAt: rt.seconds(), deep, timeZone, members });
      rt.editor.setAccess(id, rt.user.id, Privilege.FULL);
      return name;
    },
  }),
  func('del_collection', {
    doc: 'Deletes a collection, given by name or id, with everything in it.',
    changes: CHANGES_ROOT,
    params: [nameOrId()],
    run: (rt, which) => {
      rt.editor.deleteCollection(collectionOf(rt.root, which));
      return null;
    },
  }),
  func('rename_collection', {
    doc: 'Gives a collection another name.',
    changes: CHANGES_ROOT,
    params: [nameOrId(), p.later(p.str('new_name'))],
    run: (rt, which, to) => {
      const collection = collectionOf(rt.root, which);
      const name = to();
      if (importerOf(collection.name) !== null) {
        throw operationError('the collection is being imported: it gets its name when it is complete');
      }
      assertName(name);
      assertFree(rt.root, name);
      rt.editor.putCollection({ ...collection, name });
      return null;
    },
  }),
  func('has_collection', {
    doc: 'Whether there is a collection of this name or id that the user may know of.',
    in: In.ROOT,
    params: [nameOrId()],
    run: (rt, which) => {
      const collection = findCollection(rt.root, which);
      return collection !== undefined && mayKnow(rt.root, rt.user, collection);
    },
  }),
  func('collection_info', {
    doc: 'What is known of a collection, and how many bytes it takes on this node, by type: estimated from samples.',
    in: In.ROOT,
    params: [nameOrId()],
    run: (rt, which) => {
      const found = findCollection(rt.root, which);
      const collection = mayKnow(rt.root, rt.user, found) ? collectionOf(rt.root, which) : nothing(which);
      if (!mayInspect(rt, collection)) {
        throw forbiddenError(`QUERY or RUN on the collection '${collection.name}' is needed to inspect it`);
      }
      return collectionInfo(rt, collection, true);
    },
  }),
  func('collections_info', {
    doc: 'What is known of every collection that the user may inspect.',
    in: In.ROOT,
    run: (rt) => {
      rt.step(STEPS_PER_RIGHTS * rt.root.collections.size);
      const visible = [...rt.root.collections.values()].filter((collection) => mayInspect(rt, collection));
      return new List(visible.map((collection) => collectionInfo(rt, collection, false)));
    },
  }),
  func('set_default_deep', {
    doc: 'Sets the default depth of results in a scope, 0 to 127; it takes CHANGE on that scope.',
    changes: CHANGES_ROOT,
    params: [p.any('scope'), p.later(p.depth('deep'))],
    run: (rt, where, deep) => {
      setDefaults(rt, changeableTarget(rt, where), { deep: deep() });
      return null;
    },
  }),
  func('set_time_zone', {
    doc: 'Sets the default time zone of a scope; it takes CHANGE on that scope.',
    changes: CHANGES_ROOT,
    params: [p.any('scope'), p.later(p.str('zone'))],
    run: (rt, where, zone) => {
      const target = changeableTarget(rt, where);
      const timeZone = zone();
      if (zoneByName(timeZone) === undefined) {
        throw valueError(`'${timeZone}' is no known time zone; time_zones_info() lists them`);
      }
      setDefaults(rt, target, { timeZone });
      return null;
    },
  }),
  func('time_zones_info', {
    doc: 'The names of all known time zones.',
    run: (rt) => packInfo(rt, ZONE_NAMES),
  }),
];
export function nameOrId(): p.Param<string | number | bigint> {
  return p.param(
    'collection',
    'the name (str) or id (int) of a collection',
    (value) => typeof value === 'string' || isInt(value),
  );
}

function findCollection(root: RootGroup, which: string | number | bigint): CollectionInfo | undefined {
  return typeof which === 'string' ? root.collectionsByName.get(which) : root.collections.get(Number(which));
}

export function collectionOf(root: RootGroup, which: string | number | bigint): CollectionInfo {
  return findCollection(root, which) ?? nothing(which);
}

/** @throws QueryError lookup_err */
function nothing(which: string | number | bigint): never {
  throw lookupError(`there is no collection ${JSON.stringify(String(which))}`);
}

function assertFree(root: RootGroup, name: string): void {
  if (root.collectionsByName.has(name)) throw existsError(`there is a collection '${name}' already`);
}

/** Steps that count for a look at the rights of a user on a collection. */
const STEPS_PER_RIGHTS = 4;

function mayInspect(rt: Runtime, collection: CollectionInfo): boolean {
  return (
    rt.access.has(Privilege.QUERY, collection.id) ||
    rt.access.has(Privilege.RUN, collection.id) ||
    rt.access.has(Privilege.CHANGE, 'thingsdb')
  );
}

/** A scope, or else a collection by name or id; the user must have CHANGE on it. */
function changeableTarget(rt: Runtime, where: Value): Target {
  const target = anyTarget(rt.root, where);
  rt.access.require(Privilege.CHANGE, target);
  return target;
}

function anyTarget(root: RootGroup, where: Value): Target {
  if (typeof where !== 'string' && typeof where !== 'number' && typeof where !== 'bigint') {
    throw typeError(`a scope is given as a str, not ${typeName(where)}`);
  }
  const collection = findCollection(root, where);
  if (typeof where !== 'string') {
    if (collection !== undefined) return collection.id;
    throw typeError(`a scope is given as a str, and there is no collection with the id ${where}`);
  }
  try {
    return targetOf(root, where);
  } catch (error) {
    if (error instanceof QueryError && collection !== undefined) return collection.id;
    throw error;
  }
}

function setDefaults(rt: Runtime, target: Target, change: Partial<ScopeDefaults>): void {
  if (typeof target === 'string') {
    rt.editor.setDefaults(target, { ...rt.root.defaults[target], ...change });
    return;
  }
  const collection = rt.root.collections.get(target);
  if (collection !== undefined) rt.editor.putCollection({ ...collection, ...change });
}

/** A collection begins with its root thing. Until its group is open here it is taken for new. */
const NEW_COLLECTION = { things: 1, nextId: 2 } as const;

/** @param hasTypes whether the types are told, too, which takes some reading */
function collectionInfo(rt: Runtime, collection: CollectionInfo, hasTypes: boolean): MpData {
  const store = rt.catalog.collection(collection.id)?.store;
  const keep = rt.root.feedKeeping.of(collection.id);
  const sizes = (): readonly TypeSize[] =>
    store === undefined ? [] : typeSizes(store, (units) => rt.charge(units));
  const sizeInfo = ({ name, instances, memoryBytes, diskBytes }: TypeSize): Info => ({
    name,
    instances,
    memory_bytes: memoryBytes,
    disk_bytes: diskBytes,
  });
  return packInfo(rt, {
    collection_id: collection.id,
    name: collection.name,
    created_at: collection.createdAt,
    things: store?.thingCount ?? NEW_COLLECTION.things,
    time_zone: collection.timeZone,
    default_deep: collection.deep,
    next_free_id: store?.nextId ?? NEW_COLLECTION.nextId,
    commit_history: commitCount(rt, collection.id) ?? 'disabled',
    ano_types: 0,
    memory_bytes: store?.bytes ?? 0,
    disk_bytes: rt.environment.node?.collectionBytes(collection.id) ?? null,
    feed: keep.bytes > 0 ? { keep_mb: keep.bytes / (1024 * 1024), keep_s: keep.seconds } : undefined,
    types: hasTypes ? sizes().map(sizeInfo) : undefined,
  });
}
