/**
 * Brings what a committed change is about into memory, a slice at a time, before any of it is applied.
 *
 * The leader charged the user who asked for the change for reading all of that. Other nodes charge nobody, and users of other
 * collections would wait there until it is read. Nothing but the time depends on it: earlier effects of a change alter what later ones meet, and what
 * is still missing when an effect is applied is read then.
 */
import { ByteReader } from '../bytes.js';
import { type Charge, chargeFill, List, ThingSet } from '../value/containers.js';
import { eachThing } from '../value/kinds.js';
import { type Thing, ThingBit } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { CollectionGroup } from './collection-group.js';
import { readPlace, ThingEffect } from './effects.js';
import type { Group } from './group.js';
import { UNITS_PER_RECORD } from './memory.js';
import { isPagedList } from './pages/list-pages.js';
import { eachReference } from './pages/paged-containers.js';
import { SchemaEffect } from './parts/schema.js';
import { SkippedEffects } from './skipped-effects.js';
import type { Store } from './store.js';
import { visitThingsOfNew } from './thing-record.js';
import { visitThings } from './value-codec.js';

/** Yields between two slices. */
type Slices = Generator<void, void, undefined>;

/** Something that is not in memory, or may not be as a whole: brings it there. */
type Need = (loading: Loading) => Slices;

/** Units of work of a slice: some milliseconds where records come from the disk. */
const SLICE_UNITS = 256 * UNITS_PER_RECORD;

/** Items of a list or set that are looked at to find out whether there is anything to bring. */
const LOOK_MAX = 32;

/** Ends a slice in the midst of what goes on where it was ended. */
const SLICE_OVER = new Error('the slice is over');

export class Preparation {
  private readonly skipped = new SkippedEffects();

  /** @param sliceUnits units of work of a slice */
  constructor(private readonly sliceUnits = SLICE_UNITS) {}

  /**
   * Brings into memory what the effects of a change are about, as the state is before it. The state must not change until that is done.
   *
   * @returns null where all of that is there
   */
  of(group: Group, effects: Uint8Array): Slices | null {
    if (!(group instanceof CollectionGroup)) return null;
    const needs = new Needs(group.store);
    for (const input = new ByteReader(effects); input.remaining > 0; ) {
      const code = input.u8();
      const step = STEPS.get(code);
      if (step === undefined) this.skipped.pass(code, input);
      else step(input, needs);
    }
    return needs.isNone ? null : needs.bring(new Loading(group.store, this.sliceUnits));
  }
}

/** The things that effects are about, where they may not be in memory. Things that the change itself makes are not among them. */
class Needs {
  /** Things alone, and things with all that they refer to: ids, as there may be millions of them. */
  private readonly things: number[] = [];
  private readonly wholes: number[] = [];
  private readonly others: Need[] = [];

  constructor(private readonly store: Store) {}

  get isNone(): boolean {
    return this.things.length === 0 && this.wholes.length === 0 && this.others.length === 0;
  }

  *bring(loading: Loading): Slices {
    yield* loading.things(this.things);
    for (const id of this.wholes) yield* loading.thing(id, (thing) => loading.values(thing.slots));
    for (const need of this.others) yield* need(loading);
  }

  readonly thing = (id: number): void => {
    if (id < this.store.nextId && !isReady(this.store, id)) this.things.push(id);
  };

  /** All things that a thing refers to by a property, and the thing itself. */
  property(id: number, key: string): void {
    if (this.refers(id, (thing) => [thing.get(key) ?? null]))
      this.others.push((loading) => loading.thing(id, (thing) => loading.value(thing.get(key) ?? null)));
  }

  /** A thing, and all things that it refers to. */
  whole(id: number): void {
    if (this.refers(id, (thing) => thing.slots)) this.wholes.push(id);
  }

  /** The things to which some items of a list refer. */
  items(id: number, key: string, start: number, end: number): void {
    if (start === end) this.thing(id);
    else if (id < this.store.nextId)
      this.others.push((loading) =>
        loading.thing(id, (thing) => loading.items(thing.get(key) ?? null, start, end)),
      );
  }

  /** The instances of a type. */
  instances(type: number): void {
    this.others.push((loading) => loading.things(this.store.schema.type(type).instances));
  }

  /** False where a thing is in memory, and all that some values of it refer to. */
  private refers(id: number, valuesOf: (thing: Thing) => readonly Value[]): boolean {
    const { store } = this;
    if (id >= store.nextId) return false;
    const thing = store.table.get(id);
    return (
      thing === undefined || !isReady(store, id) || valuesOf(thing).some((value) => mayBring(store, value))
    );
  }
}

/** False where a value refers to nothing that is not in memory. */
function mayBring(store: Store, value: Value): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (value instanceof List || value instanceof ThingSet) {
    const count = value instanceof List ? value.length + value.inner : value.size;
    if (value.backing !== null || count > LOOK_MAX) return true;
  }
  let isSome = false;
  eachThing(value, ({ id }) => {
    isSome ||= !isReady(store, id);
  });
  return isSome;
}

/** Brings things into memory. Whatever is held from one slice to the next is pinned meanwhile. */
class Loading {
  private left: number;

  constructor(
    private readonly store: Store,
    private readonly sliceUnits: number,
  ) {
    this.left = sliceUnits;
  }

  *things(ids: Iterable<number>): Slices {
    for (const id of ids) if (!isReady(this.store, id)) yield* this.thing(id);
  }

  /** One thing, and then what `rest` asks for. */
  *thing(id: number, rest: (thing: Thing) => Slices = nothing): Slices {
    const { store } = this;
    const thing = store.thingOfId(id);
    store.pin(thing);
    try {
      yield* this.sliced((charge) => store.load(thing, charge));
      this.left -= UNITS_PER_RECORD;
      yield* rest(thing);
    } finally {
      store.unpin(thing);
    }
  }

  *values(values: readonly Value[]): Slices {
    for (const value of values) yield* this.value(value);
  }

  /** The things that a value refers to. */
  *value(value: Value): Slices {
    if (typeof value !== 'object' || value === null) return;
    if (value instanceof ThingSet) yield* this.sliced((charge) => chargeFill(value, charge));
    if (isPagedList(value)) yield* this.sliced((charge) => value.backing.fillReferring(charge));
    const ids: number[] = [];
    eachReference(value, ({ id }) => ids.push(id));
    yield* this.things(ids);
  }

  /** The things to which some items of a list refer. */
  *items(list: Value, start: number, end: number): Slices {
    if (!(list instanceof List)) return;
    yield* this.sliced((charge) => list.backing?.fillRange(start, end, charge));
    yield* this.values(list.slice(start, end));
  }

  /** Does something slice by slice that goes on where an error of `charge` ended it. Each slice charges once at least, and so gets on. */
  private *sliced(work: (charge: Charge) => void): Slices {
    for (;;) {
      if (this.left <= 0) {
        yield;
        this.left = this.sliceUnits;
      }
      try {
        work(this.charge);
        return;
      } catch (error) {
        if (error !== SLICE_OVER) throw error;
      }
    }
  }

  private readonly charge: Charge = (units) => {
    if (this.left <= 0) throw SLICE_OVER;
    this.left -= units;
  };
}

function* nothing(): Slices {}

function isReady(store: Store, id: number): boolean {
  const thing = store.table.get(id);
  return thing !== undefined && (thing.bits & ThingBit.LOADED) !== 0 && thing.shape.stale === null;
}

/** Reads one effect, whose code was read already. */
type Step = (input: ByteReader, needs: Needs) => void;

const STEPS = stepsByCode(
  { ...ThingEffect, DROP_TYPE: SchemaEffect.DROP_TYPE, CONVERT: SchemaEffect.CONVERT },
  {
    NEW_THINGS: (input, needs) => {
      input.varint();
      for (let left = input.varint(); left > 0; left--) visitThingsOfNew(input, needs.thing);
    },
    SET: (input, needs) => {
      needs.property(input.varint(), input.text());
      visitThings(input, needs.thing);
    },
    DELETE: (input, needs) => needs.property(input.varint(), input.text()),
    RENAME: (input, needs) => {
      needs.thing(input.varint());
      input.skipBlob();
      input.skipBlob();
    },
    CLEAR: (input, needs) => needs.whole(input.varint()),
    RESTRICT: (input, needs) => {
      needs.thing(input.varint());
      input.skipBlob();
    },
    SPLICE: (input, needs) => {
      const { id, key } = readPlace(input);
      const start = input.varint();
      needs.items(id, key, start, start + input.varint());
      for (let left = input.varint(); left > 0; left--) visitThings(input, needs.thing);
    },
    FILL: (input, needs) => {
      needs.property(input.varint(), input.text());
      visitThings(input, needs.thing);
    },
    ADD_MEMBERS: readMembers,
    REMOVE_MEMBERS: readMembers,
    REMOVE_THINGS: (input, needs) => {
      for (let left = input.varint(); left > 0; left--) needs.whole(input.varint());
    },
    REMOVE_ITEMS: (input, needs) => {
      const { id, key } = readPlace(input);
      let end = 0;
      for (let left = input.varint(); left > 0; left--) {
        const start = end + input.varint();
        end = start + input.varint();
        needs.items(id, key, start, end);
      }
    },
    DROP_TYPE: (input, needs) => {
      needs.instances(input.varint());
      input.skipBlob();
    },
    CONVERT: (input, needs) => {
      needs.whole(input.varint());
      input.varint();
    },
  },
);

/** The owner of a set, and members that come or go. */
function readMembers(input: ByteReader, needs: Needs): void {
  needs.thing(input.varint());
  input.skipBlob();
  for (let left = input.varint(); left > 0; left--) needs.thing(input.varint());
}

/** The steps of some effects, all of which have one. */
function stepsByCode<Rows extends Readonly<Record<string, { readonly code: number }>>>(
  rows: Rows,
  steps: Readonly<Record<keyof Rows, Step>>,
): ReadonlyMap<number, Step> {
  const byCode = new Map<number, Step>();
  for (const name in rows) byCode.set(rows[name]!.code, steps[name]);
  return byCode;
}
