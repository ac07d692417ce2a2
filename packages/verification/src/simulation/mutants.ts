/**
 * Planted bugs of three kinds: those of the Raft core, which are planted in a copy of it; those of the storage, which
 * stand in its code; and those of the node, which are planted from outside, at the seams between its parts.
 */
import { type StorageMutant, storageMutants } from '@althing/storage';
import { RaftNode } from 'raft-ts';
import { isMutant, MUTANT_NAMES, type Mutant, type Planter, type RaftNodeClass } from 'raft-ts/testing';
import { isNodeMutant, NODE_MUTANTS, type NodeMutant } from './node-mutants.js';

/** Which bugs are on. */
export interface Planted {
  /** The core with its bugs. */
  readonly raft: RaftNodeClass;
  readonly storage: ReadonlySet<StorageMutant>;
  readonly node: ReadonlySet<NodeMutant>;
}

export const NOTHING_PLANTED: Planted = { raft: RaftNode, storage: new Set(), node: new Set() };

/** Planted bugs that the simulator does not find, and why. */
export const KNOWN_SURVIVORS: ReadonlyMap<string, string> = new Map([]);

/** All names; those of the storage begin with `storage:`, since some are names of the Raft core too. */
export function allMutants(): string[] {
  return [
    ...MUTANT_NAMES,
    ...storageMutants.map((name) => `storage:${name}`),
    ...Object.keys(NODE_MUTANTS).map((name) => `node:${name}`),
  ];
}

/** Plants bugs. Throws if there is one that nobody knows. */
export async function plantedBy(names: ReadonlySet<string>, planter: Planter): Promise<Planted> {
  const raft = new Set<Mutant>();
  const storage = new Set<StorageMutant>();
  const node = new Set<NodeMutant>();
  for (const name of names) {
    const [kind, rest = ''] = name.split(':');
    const ofStorage = storageMutants.find((each) => kind === 'storage' && each === rest);
    if (isMutant(name)) raft.add(name);
    else if (ofStorage !== undefined) storage.add(ofStorage);
    else if (kind === 'node' && isNodeMutant(rest)) node.add(rest);
    else throw new Error(`there is no planted bug ${name}`);
  }
  return { raft: await planter.plant(raft), storage, node };
}
