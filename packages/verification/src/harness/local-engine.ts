/** An engine in this process, without a node around it. */
import { randomBytes } from 'node:crypto';
import { getHeapStatistics } from 'node:v8';
import {
  bootstrap,
  CollectionGroup,
  DEFAULT_LIMITS,
  EMPTY_SOURCE,
  Engine,
  type Environment,
  type Group,
  LEVEL_NEWEST,
  type PasswordHash,
  type QueryLimits,
  type RecordSource,
  type User,
} from '@althing/engine';

/** The group of the root scope; the groups of collections have the ids of these. */
export const ROOT = 0;

export class LocalEngine {
  readonly engine: Engine;
  readonly #open = new Set<number>();

  constructor(limits: Partial<QueryLimits> = {}) {
    this.engine = new Engine({
      environment,
      limits: { ...DEFAULT_LIMITS, ...limits },
      quotas: {
        tokensPerUser: 1000,
        users: 1000,
        collections: 1000,
        procedures: 1000,
        tasks: 500,
        sessions: { idleMs: 1_800_000, maxMs: 43_200_000 },
      },
      programCacheBytes: 16 * 1024 * 1024,
      onInternalError: (error) => {
        throw error;
      },
    });
  }

  /** Makes the user `admin` and the collection `stuff`; gives the effects. */
  bootstrap(): Uint8Array {
    const { root } = this.engine;
    const { effects } = bootstrap(root, 0, noPassword, [firstNode], LEVEL_NEWEST);
    root.confirmLevel();
    this.followCollections();
    return effects;
  }

  get admin(): User {
    for (const user of this.engine.root.users.values()) if (user.name === 'admin') return user;
    throw new Error('there is no user admin');
  }

  /** The id of a collection; undefined when there is none of the name. */
  idOf(collection: string): number | undefined {
    return this.engine.root.collectionsByName.get(collection)?.id;
  }

  /** The collections that there are now, by id. */
  collections(): Map<number, CollectionGroup> {
    const found = new Map<number, CollectionGroup>();
    for (const id of this.engine.root.collections.keys()) {
      const group = this.engine.scope(id)?.group;
      if (group instanceof CollectionGroup) found.set(id, group);
    }
    return found;
  }

  /** All groups, root first. */
  groups(): Map<number, Group> {
    return new Map<number, Group>([[ROOT, this.engine.root], ...this.collections()]);
  }

  /** Opens and closes collections, so that they are those of the root scope. New ones are empty. */
  followCollections(): void {
    const { collections, collectionEvents } = this.engine.root;
    collectionEvents.length = 0;
    for (const id of this.#open) {
      if (collections.has(id)) continue;
      this.#open.delete(id);
      this.engine.collections.close(id);
    }
    for (const id of collections.keys()) {
      if (!this.#open.has(id)) this.openCollection(id, EMPTY_SOURCE).create();
    }
  }

  openCollection(id: number, source: RecordSource): CollectionGroup {
    this.#open.add(id);
    return this.engine.collections.open(id, source);
  }
}

/** A hash that no password has. */
export const noPassword: PasswordHash = {
  salt: new Uint8Array(16),
  hash: new Uint8Array(32),
  logN: 0,
  r: 1,
  p: 1,
};

const firstNode = { nodeId: 1, number: 0, name: 'first', host: 'localhost', port: 9220, leaving: false };

const environment: Environment = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  randomBytes: (count) => randomBytes(count),
  random: Math.random,
  heapUsed: () => getHeapStatistics().used_heap_size,
  heapFull: () => false,
  isCancelled: () => false,
  node: null,
  voters: () => [firstNode.nodeId],
  isCommittedUser: () => true,
  log: () => undefined,
};
