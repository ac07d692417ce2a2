/** The state of a simple model of a collection: things as records by id, whose references it only counts. */
import { thingLine } from './state-lines.js';

/** A property or item. Lists and sets hold their elements themselves, things are referred to by id. */
export type Model =
  | number
  | string
  | { readonly kind: 'thing'; readonly id: number }
  | { readonly kind: 'list'; readonly items: Model[] }
  | { readonly kind: 'tuple'; readonly items: Model[] }
  | { readonly kind: 'set'; readonly ids: number[] };

export interface ThingModel {
  restriction: 'int' | null;
  /** In order. */
  properties: [key: string, value: Model][];
}

interface State {
  nextId: number;
  things: Map<number, ThingModel>;
}

/** The operation fails, without having changed anything. */
export class Refused extends Error {}

/** A property: the id of the thing, and the key. */
export type Place = readonly [id: number, key: string];

export class ModelState {
  private state: State = { nextId: 2, things: new Map([[1, { restriction: null, properties: [] }]]) };

  get things(): ReadonlyMap<number, ThingModel> {
    return this.state.things;
  }

  /** @returns what makes the state again what it is now */
  keep(): () => void {
    const kept = structuredClone(this.state);
    return () => {
      this.state = kept;
    };
  }

  /** As `stateLines` gives them. */
  lines(): string[] {
    const { nextId, things } = this.state;
    const references = this.references();
    const lines = [...things]
      .sort(([a], [b]) => a - b)
      .map(([id, { restriction, properties }]) =>
        thingLine(
          id,
          references.get(id) ?? 0,
          restriction === null ? '' : ` ${restriction}`,
          properties.map(([key, value]) => `${JSON.stringify(key)}: ${text(value)}`),
        ),
      );
    return [`next ${nextId}, things ${things.size}`, ...lines];
  }

  thing(id: number): ThingModel {
    const thing = this.state.things.get(id);
    if (thing === undefined) throw new Error(`the model has no thing ${id}`);
    return thing;
  }

  newThing(): ThingModel & { readonly id: number } {
    const thing = { id: this.state.nextId, restriction: null, properties: [] };
    this.state.things.set(this.state.nextId++, thing);
    return thing;
  }

  find(id: number, key: string): Model | undefined {
    return this.thing(id).properties.find(([name]) => name === key)?.[1];
  }

  put(id: number, key: string, value: Model): void {
    const { restriction, properties } = this.thing(id);
    if (restriction !== null && typeof value !== 'number') throw new Refused();
    const own = toProperty(structuredClone(value));
    const present = properties.find(([name]) => name === key);
    if (present === undefined) properties.push([key, own]);
    else present[1] = own;
  }

  remove(id: number, key: string): void {
    const { properties } = this.thing(id);
    const index = properties.findIndex(([name]) => name === key);
    if (index < 0) throw new Refused();
    properties.splice(index, 1);
  }

  rename(id: number, from: string, to: string): void {
    const value = this.find(id, from);
    if (value === undefined || this.find(id, to) !== undefined) throw new Refused();
    this.remove(id, from);
    this.thing(id).properties.push([to, value]);
  }

  assign(id: number, source: number): void {
    for (const [key, value] of structuredClone(this.thing(source).properties)) this.put(id, key, value);
  }

  /** Properties that hold a value of some kind. */
  places(kind: 'list' | 'set'): Place[] {
    return [...this.state.things].flatMap(([id, { properties }]) =>
      properties.filter(([, value]) => isA(value, kind)).map(([key]): Place => [id, key]),
    );
  }

  references(): Map<number, number> {
    const references = new Map([[1, 1]]);
    const count = (value: Model): void => {
      if (typeof value !== 'object') return;
      if (value.kind === 'thing') references.set(value.id, (references.get(value.id) ?? 0) + 1);
      else if (value.kind === 'set') for (const id of value.ids) count({ kind: 'thing', id });
      else for (const item of value.items) count(item);
    };
    for (const { properties } of this.state.things.values()) for (const [, value] of properties) count(value);
    return references;
  }

  dropUnreferenced(): void {
    for (;;) {
      const references = this.references();
      const gone = [...this.state.things.keys()].filter((id) => !references.has(id));
      if (gone.length === 0) return;
      for (const id of gone) this.state.things.delete(id);
    }
  }
}

export function isA<K extends 'list' | 'set'>(
  value: Model | undefined,
  kind: K,
): value is Extract<Model, { kind: K }> {
  return typeof value === 'object' && value.kind === kind;
}

export function toItem(value: Model): Model {
  if (typeof value !== 'object') return value;
  if (value.kind === 'list') return { kind: 'tuple', items: value.items };
  if (value.kind !== 'set') return value;
  return { kind: 'tuple', items: value.ids.map((id) => ({ kind: 'thing', id })) };
}

export function toProperty(value: Model): Model {
  return typeof value === 'object' && value.kind === 'tuple' ? { kind: 'list', items: value.items } : value;
}

export function text(value: Model): string {
  if (typeof value !== 'object') return JSON.stringify(value);
  switch (value.kind) {
    case 'thing':
      return `#${value.id}`;
    case 'list':
      return `[${value.items.map(text).join(', ')}]`;
    case 'tuple':
      return `(${value.items.map(text).join(', ')})`;
    case 'set':
      return `{${value.ids.map((id) => `#${id}`).join(', ')}}`;
  }
}
