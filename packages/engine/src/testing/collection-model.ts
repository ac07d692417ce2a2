/**
 * A simple model of a collection, and a maker of random queries that modify it: each operation is written as query
 * text, and done to the model. Things are records by id; whatever the engine does with references, stubs and shapes,
 * the model only counts.
 *
 * Long because: it is one table of operations.
 */
import { thingLine } from './state-lines.js';

/** A property or item. Lists and sets hold their elements themselves, things are referred to by id. */
type Model =
  | number
  | string
  | { readonly kind: 'thing'; readonly id: number }
  | { readonly kind: 'list'; readonly items: Model[] }
  | { readonly kind: 'tuple'; readonly items: Model[] }
  | { readonly kind: 'set'; readonly ids: number[] };

interface ThingModel {
  restriction: 'int' | null;
  /** In order. */
  properties: [key: string, value: Model][];
}

interface State {
  nextId: number;
  things: Map<number, ThingModel>;
}

/** A value that is not made yet: `make` gives ids to the things in it. */
interface Draft {
  readonly code: string;
  make(): Model;
}

/** An operation as text; `apply` does it to the model or throws `Refused`. */
interface Operation {
  readonly code: string;
  readonly apply: () => void;
}

/** The operation fails, without having changed anything. */
class Refused extends Error {}

/** Gives choices from 0 up to, not including, a limit. */
export type Choose = (limit: number) => number;

const KEYS = ['a', 'b', 'c', 'd', 'k1', 'k20', 'k39', 'x y', '日本'];
const NAME = /^[a-z]\w*$/;
const MANY = 40;

export class CollectionModel {
  private state: State = { nextId: 2, things: new Map([[1, { restriction: null, properties: [] }]]) };
  private choose: Choose = () => 0;

  /** Writes a query of some operations and does it to the model. `fails` says that it ends in an error. */
  query(operations: number, choose: Choose): { readonly code: string; readonly fails: boolean } {
    this.choose = choose;
    const before = structuredClone(this.state);
    const codes: string[] = [];
    for (let i = 0; i < operations; i++) {
      const operation = this.operation();
      const caught = choose(5) === 0;
      codes.push(caught ? `try({${operation.code}})` : operation.code);
      const { state } = this;
      const present = structuredClone(state);
      try {
        operation.apply();
        this.dropUnreferenced();
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        this.state = present;
        if (caught) continue;
        this.state = before;
        return { code: codes.join('; '), fails: true };
      }
    }
    return { code: codes.join('; '), fails: false };
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

  private operation(): Operation {
    const lists = this.places('list');
    const sets = this.places('set');
    const kind = this.choose(12);
    if (kind < 4 && lists.length > 0) return this.listOperation(this.pick(lists));
    if (kind < 7 && sets.length > 0) return this.setOperation(this.pick(sets));
    return this.thingOperation(this.pick([...this.state.things.keys()]));
  }

  private thingOperation(id: number): Operation {
    const target = thingCode(id);
    const key = this.pick(KEYS);
    const keys = this.thing(id).properties.map(([name]) => name);
    const present = this.pick([...keys, key]);
    // The root thing keeps most of what it has, so that there is something to work on.
    switch (this.choose(id === 1 ? 24 : 14)) {
      case 0:
        return { code: `${target}.del(${quote(present)})`, apply: () => this.remove(id, present) };
      case 1:
        return {
          code: `${target}.ren(${quote(present)}, ${quote(key)})`,
          apply: () => this.rename(id, present, key),
        };
      case 2:
        return {
          code: `${target}.clear()`,
          apply: () => {
            this.thing(id).properties = [];
          },
        };
      case 3: {
        const source = this.pick([...this.state.things.keys()]);
        return { code: `${target}.assign(${thingCode(source)})`, apply: () => this.assign(id, source) };
      }
      case 4:
        return this.removeSome(id);
      case 5:
        return {
          code: `range(${MANY}).each(|i| ${target}.set('k' + str(i), i))`,
          apply: () => {
            for (let i = 0; i < MANY; i++) this.put(id, `k${i}`, i);
          },
        };
      case 6:
        return this.move(id, present, key);
      case 7:
        return this.storeCycle(id, key);
      case 8:
        return this.restrict(id, id === 1 || this.choose(2) === 0 ? null : 'int');
      default:
        return this.assignment(id, key, this.draft(2));
    }
  }

  private assignment(id: number, key: string, draft: Draft): Operation {
    const target = thingCode(id);
    const forms = [`${target}.set(${quote(key)}, ${draft.code})`, `${target}[${quote(key)}] = ${draft.code}`];
    if (NAME.test(key)) forms.push(`${target}.${key} = ${draft.code}`);
    return {
      code: this.pick(forms),
      apply: () => this.put(id, key, draft.make()),
    };
  }

  private removeSome(id: number): Operation {
    const [test, matches] = this.pick<[string, (key: string) => boolean]>([
      ["k.ends_with('1')", (key) => key.endsWith('1')],
      ['k.len() > 2', (key) => key.length > 2],
      ["!['a', 'k20', 'x y'].has(k)", (key) => !['a', 'k20', 'x y'].includes(key)],
    ]);
    const limit = this.pick([null, 0, 2, -1]);
    return {
      code: `${thingCode(id)}.remove(|k| ${test}${limit === null ? '' : `, ${limit}`})`,
      apply: () => {
        const thing = this.thing(id);
        let left = limit === null || limit < 0 ? Number.POSITIVE_INFINITY : limit;
        thing.properties = thing.properties.filter(([key]) => !(left > 0 && matches(key) && left-- > 0));
      },
    };
  }

  private restrict(id: number, restriction: 'int' | null): Operation {
    return {
      code: `${thingCode(id)}.restrict(${restriction === null ? 'nil' : `'${restriction}'`})`,
      apply: () => {
        const thing = this.thing(id);
        if (restriction !== null && thing.properties.some(([, value]) => typeof value !== 'number')) {
          throw new Refused();
        }
        thing.restriction = restriction;
      },
    };
  }

  /** Takes a list or set out of a thing, modifies it while it is loose, and puts it into the root thing. */
  private move(id: number, from: string, to: string): Operation {
    const target = thingCode(id);
    const value = this.find(id, from);
    if (this.thing(1).restriction !== null || value === undefined || typeof value !== 'object') {
      return this.assignment(id, to, this.draft(1));
    }
    if (value.kind === 'set') {
      return {
        code: `x = ${target}[${quote(from)}]; ${target}[${quote(from)}] = 0; x.add({n: 1}); .set(${quote(to)}, x)`,
        apply: () => {
          this.put(id, from, 0);
          const added = this.newThing();
          added.properties.push(['n', 1]);
          this.put(1, to, { kind: 'set', ids: [...value.ids, added.id] });
        },
      };
    }
    if (value.kind !== 'list' || (id === 1 && this.choose(2) === 0)) {
      return {
        code: `.set(${quote(to)}, ${target}.del(${quote(from)}))`,
        apply: () => {
          if (id === 1) throw new Refused();
          this.remove(id, from);
          this.put(1, to, value);
        },
      };
    }
    if (this.choose(2) === 0) {
      return {
        code: `x = ${target}[${quote(from)}]; ${target}.del(${quote(from)}); x.push(7); .set(${quote(to)}, x)`,
        apply: () => {
          this.remove(id, from);
          this.put(1, to, { kind: 'list', items: [...value.items, 7] });
        },
      };
    }
    return {
      code: `y = {l: ${target}.del(${quote(from)})}; y.l.remove(|v, i| i == 0); y.l.push(8); .set(${quote(to)}, y)`,
      apply: () => {
        this.remove(id, from);
        const added = this.newThing();
        added.properties.push(['l', { kind: 'list', items: [...value.items.slice(1), 8] }]);
        this.put(1, to, { kind: 'thing', id: added.id });
      },
    };
  }

  private storeCycle(id: number, key: string): Operation {
    return {
      code: `x = {n: 1}; x.me = x; x.l = [x, {}]; ${thingCode(id)}.set(${quote(key)}, x)`,
      apply: () => {
        const added = this.newThing();
        const self: Model = { kind: 'thing', id: added.id };
        const child: Model = { kind: 'thing', id: this.newThing().id };
        added.properties.push(['n', 1], ['me', self], ['l', { kind: 'list', items: [self, child] }]);
        this.put(id, key, self);
      },
    };
  }

  private listOperation([id, key]: Place): Operation {
    const list = `${thingCode(id)}[${quote(key)}]`;
    const items = (): Model[] => {
      const value = this.find(id, key);
      if (!isA(value, 'list')) throw new Error('the place of a list');
      return value.items;
    };
    const drafts = Array.from({ length: 1 + this.choose(3) }, () => this.draft(1));
    const [draft] = drafts as [Draft];
    const codes = drafts.map(({ code }) => code).join(', ');
    const made = (): Model[] => drafts.map((each) => toItem(each.make()));
    const index = this.choose(6) - 2;
    const count = this.choose(6) - 1;
    switch (this.choose(18)) {
      case 0:
        return { code: `${list}.push(${codes})`, apply: () => void items().push(...made()) };
      case 1:
        return { code: `${list}.unshift(${codes})`, apply: () => void items().unshift(...made()) };
      case 2:
        return { code: `${list}.pop()`, apply: () => void notEmpty(items()).pop() };
      case 3:
        return { code: `${list}.shift()`, apply: () => void notEmpty(items()).shift() };
      case 4:
        return {
          code: `${list}.splice(${index}, ${count}, ${codes})`,
          apply: () => {
            const { length } = items();
            const start = index < 0 ? index + length : index;
            const removed = Math.max(0, count + Math.min(start, 0));
            items().splice(Math.max(start, 0), removed, ...made());
          },
        };
      case 5:
        return { code: `${list}.extend([${codes}])`, apply: () => void items().push(...made()) };
      case 6:
        return { code: `${list}.extend(${list})`, apply: () => void items().push(...items()) };
      case 7:
        return {
          code: `${list}.extend_unique([${codes}])`,
          apply: () => {
            for (const item of made()) {
              if (!items().some((other) => text(other) === text(item))) items().push(item);
            }
          },
        };
      case 8:
        return {
          code: `${list}.fill(${draft.code})`,
          apply: () => {
            if (items().length > 0) items().fill(toItem(draft.make()));
          },
        };
      case 9:
        return {
          code: `${list}.remove(|x, i| i % 3 != 0, ${index})`,
          apply: () => this.removeItems(items(), index),
        };
      case 10:
        return { code: `${list}.clear()`, apply: () => void items().splice(0) };
      case 11:
        return {
          code: `${list}[${index}] = ${draft.code}`,
          apply: () => {
            items()[placeOf(index, items())] = toItem(draft.make());
          },
        };
      case 12:
        return {
          code: `${list}[${index}:${count}] = [${codes}]`,
          apply: () => {
            const { length } = items();
            const from = clamp(index < 0 ? index + length : index, length);
            const to = clamp(count < 0 ? count + length : count, length);
            items().splice(from, Math.max(0, to - from), ...made());
          },
        };
      case 13:
      case 14:
        return {
          code: drafts.map(({ code }) => `${list}.push(${code})`).join('; '),
          apply: () => {
            for (const each of drafts) items().push(toItem(each.make()));
          },
        };
      case 15:
        return this.appendInLoop(list, items, draft);
      default:
        return {
          code: `${list}[${index}] += 5`,
          apply: () => {
            const place = placeOf(index, items());
            const item = items()[place];
            if (typeof item !== 'number') throw new Refused();
            items()[place] = item + 5;
          },
        };
    }
  }

  /** Appends new things one by one, and perhaps something else in between. */
  private appendInLoop(list: string, items: () => Model[], other: Draft): Operation {
    const times = this.pick([2, 5, 140]);
    const every = this.pick([1, 3, 1000]);
    return {
      code: `for (i in range(${times})) { ${list}.push({a: i}); if (i % ${every} == 1) ${list}.push(${other.code}) }`,
      apply: () => {
        for (let i = 0; i < times; i++) {
          const thing = this.newThing();
          thing.properties.push(['a', i]);
          items().push({ kind: 'thing', id: thing.id });
          if (i % every === 1) items().push(toItem(other.make()));
        }
      },
    };
  }

  private removeItems(items: Model[], limit: number): void {
    const positions = [...items.keys()].filter((i) => i % 3 !== 0);
    const removed = limit > 0 ? positions.slice(0, limit) : limit < 0 ? positions.slice(limit) : [];
    const kept = items.filter((_, i) => !removed.includes(i));
    items.splice(0, items.length, ...kept);
  }

  private setOperation([id, key]: Place): Operation {
    const set = `${thingCode(id)}[${quote(key)}]`;
    const change = (update: (ids: readonly number[]) => readonly number[]): void => {
      const value = this.find(id, key);
      if (!isA(value, 'set')) throw new Error('the place of a set');
      value.ids.splice(0, value.ids.length, ...update([...value.ids]));
    };
    const known = Array.from({ length: 1 + this.choose(3) }, () => this.pick([...this.state.things.keys()]));
    const knownCodes = known.map(thingCode).join(', ');
    const drafts = known.map((each) => (this.choose(2) === 0 ? this.thingDraft(1) : reference(each)));
    const codes = drafts.map(({ code }) => code).join(', ');
    const made = (): number[] => drafts.map((draft) => idOf(draft.make()));
    switch (this.choose(8)) {
      case 0:
        return { code: `${set}.add(${codes})`, apply: () => change((ids) => union(ids, made())) };
      case 1:
        return {
          code: `${set}.remove(${knownCodes})`,
          apply: () => change((ids) => ids.filter((each) => !known.includes(each))),
        };
      case 2:
        return { code: `${set}.clear()`, apply: () => change(() => []) };
      case 3:
        return { code: `${set} |= set(${codes})`, apply: () => change((ids) => union(ids, made())) };
      case 4:
        return {
          code: `${set} &= set(${knownCodes})`,
          apply: () => change((ids) => ids.filter((each) => known.includes(each))),
        };
      case 5:
        return {
          code: `${set} -= set(${knownCodes})`,
          apply: () => change((ids) => ids.filter((each) => !known.includes(each))),
        };
      case 6:
        return {
          code: `${set} ^= set(${codes})`,
          apply: () =>
            change((ids) => {
              const others = made();
              const kept = ids.filter((each) => !others.includes(each));
              return union(
                kept,
                others.filter((each) => !ids.includes(each)),
              );
            }),
        };
      default:
        return {
          code: `${set}.remove(|t, id| id % 2 == 0)`,
          apply: () => change((ids) => ids.filter((each) => each % 2 !== 0)),
        };
    }
  }

  /** Text of a value, and what it makes. */
  private draft(depth: number): Draft {
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
            const thing = this.newThing();
            thing.restriction = 'int';
            thing.properties.push(['a', 1]);
            return { kind: 'thing', id: thing.id };
          },
        };
      default:
        return this.copyDraft();
    }
  }

  private thingDraft(depth: number): Draft {
    if (depth <= 0) return reference(this.pick([...this.state.things.keys()]));
    const keys = ['a', 'b', 'c'].slice(0, this.choose(4));
    const properties = keys.map((key): [string, Draft] => [key, this.draft(depth - 1)]);
    return {
      code: `{${properties.map(([key, { code }]) => `${key}: ${code}`).join(', ')}}`,
      make: () => {
        const thing = this.newThing();
        for (const [key, draft] of properties) thing.properties.push([key, toProperty(draft.make())]);
        return { kind: 'thing', id: thing.id };
      },
    };
  }

  /** A value that is a property already, or an item of one. */
  private copyDraft(): Draft {
    const places = [...this.state.things].flatMap(([id, { properties }]) =>
      properties.map(([key]): Place => [id, key]),
    );
    if (places.length === 0) return { code: '0', make: () => 0 };
    const [id, key] = this.pick(places);
    const value = this.find(id, key) as Model;
    const code = `${thingCode(id)}[${quote(key)}]`;
    if (!isA(value, 'list') || value.items.length === 0) return { code, make: () => structuredClone(value) };
    const item = structuredClone(value.items[0] as Model);
    return { code: `${code}[0]`, make: () => item };
  }

  private thing(id: number): ThingModel {
    const thing = this.state.things.get(id);
    if (thing === undefined) throw new Error(`the model has no thing ${id}`);
    return thing;
  }

  private newThing(): ThingModel & { readonly id: number } {
    const thing = { id: this.state.nextId, restriction: null, properties: [] };
    this.state.things.set(this.state.nextId++, thing);
    return thing;
  }

  private find(id: number, key: string): Model | undefined {
    return this.thing(id).properties.find(([name]) => name === key)?.[1];
  }

  private put(id: number, key: string, value: Model): void {
    const { restriction, properties } = this.thing(id);
    if (restriction !== null && typeof value !== 'number') throw new Refused();
    const own = toProperty(structuredClone(value));
    const present = properties.find(([name]) => name === key);
    if (present === undefined) properties.push([key, own]);
    else present[1] = own;
  }

  private remove(id: number, key: string): void {
    const { properties } = this.thing(id);
    const index = properties.findIndex(([name]) => name === key);
    if (index < 0) throw new Refused();
    properties.splice(index, 1);
  }

  private rename(id: number, from: string, to: string): void {
    const value = this.find(id, from);
    if (value === undefined || this.find(id, to) !== undefined) throw new Refused();
    this.remove(id, from);
    this.thing(id).properties.push([to, value]);
  }

  private assign(id: number, source: number): void {
    for (const [key, value] of structuredClone(this.thing(source).properties)) this.put(id, key, value);
  }

  /** Properties that hold a value of some kind. */
  private places(kind: 'list' | 'set'): Place[] {
    return [...this.state.things].flatMap(([id, { properties }]) =>
      properties.filter(([, value]) => isA(value, kind)).map(([key]): Place => [id, key]),
    );
  }

  private references(): Map<number, number> {
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

  private dropUnreferenced(): void {
    for (;;) {
      const references = this.references();
      const gone = [...this.state.things.keys()].filter((id) => !references.has(id));
      if (gone.length === 0) return;
      for (const id of gone) this.state.things.delete(id);
    }
  }

  private pick<T>(choices: readonly T[]): T {
    return choices[this.choose(choices.length)] as T;
  }
}

/** A property: the id of the thing, and the key. */
type Place = readonly [id: number, key: string];

function isA<K extends 'list' | 'set'>(
  value: Model | undefined,
  kind: K,
): value is Extract<Model, { kind: K }> {
  return typeof value === 'object' && value.kind === kind;
}

function reference(id: number): Draft {
  return { code: thingCode(id), make: () => ({ kind: 'thing', id }) };
}

function idOf(value: Model): number {
  if (typeof value !== 'object' || value.kind !== 'thing') throw new Error('a thing is expected');
  return value.id;
}

function toItem(value: Model): Model {
  if (typeof value !== 'object') return value;
  if (value.kind === 'list') return { kind: 'tuple', items: value.items };
  if (value.kind !== 'set') return value;
  return { kind: 'tuple', items: value.ids.map((id) => ({ kind: 'thing', id })) };
}

function toProperty(value: Model): Model {
  return typeof value === 'object' && value.kind === 'tuple' ? { kind: 'list', items: value.items } : value;
}

function union(ids: readonly number[], others: readonly number[]): number[] {
  return [...new Set([...ids, ...others])];
}

function notEmpty(items: Model[]): Model[] {
  if (items.length === 0) throw new Refused();
  return items;
}

function placeOf(index: number, items: readonly Model[]): number {
  const place = index < 0 ? index + items.length : index;
  if (place < 0 || place >= items.length) throw new Refused();
  return place;
}

function clamp(position: number, length: number): number {
  return Math.min(Math.max(position, 0), length);
}

function thingCode(id: number): string {
  return id === 1 ? 'root()' : `thing(${id})`;
}

function quote(key: string): string {
  return `'${key}'`;
}

function text(value: Model): string {
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
