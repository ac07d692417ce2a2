import type { Changes } from './dirty.js';
import type { Group } from './group.js';
import { RecordKind, type RecordSink } from './records.js';

/**
 * Begins a checkpoint of what changed in a group since the last one: freezes that, and gives the steps that write it as it is now, whatever
 * changes meanwhile. The caller makes it durable and says so: `group.dirty.release()`, or `group.abandonCheckpoint()` when it could not.
 */
export function beginCheckpoint(group: Group, sink: RecordSink): Generator<void, void, undefined> {
  const changes = group.dirty.freeze((thing) => group.saveThing(thing, sink));
  const records = recordsOf(changes, sink);
  // A record that was restored lies below what its thing became since: a thing that changes again is encoded at once, and must come
  // behind it. A collection that is being filled has many records, and no such things.
  if (!changes.things.isEmpty) finish(records);
  return stepsOf(group, changes, records, sink);
}

/** The same in one go. */
export function writeCheckpoint(group: Group, sink: RecordSink): void {
  finish(beginCheckpoint(group, sink));
}

function finish(steps: Generator<void>): void {
  while (steps.next().done !== true);
}

function* recordsOf({ records }: Changes, sink: RecordSink): Generator<void, void, undefined> {
  for (const { kind, id, part, value } of records.values()) {
    if (value === null) sink.delete(kind, id, part);
    else sink.put(kind, id, part, value);
    yield;
  }
}

function* stepsOf(
  group: Group,
  { removed, things }: Changes,
  records: Generator<void>,
  sink: RecordSink,
): Generator<void, void, undefined> {
  const { dirty } = group;
  yield* records;
  for (const [id, parts] of removed) {
    for (const part of parts) {
      sink.delete(RecordKind.THING, id, part);
      yield;
    }
  }
  for (const id of things) {
    const thing = dirty.frozenThing(id);
    if (thing !== undefined) {
      group.saveThing(thing, sink);
      dirty.saved(thing);
    }
    yield;
  }
  yield* group.saveRest(sink);
}
