/** The range of a look-up by an index: a range of its entries, in their order or the other way round. */
import { lookupError, operationError, typeError, valueError } from '../error.js';
import type { SortKind } from '../schema/index-def.js';
import { inWords } from '../schema/rule.js';
import type { Type } from '../schema/type.js';
import type { EntryKeys, VisitPlace } from '../state/pages/key-pages.js';
import { aimAtValue } from '../state/pages/key-record.js';
import type { Store } from '../state/store.js';
import type { KeyField, TypeIndex } from '../state/type-index.js';
import { List, listOf } from '../value/containers.js';
import { DateTimeValue } from '../value/datetime-value.js';
import { Member } from '../value/member.js';
import { Float } from '../value/scalars.js';
import { isCutKey, KEY_END, NIL_KEY, prefixKey, TEXT_BYTES_MAX } from '../value/sort-key.js';
import { Thing } from '../value/thing.js';
import { typeName, type Value } from '../value/value.js';
import { goneThings } from './gone.js';
import type { Runtime } from './runtime.js';

/** The name of the index of all instances by their ids, which every type has. */
export const ID_INDEX = '#';

/** A place among entries: before the entry with this key and id. */
export interface EntryPlace {
  readonly key: string;
  readonly id: number;
}

/** Entries in order, as an index has them. */
export interface Entries {
  /** Goes over those from a place on that are before another one, or the other way round. */
  between(low: EntryPlace, high: EntryPlace, reverse: boolean, visit: VisitPlace): void;
  /** The number of entries before a place. */
  rank(place: EntryPlace): number;
}

/** An index to look something up in. */
export interface LookUp {
  readonly type: Type;
  readonly name: string;
  /** Null for the index of ids. */
  readonly index: TypeIndex | null;
  readonly entries: Entries;
  readonly fields: readonly KeyField[];
}

/** Where the next property lies, and in which order the entries come. */
export interface RangeOptions {
  readonly from?: Value | undefined;
  readonly after?: Value | undefined;
  readonly to?: Value | undefined;
  readonly before?: Value | undefined;
  readonly prefix?: Value | undefined;
  readonly reverse?: boolean | undefined;
}

export interface IndexRange {
  readonly lookUp: LookUp;
  readonly low: EntryPlace;
  readonly high: EntryPlace;
  readonly reverse: boolean;
  /** True if its entries have one key, that of `low`. */
  readonly isOne: boolean;
  /** The form in which the index keeps the texts that instances must have, by their place among the properties: those of which a key has the beginning only. */
  readonly texts: ReadonlyMap<number, string>;
}

/**
 * The index of a type by its name.
 *
 * @throws QueryError lookup_err for one that is not there, operation_err for one that is not complete
 */
export function lookUpOf(rt: Runtime, type: Type, name: string): LookUp {
  const { indexes, schema } = storeOf(rt);
  if (name === ID_INDEX) return { type, name, index: null, entries: idEntries(type), fields: [] };
  const index = indexes.named(type, name);
  if (index === undefined) throw lookupError(`type \`${type.name}\` has no index \`${name}\``);
  const { why } = index.progress;
  if (why !== null) throw operationError(`the index \`${name}\` could not be built: ${why}`);
  if (!index.isReady)
    throw operationError(`the index \`${name}\` is being built (${percentOf(index, type)} %)`);
  index.lookUps += 1;
  indexes.lookUps += 1;
  return { type, name, index, entries: index.tree, fields: index.fieldsIn(schema.type(type.id).shape) };
}

/** The part of an index that is built, in whole per cent. */
export function percentOf(index: TypeIndex, type: Type): number {
  if (index.isReady) return 100;
  return Math.min(99, Math.floor((100 * index.tree.count) / Math.max(1, type.instances.size)));
}

/**
 * The entries with a key, which is one value or a list of values for the first properties, as far as options allow.
 *
 * @throws QueryError type_err and value_err
 */
export function rangeOf(lookUp: LookUp, key: Value, options: RangeOptions): IndexRange {
  if (lookUp.index === null) return idRange(lookUp, key, options);
  const values = key === null ? [] : key instanceof List ? key.items : [key];
  if (values.length > lookUp.fields.length)
    throw valueError(
      `the index \`${lookUp.name}\` has ${lookUp.fields.length} properties, not ${values.length}`,
    );
  let texts: Map<number, string> | null = null;
  let base = '';
  for (let i = 0; i < values.length; i++) {
    const value = values[i] ?? null;
    assertKind(lookUp, i, value);
    const component = lookUp.index.componentOf(value);
    if (typeof value === 'string' && isCutKey(component)) {
      texts ??= new Map();
      texts.set(i, lookUp.index.textOf(value));
    }
    base += component;
  }
  const [low, high] = boundsOf(lookUp, lookUp.index, values.length, base, options);
  return {
    lookUp,
    low: { key: low, id: 0 },
    high: { key: high, id: 0 },
    reverse: options.reverse === true,
    isOne: values.length === lookUp.fields.length,
    texts: texts ?? NO_TEXTS,
  };
}

const NO_TEXTS: ReadonlyMap<number, string> = new Map();

function boundsOf(
  lookUp: LookUp,
  index: TypeIndex,
  at: number,
  base: string,
  options: RangeOptions,
): [low: string, high: string] {
  const { from, after, to, before, prefix } = options;
  const isOpen = from === undefined && after === undefined && to === undefined && before === undefined;
  if (isOpen && prefix === undefined) return [base, base + KEY_END];
  if (at >= lookUp.fields.length)
    throw valueError(`the key has all properties of the index \`${lookUp.name}\`: none is left for a range`);
  if (prefix !== undefined) {
    if (typeof prefix !== 'string') throw typeError(`a prefix is a str, not ${typeName(prefix)}`);
    assertKind(lookUp, at, prefix);
    const start = prefixKey(index.textOf(prefix));
    if (start === null) throw valueError(`a prefix has at most ${TEXT_BYTES_MAX} bytes`);
    return [base + start, base + start + KEY_END];
  }
  for (const bound of [from, after, to, before]) if (bound !== undefined) assertKind(lookUp, at, bound);
  const keyOf = (bound: Value): string => index.componentOf(bound);
  const upper = to !== undefined ? keyOf(to) + KEY_END : before !== undefined ? keyOf(before) : KEY_END;
  // Nothing is less than nil, and nil less than nothing: who wants it says so.
  const lower =
    from !== undefined ? keyOf(from) : after !== undefined ? keyOf(after) + KEY_END : NIL_KEY + KEY_END;
  const isNil = (to === null || before === null) && from === undefined && after === undefined;
  return [base + (isNil ? '' : lower), base + upper];
}

function assertKind({ name, fields }: LookUp, at: number, value: Value): void {
  const field = fields[at];
  if (field === undefined || value === null || kindOfValue(value) === field.kind) return;
  throw typeError(
    `index \`${name}\`: ${inWords(value)} can not be the value of the property \`${field.name}\``,
  );
}

function kindOfValue(value: Exclude<Value, null>): SortKind | null {
  switch (typeof value) {
    case 'string':
      return 'text';
    case 'number':
    case 'bigint':
      return 'number';
    case 'boolean':
      return 'bool';
  }
  if (value instanceof Float) return 'number';
  if (value instanceof DateTimeValue) return 'time';
  if (value instanceof Member) return 'member';
  return value instanceof Thing ? 'thing' : null;
}

/** Ids, of which a key is one. */
function idRange(lookUp: LookUp, key: Value, options: RangeOptions): IndexRange {
  const { from, after, to, before, prefix } = options;
  if (prefix !== undefined) throw valueError('ids have no prefix');
  const isBound = [from, after, to, before].some((bound) => bound !== undefined);
  if (key !== null && isBound) throw valueError('a key is one id: nothing is left for a range');
  let [low, high] = [0, Number.MAX_SAFE_INTEGER];
  if (key !== null) [low, high] = [idOf(key), idOf(key) + 1];
  if (from !== undefined) low = idOf(from);
  if (after !== undefined) low = idOf(after) + 1;
  if (to !== undefined) high = idOf(to) + 1;
  if (before !== undefined) high = idOf(before);
  return {
    lookUp,
    low: { key: '', id: low },
    high: { key: '', id: high },
    reverse: options.reverse === true,
    isOne: false,
    texts: NO_TEXTS,
  };
}

function idOf(value: Value): number {
  const id = value instanceof Thing ? value.id : value;
  if (typeof id !== 'number' && typeof id !== 'bigint')
    throw typeError(`the index \`${ID_INDEX}\` takes ids and things, not ${typeName(value)}`);
  return Math.max(0, Math.min(Number(id), Number.MAX_SAFE_INTEGER - 1));
}

function idEntries({ instances }: Type): Entries {
  return {
    between: (low, high, reverse, visit) => {
      if (reverse) instances.eachBelow(high.id, (id) => id >= low.id && visit(id, NO_KEYS, 0));
      else instances.eachAbove(low.id - 1, (id) => id < high.id && visit(id, NO_KEYS, 0));
    },
    rank: (place) => instances.countBelow(place.id),
  };
}

const NO_KEYS: EntryKeys = { keyAt: () => '' };

/** Number of entries, without going over them. */
export function countRange(rt: Runtime, range: IndexRange): number {
  const { lookUp, low, high } = range;
  rt.charge(UNITS_PER_SEEK);
  if (!isBefore(low, high)) return 0;
  if (range.texts.size > 0) {
    let count = 0;
    walkRange(rt, range, range.reverse ? high : low, () => {
      count += 1;
      return true;
    });
    return count;
  }
  rt.profile?.noteLookUp(lookUp.type.name, lookUp.name);
  let count = lookUp.entries.rank(high) - lookUp.entries.rank(low);
  for (const thing of goneThings(rt)) {
    const { index, type } = lookUp;
    if (!type.instances.has(thing.id)) continue;
    rt.load(thing);
    const place = { key: index === null ? '' : index.keyOf(thing), id: thing.id };
    if (isWithin(range, place)) count -= 1;
  }
  return count;
}

/**
 * Goes over the entries of a range, from a place on in its direction; no instance is brought into memory unless a long text has to be
 * looked at. They must not change meanwhile.
 *
 * @param visit takes an instance, and where the key of its entry is; false ends the walk
 */
export function walkRange(
  rt: Runtime,
  range: IndexRange,
  from: EntryPlace,
  visit: (thing: Thing, keys: EntryKeys, at: number) => boolean,
): void {
  const { lookUp, texts, low, high, reverse } = range;
  const store = storeOf(rt);
  const gone = goneThings(rt);
  rt.charge(UNITS_PER_SEEK);
  const use = rt.profile?.noteLookUp(lookUp.type.name, lookUp.name);
  lookUp.entries.between(reverse ? low : from, reverse ? from : high, reverse, (id, keys, at) => {
    if (use !== undefined) use.entries += 1;
    rt.charge(UNITS_PER_ENTRY);
    const thing = store.thingOfId(id);
    if (gone.has(thing) || (texts.size > 0 && !hasTexts(rt, lookUp.index, thing, texts))) return true;
    return visit(thing, keys, at);
  });
}

/**
 * The first instance that has a key; null for none.
 *
 * @throws QueryError as `rangeOf` does
 */
export function firstWith(rt: Runtime, lookUp: LookUp, key: Value): Thing | null {
  if (aimsAt(rt, lookUp, key)) {
    rt.charge(UNITS_PER_SEEK + UNITS_PER_ENTRY);
    const first = lookedUp(rt, lookUp.index.tree.firstAimed());
    if (first === null || !isGoneNow(rt, first)) return first;
  }
  return firstIn(rt, rangeOf(lookUp, key === null ? listOf([null]) : key, {}));
}

/**
 * Has the next call of pages look for a key; false where that takes a range. The most frequent keys, one text that counts as it is and one
 * int, take no text of the key.
 */
function aimsAt(rt: Runtime, lookUp: LookUp, key: Value): lookUp is LookUp & { readonly index: TypeIndex } {
  const { index, fields } = lookUp;
  if (index === null || fields.length !== 1 || rt.profile !== null) return false;
  if (typeof key !== 'string' && typeof key !== 'number') return false;
  if (typeof key === 'string' && index.ignoresCase) return false;
  assertKind(lookUp, 0, key);
  return aimAtValue(key);
}

function isGoneNow(rt: Runtime, thing: Thing): boolean {
  const gone = goneThings(rt);
  // None mostly, and a set would have to look at the thing, which may lie far away in memory, to find that out.
  return gone.size > 0 && gone.has(thing);
}

function lookedUp(rt: Runtime, id: number | undefined): Thing | null {
  return id === undefined ? null : storeOf(rt).thingOfId(id);
}

/** The first instance of a range of all that have a key; null for none. */
function firstIn(rt: Runtime, range: IndexRange): Thing | null {
  const { lookUp, texts, low, isOne } = range;
  // The most frequent case, in which there is nothing to go over.
  if (isOne && lookUp.index !== null && texts.size === 0 && rt.profile === null) {
    rt.charge(UNITS_PER_SEEK + UNITS_PER_ENTRY);
    const thing = lookedUp(rt, lookUp.index.tree.firstOf(low.key));
    if (thing === null || !isGoneNow(rt, thing)) return thing;
  }
  let first: Thing | null = null;
  walkRange(rt, range, startOf(range), (thing) => {
    first = thing;
    return false;
  });
  return first;
}

/** Where a walk over a range begins, and where it goes on behind an entry. */
export function startOf({ reverse, low, high }: IndexRange): EntryPlace {
  return reverse ? high : low;
}

export function behind({ reverse }: IndexRange, { key, id }: EntryPlace): EntryPlace {
  return reverse ? { key, id } : { key, id: id + 1 };
}

export function isWithin({ low, high }: IndexRange, place: EntryPlace): boolean {
  return !isBefore(place, low) && isBefore(place, high);
}

function isBefore(a: EntryPlace, b: EntryPlace): boolean {
  return a.key < b.key || (a.key === b.key && a.id < b.id);
}

function hasTexts(
  rt: Runtime,
  index: TypeIndex | null,
  thing: Thing,
  texts: ReadonlyMap<number, string>,
): boolean {
  if (index === null) return true;
  rt.charge(UNITS_PER_LOAD);
  rt.load(thing);
  const slots = index.slotsOf(thing);
  for (const [i, text] of texts) {
    const value = thing.slots[slots[i]!];
    if (typeof value !== 'string' || index.textOf(value) !== text) return false;
  }
  return true;
}

function storeOf(rt: Runtime): Store {
  if (rt.store === null) throw new Error('there are indexes in collections only');
  return rt.store;
}

/** Units charged to find a place in an index, for an entry, and for an instance that is looked into. */
const UNITS_PER_SEEK = 1024;
const UNITS_PER_ENTRY = 64;
const UNITS_PER_LOAD = 4096;
