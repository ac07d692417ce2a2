/** Planted bugs of things that expire, put where the node asks the engine for what is to go. */
import type { Engine } from '@althing/engine';
import type { NodeId } from '@althing/node/parts';
import type { NodeMutant } from './node-mutant-names.js';

export function plantInExpiry(engine: Engine, on: ReadonlySet<NodeMutant>, nodeId: NodeId): void {
  const { expiry } = engine.upkeep;
  const { slice } = expiry;
  if (on.has('expiry_not_taken_up') && nodeId !== FIRST_NODE) expiry.isDue = () => false;
  if (on.has('expiry_not_proposed')) {
    expiry.slice = (collection, isOver) => {
      slice(collection, isOver);
      return null;
    };
  }
  if (on.has('expiry_not_undone')) {
    expiry.slice = (collection, isOver) => {
      const change = slice(collection, isOver);
      return change === null ? null : { ...change, undo: [] };
    };
  }
}

const FIRST_NODE = 1;
