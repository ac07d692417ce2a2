import {
  brokenRules,
  CollectionGroup,
  isBeingFilled,
  loadGroup,
  RecordKind,
  ShapeTree,
} from '@althing/engine';
import { type GroupId, ROOT_GROUP } from '../../between/protocol.js';
import { nameOf, rootOn, type StateRecords } from './survey.js';

/** The findings in the state of a collection. */
export interface CollectionCheck {
  readonly name: string;
  readonly things: number;
  /** The broken rules, in words; empty when every rule is kept. */
  readonly broken: readonly string[];
  /** True if an import or a restore has not filled it yet: it breaks rules until then, and none are looked for. */
  readonly isBeingFilled: boolean;
}

/**
 * Reads all that the last checkpoints of a node hold, and looks whether the rules of the state are kept. One collection at a time is
 * in memory, as a whole.
 *
 * @throws errors of damaged data
 */
export async function* checksOf(state: StateRecords): AsyncGenerator<CollectionCheck, void, undefined> {
  const root = await rootOn(state, Object.values(RecordKind));
  for (const id of state.groups()) {
    if (id === ROOT_GROUP) continue;
    const group = await collectionOn(state, id);
    const isFilled = !isBeingFilled(root, id);
    yield {
      name: nameOf(root, id),
      things: group.store.thingCount,
      broken: isFilled ? brokenRules(group) : [],
      isBeingFilled: !isFilled,
    };
  }
}

async function collectionOn(state: StateRecords, id: GroupId): Promise<CollectionGroup> {
  const group = new CollectionGroup(id, new ShapeTree(), {
    read: (kind, thing, part) => state.read(id, kind, thing, part),
  });
  await loadGroup(group, (first, last) => state.scan(id, first, last));
  return group;
}
