import type { Group } from './group.js';
import { RecordKind, type RecordSink } from './records.js';

/** Deletes the records of a thing that was removed. */
export function deleteThing([id, parts]: readonly [number, readonly number[]], sink: RecordSink): void {
  for (const part of parts) sink.delete(RecordKind.THING, id, part);
}

/**
 * Writes what changed in a group since its last checkpoint, in one go; a node that serves requests meanwhile does the same in slices.
 * The caller makes it durable and says so: `group.dirty.release()`, or `group.abandonCheckpoint()` when it could not.
 */
export function writeCheckpoint(group: Group, sink: RecordSink): void {
  const { dirty } = group;
  const changes = dirty.freeze((thing) => group.saveThing(thing, sink));
  for (const { kind, id, part, value } of changes.records.values()) {
    if (value === null) sink.delete(kind, id, part);
    else sink.put(kind, id, part, value);
  }
  for (const removed of changes.removed) deleteThing(removed, sink);
  for (const id of changes.things) {
    const thing = dirty.frozenThing(id);
    if (thing === undefined) continue;
    group.saveThing(thing, sink);
    dirty.saved(thing);
  }
  Array.from(group.saveRest());
}
