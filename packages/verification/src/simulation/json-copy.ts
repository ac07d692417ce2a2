/** A copy of a collection that is kept by what its feed says, in JSON alone, by the rules of `docs/feed.md`. */
import { ChangeJsonWriter, CollectionGroup, pack, type Value } from '@althing/engine';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** One step, as a line of the feed has it. */
export interface Step {
  readonly op: string;
  readonly id?: number;
  readonly key?: string;
  readonly type?: string;
  readonly to?: string | null;
  readonly value?: Json;
  readonly values?: { readonly [key: string]: Json };
  readonly start?: number;
  readonly removed?: number;
  readonly items?: readonly Json[];
  readonly runs?: readonly (readonly [number, number])[];
  readonly ids?: readonly number[];
  readonly was?: string;
  readonly gone?: boolean;
  readonly fields?: readonly { readonly name: string; readonly was?: string; readonly initial?: Json }[];
}

export interface CopiedThing {
  type: string | null;
  values: Map<string, Json>;
}

export class JsonCopy {
  private readonly things = new Map<number, CopiedThing>();

  /** @param begin what the copy begins with */
  constructor(begin: CollectionGroup | ReadonlyMap<number, CopiedThing>) {
    if (!(begin instanceof CollectionGroup)) {
      for (const [id, thing] of begin) this.things.set(id, thing);
      return;
    }
    const { store } = begin;
    for (const thing of store.all()) {
      store.load(thing);
      const values = thing.entries().map(([key, value]) => [key, jsonOf(value)] as const);
      this.things.set(thing.id, { type: thing.shape.type?.name ?? null, values: new Map(values) });
    }
  }

  has(id: number): boolean {
    return this.things.has(id);
  }

  /** A line for each thing, the same for copies that hold the same. */
  lines(): string[] {
    return [...this.things]
      .sort(([a], [b]) => a - b)
      .map(([id, { type, values }]) => `#${id} ${type} ${propertiesOf(values)}`);
  }

  /** The difference between the copy and an answer with things in things, as deep as that goes; null for none. */
  differenceFrom(answer: Json): string | null {
    for (const [id, { values }] of thingsIn(answer, new Map())) {
      // Where the answer is not deeper there are ids alone.
      if (values.size === 0) continue;
      const [own, other] = [propertiesOf(this.things.get(id)?.values ?? new Map()), propertiesOf(values)];
      if (own !== other) return `#${id} is ${own} in the copy, and ${other} in the collection`;
    }
    return null;
  }

  take(step: Step): void {
    const { op, id = 0, key = '', type, ids = [] } = step;
    switch (op) {
      case 'new':
      case 'thing':
        this.things.set(id, { type: type ?? null, values: new Map(Object.entries(step.values ?? {})) });
        return;
      case 'gone':
        for (const one of ids)
          if (!this.things.delete(one)) throw new Error(`#${one} goes, and was not there`);
        return;
      case 'schema':
        this.takeSchema(step);
        return;
      default:
    }
    const thing = this.things.get(id);
    if (thing === undefined) throw new Error(`a step of #${id}, which nobody told of`);
    const { values } = thing;
    const list = (): Json[] => {
      const value = values.get(key);
      if (!Array.isArray(value)) throw new Error(`#${id}.${key} is no list`);
      const copy = [...value];
      values.set(key, copy);
      return copy;
    };
    switch (op) {
      case 'set':
        values.set(key, step.value ?? null);
        return;
      case 'del':
        values.delete(key);
        return;
      case 'rename':
        values.set(step.to ?? '', values.get(key) ?? null);
        values.delete(key);
        return;
      case 'clear':
        values.clear();
        return;
      case 'type':
        thing.type = step.to ?? null;
        return;
      case 'restrict':
        return;
      case 'splice':
        list().splice(step.start ?? 0, step.removed ?? 0, ...(step.items ?? []));
        return;
      case 'fill':
        list().fill(step.value ?? null);
        return;
      case 'cut': {
        const items = list();
        for (const [start, count] of (step.runs ?? []).toReversed()) items.splice(start, count);
        return;
      }
      case 'add':
        list().push(...ids.map((one) => ({ '#': one })));
        return;
      case 'remove':
        values.set(
          key,
          list().filter((item) => !ids.some((one) => textOf(item) === `{"#":${one}}`)),
        );
        return;
      default:
        throw new Error(`the unknown step ${op}`);
    }
  }

  private takeSchema({ type, was = type, gone, fields }: Step): void {
    if (type === undefined) return;
    for (const thing of this.things.values()) {
      if (thing.type !== was) continue;
      thing.type = gone === true ? null : type;
      if (fields === undefined) continue;
      const values = fields.map(
        (field) => [field.name, field.initial ?? thing.values.get(field.was ?? field.name) ?? null] as const,
      );
      thing.values = new Map(values);
    }
  }
}

/** The things of an answer with things in things, as deep as that goes, with their types by id. */
export function thingsIn(
  answer: Json,
  types: ReadonlyMap<number, string>,
  found = new Map<number, CopiedThing>(),
): Map<number, CopiedThing> {
  if (typeof answer !== 'object' || answer === null) return found;
  if (isList(answer)) {
    for (const item of answer) thingsIn(item, types, found);
    return found;
  }
  const { '#': id, ...values } = answer;
  if (typeof id === 'number' && (!found.has(id) || Object.keys(values).length > 0)) {
    const flat = Object.entries(values).map(([key, value]) => [key, flatOf(value)] as const);
    found.set(id, { type: types.get(id) ?? null, values: new Map(flat) });
  }
  // Things that are members of enums are there before anything refers to them.
  for (const [key, value] of Object.entries(values))
    if (!HOLDS_MEMBERS.test(key)) thingsIn(value, types, found);
  return found;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** The same with ids in place of things. */
function flatOf(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) return value.map(flatOf);
  return '#' in value ? { '#': value['#'] ?? null } : value;
}

function propertiesOf(values: ReadonlyMap<string, Json>): string {
  const told = [...values].filter(([key]) => !HOLDS_MEMBERS.test(key));
  const properties = told.map(([key, value]) => `${key}: ${textOf(value)}`).sort();
  return `{${properties.join(', ')}}`;
}

/** Properties under which the workload keeps members of enums, whose values change without being told. */
const HOLDS_MEMBERS = /^(?:e\d+|m)$/;

/** Tasks and rooms have nothing in the feed but their ids. */
const NAMED = /^<?(task|room):[^>]*>?$/;

function jsonOf(value: Value): Json {
  const writer = new ChangeJsonWriter();
  pack(value, writer, {
    deep: 0,
    ids: true,
    store: null,
    sizeMax: Number.POSITIVE_INFINITY,
    nestingMax: Number.POSITIVE_INFINITY,
  });
  return JSON.parse(writer.take());
}

/** The members of sets have no order. */
function textOf(value: Json): string {
  if (typeof value === 'string' && NAMED.test(value)) return NAMED.exec(value)?.[1] ?? '';
  if (!Array.isArray(value)) return JSON.stringify(value);
  const items = value.map(textOf);
  return `[${(items.every((item) => item.startsWith('{"#"')) ? items.sort() : items).join(',')}]`;
}
