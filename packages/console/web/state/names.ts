/** Names in scopes, as the pages know them: collections, functions, procedures, types, enums. Each is asked for when it is first needed. */

import { AlthingError, isWireMap, NodeErr, QueryError, type WireValue } from '@althing/client';
import { type FunctionInfo, functionInfoOf } from '@althing/language';
import { signal } from '@preact/signals';
import { ask } from './session.js';
import { at, entriesOf, itemsOf, listAt, textAt, textsOf } from './values.js';

export interface Names {
  readonly functions: readonly FunctionInfo[];
  readonly types: readonly TypeInfo[];
  readonly enums: readonly EnumInfo[];
  readonly indexes: readonly IndexInfo[];
}

export interface ProcedureInfo {
  readonly name: string;
  readonly doc: string;
  readonly definition: string;
  readonly arguments: readonly string[];
  /** The definition of each argument; empty for one without. */
  readonly definitions: readonly string[];
  /** True if a call may change something. */
  readonly changes: boolean;
}

export interface TypeInfo {
  readonly name: string;
  /** Flags that are set, for people: `wrap only`. */
  readonly flags: readonly string[];
  readonly fields: readonly (readonly [name: string, definition: string])[];
  /** The source is empty for who may not see it. */
  readonly methods: readonly (readonly [name: string, source: string])[];
  readonly relations: readonly { readonly field: string; readonly type: string; readonly inverse: string }[];
}

export interface IndexInfo {
  readonly name: string;
  readonly type: string;
  readonly fields: readonly string[];
  readonly isUnique: boolean;
  /** `ready`, or how far it is, or why it failed. */
  readonly state: string;
  readonly entries: string;
}

export interface EnumInfo {
  readonly name: string;
  readonly members: readonly (readonly [name: string, value: WireValue])[];
  readonly byDefault: string;
}

const NOTHING: Names = { functions: [], types: [], enums: [], indexes: [] };

/** Names of the collections that the user may know of; null before they are known. */
export const collections = signal<readonly string[] | null>(null);

const histories = signal<ReadonlySet<string>>(new Set());

const known = signal<ReadonlyMap<string, Names>>(new Map());
const asked = new Map<string, Promise<Names>>();

/** The scope of a collection, as the node calls it. */
export function collectionScope(name: string): string {
  return `@collection:${name}`;
}

/** The place of the pages of a scope: those of a collection, or of what belongs to all of them. */
export function pathOf(scope: string): readonly string[] {
  const name = /^@collection:(.*)$/s.exec(scope)?.[1];
  return name === undefined ? ['root'] : ['c', name];
}

/** Asks for the collections again. They stay unknown when no node answers: the frame asks until one does. */
export async function loadCollections(): Promise<void> {
  try {
    const found = await ask('@thingsdb', NAMES_AND_HISTORIES);
    const list = itemsOf(found).map((each) => itemsOf(each));
    collections.value = list.map(([name]) => String(name)).sort();
    const kept = list.filter(([, history]) => typeof history === 'bigint');
    histories.value = new Set(kept.map(([name]) => collectionScope(String(name))));
  } catch (error) {
    if (isAnswer(error)) collections.value ??= [];
  }
}

/** Names and histories alone: all that is known of a thousand collections would be much more than a page needs to begin with. */
const NAMES_AND_HISTORIES =
  'collections_info().map(|each| { each = each.load(); [each.name, each.commit_history]; });';

/** True if a collection has a commit history: its definitions change only in queries that say why. */
export function hasHistory(scope: string): boolean {
  return histories.value.has(scope);
}

/** Names known in a scope now; asks for them when there are none. */
export function namesOf(scope: string): Names {
  if (!asked.has(scope)) void loadNames(scope);
  return known.value.get(scope) ?? NOTHING;
}

/** Asks for the names of a scope again. What a user may not see is empty. */
export function loadNames(scope: string): Promise<Names> {
  const isCollection = scope.startsWith('@collection:');
  const list = async (wanted: boolean, code: string): Promise<readonly WireValue[]> => {
    if (!wanted) return [];
    try {
      return itemsOf(await ask(scope, code));
    } catch (error) {
      if (isAnswer(error)) return [];
      throw error;
    }
  };
  const loading = Promise.all([
    known.peek().get(scope)?.functions.length ? [] : list(true, 'functions_info();'),
    list(isCollection, 'types_info();'),
    list(isCollection, 'enums_info();'),
    list(isCollection, 'indexes_info();'),
  ]).then(([functions, types, enums, indexes]): Names => {
    const before = known.peek().get(scope) ?? NOTHING;
    const names = {
      functions: functions.length === 0 ? before.functions : functions.map(functionInfoOf),
      types: types.map(typeInfo),
      enums: enums.map(enumInfo),
      indexes: indexes.map(indexInfo),
    };
    known.value = new Map(known.peek()).set(scope, names);
    return names;
  });
  asked.set(scope, loading);
  loading.catch(() => {
    if (asked.get(scope) === loading) asked.delete(scope);
  });
  return loading;
}

/** True where a node answered with an error: a user who may not see something has nothing of it. Without an answer the question is asked again. */
function isAnswer(error: unknown): boolean {
  if (!(error instanceof AlthingError)) throw error;
  return error instanceof QueryError && !(error instanceof NodeErr);
}

/** Procedures that completion and Ctrl-K know; the list of procedures has all. */
const PROCEDURES_MAX = 2000n;

const procedures = signal<ReadonlyMap<string, readonly ProcedureInfo[]>>(new Map());
const askedProcedures = new Set<string>();

/** The procedures of a scope as far as they are known now; asks for them when none are. */
export function proceduresOf(scope: string): readonly ProcedureInfo[] {
  if (!askedProcedures.has(scope)) void loadProcedures(scope);
  return procedures.value.get(scope) ?? [];
}

/** Asks for the procedures of a scope again. */
export async function loadProcedures(scope: string): Promise<void> {
  if (scope.startsWith('@node')) return;
  askedProcedures.add(scope);
  try {
    const found = itemsOf(await ask(scope, 'procedures_info()[:most];', { most: PROCEDURES_MAX }));
    procedures.value = new Map(procedures.peek()).set(scope, found.map(procedureInfo));
  } catch (error) {
    if (!isAnswer(error)) askedProcedures.delete(scope);
  }
}

/** Forgets everything, with the login. */
export function forgetNames(): void {
  known.value = new Map();
  procedures.value = new Map();
  asked.clear();
  askedProcedures.clear();
  collections.value = null;
}

/** True if the node's language has a function, so that what it lacks is hidden. */
export function hasFunction(names: Names, name: string): boolean {
  return names.functions.some((each) => each.on === null && each.name === name);
}

export function procedureInfo(value: WireValue): ProcedureInfo {
  return {
    name: textAt(value, 'name'),
    doc: textAt(value, 'doc'),
    definition: textAt(value, 'definition'),
    arguments: textsOf(at(value, 'arguments')),
    definitions: listAt(value, 'definitions').map((each) => (typeof each === 'string' ? each : '')),
    changes: at(value, 'with_side_effects') === true,
  };
}

function typeInfo(value: WireValue): TypeInfo {
  const relations = at(value, 'relations');
  return {
    name: textAt(value, 'name'),
    fields: listAt(value, 'fields').map((field) => pairOf(field)),
    flags: FLAGS.filter((flag) => at(value, flag) === true).map((flag) => flag.replace('_', ' ')),
    methods: entriesOf(at(value, 'methods')).map(([name, about]) => [name, textAt(about, 'definition')]),
    relations: keysOf(relations).map((field) => {
      const found = at(relations, field);
      return { field, type: textAt(found, 'type'), inverse: textAt(found, 'property') };
    }),
  };
}

const FLAGS = ['wrap_only', 'hide_id', 'auto_index', 'strict'] as const;

function indexInfo(value: WireValue): IndexInfo {
  const state = textAt(value, 'state');
  const why = textAt(value, 'why');
  return {
    name: textAt(value, 'name'),
    type: textAt(value, 'type'),
    fields: textsOf(at(value, 'fields')),
    isUnique: at(value, 'unique') === true,
    state:
      state === 'building' ? `${textAt(value, 'percent')} % built` : why === '' ? state : `${state}: ${why}`,
    entries: textAt(value, 'entries'),
  };
}

function enumInfo(value: WireValue): EnumInfo {
  return {
    name: textAt(value, 'name'),
    members: listAt(value, 'members').map((member) => {
      const [name, own = null] = itemsOf(member);
      return [String(name), own] as const;
    }),
    byDefault: textAt(value, 'default'),
  };
}

function pairOf(value: WireValue): readonly [string, string] {
  const [first, second] = itemsOf(value);
  return [String(first), String(second)];
}

function keysOf(value: WireValue | undefined): string[] {
  return isWireMap(value) ? [...value.keys()] : [];
}
