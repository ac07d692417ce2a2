/**
 * Checks that a change keeps unique indexes unique. It is asked before the first effect of what changes several values or stores several
 * things, with all of them: what one gives up another may take.
 */
import type { QueryError } from '../../error.js';
import type { Type } from '../../schema/type.js';
import { eachThing } from '../../value/kinds.js';
import { isCutKey } from '../../value/sort-key.js';
import type { Thing } from '../../value/thing.js';
import type { Value } from '../../value/value.js';
import { refusalOf } from '../duplicate.js';
import type { Store } from '../store.js';
import type { TypeIndex } from '../type-index.js';

/** The future state of a thing: the values of some slots. */
type Values = Map<number, Value>;

/** The values of a thing by field, and of which it has others. */
interface Claim {
  readonly index: TypeIndex;
  readonly key: string;
  readonly thing: Thing;
  readonly values: readonly Value[];
}

/** Ids that stand for loose things, above all that there are. */
const LOOSE_FIRST = 2 ** 49;

export class UniqueCheck {
  /** Things that get other values, and loose ones that become stored. */
  private readonly planned = new Map<Thing, Values>();
  private readonly looseIds = new Map<object, number>();

  /** @param tells whether errors may say which value it is, and whose */
  constructor(
    private readonly store: Store,
    private readonly charge: (units: number) => void,
    private readonly tells: boolean,
  ) {}

  /** A thing gets a value. */
  set(thing: Thing, slot: number, value: Value): void {
    this.valuesOf(thing).set(slot, value);
    this.storeAll(value);
  }

  /** The loose things that a value brings along become stored. */
  storeAll(value: Value): void {
    if (typeof value !== 'object' || value === null) return;
    const open: Value[] = [value];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      eachThing(next, (thing) => {
        if (thing.id !== 0 || this.looseIds.has(thing)) return;
        this.charge(UNITS_PER_THING);
        this.looseIds.set(thing, LOOSE_FIRST + this.looseIds.size);
        void thing.type;
        this.valuesOf(thing);
        for (const property of thing.slots) open.push(property);
      });
    }
  }

  /** Throws duplicate_err when two instances would have the same values. */
  assert(isFatal: boolean): void {
    const error = this.find();
    if (error !== null) throw isFatal ? error.asFatal() : error;
  }

  private find(): QueryError | null {
    const taken = new Map<TypeIndex, Map<string, Thing>>();
    for (const [thing, values] of this.planned) {
      const { type } = thing;
      if (type === null) continue;
      for (const index of this.store.indexes.of(type)) {
        if (!index.isUnique || index.progress.why !== null || !this.concerns(index, thing, values)) continue;
        const key = index.uniqueKeyOf(thing, values, this.idOf);
        if (key === null) continue;
        this.charge(UNITS_PER_LOOKUP);
        const claim = { index, key, thing, values: valuesIn(index, thing, values) };
        const others = taken.get(index) ?? new Map<string, Thing>();
        taken.set(index, others);
        // A text of which only the beginning counts is compared as a whole.
        const isCut = isCutKey(key);
        if (isCut) this.charge(unitsToCompare(claim));
        const name = isCut ? key + index.textsIn(claim.values) : key;
        const other = others.get(name) ?? holderOf(this.store, claim, this.charge, this.keeps);
        if (other !== undefined) return refusalOf(index, type, claim.values, other, null, this.tells);
        others.set(name, thing);
      }
    }
    return null;
  }

  private concerns(index: TypeIndex, thing: Thing, values: Values): boolean {
    return thing.id === 0 || index.slotsOf(thing).some((slot) => values.has(slot));
  }

  /** True if the holder of a claim's values is another thing, and does not give them up. */
  private readonly keeps = ({ index, key, thing }: Claim, holder: Thing): boolean => {
    if (holder === thing) return false;
    const values = this.planned.get(holder);
    return values === undefined || index.uniqueKeyOf(holder, values, this.idOf) === key;
  };

  private valuesOf(thing: Thing): Values {
    let values = this.planned.get(thing);
    if (values === undefined) this.planned.set(thing, (values = new Map()));
    return values;
  }

  private readonly idOf = (thing: { readonly id: number }): number => this.looseIds.get(thing) ?? thing.id;
}

/**
 * The stored instance that keeps a loose one from being stored, which brings no others along, as an error; null for none. As `UniqueCheck`
 * for the most frequent case.
 *
 * @param charge takes the units of the look-ups
 * @param tells whether the error may say which value it is, and whose
 */
export function storingRefusal(
  store: Store,
  thing: Thing,
  charge: (units: number) => void,
  tells: boolean,
): QueryError | null {
  const { type } = thing;
  if (type === null) return null;
  return refusalBy(store, type, charge, tells, (index) => {
    const key = index.uniqueKeyOf(thing);
    if (key === null) return null;
    charge(UNITS_PER_LOOKUP);
    return { index, key, thing, values: storedValues(index, thing) };
  });
}

/**
 * The stored instance that keeps a plain thing from becoming an instance, as an error; null for none.
 *
 * @param valueNamed gives the value that it will have under a name
 * @param charge takes the units of the look-ups
 * @param tells whether the error may say which value it is, and whose
 */
export function conversionRefusal(
  store: Store,
  thing: Thing,
  type: Type,
  valueNamed: (name: string) => Value,
  charge: (units: number) => void,
  tells: boolean,
): QueryError | null {
  return refusalBy(store, type, charge, tells, (index) => {
    const fields = type.shape?.fields ?? [];
    const values = index.def.fields.map((id) =>
      valueNamed(fields.find((field) => field.id === id)?.name ?? ''),
    );
    const key = index.uniqueKeyOfValues(values);
    return key === null ? null : { index, key, thing, values };
  });
}

/** @param claimOf gives what an instance is to have in a unique index of its type; null for nothing that could collide */
function refusalBy(
  store: Store,
  type: Type,
  charge: (units: number) => void,
  tells: boolean,
  claimOf: (index: TypeIndex) => Claim | null,
): QueryError | null {
  for (const index of store.indexes.of(type)) {
    if (!index.isUnique || index.progress.why !== null) continue;
    const claim = claimOf(index);
    if (claim === null) continue;
    const holder = holderOf(store, claim, charge, null);
    if (holder !== undefined) return refusalOf(index, type, claim.values, holder, null, tells);
  }
  return null;
}

/**
 * A stored instance that has the values of a claim.
 *
 * @param keeps whether it is another thing than the claim's, and does not give them up; null where every instance is and does not
 */
export function holderOf(
  store: Store,
  claim: Claim,
  charge: (units: number) => void,
  keeps: ((claim: Claim, holder: Thing) => boolean) | null,
): Thing | undefined {
  const { index, key } = claim;
  const isCut = isCutKey(key);
  if (keeps === null && !isCut) {
    const id = index.tree.firstOf(key);
    return id === undefined ? undefined : store.thingOfId(id);
  }
  let found: Thing | undefined;
  index.tree.eachOf(key, (id) => {
    const holder = store.thingOfId(id);
    if (keeps?.(claim, holder) === false) return true;
    if (isCut && !hasValues(store, claim, holder, charge)) return true;
    found = holder;
    return false;
  });
  return found;
}

/** True if a stored instance has the same texts as a whole. */
function hasValues(store: Store, claim: Claim, holder: Thing, charge: (units: number) => void): boolean {
  const { index, values } = claim;
  charge(UNITS_PER_LOOKUP + unitsToCompare(claim));
  store.load(holder);
  return index.haveSameTexts(storedValues(index, holder), values);
}

/** The units of looking at all texts of a claim. */
export function unitsToCompare({ values }: Claim): number {
  return values.reduce<number>(
    (units, value) => (typeof value === 'string' ? units + UNITS_PER_CHARACTER * value.length : units),
    0,
  );
}

export function storedValues(index: TypeIndex, thing: Thing): Value[] {
  return index.slotsOf(thing).map((slot) => thing.slots[slot] ?? null);
}

function valuesIn(index: TypeIndex, thing: Thing, values: Values): Value[] {
  return index
    .slotsOf(thing)
    .map((slot) => (values.has(slot) ? (values.get(slot) ?? null) : (thing.slots[slot] ?? null)));
}

/** Units charged for a look into an index, and for a thing that is looked at. */
const UNITS_PER_LOOKUP = 512;
const UNITS_PER_THING = 16;

/** Units charged for a character of a text of which a key has the beginning only. */
const UNITS_PER_CHARACTER = 2;
