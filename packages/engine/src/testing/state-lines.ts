/**
 * The state of a collection as text, for tests that compare states.
 */
import type { Catalog } from '../schema/catalog.js';
import { CollectionGroup } from '../state/collection-group.js';
import { allThings } from '../state/describe.js';
import { roomRecord } from '../state/parts/rooms.js';
import { taskRecord } from '../state/parts/tasks.js';
import { EMPTY_SOURCE, RecordKind, type RecordSource } from '../state/records.js';
import { sharedThing } from '../state/thing-walk.js';
import { ShapeTree } from '../value/shape.js';
import { nameOf, RecordMap } from './record-map.js';

export { brokenRules } from '../state/broken-rules.js';
export { schemaLines, stateLines, thingLine } from '../state/describe.js';

/** The records of every thing, as a checkpoint would write them, by their names. */
export function savedRecords(group: CollectionGroup): ReadonlyMap<string, Uint8Array> {
  const records = new RecordMap();
  for (const thing of allThings(group)) group.saveThing(thing, records);
  Array.from(group.saveRest(records));
  return records.values;
}

/** The parts of the records that must be the same on all nodes, a line for each thing. */
export function sharedLines(
  records: ReadonlyMap<string, Uint8Array>,
  schema: Catalog = newGroup().store.schema,
): string {
  const ids = [...records.keys()]
    .filter((name) => name.endsWith(':0'))
    .map((name) => Number.parseInt(name, 10));
  const hexOf = (id: number): string =>
    Array.from(sharedThing(id, sourceOf(records), schema), (bytes) =>
      Buffer.from(bytes).toString('hex'),
    ).join('');
  return ids
    .sort((a, b) => a - b)
    .map((id) => `#${id} ${hexOf(id)}`)
    .join('\n');
}

export function sourceOf(records: ReadonlyMap<string, Uint8Array>): RecordSource {
  return { read: (kind, id, part) => records.get(nameOf(kind, id, part)) };
}

/** Gives a group that was opened on the records of another one the counters, tasks and rooms of that one. */
export function copyMeta(from: CollectionGroup, to: CollectionGroup): void {
  to.loadRecord(RecordKind.META, 0, from.encodeMeta());
  for (const state of from.tasks.list()) to.loadRecord(RecordKind.TASK, state.id, taskRecord(state));
  for (const room of from.store.rooms.byId.values())
    to.loadRecord(RecordKind.ROOM, room.id, roomRecord(room));
}

/** A group that has nothing in memory yet. */
export function reopened(group: CollectionGroup, records: ReadonlyMap<string, Uint8Array>): CollectionGroup {
  const copy = new CollectionGroup(group.id, new ShapeTree(), sourceOf(records));
  copyMeta(group, copy);
  return copy;
}

export function newGroup(): CollectionGroup {
  const group = new CollectionGroup(1, new ShapeTree(), EMPTY_SOURCE);
  group.create();
  return group;
}
