import { lookupError, typeError, valueError } from '../error.js';
import { type Entry, func, In, variadic } from '../run/builtin.js';
import {
  behind,
  countRange,
  type EntryPlace,
  firstWith,
  ID_INDEX,
  type IndexRange,
  isWithin,
  type LookUp,
  lookUpOf,
  type RangeOptions,
  rangeOf,
  startOf,
  walkRange,
} from '../run/index-range.js';
import { typeNamed } from '../run/instance.js';
import { withCallback } from '../run/invoke.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { Closure } from '../value/closure.js';
import { listOf } from '../value/containers.js';
import { Thing } from '../value/thing.js';
import { typeName, type Value } from '../value/value.js';

const BY_KEY = [
  p.str('type'),
  p.str('index'),
  p.optional(p.any('key')),
  p.optional(p.thing('options')),
] as const;

/** Finding instances by indexes. */
export const LOOK_UPS: readonly Entry[] = [
  func('one_by', {
    doc: 'The first stored instance of a type with a key in an index: a value, or a list of values; nil if there is none.',
    in: In.COLLECTION,
    params: [p.str('type'), p.str('index'), p.any('key')],
    run: (rt, type, name, key) => {
      const lookUp = lookUpOf(rt, typeNamed(rt, type), name);
      if (lookUp.index === null && key === null) throw typeError(`the index \`${ID_INDEX}\` has no nil`);
      return firstWith(rt, lookUp, key);
    },
  }),
  func('all_by', {
    doc: 'A list of the stored instances with a key in an index, in its order; without a key all. Options: from, after, to, before, prefix, reverse, limit.',
    in: In.COLLECTION,
    params: BY_KEY,
    run: (rt, type, name, key = null, given) => {
      const { options, limit } = readOptions(rt, 'all_by', given);
      const range = rangeOf(lookUpOf(rt, typeNamed(rt, type), name), key, options);
      const things: Thing[] = [];
      if (limit === 0) return listOf(things);
      walkRange(rt, range, startOf(range), (thing) => things.push(thing) < limit);
      return listOf(things);
    },
  }),
  func('count_by', {
    doc: 'The number of stored instances with a key in an index; without a key of all. Reads none of them. Options: from, after, to, before, prefix.',
    in: In.COLLECTION,
    params: BY_KEY,
    run: (rt, type, name, key = null, given) => {
      const { options, limit } = readOptions(rt, 'count_by', given);
      const range = rangeOf(lookUpOf(rt, typeNamed(rt, type), name), key, options);
      return Math.min(limit, countRange(rt, range));
    },
  }),
  func('page_by', {
    doc: 'A thing with some of what `all_by` gives (items), and where it goes on: next, for the option cursor, or nil at the end. Options: those of `all_by`; limit is 100 by default.',
    in: In.COLLECTION,
    params: BY_KEY,
    run: (rt, type, name, key = null, given) => {
      const { options, limit, cursor } = readOptions(rt, 'page_by', given, true);
      const lookUp = lookUpOf(rt, typeNamed(rt, type), name);
      const range = rangeOf(lookUp, key, options);
      return page(rt, range, Number.isFinite(limit) ? limit : PAGE_DEFAULT, cursor);
    },
  }),
  variadic('each_by', {
    doc: 'Calls a closure with each stored instance that `all_by` would give with the same key and options, one by one: the closure may change the index.',
    in: In.COLLECTION,
    params: [p.str('type'), p.str('index')],
    rest: p.any('key, options, closure'),
    min: 3,
    max: 5,
    run: (rt, type, name, rest) => {
      const closure = rest.at(-1);
      if (!(closure instanceof Closure))
        throw typeError(`the last argument of each_by() must be a closure, not ${typeName(closure ?? null)}`);
      const [key = null, given] = rest.slice(0, -1);
      if (given !== undefined && !(given instanceof Thing))
        throw p.wrongType(given, { function: 'each_by', position: 4 }, 'options', 'a thing');
      const { options, limit } = readOptions(rt, 'each_by', given);
      const lookUp = lookUpOf(rt, typeNamed(rt, type), name);
      eachInRange(rt, rangeOf(lookUp, key, options), limit, closure);
      return null;
    },
  }),
];

/** Items of a page if nothing else is said. */
const PAGE_DEFAULT = 100;

/** Goes on behind the entry of the last instance, whatever the closure did. */
function eachInRange(rt: Runtime, range: IndexRange, limit: number, closure: Closure): void {
  withCallback(rt, closure, (callback) => {
    const atOnce = rt.transaction.writable ? 1 : ENTRIES_AT_ONCE;
    let from = startOf(range);
    for (let left = limit; left > 0; ) {
      const { things, last } = thingsFrom(rt, range, from, Math.min(left, atOnce));
      for (const thing of things) callback.call(thing);
      if (last === null) return;
      left -= things.length;
      assertThere(rt, range.lookUp);
      from = behind(range, last);
    }
  });
}

/** Entries that are found together where the closure can't change any. */
const ENTRIES_AT_ONCE = 64;

/** Some instances from a place on, and the entry of the last one. */
function thingsFrom(
  rt: Runtime,
  range: IndexRange,
  from: EntryPlace,
  count: number,
): { readonly things: readonly Thing[]; readonly last: EntryPlace | null } {
  const things: Thing[] = [];
  let keyOfLast = (): string => '';
  walkRange(rt, range, from, (thing, keys, at) => {
    keyOfLast = () => keys.keyAt(at);
    return things.push(thing) < count;
  });
  const last = things.at(-1);
  return { things, last: last === undefined ? null : { key: keyOfLast(), id: last.id } };
}

/** The closure may have deleted the index. */
function assertThere(rt: Runtime, { index, name }: LookUp): void {
  if (index !== null && rt.store?.indexes.byId.get(index.def.id) !== index)
    throw lookupError(`the index \`${name}\` was deleted`);
}

function page(rt: Runtime, range: IndexRange, limit: number, cursor: string | null): Thing {
  const items: Thing[] = [];
  let last: EntryPlace | null = null;
  let hasMore = false;
  const from = cursor === null ? startOf(range) : behind(range, readCursor(rt, range, cursor));
  walkRange(rt, range, from, (thing, keys, at) => {
    hasMore = items.length === limit;
    if (hasMore) return false;
    items.push(thing);
    if (items.length === limit) last = { key: keys.keyAt(at), id: thing.id };
    return true;
  });
  const result = new Thing(0, rt.shapes.empty(), []);
  rt.transaction.setProperty(result, 'items', listOf(items));
  rt.transaction.setProperty(
    result,
    'next',
    hasMore && last !== null ? writeCursor(range.lookUp, last) : null,
  );
  return result;
}

/** The entry of the last item, and which index it is of: its number, which no other ever gets. */
function writeCursor({ index, type }: LookUp, { key, id }: EntryPlace): string {
  const of = index === null ? `t${type.id}g${type.generation}` : `i${index.def.id}`;
  return `${of}.${id}.${Buffer.from(key, 'latin1').toString('base64url')}`;
}

const CURSOR = /^(i\d{1,16}|t\d{1,16}g\d{1,16})\.(\d{1,16})\.([A-Za-z0-9_-]*)$/;

/**
 * The entry that a page ended with.
 *
 * @throws QueryError value_err for what is no cursor of this range, lookup_err for one of an index that was deleted
 */
function readCursor(rt: Runtime, range: IndexRange, cursor: string): EntryPlace {
  const { lookUp } = range;
  const [, of = '', id = '', key = ''] = CURSOR.exec(cursor) ?? [];
  if (of === '') throw valueError('the cursor is none: it is what page_by() gave as next');
  const place = { key: Buffer.from(key, 'base64url').toString('latin1'), id: Number(id) };
  if (writeCursor(lookUp, place) === cursor && isWithin(range, place)) return place;
  if (of.startsWith('i') && rt.store?.indexes.byId.has(Number(of.slice(1))) !== true)
    throw lookupError('the index of the cursor was deleted');
  throw valueError('the cursor is of another index, key or range');
}

interface Options {
  readonly options: RangeOptions;
  readonly limit: number;
  readonly cursor: string | null;
}

function readOptions(rt: Runtime, name: string, given: Thing | undefined, hasCursor = false): Options {
  if (given === undefined) return { options: {}, limit: Number.POSITIVE_INFINITY, cursor: null };
  rt.load(given);
  const at = { function: name, position: 4 };
  const values = new Map(given.entries());
  for (const key of values.keys()) {
    if (!OPTIONS.includes(key) && !(hasCursor && key === 'cursor'))
      throw valueError(
        `${name}() has no option '${key}'; known: ${[...OPTIONS, ...(hasCursor ? ['cursor'] : [])].join(', ')}`,
      );
  }
  assertOne(values, 'from', 'after');
  assertOne(values, 'to', 'before');
  if (values.has('prefix')) for (const other of BOUNDS) assertOne(values, 'prefix', other);
  const reverse = values.get('reverse');
  const limit = values.get('limit') ?? null;
  const cursor = values.get('cursor') ?? null;
  return {
    options: {
      from: values.get('from'),
      after: values.get('after'),
      to: values.get('to'),
      before: values.get('before'),
      prefix: values.get('prefix'),
      reverse: reverse === undefined ? false : p.bool('reverse').accept(reverse, at),
    },
    limit: limit === null ? Number.POSITIVE_INFINITY : p.intBetween('limit', 0, LIMIT_MAX).accept(limit, at),
    cursor: cursor === null ? null : p.str('cursor').accept(cursor, at),
  };
}

const BOUNDS = ['from', 'after', 'to', 'before'];
const OPTIONS = [...BOUNDS, 'prefix', 'reverse', 'limit'];

/** More than there can be. */
const LIMIT_MAX = Number.MAX_SAFE_INTEGER;

function assertOne(values: ReadonlyMap<string, Value>, one: string, other: string): void {
  if (values.has(one) && values.has(other))
    throw valueError(`only one of the options ${one} and ${other} can be given`);
}
