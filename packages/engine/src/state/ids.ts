import { quotaError } from '../error.js';
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

/**
 * An id below a limit, for what there may be few of: the one behind those that were given; when these reach the limit, the free one that a
 * change which was taken back used longest ago. So changes that fail use none up.
 *
 * @param what said in the error: 'types'
 * @param known what has an id, or had it; undefined for nothing
 * @throws QueryError max_quota_err when none is free
 */
export function scarceIdOf(
  ids: Ids,
  max: number,
  what: string,
  known: (id: number) => object | undefined,
  recorder: Recorder,
): number {
  const begin = Math.max(ids.nextId, ids.idFloor);
  for (let place = begin; place < begin + max; place++) {
    const id = place % max;
    if (known(id) !== undefined) continue;
    recorder.onUndo(() => {
      ids.idFloor = Math.max(ids.idFloor, place + 1);
    }, NS_PER_UNDO);
    return id;
  }
  throw quotaError(`a collection has at most ${max} ${what}, deleted ones included`);
}
