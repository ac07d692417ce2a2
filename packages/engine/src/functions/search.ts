import { valueError } from '../error.js';
import { type Entry, method } from '../run/builtin.js';
import { DEEP_MAX } from '../run/limits.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { List, ThingSet } from '../value/containers.js';
import { Member } from '../value/member.js';
import { Thing } from '../value/thing.js';
import { typeName, type Value } from '../value/value.js';
import { Wrap } from '../value/wrap.js';
import { THING } from './thing.js';

/** Results of one search at most. */
const LIMIT_MAX = 255;

export const SEARCH: readonly Entry[] = [
  method(THING, 'search', {
    doc: 'Where a thing occurs inside another: a list of things with parent, parent_type, key and key_type. Options: deep (levels of things, default 1) and limit (of results, default 1).',
    params: [p.thing('needle'), p.optional(p.thing('options'))],
    run: (rt, thing, needle, options) => {
      const { deep, limit } = optionsOf(rt, options);
      const search = new Search(rt, needle, limit);
      if (limit > 0) search.walk(thing, deep);
      return new List(search.results);
    },
  }),
];

interface Options {
  deep: number;
  limit: number;
}

const OPTIONS = { deep: p.depth('deep'), limit: p.intBetween('limit', 0, LIMIT_MAX) };

function optionsOf(rt: Runtime, given: Thing | undefined): Options {
  const options: Options = { deep: 1, limit: 1 };
  if (given === undefined) return options;
  rt.load(given);
  given.forEach((key, value) => {
    if (key !== 'deep' && key !== 'limit') {
      throw valueError(
        `search() has no option '${key}', only deep (0 to ${DEEP_MAX}) and limit (0 to ${LIMIT_MAX})`,
      );
    }
    options[key] = OPTIONS[key].accept(value, { function: 'search', position: 2 });
  });
  return options;
}

class Search {
  readonly results: Thing[] = [];
  /** Things that are being walked; they are not entered again. */
  private readonly open = new Set<Thing>();

  constructor(
    private readonly rt: Runtime,
    private readonly needle: Thing,
    private readonly limit: number,
  ) {}

  /** Looks through the properties of a thing, depth first. */
  walk(thing: Thing, deep: number): void {
    const { rt } = this;
    if (deep === 0 || this.open.has(thing)) return;
    rt.load(thing);
    rt.charge(UNITS_PER_THING * (1 + (thing.shape.size >> 3)));
    rt.enter(1);
    this.open.add(thing);
    try {
      for (const [key, slot] of thing.shape.index) {
        const value = thing.slots[slot] as Value;
        if (typeof value === 'object' && value !== null) this.look(thing, key, value, value, deep);
        if (this.results.length >= this.limit) return;
      }
    } finally {
      this.open.delete(thing);
      rt.leave(1);
    }
  }

  /** @param holder what is named as the type of a thing found: itself, or the innermost list or set around it */
  private look(parent: Thing, key: string, value: Value, holder: Value, deep: number): void {
    if (this.results.length >= this.limit) return;
    if (value instanceof Thing) {
      if (value === this.needle) this.results.push(this.result(parent, key, holder));
      if (this.results.length < this.limit) this.walk(value, deep - 1);
    } else if (value instanceof Wrap || value instanceof Member) {
      const inner = value instanceof Wrap ? value.thing : value.value;
      this.look(parent, key, inner, holder === value ? inner : holder, deep);
    } else if (value instanceof List) {
      this.rt.charge(value.length);
      this.rt.chargeFill(value);
      for (const item of value.items) {
        if (typeof item === 'object' && item !== null) this.look(parent, key, item, value, deep);
      }
    } else if (value instanceof ThingSet) {
      this.rt.chargeFill(value);
      this.rt.charge(value.size);
      for (const member of value.members) this.look(parent, key, member, value, deep);
    }
  }

  private result(parent: Thing, key: string, holder: Value): Thing {
    const result = new Thing(0, this.rt.shapes.empty(), []);
    if (holder instanceof Thing) this.rt.load(holder);
    result.put('parent', parent);
    result.put('parent_type', typeName(parent));
    result.put('key', key);
    result.put('key_type', typeName(holder));
    return result;
  }
}

/** Units charged for a thing, or eight properties. */
const UNITS_PER_THING = 64;
