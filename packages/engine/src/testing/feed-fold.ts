import type { TypeDef } from '../schema/type.js';
import type { CollectionGroup } from '../state/collection-group.js';
import { allThings, valueText } from '../state/describe.js';
import type { FeedChange } from '../state/feed/change.js';
import { List, ThingSet } from '../value/containers.js';
import type { Value } from '../value/value.js';

/** A value as a reader of changes keeps it: lists and sets change in place. */
type Kept = string | string[] | Set<number>;

interface KeptThing {
  type: number | null;
  values: Map<string, Kept>;
}

/** A copy of a collection that is kept by its changes alone, by the rules that `docs/feed.md` gives. */
export class FeedFold {
  private readonly things = new Map<number, KeptThing>();

  /** @param group what the copy begins with */
  constructor(group: CollectionGroup) {
    for (const thing of allThings(group)) {
      const values = thing.entries().map(([key, value]) => [key, kept(value)] as const);
      this.things.set(thing.id, { type: thing.shape.type?.id ?? null, values: new Map(values) });
    }
  }

  /** A line for each thing, which is the same for two copies that hold the same. */
  lines(): string[] {
    return [...this.things]
      .sort(([a], [b]) => a - b)
      .map(([id, { type, values }]) => {
        const properties = [...values].map(([key, value]) => `${key}: ${textOf(value)}`).sort();
        return `#${id} ${type} {${properties.join(', ')}}`;
      });
  }

  take(change: FeedChange): void {
    switch (change.op) {
      case 'enum_def':
        return;
      case 'type_def':
        for (const thing of this.things.values()) if (thing.type === change.id) retype(thing, change);
        return;
      case 'new':
      case 'thing': {
        const values = new Map(change.values.map(([key, value]) => [key, kept(value)]));
        this.things.set(change.id, { type: change.type, values });
        return;
      }
      case 'gone':
        for (const id of change.ids) {
          this.thing(id);
          this.things.delete(id);
        }
        return;
      case 'clear':
        this.thing(change.id).values.clear();
        return;
      case 'restrict':
        return;
      case 'type':
        this.thing(change.id).type = change.type;
        return;
      default:
        this.takeProperty(change);
    }
  }

  private takeProperty(change: Extract<FeedChange, { readonly key: string }>): void {
    const { values } = this.thing(change.id);
    const { key } = change;
    switch (change.op) {
      case 'set':
        values.set(key, kept(change.value));
        return;
      case 'del':
        values.delete(key);
        return;
      case 'rename': {
        const value = values.get(key);
        if (value === undefined) throw new Error(`no property ${key} to be renamed`);
        values.delete(key);
        values.set(change.to, value);
        return;
      }
      case 'splice':
        listIn(values, key).splice(change.start, change.removed, ...change.items.map(valueText));
        return;
      case 'fill':
        listIn(values, key).fill(valueText(change.value));
        return;
      case 'cut': {
        const list = listIn(values, key);
        for (const [start, count] of change.runs.toReversed()) list.splice(start, count);
        return;
      }
      case 'add':
        for (const id of change.ids) setIn(values, key).add(id);
        return;
      case 'remove':
        for (const id of change.ids) setIn(values, key).delete(id);
    }
  }

  private thing(id: number): KeptThing {
    const thing = this.things.get(id);
    if (thing === undefined) throw new Error(`a change of the thing ${id}, which nobody told of`);
    return thing;
  }
}

/** The values of an instance follow the fields of its type, by their ids. */
function retype(thing: KeptThing, { before, now }: { before: TypeDef | null; now: TypeDef | null }): void {
  if (now === null) {
    thing.type = null;
    return;
  }
  const fields = now.fields.map(({ id, name, initial }) => {
    const was = before?.fields.find((field) => field.id === id)?.name;
    return [name, (was === undefined ? undefined : thing.values.get(was)) ?? kept(initial)] as const;
  });
  thing.values = new Map(fields);
}

function kept(value: Value): Kept {
  if (value instanceof List && !value.tuple) return Array.from(value.items, valueText);
  if (value instanceof ThingSet) return new Set(Array.from(value.members, ({ id }) => id));
  return valueText(value);
}

function textOf(value: Kept): string {
  if (typeof value === 'string') return value;
  if (value instanceof Set) return `{${[...value].sort((a, b) => a - b).join(' ')}}`;
  return `[${value.join(', ')}]`;
}

function listIn(values: ReadonlyMap<string, Kept>, key: string): string[] {
  const value = values.get(key);
  if (!Array.isArray(value)) throw new Error(`${key} is no list`);
  return value;
}

function setIn(values: ReadonlyMap<string, Kept>, key: string): Set<number> {
  const value = values.get(key);
  if (!(value instanceof Set)) throw new Error(`${key} is no set`);
  return value;
}
