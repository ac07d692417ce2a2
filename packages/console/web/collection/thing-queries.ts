/** Queries of the data browser: a page of keys or items at a time, of each value its type and the first of it. */
import type { WireValue } from '@althing/client';
import { PAGE, PREVIEW, type Shown } from '../results/protocol.js';
import { shown } from '../results/show.js';
import { ask } from '../state/session.js';
import { at, itemsOf, numberAt, textAt } from '../state/values.js';

/** The value at a property, or in a list or set. */
export type EntryKind = 'thing' | 'list' | 'set' | 'scalar' | 'other';

export interface Entry {
  /** The name of the property, or the index of the item. */
  readonly key: string;
  readonly kind: EntryKind;
  /** As the language calls it: `str`, or the name of a type. */
  readonly type: string;
  /** A scalar, or the first of it; the id of a thing; the number of items. */
  readonly value: WireValue;
  /** Characters or bytes of a scalar that goes on. */
  readonly size: number;
}

export interface EntryPage {
  /** The type of what the entries are of. */
  readonly type: string;
  readonly total: number;
  readonly from: number;
  readonly entries: readonly Entry[];
}

/** `[kind, type, value, size]` of the variable `v`. Closures, regexes and the like come as texts. */
const SHOW = `[
  is_thing(v) ? 'thing' : is_set(v) ? 'set' : is_array(v) ? 'list' :
    (is_str(v) || is_bytes(v) || is_int(v) || is_float(v) || is_bool(v) || is_nil(v)) ? 'scalar' : 'other',
  type(v),
  is_thing(v) ? v.id() : (is_set(v) || is_array(v)) ? v.len() : (is_str(v) || is_bytes(v)) ? v[:${PREVIEW}] :
    is_closure(v) ? str(v)[:${PREVIEW}] : is_err(v) ? v.msg() : v,
  (is_str(v) || is_bytes(v)) ? v.len() : 0
]`;

/** The properties of a thing. */
export async function propertiesOf(scope: string, id: bigint, from: number): Promise<EntryPage> {
  const code = `t = thing(id);
{type: type(t), total: t.len(), entries: t.keys()[from:to].map(|k| {v = t.get(k); [k, ${SHOW}]})};`;
  const page = await ask(scope, code, { id, from: BigInt(from), to: BigInt(from + PAGE) });
  return entryPage(page, from);
}

/** The items of a list or set that a property holds. A set is walked from its beginning: it has no places. */
export async function itemsIn(scope: string, id: bigint, key: string, from: number): Promise<EntryPage> {
  const code = `c = thing(id).get(key);
out = [];
if (is_set(c)) {
  i = 0;
  for (v in c) { if (i >= to) break; if (i >= from) out.push([str(i), ${SHOW}]); i += 1; };
} else {
  i = from;
  c[from:to].each(|v| { out.push([str(i), ${SHOW}]); i += 1; });
};
{type: type(c), total: c.len(), entries: out};`;
  const page = await ask(scope, code, { id, key, from: BigInt(from), to: BigInt(from + PAGE) });
  return entryPage(page, from);
}

export interface Reference {
  readonly parent: bigint;
  readonly parentType: string;
  readonly key: string;
}

/** Depth and number of results of a search for what refers to a thing. */
const SEARCH_DEEP = 20n;
const SEARCH_MAX = 50n;

/** References to a thing, as far as they are found from the root of the collection. */
export async function referencesTo(scope: string, id: bigint): Promise<Reference[]> {
  const code = `root().search(thing(id), {deep: deep, limit: limit}).map(|r| [r.parent.id(), r.parent_type, r.key]);`;
  const found = itemsOf(await ask(scope, code, { id, deep: SEARCH_DEEP, limit: SEARCH_MAX }));
  const references = new Map<string, Reference>();
  for (const each of found) {
    const [parent, parentType, key] = itemsOf(each);
    if (typeof parent === 'bigint')
      references.set(`${parent} ${String(key)}`, {
        parent,
        parentType: String(parentType),
        key: String(key),
      });
  }
  return [...references.values()];
}

/** The whole value of a property, to be edited. */
export function wholeValue(scope: string, id: bigint, key: string): Promise<WireValue> {
  return ask(scope, 'return thing(id).get(key), 0;', { id, key });
}

/** As a cell shows it. */
export function shownEntry({ kind, type, value, size }: Entry): Shown {
  if (kind === 'thing' && typeof value === 'bigint')
    return { type: 'thing', text: `${type} #${value}`, isCut: false, size: 0, id: value };
  if (kind === 'list' || kind === 'set')
    return {
      type: kind,
      text: `${String(value)} ${value === 1n ? 'item' : 'items'}`,
      isCut: false,
      size: 0,
      id: null,
    };
  const result = shown(value);
  return { ...result, isCut: size > PREVIEW };
}

function entryPage(page: WireValue, from: number): EntryPage {
  const entries = itemsOf(at(page, 'entries')).map((each): Entry => {
    const [key, about] = itemsOf(each);
    const [kind, type, value = null, size] = itemsOf(about);
    return { key: String(key), kind: kindOf(kind), type: String(type), value, size: Number(size ?? 0) };
  });
  return { type: textAt(page, 'type'), total: numberAt(page, 'total') ?? 0, from, entries };
}

function kindOf(value: WireValue | undefined): EntryKind {
  return value === 'thing' || value === 'list' || value === 'set' || value === 'scalar' ? value : 'other';
}
