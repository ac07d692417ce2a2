/**
 * The state of a collection as text, for tests that compare states, and the rules that every state keeps.
 */
import type { Catalog } from '../schema/catalog.js';
import { CollectionGroup } from '../state/collection-group.js';
import { allThings } from '../state/describe.js';
import { roomRecord } from '../state/parts/rooms.js';
import { taskRecord } from '../state/parts/tasks.js';
import { EMPTY_SOURCE, RecordKind, type RecordSink, type RecordSource } from '../state/records.js';
import { sharedThing } from '../state/thing-walk.js';
import { innerOf, List, ThingSet } from '../value/containers.js';
import { eachThing } from '../value/kinds.js';
import type { Member } from '../value/member.js';
import type { Room } from '../value/room.js';
import { ShapeTree } from '../value/shape.js';
import { Tag } from '../value/tag.js';
import type { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';

export { schemaLines, stateLines, thingLine } from '../state/describe.js';

/** The records of every thing, as a checkpoint would write them, by `id:part`. */
export function savedRecords(group: CollectionGroup): ReadonlyMap<string, Uint8Array> {
  const records = new Map<string, Uint8Array>();
  const sink: RecordSink = {
    put: (_kind, id, part, value) => records.set(`${id}:${part}`, value),
    delete: (_kind, id, part) => records.delete(`${id}:${part}`),
  };
  for (const thing of allThings(group)) group.saveThing(thing, sink);
  Array.from(group.saveRest());
  return records;
}

/** What the records say that must be the same on all nodes, a line for each thing. */
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
  return {
    read: (kind, id, part) => (kind === RecordKind.THING ? records.get(`${id}:${part}`) : undefined),
  };
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

/** What is wrong inside the state; empty when every rule is kept. */
export function brokenRules(group: CollectionGroup): string[] {
  const broken: string[] = [];
  const { store } = group;
  if (store.orphans.size > 0) broken.push(`${store.orphans.size} orphans are left over`);
  const things = allThings(group);
  if (things.length !== store.thingCount) broken.push(`${things.length} things, counted ${store.thingCount}`);
  const references = new Map<Thing, number>(things.map((thing) => [thing, thing.id === 1 ? 1 : 0]));
  const members = new Map<Member | Room, number>();
  const count = (value: Value): void =>
    eachThing(
      value,
      (child) => references.set(child, (references.get(child) ?? 0) + 1),
      (other) => members.set(other, (members.get(other) ?? 0) + 1),
    );
  for (const of of store.schema.allEnums()) for (const { value } of of.members) count(value);
  for (const args of group.tasks.arguments()) count(args);
  for (const thing of things) {
    if (thing.locked) broken.push(`thing ${thing.id} is locked`);
    thing.forEach((key, value) => {
      broken.push(...brokenProperty(thing, key, value));
      eachThing(value, (child) => {
        if (!references.has(child)) broken.push(`thing ${thing.id} refers to ${child.id}, which is gone`);
      });
      count(value);
    });
    const slots = [...thing.shape.index.values()];
    if (slots.some((slot, i) => slot >= thing.slots.length || (i > 0 && slot <= (slots[i - 1] as number)))) {
      broken.push(`thing ${thing.id} has the slots ${slots}`);
    }
  }
  for (const thing of things) {
    const count = references.get(thing);
    if (thing.refs !== count) broken.push(`thing ${thing.id} has ${count} references, counted ${thing.refs}`);
    if (count === 0) broken.push(`nothing refers to thing ${thing.id}`);
    const holders = thing.id === 1 ? thing.refs - 1 : thing.refs;
    if (thing.holders !== holders)
      broken.push(`thing ${thing.id} has ${thing.holders} holders, not ${holders}`);
  }
  for (const of of store.schema.allEnums()) {
    for (const member of of.known()) {
      const refs = members.get(member) ?? 0;
      if (member.refs !== refs) broken.push(`${member.label} has ${refs} references, counted ${member.refs}`);
      if (refs > 0 && !member.isThere) broken.push(`${member.label} was deleted`);
    }
  }
  if (store.rooms.orphans.size > 0) broken.push(`${store.rooms.orphans.size} rooms are left over`);
  for (const room of store.rooms.byId.values()) {
    const { id, refs, name, gone } = room;
    const count = members.get(room) ?? 0;
    members.delete(room);
    if (refs !== count || count === 0 || gone)
      broken.push(`room ${id} has ${count} references, counted ${refs}`);
    if (name !== null && store.rooms.byName.get(name) !== room) broken.push(`room ${id} is not ${name}`);
  }
  for (const { tag } of members.keys())
    if (tag === Tag.ROOM) broken.push('a room that is gone is referred to');
  return broken;
}

function brokenProperty(thing: Thing, key: string, value: Value): string[] {
  const broken: string[] = [];
  const where = `${JSON.stringify(key)} of thing ${thing.id}`;
  if (!(value instanceof List || value instanceof ThingSet)) return broken;
  if (value.owner !== thing || value.key !== key) broken.push(`${where} is attached elsewhere`);
  if (value.lock !== 0) broken.push(`${where} is locked`);
  if (value instanceof List && value.tuple) broken.push(`${where} is a tuple`);
  if (value instanceof List) broken.push(...brokenItems(where, value));
  return broken;
}

function brokenItems(where: string, list: List): string[] {
  const broken: string[] = [];
  const inner = innerOf(list.items);
  if (list.inner !== inner) broken.push(`${where} has ${inner} inner items, counted ${list.inner}`);
  for (const item of list.items) {
    if (item instanceof List) {
      if (!item.tuple) broken.push(`${where} holds a list`);
      if (item.nesting >= list.nesting) broken.push(`${where} counts a nesting of ${list.nesting}`);
      broken.push(...brokenItems(where, item));
    } else if (item instanceof ThingSet) {
      broken.push(`${where} holds a set`);
    }
  }
  return broken;
}
