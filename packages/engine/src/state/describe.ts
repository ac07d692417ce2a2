/** The state of a collection in words, for comparing states that should be equal. */

import { ByteWriter } from '../bytes.js';
import { slottedOf } from '../schema/catalog.js';
import { definitionText } from '../schema/definition.js';
import type { Closure } from '../value/closure.js';
import { List, ThingSet } from '../value/containers.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import type { CollectionGroup } from './collection-group.js';
import type { Group } from './group.js';
import { writeValue } from './value-codec.js';

/** One line for each thing and room, in the order of the ids: references, restriction, keys in order, values. */
export function stateLines(group: CollectionGroup): string[] {
  const { store } = group;
  const things = allThings(group).map((thing) => {
    const properties = thing.entries().map(([key, value]) => `${JSON.stringify(key)}: ${valueText(value)}`);
    const { restriction } = thing;
    const { type, successor } = thing.shape;
    const succeeding = successor === null ? undefined : thing.slots[successor.slot];
    if (succeeding !== undefined) properties.push(`${successor?.name}: ${valueText(succeeding)}`);
    const kind = type !== null ? ` ${type.name}` : restriction !== null ? ` ${restriction.stored}` : '';
    return thingLine(thing.id, thing.refs, kind, properties);
  });
  const rooms = [...store.rooms.byId.values()]
    .sort((a, b) => a.id - b.id)
    .map(({ id, refs, name }) => `room ${id} (${refs}) ${JSON.stringify(name)}`);
  return [`next ${store.nextId}, things ${store.thingCount}`, ...things, ...rooms];
}

/** One line for each type, enum and index, in the order of the ids, and for each load and job. */
export function schemaLines({ store: { schema, indexes }, loads, jobs }: CollectionGroup): string[] {
  const methodsOf = (methods: ReadonlyMap<string, Closure>): string =>
    JSON.stringify([...methods].map(([name, closure]) => [name, closure.text]));
  const types = [...schema.allTypes()].sort((a, b) => a.id - b.id);
  const enums = [...schema.allEnums()].sort((a, b) => a.id - b.id);
  return [
    ...types.flatMap(({ def, instances }) => {
      if (def === null) return [];
      const { id, name, flags, createdAt, modifiedAt, idName, methods } = def;
      const properties = slottedOf(def).map(
        ({ id: field, name: key, definition, relation, initial }) =>
          `${field} ${key} ${definitionText(definition, schema)} ${JSON.stringify(relation)} ${valueText(initial)}`,
      );
      const head = `type ${id} ${name} ${flags} ${createdAt} ${modifiedAt} ${idName}`;
      return [`${head} {${properties.join(', ')}} ${methodsOf(methods)}: ${[...instances].join(' ')}`];
    }),
    ...enums.flatMap(({ def, members }) => {
      if (def === null) return [];
      const { id, name, createdAt, modifiedAt, methods } = def;
      const values = members.map(
        (member) => `${member.id} ${member.name} ${valueText(member.value)} x${member.refs}`,
      );
      return [`enum ${id} ${name} ${createdAt} ${modifiedAt} {${values.join(', ')}} ${methodsOf(methods)}`];
    }),
    ...[...indexes.byId.values()]
      .sort((a, b) => a.def.id - b.def.id)
      .map(
        ({ def, progress: { cursor, why }, tree }) =>
          `index ${def.id} ${def.type}.${def.name} ${def.flags} ${def.fields.join(' ')}, ${cursor} ${why}: ${tree.count}`,
      ),
    ...Array.from(loads.all, ([slot, load]) => `load ${slot} ${JSON.stringify(load)}`).sort(),
    ...jobs.all.map(
      ({ def: { id, kind, type, field, owner, upTo, begunAt, closure, args }, progress, waiting }) =>
        `job ${id} ${kind} ${type}.${field} ${owner} ${upTo} ${begunAt} ${closure.text} ${valueText(args)} ${JSON.stringify(progress)} ${[...waiting].sort((a, b) => a - b).join(' ')}`,
    ),
  ];
}

/** The description of every group: how often it changed, its procedures and tasks. */
export function groupLines(group: Group): string[] {
  const procedures = Array.from(
    group.procedures.byName.values(),
    ({ name, createdAt, closure, durationMs }) =>
      `procedure ${name}, ${createdAt}, ${durationMs}: ${closure.text}`,
  );
  const tasks = group.tasks.list().map(({ id, owner, startAt, status, error, closure, args }) => {
    const ended = error === null ? status : `${status} ${error.code} ${error.message}`;
    return `task ${id} of ${owner} at ${startAt}, ${ended}: ${closure.text} ${valueText(args)}`;
  });
  return [`${group.changeCount} changes`, ...procedures, ...tasks];
}

export function thingLine(
  id: number,
  refs: number,
  restriction: string,
  properties: readonly string[],
): string {
  return `#${id} (${refs})${restriction} {${properties.join(', ')}}`;
}

/** The things of a collection, all of them in memory, by their ids. */
export function allThings({ store }: CollectionGroup): Thing[] {
  const things = [...store.all()];
  for (const thing of things) store.load(thing);
  return things;
}

export function valueText(value: Value): string {
  if (value instanceof Thing) return `#${value.id}`;
  if (value instanceof List) {
    const items = value.items.map(valueText).join(', ');
    return value.tuple ? `(${items})` : `[${items}]`;
  }
  if (value instanceof ThingSet) return `{${Array.from(value.members, ({ id }) => `#${id}`).join(', ')}}`;
  if (value === null || typeof value === 'string' || typeof value === 'number') return JSON.stringify(value);
  const out = new ByteWriter();
  writeValue(out, value);
  return Buffer.from(out.take()).toString('hex');
}
