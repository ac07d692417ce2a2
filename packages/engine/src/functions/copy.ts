import { type Entry, method } from '../run/builtin.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { attach } from '../state/attach.js';
import { copyList, List, noteAdded, ThingSet, UNITS_PER_MEMBER } from '../value/containers.js';
import { Room } from '../value/room.js';
import { plainShape, type Shape } from '../value/shape.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { ARRAY } from './list-receivers.js';
import { SET } from './set.js';
import { THING } from './thing.js';

/** `copy`, which makes plain things, and `dup`, which keeps what things are restricted to. */
export const COPYING: readonly Entry[] = [
  method(THING, 'copy', {
    doc: 'A copy without restriction; things inside are copied down to a depth (default 1, the thing itself).',
    params: [p.optional(p.depth('deep'))],
    run: (rt, thing, deep = 1) => new Copier(rt, false).thing(thing, deep),
  }),
  method(THING, 'dup', {
    doc: 'A copy with its restriction; things inside are copied down to a depth (default 1, the thing itself).',
    params: [p.optional(p.depth('deep'))],
    run: (rt, thing, deep = 1) => new Copier(rt, true).thing(thing, deep),
  }),
  ...(['copy', 'dup'] as const).flatMap((name) => [
    method(ARRAY, name, {
      doc: 'A new list with the same items; things inside are copied down to a depth (default 0, not at all).',
      params: [p.optional(p.depth('deep'))],
      run: (rt, list, deep = 0) => new Copier(rt, name === 'dup').list(list, deep),
    }),
    method(SET, name, {
      doc: 'A new set with the same things; they are copied down to a depth (default 0, not at all).',
      params: [p.optional(p.depth('deep'))],
      run: (rt, set, deep = 0) => new Copier(rt, name === 'dup').set(set, deep),
    }),
  ]),
];

/** Copies things, with what they are restricted to and instances of what they are, or plain. */
export class Copier {
  /** Things that are being copied, with their copies. */
  private readonly open = new Map<Thing, Thing>();

  constructor(
    private readonly rt: Runtime,
    private readonly keepsRestriction: boolean,
  ) {}

  /** A thing that is met again while it is copied becomes its own copy, as long as there is depth left. */
  thing(thing: Thing, deep: number): Thing {
    if (deep === 0) return thing;
    const known = this.open.get(thing);
    if (known !== undefined) return known;
    const { rt } = this;
    rt.load(thing);
    rt.charge(UNITS_PER_THING + thing.shape.unitsToWalk);
    const copy = new Thing(0, this.shapeOf(thing), this.slotsOf(thing));
    if (deep === 1) {
      this.copyValues(copy, 0);
      return copy;
    }
    this.open.set(thing, copy);
    rt.enter(1);
    try {
      this.copyValues(copy, deep - 1);
    } finally {
      rt.leave(1);
    }
    this.open.delete(thing);
    return copy;
  }

  /** Replaces the values that a new thing shares with its original by copies, down to a depth. */
  private copyValues(copy: Thing, deep: number): void {
    const { slots } = copy;
    for (const [key, slot] of copy.shape.index) {
      const shared = slots[slot] as Value;
      if (typeof shared !== 'object' || shared === null) continue;
      const value = this.value(shared, deep);
      slots[slot] = value;
      attach(copy, key, value);
    }
  }

  list(list: List, deep: number): List {
    this.rt.charge(list.length);
    this.rt.chargeFill(list);
    if (deep === 0) return copyList(list);
    const copy = new List(this.items(list.items, deep));
    noteAdded(copy, copy.items);
    return copy;
  }

  set(set: ThingSet, deep: number): ThingSet {
    this.rt.chargeFill(set);
    this.rt.charge(UNITS_PER_MEMBER * set.size);
    if (deep === 0) return new ThingSet(set.members);
    const copy = new ThingSet();
    for (const thing of set.members) copy.members.add(this.thing(thing, deep));
    return copy;
  }

  private value(value: Value, deep: number): Value {
    if (typeof value !== 'object' || value === null) return value;
    if (value instanceof Thing) return this.thing(value, deep);
    if (value instanceof List) return value.tuple ? this.tuple(value, deep) : this.list(value, deep);
    if (value instanceof ThingSet) return this.set(value, deep);
    return value instanceof Room && deep > 0 ? new Room() : value;
  }

  /** Tuples can be shared unless there may be things in them to copy. */
  private tuple(tuple: List, deep: number): List {
    if (deep === 0) return tuple;
    this.rt.charge(UNITS_PER_THING + tuple.length);
    this.rt.enter(1);
    try {
      const copy = new List(this.items(tuple.items, deep), true);
      noteAdded(copy, copy.items);
      return copy;
    } finally {
      this.rt.leave(1);
    }
  }

  private items(items: readonly Value[], deep: number): Value[] {
    const copied = new Array<Value>(items.length);
    for (let i = 0; i < copied.length; i++) copied[i] = this.value(items[i] as Value, deep);
    return copied;
  }

  /** A duplicate starts without partners in relations: it would be one more where one is allowed. */
  private slotsOf(thing: Thing): Value[] {
    const { shape } = thing;
    const slots = thing.readAll();
    const copied = shape.successor === null ? slots.slice() : slots.slice(0, shape.fields.length);
    if (!this.keepsRestriction) return copied;
    for (const { slot, relation } of shape.fields) {
      if (relation !== null) copied[slot] = copied[slot] instanceof ThingSet ? new ThingSet() : null;
    }
    return copied;
  }

  private shapeOf({ shape }: Thing): Shape {
    if (shape.type !== null && !this.keepsRestriction) {
      const plain = plainShape(this.rt.shapes, shape.fields);
      return plain.owned ? plain.own() : plain;
    }
    const kept = this.keepsRestriction || shape.restriction === null ? shape : shape.restricted(null);
    return kept.owned ? kept.own() : kept;
  }
}

/** Units charged for copying one thing or tuple, besides its properties. */
const UNITS_PER_THING = 64;
