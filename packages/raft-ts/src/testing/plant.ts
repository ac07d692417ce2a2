import { RaftNode } from '../node.js';
import { MUTANTS, type Mutant } from './mutants.js';
import { ModulePlanter } from './planting.js';

/** The class of a core, sound or not. */
export type RaftNodeClass = typeof RaftNode;

/** Loads cores with planted bugs, each set of bugs once. */
export class Planter extends ModulePlanter<Mutant, RaftNodeClass> {
  constructor() {
    super(MUTANTS, {
      home: new URL('../', import.meta.url),
      folders: [''],
      sound: RaftNode,
      load: async (address) => {
        const copy: { readonly RaftNode: RaftNodeClass } = await import(address('node'));
        return copy.RaftNode;
      },
    });
  }
}
