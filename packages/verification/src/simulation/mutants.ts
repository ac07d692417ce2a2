/**
 * Planted bugs of four kinds: those of the Raft core and of the stores, which are planted in copies of them; and
 * those of the node and of the client library, which are planted from outside, at the seams between their parts.
 */
import {
  isStorageMutant,
  SOUND_STORES,
  STORAGE_MUTANTS,
  type StorageMutant,
  StoragePlanter,
  type StoreClasses,
} from '@althing/storage/testing';
import { RaftNode } from 'raft-ts';
import { isMutant, MUTANT_NAMES, type Mutant, Planter, type RaftNodeClass } from 'raft-ts/testing';
import { CLIENT_MUTANTS, type ClientMutant, isClientMutant } from './library/planted.js';
import { isNodeMutant, NODE_MUTANTS, type NodeMutant } from './node-mutant-names.js';

export interface Planted {
  /** The core with its bugs. */
  readonly raft: RaftNodeClass;
  /** The stores with theirs. */
  readonly storage: StoreClasses;
  readonly node: ReadonlySet<NodeMutant>;
  readonly client: ReadonlySet<ClientMutant>;
}

export const NOTHING_PLANTED: Planted = {
  raft: RaftNode,
  storage: SOUND_STORES,
  node: new Set(),
  client: new Set(),
};

/** Loads cores and stores with planted bugs. Kept by whoever makes many runs, so that each is loaded once. */
export class Planters {
  readonly raft = new Planter();
  readonly storage = new StoragePlanter();
}

/** Planted bugs that the simulator does not find, and why. */
export const KNOWN_SURVIVORS: ReadonlyMap<string, string> = new Map([]);

/** All names; those of all but the Raft core begin with what they are planted in. */
export function allMutants(): string[] {
  return [
    ...MUTANT_NAMES,
    ...Object.keys(STORAGE_MUTANTS).map((name) => `storage:${name}`),
    ...Object.keys(NODE_MUTANTS).map((name) => `node:${name}`),
    ...Object.keys(CLIENT_MUTANTS).map((name) => `client:${name}`),
  ];
}

/** Plants bugs. Throws if there is one that nobody knows. */
export async function plantedBy(names: ReadonlySet<string>, planters: Planters): Promise<Planted> {
  const raft = new Set<Mutant>();
  const storage = new Set<StorageMutant>();
  const node = new Set<NodeMutant>();
  const client = new Set<ClientMutant>();
  for (const name of names) {
    const [kind, rest = ''] = name.split(':');
    if (isMutant(name)) raft.add(name);
    else if (kind === 'storage' && isStorageMutant(rest)) storage.add(rest);
    else if (kind === 'node' && isNodeMutant(rest)) node.add(rest);
    else if (kind === 'client' && isClientMutant(rest)) client.add(rest);
    else throw new Error(`there is no planted bug ${name}`);
  }
  return {
    raft: await planters.raft.plant(raft),
    storage: await planters.storage.plant(storage),
    node,
    client,
  };
}
