import type { Changes } from './dirty.js';
import type { Group } from './group.js';
import { RecordKind, type RecordSink } from './records.js';

/** The records of the things that were removed, which a checkpoint deletes. */
export function* removedRecords({
  removed,
}: Pick<Changes, 'removed'>): Generator<[id: number, part: number]> {
  for (const [id, parts] of removed) for (const part of parts) yield [id, part];
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
  for (const [id, part] of removedRecords(changes)) sink.delete(RecordKind.THING, id, part);
  for (const id of changes.things) {
    const thing = dirty.frozenThing(id);
    if (thing === undefined) continue;
    group.saveThing(thing, sink);
    dirty.saved(thing);
  }
  Array.from(group.saveRest(sink));
}
