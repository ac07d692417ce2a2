/**
 * A simple model of a collection, and a maker of random queries that modify it: each operation is written as query
 * text, and done to the model. Things are records by id; whatever the engine does with references, stubs and shapes,
 * the model only counts.
 */
import {
  type Choose,
  type Draft,
  idOf,
  ModelDrafts,
  quote,
  reference,
  thingCode,
  union,
} from './model-drafts.js';
import { isA, type Model, ModelState, type Place, Refused, text, toItem } from './model-state.js';

/** An operation as text; `apply` does it to the model or throws `Refused`. */
interface Operation {
  readonly code: string;
  readonly apply: () => void;
}

const KEYS = ['a', 'b', 'c', 'd', 'k1', 'k20', 'k39', 'x y', '日本'];
const NAME = /^[a-z]\w*$/;
const MANY = 40;

export class CollectionModel {
  private readonly state = new ModelState();
  private readonly drafts = new ModelDrafts(this.state);

  /** Writes a query of some operations and does it to the model. `fails` says that it ends in an error. */
  query(operations: number, choose: Choose): { readonly code: string; readonly fails: boolean } {
    this.drafts.choose = choose;
    const undoAll = this.state.keep();
    const codes: string[] = [];
    for (let i = 0; i < operations; i++) {
      const operation = this.operation();
      const caught = choose(5) === 0;
      codes.push(caught ? `try({${operation.code}})` : operation.code);
      const undo = this.state.keep();
      try {
        operation.apply();
        this.state.dropUnreferenced();
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        undo();
        if (caught) continue;
        undoAll();
        return { code: codes.join('; '), fails: true };
      }
    }
    return { code: codes.join('; '), fails: false };
  }

  /** As `stateLines` gives them. */
  lines(): string[] {
    return this.state.lines();
  }

  private operation(): Operation {
    const lists = this.state.places('list');
    const sets = this.state.places('set');
    const kind = this.drafts.choose(12);
    if (kind < 4 && lists.length > 0) return this.listOperation(this.drafts.pick(lists));
    if (kind < 7 && sets.length > 0) return this.setOperation(this.drafts.pick(sets));
    return this.thingOperation(this.drafts.pick([...this.state.things.keys()]));
  }

  private thingOperation(id: number): Operation {
    const target = thingCode(id);
    const key = this.drafts.pick(KEYS);
    const keys = this.state.thing(id).properties.map(([name]) => name);
    const present = this.drafts.pick([...keys, key]);
    // The root thing keeps most of what it has, so that there is something to work on.
    switch (this.drafts.choose(id === 1 ? 24 : 14)) {
      case 0:
        return { code: `${target}.del(${quote(present)})`, apply: () => this.state.remove(id, present) };
      case 1:
        return {
          code: `${target}.ren(${quote(present)}, ${quote(key)})`,
          apply: () => this.state.rename(id, present, key),
        };
      case 2:
        return {
          code: `${target}.clear()`,
          apply: () => {
            this.state.thing(id).properties = [];
          },
        };
      case 3: {
        const source = this.drafts.pick([...this.state.things.keys()]);
        return { code: `${target}.assign(${thingCode(source)})`, apply: () => this.state.assign(id, source) };
      }
      case 4:
        return this.removeSome(id);
      case 5:
        return {
          code: `range(${MANY}).each(|i| ${target}.set('k' + str(i), i))`,
          apply: () => {
            for (let i = 0; i < MANY; i++) this.state.put(id, `k${i}`, i);
          },
        };
      case 6:
        return this.move(id, present, key);
      case 7:
        return this.storeCycle(id, key);
      case 8:
        return this.restrict(id, id === 1 || this.drafts.choose(2) === 0 ? null : 'int');
      default:
        return this.assignment(id, key, this.drafts.draft(2));
    }
  }

  private assignment(id: number, key: string, draft: Draft): Operation {
    const target = thingCode(id);
    const forms = [`${target}.set(${quote(key)}, ${draft.code})`, `${target}[${quote(key)}] = ${draft.code}`];
    if (NAME.test(key)) forms.push(`${target}.${key} = ${draft.code}`);
    return {
      code: this.drafts.pick(forms),
      apply: () => this.state.put(id, key, draft.make()),
    };
  }

  private removeSome(id: number): Operation {
    const [test, matches] = this.drafts.pick<[string, (key: string) => boolean]>([
      ["k.ends_with('1')", (key) => key.endsWith('1')],
      ['k.len() > 2', (key) => key.length > 2],
      ["!['a', 'k20', 'x y'].has(k)", (key) => !['a', 'k20', 'x y'].includes(key)],
    ]);
    const limit = this.drafts.pick([null, 0, 2, -1]);
    return {
      code: `${thingCode(id)}.remove(|k| ${test}${limit === null ? '' : `, ${limit}`})`,
      apply: () => {
        const thing = this.state.thing(id);
        let left = limit === null || limit < 0 ? Number.POSITIVE_INFINITY : limit;
        thing.properties = thing.properties.filter(([key]) => !(left > 0 && matches(key) && left-- > 0));
      },
    };
  }

  private restrict(id: number, restriction: 'int' | null): Operation {
    return {
      code: `${thingCode(id)}.restrict(${restriction === null ? 'nil' : `'${restriction}'`})`,
      apply: () => {
        const thing = this.state.thing(id);
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
    const value = this.state.find(id, from);
    if (this.state.thing(1).restriction !== null || value === undefined || typeof value !== 'object') {
      return this.assignment(id, to, this.drafts.draft(1));
    }
    if (value.kind === 'set') {
      return {
        code: `x = ${target}[${quote(from)}]; ${target}[${quote(from)}] = 0; x.add({n: 1}); .set(${quote(to)}, x)`,
        apply: () => {
          this.state.put(id, from, 0);
          const added = this.state.newThing();
          added.properties.push(['n', 1]);
          this.state.put(1, to, { kind: 'set', ids: [...value.ids, added.id] });
        },
      };
    }
    if (value.kind !== 'list' || (id === 1 && this.drafts.choose(2) === 0)) {
      return {
        code: `.set(${quote(to)}, ${target}.del(${quote(from)}))`,
        apply: () => {
          if (id === 1) throw new Refused();
          this.state.remove(id, from);
          this.state.put(1, to, value);
        },
      };
    }
    if (this.drafts.choose(2) === 0) {
      return {
        code: `x = ${target}[${quote(from)}]; ${target}.del(${quote(from)}); x.push(7); .set(${quote(to)}, x)`,
        apply: () => {
          this.state.remove(id, from);
          this.state.put(1, to, { kind: 'list', items: [...value.items, 7] });
        },
      };
    }
    return {
      code: `y = {l: ${target}.del(${quote(from)})}; y.l.remove(|v, i| i == 0); y.l.push(8); .set(${quote(to)}, y)`,
      apply: () => {
        this.state.remove(id, from);
        const added = this.state.newThing();
        added.properties.push(['l', { kind: 'list', items: [...value.items.slice(1), 8] }]);
        this.state.put(1, to, { kind: 'thing', id: added.id });
      },
    };
  }

  private storeCycle(id: number, key: string): Operation {
    return {
      code: `x = {n: 1}; x.me = x; x.l = [x, {}]; ${thingCode(id)}.set(${quote(key)}, x)`,
      apply: () => {
        const added = this.state.newThing();
        const self: Model = { kind: 'thing', id: added.id };
        const child: Model = { kind: 'thing', id: this.state.newThing().id };
        added.properties.push(['n', 1], ['me', self], ['l', { kind: 'list', items: [self, child] }]);
        this.state.put(id, key, self);
      },
    };
  }

  private listOperation([id, key]: Place): Operation {
    const list = `${thingCode(id)}[${quote(key)}]`;
    const items = (): Model[] => {
      const value = this.state.find(id, key);
      if (!isA(value, 'list')) throw new Error('the place of a list');
      return value.items;
    };
    const drafts = Array.from({ length: 1 + this.drafts.choose(3) }, () => this.drafts.draft(1));
    const [draft] = drafts as [Draft];
    const codes = drafts.map(({ code }) => code).join(', ');
    const made = (): Model[] => drafts.map((each) => toItem(each.make()));
    const index = this.drafts.choose(6) - 2;
    const count = this.drafts.choose(6) - 1;
    switch (this.drafts.choose(18)) {
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
        // A list that is appended to itself again and again doubles each time, until there is no memory left.
        return this.appendInLoop(list, items, draft.code === list ? { code: '0', make: () => 0 } : draft);
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
    const times = this.drafts.pick([2, 5, 140]);
    const every = this.drafts.pick([1, 3, 1000]);
    return {
      code: `for (i in range(${times})) { ${list}.push({a: i}); if (i % ${every} == 1) ${list}.push(${other.code}) }`,
      apply: () => {
        for (let i = 0; i < times; i++) {
          const thing = this.state.newThing();
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
      const value = this.state.find(id, key);
      if (!isA(value, 'set')) throw new Error('the place of a set');
      value.ids.splice(0, value.ids.length, ...update([...value.ids]));
    };
    const known = Array.from({ length: 1 + this.drafts.choose(3) }, () =>
      this.drafts.pick([...this.state.things.keys()]),
    );
    const knownCodes = known.map(thingCode).join(', ');
    const drafts = known.map((each) =>
      this.drafts.choose(2) === 0 ? this.drafts.thingDraft(1) : reference(each),
    );
    const codes = drafts.map(({ code }) => code).join(', ');
    const made = (): number[] => drafts.map((draft) => idOf(draft.make()));
    switch (this.drafts.choose(8)) {
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
