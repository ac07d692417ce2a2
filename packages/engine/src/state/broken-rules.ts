/** The rules that the state of a collection keeps between two changes: what is counted, what is attached where, and who refers to whom. */
import { innerOf, List, ThingSet } from '../value/containers.js';
import { eachThing } from '../value/kinds.js';
import type { Member } from '../value/member.js';
import type { Room } from '../value/room.js';
import { Tag } from '../value/tag.js';
import type { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import type { CollectionGroup } from './collection-group.js';
import { allThings } from './describe.js';
import { brokenIndexes } from './index-rules.js';

/** The broken rules in the state of a collection, a line each; empty when every rule is kept. Brings all of it into memory. */
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
    if (slots.some((slot, i) => slot >= thing.slots.length || (i > 0 && slot <= slots[i - 1]!))) {
      broken.push(`thing ${thing.id} has the slots ${slots}`);
    }
  }
  broken.push(...brokenSuccessions(group));
  for (const thing of things) {
    const count = references.get(thing);
    if (thing.refs !== count) broken.push(`thing ${thing.id} has ${count} references, counted ${thing.refs}`);
    if (count === 0 && !store.isSuspect(thing.id)) broken.push(`nothing refers to thing ${thing.id}`);
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
  broken.push(...brokenIndexes(store));
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

/** Each instance that had its turn has a fitting value of the successor of a field, unless it waits for another turn. */
function brokenSuccessions({ jobs, store }: CollectionGroup): string[] {
  const broken: string[] = [];
  for (const { def, progress, waiting } of jobs.successions) {
    const type = store.schema.type(def.type);
    const successor = type.shape?.successor;
    if (successor?.id !== type.def?.successor?.id || successor === undefined) {
      if (type.def !== null) broken.push(`job ${def.id} gives a field no successor`);
    } else if (successor !== null)
      type.instances.forEach((id) => {
        const value = store.thingOfId(id).slots[successor.slot];
        if (id <= progress.cursor && !waiting.has(id) && (value === undefined || !successor.rule.fits(value)))
          broken.push(`thing ${id} has no value of the successor of field ${def.field}`);
      });
  }
  return broken;
}
