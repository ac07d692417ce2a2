/**
 * What a committed change needs in memory, brought there a slice at a time before any of it is applied.
 *
 * Who asked for the change was charged by the leader for reading all of that. Elsewhere nobody is, and those who use other
 * collections would wait until it is read. Nothing but the time depends on it: earlier effects of a change alter what later ones meet, and what
 * is still missing when an effect is applied is read then.
 */
import { ByteReader } from '../bytes.js';
import { type Charge, chargeFill, List, ThingSet } from '../value/containers.js';
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

/** Units of work of a slice: some milliseconds where records come from the disk. */
const SLICE_UNITS = 256 * UNITS_PER_RECORD;

/** Ends a slice in the midst of what goes on where it was ended. */
const SLICE_OVER = new Error('the slice is over');

export class Preparation {
  private readonly skipped = new SkippedEffects();

  /** @param sliceUnits units of work of a slice */
  constructor(private readonly sliceUnits = SLICE_UNITS) {}

  /** Brings into memory what the effects of a change are about, as the state is before it. The state must not change until that is done. */
  *of(group: Group, effects: Uint8Array): Slices {
    if (!(group instanceof CollectionGroup)) return;
    const input = new ByteReader(effects);
    const loading = new Loading(group.store, this.sliceUnits);
    while (input.remaining > 0) {
      const code = input.u8();
      const step = STEPS.get(code);
      if (step === undefined) this.skipped.pass(code, input);
      else yield* step(input, loading);
    }
  }
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

  /** The things with some ids, but for those that the change itself makes. */
  *things(ids: Iterable<number>): Slices {
    for (const id of ids) if (!this.isReady(id)) yield* this.thing(id, nothing);
  }

  /**
   * One thing, and then what `rest` asks for.
   *
   * @param rest not asked for a thing that the change itself makes
   */
  *thing(id: number, rest: (thing: Thing) => Slices): Slices {
    const { store } = this;
    if (id >= store.nextId) return;
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

  /** A thing, and all things that it refers to. */
  *whole(id: number): Slices {
    yield* this.thing(id, (thing) => this.values(thing.slots));
  }

  *instances(type: number): Slices {
    yield* this.things(this.store.schema.type(type).instances);
  }

  /** The things that some values refer to. */
  *values(values: readonly Value[]): Slices {
    for (const value of values) {
      if (typeof value !== 'object' || value === null) continue;
      if (value instanceof ThingSet) yield* this.sliced((charge) => chargeFill(value, charge));
      if (isPagedList(value)) yield* this.sliced((charge) => value.backing.fillReferring(charge));
      const ids: number[] = [];
      eachReference(value, ({ id }) => ids.push(id));
      yield* this.things(ids);
    }
  }

  /** The things to which some items of a list refer. */
  *items(list: Value, start: number, end: number): Slices {
    if (!(list instanceof List) || start >= end) return;
    yield* this.sliced((charge) => list.backing?.fillRange(start, end, charge));
    yield* this.values(list.slice(start, end));
  }

  private isReady(id: number): boolean {
    const thing = this.store.table.get(id);
    return thing !== undefined && (thing.bits & ThingBit.LOADED) !== 0 && thing.shape.stale === null;
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

/** Reads one effect, whose code was read already. */
type Step = (input: ByteReader, loading: Loading) => Slices;

const STEPS = stepsByCode(
  { ...ThingEffect, DROP_TYPE: SchemaEffect.DROP_TYPE, CONVERT: SchemaEffect.CONVERT },
  {
    *NEW_THINGS(input, loading) {
      const ids: number[] = [];
      input.varint();
      for (let left = input.varint(); left > 0; left--) visitThingsOfNew(input, (id) => ids.push(id));
      yield* loading.things(ids);
    },
    *SET(input, loading) {
      yield* propertyStep(input, loading);
      yield* loading.things(idsOf(input));
    },
    DELETE: propertyStep,
    *RENAME(input, loading) {
      yield* propertyStep(input, loading);
      input.text();
    },
    *CLEAR(input, loading) {
      yield* loading.whole(input.varint());
    },
    *RESTRICT(input, loading) {
      yield* loading.things([input.varint()]);
      input.text();
    },
    *SPLICE(input, loading) {
      const { id, key } = readPlace(input);
      const start = input.varint();
      const end = start + input.varint();
      yield* loading.thing(id, (thing) => loading.items(thing.get(key) ?? null, start, end));
      const ids: number[] = [];
      for (let left = input.varint(); left > 0; left--) visitThings(input, (item) => ids.push(item));
      yield* loading.things(ids);
    },
    *FILL(input, loading) {
      yield* propertyStep(input, loading);
      yield* loading.things(idsOf(input));
    },
    ADD_MEMBERS: membersStep,
    REMOVE_MEMBERS: membersStep,
    *REMOVE_THINGS(input, loading) {
      for (const id of input.varints()) yield* loading.whole(id);
    },
    *REMOVE_ITEMS(input, loading) {
      const { id, key } = readPlace(input);
      let end = 0;
      const runs = input.list(() => {
        const start = end + input.varint();
        end = start + input.varint();
        return { start, end };
      });
      yield* loading.thing(id, function* (thing) {
        for (const run of runs) yield* loading.items(thing.get(key) ?? null, run.start, run.end);
      });
    },
    *DROP_TYPE(input, loading) {
      yield* loading.instances(input.varint());
      input.text();
    },
    *CONVERT(input, loading) {
      yield* loading.whole(input.varint());
      input.varint();
    },
  },
);

/** A property of a thing, and all things to which its value refers. */
function* propertyStep(input: ByteReader, loading: Loading): Slices {
  const { id, key } = readPlace(input);
  yield* loading.thing(id, (thing) => loading.values([thing.get(key) ?? null]));
}

/** The owner of a set, and members that come or go. */
function* membersStep(input: ByteReader, loading: Loading): Slices {
  yield* loading.things([readPlace(input).id]);
  yield* loading.things(input.varints());
}

/** The ids of the things to which the value refers that comes next. */
function idsOf(input: ByteReader): number[] {
  const ids: number[] = [];
  visitThings(input, (id) => ids.push(id));
  return ids;
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
