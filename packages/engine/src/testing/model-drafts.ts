/** Random values for queries on a model: their text, and what they make. */
import { isA, type Model, type ModelState, type Place, toItem, toProperty } from './model-state.js';

/** Gives choices from 0 up to, not including, a limit. */
export type Choose = (limit: number) => number;

/** A value that is not made yet: `make` gives ids to the things in it. */
export interface Draft {
  readonly code: string;
  make(): Model;
}

export class ModelDrafts {
  choose: Choose = () => 0;

  constructor(private readonly state: ModelState) {}

  /** Text of a value, and what it makes. */
  draft(depth: number): Draft {
    switch (this.choose(depth > 0 ? 12 : 4)) {
      case 0:
      case 1: {
        const number = this.choose(5);
        return { code: String(number), make: () => number };
      }
      case 2:
        return { code: "'text'", make: () => 'text' };
      case 3:
        return reference(this.pick([...this.state.things.keys()]));
      case 4:
      case 9:
        return this.thingDraft(depth);
      case 5:
      case 10: {
        const items = Array.from({ length: this.choose(4) }, () => this.draft(depth - 1));
        return {
          code: `[${items.map(({ code }) => code).join(', ')}]`,
          make: () => ({ kind: 'list', items: items.map((item) => toItem(item.make())) }),
        };
      }
      case 6:
      case 11: {
        const members = Array.from({ length: this.choose(4) }, () => this.thingDraft(depth - 1));
        return {
          code: `set(${members.map(({ code }) => code).join(', ')})`,
          make: () => ({
            kind: 'set',
            ids: union(
              [],
              members.map((member) => idOf(member.make())),
            ),
          }),
        };
      }
      case 7:
        return {
          code: "{a: 1}.restrict('int')",
          make: () => {
            const thing = this.state.newThing();
            thing.restriction = 'int';
            thing.properties.push(['a', 1]);
            return { kind: 'thing', id: thing.id };
          },
        };
      default:
        return this.copyDraft();
    }
  }

  thingDraft(depth: number): Draft {
    if (depth <= 0) return reference(this.pick([...this.state.things.keys()]));
    const keys = ['a', 'b', 'c'].slice(0, this.choose(4));
    const properties = keys.map((key): [string, Draft] => [key, this.draft(depth - 1)]);
    return {
      code: `{${properties.map(([key, { code }]) => `${key}: ${code}`).join(', ')}}`,
      make: () => {
        const thing = this.state.newThing();
        for (const [key, draft] of properties) thing.properties.push([key, toProperty(draft.make())]);
        return { kind: 'thing', id: thing.id };
      },
    };
  }

  /** A value that is a property already, or an item of one. */
  copyDraft(): Draft {
    const places = [...this.state.things].flatMap(([id, { properties }]) =>
      properties.map(([key]): Place => [id, key]),
    );
    if (places.length === 0) return { code: '0', make: () => 0 };
    const [id, key] = this.pick(places);
    const value = this.state.find(id, key) as Model;
    const code = `${thingCode(id)}[${quote(key)}]`;
    if (!isA(value, 'list') || value.items.length === 0) return { code, make: () => structuredClone(value) };
    const item = structuredClone(value.items[0] as Model);
    return { code: `${code}[0]`, make: () => item };
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.choose(choices.length)] as T;
  }
}

export function reference(id: number): Draft {
  return { code: thingCode(id), make: () => ({ kind: 'thing', id }) };
}

export function idOf(value: Model): number {
  if (typeof value !== 'object' || value.kind !== 'thing') throw new Error('a thing is expected');
  return value.id;
}

export function union(ids: readonly number[], others: readonly number[]): number[] {
  return [...new Set([...ids, ...others])];
}

export function thingCode(id: number): string {
  return id === 1 ? 'root()' : `thing(${id})`;
}

export function quote(key: string): string {
  return `'${key}'`;
}
