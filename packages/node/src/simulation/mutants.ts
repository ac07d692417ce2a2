/**
 * Planted bugs of three kinds: those of the Raft core and of the storage, which stand in their code, and those of the
 * node, which are planted here from outside, at the seams between its parts.
 */
import { type StorageMutant, storageMutants } from '@althing/storage';
import { isMutant, MUTANT_NAMES, type Mutant } from 'raft-ts';
import { isNodeMutant, NODE_MUTANTS, type NodeMutant } from './node-mutants.js';

/** Which bugs are on. */
export interface Planted {
  readonly raft: ReadonlySet<Mutant>;
  readonly storage: ReadonlySet<StorageMutant>;
  readonly node: ReadonlySet<NodeMutant>;
}

/** Planted bugs that the simulator does not find, and why. */
export const KNOWN_SURVIVORS: ReadonlyMap<string, string> = new Map([
  [
    'lost_tail_not_noticed',
    'no node opens a log that lost its end, so Raft is never told; the bug is storage:lost_tail_not_noticed here',
  ],
]);

/** All names; those of the storage begin with `storage:`, since some are names of the Raft core too. */
export function allMutants(): string[] {
  return [
    ...MUTANT_NAMES,
    ...storageMutants.map((name) => `storage:${name}`),
    ...Object.keys(NODE_MUTANTS).map((name) => `node:${name}`),
  ];
}

export function plantedBy(names: ReadonlySet<string>): Planted {
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
  return { raft, storage, node };
}
