/** The state of a collection in words, for comparing states that should be equal. */

import type { RootGroup } from '../admin/root-group.js';
import { ByteWriter } from '../bytes.js';
import { List, ThingSet } from '../value/containers.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import type { CollectionGroup } from './collection-group.js';
import type { Group } from './group.js';
import { writeValue } from './value-codec.js';

/** One line for each thing, in the order of the ids: references, restriction, keys in order, values. */
export function stateLines(group: CollectionGroup): string[] {
  const { store } = group;
  const things = allThings(group).map((thing) => {
    const properties = thing.entries().map(([key, value]) => `${JSON.stringify(key)}: ${valueText(value)}`);
    const restriction = thing.shape.restriction === null ? '' : ` ${thing.shape.restriction}`;
    return thingLine(thing.id, thing.refs, restriction, properties);
  });
  return [`next ${store.nextId}, things ${store.thingCount}`, ...things];
}

/** What every group has: how often it changed, and its procedures. */
export function groupLines(group: Group): string[] {
  const procedures = Array.from(
    group.procedures.values(),
    ({ name, createdAt, closure }) => `procedure ${name}, ${createdAt}: ${closure.text}`,
  );
  return [`${group.changeCount} changes`, ...procedures];
}

/** The users, collections and nodes of the root scope, and its counters, defaults and access. */
export function rootLines(root: RootGroup): string[] {
  const { users, collections, members } = root;
  const records = [users, collections, members].flatMap((map) =>
    Array.from<object, string>(map.values(), inWords).sort(),
  );
  return [`counters and access ${Buffer.from(root.encodeMeta()).toString('hex')}`, ...records];
}

/** A record in words, whatever the order of its fields. */
function inWords(record: object): string {
  return JSON.stringify(
    record,
    function (this: Readonly<Record<string, unknown>>, key: string, value: unknown) {
      // A Buffer has become something else already.
      const given = this[key];
      if (given instanceof Uint8Array) return Buffer.from(given).toString('hex');
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
      return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
    },
  );
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
  const things: Thing[] = [];
  for (let id = 1; id < store.nextId; id++) {
    const thing = store.find(id);
    if (thing !== undefined) {
      store.load(thing);
      things.push(thing);
    }
  }
  return things;
}

function valueText(value: Value): string {
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
