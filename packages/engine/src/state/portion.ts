/**
 * Portions of what goes in a slice. With a thing goes what only it holds, in the same change, and nobody is served meanwhile. So one that
 * holds much is emptied before it goes, some in a slice: where it is, and only when nothing else keeps it, since what stays must stay whole.
 */
import type { Field } from '../schema/type.js';
import { List, ThingSet } from '../value/containers.js';
import { eachThing } from '../value/kinds.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { Wrap } from '../value/wrap.js';
import { eachReference } from './pages/paged-containers.js';
import type { Store } from './store.js';
import type { Transaction } from './transaction.js';

/** References that are given up in a slice. */
const WEIGHT_MAX = 2048;

/** Weight of a partner in a relation, which two changes leave. */
const WEIGHT_OF_PARTNER = 4;

/** Things, each of which holds the next, that are looked into for what can go: what hangs deeper goes at once. */
const DEPTH_MAX = 64;

/** The room of one slice for what goes in it. */
export class Portion {
  /** Weight for which there is room. */
  private left = WEIGHT_MAX;

  constructor(
    private readonly store: Store,
    private readonly transaction: Transaction,
  ) {}

  /** True as long as nothing was taken. */
  get isWhole(): boolean {
    return this.left === WEIGHT_MAX;
  }

  /** Takes a thing that is to go, with what goes with it, if there is room for all of that. */
  takes(thing: Thing): boolean {
    this.store.load(thing);
    return this.has(this.weightOf(thing) + WEIGHT_OF_PARTNER * partnersOf(thing));
  }

  /**
   * Takes partners in relations, or what only the thing holds where nothing but partners refers to it.
   *
   * @returns whether there is more for which the thing has to stay
   */
  leaveRelations(thing: Thing): boolean {
    const partners = partnersOf(thing);
    if (partners === 0) return false;
    if (thing.refs <= partners) return this.empty(thing);
    let isSome = false;
    for (const place of placesOf(thing)) {
      if (!isRelated(place.field)) continue;
      const { taken, heavy } = this.giveUp(thing, place);
      isSome ||= taken || (heavy !== null && this.empty(heavy));
    }
    return isSome && partnersOf(thing) > 0;
  }

  /** Takes some of what only a thing holds, of which it is known that it goes; false where there is no room, or it can't go by parts. */
  empty(thing: Thing): boolean {
    if (!this.isWhole) return false;
    let owner: Thing | null = thing;
    for (let depth = 0; owner !== null && depth < DEPTH_MAX; depth++) {
      this.store.load(owner);
      let deeper: Thing | null = null;
      for (const place of placesOf(owner)) deeper = this.giveUp(owner, place).heavy ?? deeper;
      if (!this.isWhole) return true;
      owner = deeper;
    }
    return false;
  }

  /** Takes what there is room for out of a property; else gives the thing for which there is none, if only this holds it. */
  private giveUp(owner: Thing, { key, value, field }: Place): { taken: boolean; heavy: Thing | null } {
    const { transaction } = this;
    if (value instanceof List) {
      const { items } = value;
      let start = items.length;
      while (start > 0 && this.takesValue(items[start - 1] ?? null)) start -= 1;
      const heavy = this.onlyHeldIn(items[start - 1] ?? null);
      if (start === items.length) return { taken: false, heavy };
      transaction.spliceList(value, start, items.length - start, []);
      return TAKEN;
    }
    if (value instanceof ThingSet) {
      const weight = isRelated(field) ? WEIGHT_OF_PARTNER : 0;
      const gone: Thing[] = [];
      const members = value.anyMembers;
      const [first = null] = members;
      for (const member of members) {
        if (!this.takesValue(member, weight)) break;
        gone.push(member);
      }
      if (gone.length === 0) return { taken: false, heavy: this.onlyHeldIn(first) };
      transaction.removeMembers(value, gone);
      return TAKEN;
    }
    const canGo = field === undefined || field.rule.fits(null);
    if (!canGo || !this.takesValue(value)) return { taken: false, heavy: this.onlyHeldIn(value) };
    if (field === undefined) transaction.deleteProperty(owner, key);
    else transaction.placeField(owner, field, null);
    return TAKEN;
  }

  private onlyHeldIn(value: Value): Thing | null {
    const thing = value instanceof Wrap ? value.thing : value;
    if (!(thing instanceof Thing)) return null;
    this.store.load(thing);
    return thing.refs === 1 ? thing : null;
  }

  private takesValue(value: Value, more = 0): boolean {
    let weight = 1 + more;
    eachThing(value, (thing) => {
      if (weight > this.left) return;
      this.store.load(thing);
      weight += thing.refs === 1 ? this.weightOf(thing) : 1;
    });
    return this.has(weight);
  }

  /** The references that go with a thing, counted as far as there is room for them. */
  private weightOf(thing: Thing): number {
    const { store, left } = this;
    const going = new Set([thing]);
    let weight = 0;
    for (const { id } of going) {
      const children: number[] = [];
      store.visitReferences(id, (child) => {
        if (children.length <= left) children.push(child);
      });
      weight += 1 + children.length;
      if (weight > left) break;
      for (const child of children.map((id) => store.thingOfId(id))) {
        store.load(child);
        if (child.refs === 1) going.add(child);
      }
    }
    return weight;
  }

  private has(weight: number): boolean {
    if (weight > this.left) return false;
    this.left -= weight;
    return true;
  }
}

/** A property that refers to things. */
export interface Place {
  readonly key: string;
  readonly value: Value;
  readonly field: Field | undefined;
}

const TAKEN = { taken: true, heavy: null } as const;

/** The properties of a loaded thing that refer to things, those in relations last. */
export function placesOf(thing: Thing, refers = refersToAny): Place[] {
  const places: Place[] = [];
  const isTyped = thing.type !== null;
  thing.forEach((key, value) => {
    if (refers(value)) places.push({ key, value, field: isTyped ? thing.field(key) : undefined });
  });
  return [
    ...places.filter(({ field }) => !isRelated(field)),
    ...places.filter(({ field }) => isRelated(field)),
  ];
}

export function refersToAny(value: Value): boolean {
  if (value instanceof ThingSet) return value.size > 0;
  let refers = false;
  eachReference(value, () => {
    refers = true;
  });
  return refers;
}

export function isRelated(field: Field | undefined): boolean {
  return field !== undefined && field.relation !== null;
}

/** Partners of a loaded thing in its relations. */
function partnersOf(thing: Thing): number {
  let partners = 0;
  for (const { relation, slot } of thing.type === null ? [] : thing.shape.fields) {
    const value = relation === null ? null : thing.slots[slot];
    if (value instanceof ThingSet) partners += value.size;
    else if (value instanceof Thing) partners += 1;
  }
  return partners;
}
