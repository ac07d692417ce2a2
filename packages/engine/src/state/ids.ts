import type { Recorder } from './effect.js';
import { NS_PER_UNDO } from './transaction/undo-costs.js';

/** The source of ids of a scope. */
export interface Ids {
  /** The next id, above all that are in use: part of the state, the same on every node. */
  nextId: number;
  /** Ids below it were given by this node, also to changes that were taken back. No part of the state: other nodes never heard of them. */
  idFloor: number;
}

/** Makes ids from `next` on those of nothing, as before the change that used them. This node does not give them again. */
export function takeIdsBack(ids: Ids, next: number): void {
  ids.idFloor = Math.max(ids.idFloor, ids.nextId);
  ids.nextId = next;
}

/** An id that this node gave to none before. Other nodes hear of it by what gets it. */
export function newIdOf({ nextId, idFloor }: Ids): number {
  return Math.max(nextId, idFloor);
}

/** Passes over ids that were given to changes which were taken back; returns the next one. Its user tells other nodes of the gap. */
export function nextIdOf(ids: Ids, recorder: Recorder): number {
  const { nextId, idFloor } = ids;
  if (idFloor > nextId) {
    recorder.onUndo(() => {
      ids.nextId = nextId;
    }, NS_PER_UNDO);
    ids.nextId = idFloor;
  }
  return ids.nextId;
}
