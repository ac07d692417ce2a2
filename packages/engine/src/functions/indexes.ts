import { existsError, lookupError, operationError, quotaError, typeError, valueError } from '../error.js';
import { packInfo } from '../pack/info.js';
import { DEFINES_COLLECTION, type Entry, func, In } from '../run/builtin.js';
import { percentOf } from '../run/index-range.js';
import { typeNamed } from '../run/instance.js';
import { UNITS_PER_READ } from '../run/instances.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import {
  INDEX_FIELDS_MAX,
  INDEX_FLAGS,
  INDEXES_MAX,
  IndexFlag,
  isExpiring,
  isMoment,
  sortKindOf,
  TYPE_INDEXES_MAX,
} from '../schema/index-def.js';
import { assertName } from '../schema/name.js';
import { inWords } from '../schema/rule.js';
import type { FieldDef, Type } from '../schema/type.js';
import { expiringIndex } from '../state/expiry.js';
import { duplicatesIn } from '../state/index-build.js';
import { problemsAbove } from '../state/index-rules.js';
import { IndexEditor } from '../state/parts/indexes.js';
import type { Store } from '../state/store.js';
import { READY, type TypeIndex } from '../state/type-index.js';
import { List, listOf } from '../value/containers.js';
import type { MpData } from '../value/scalars.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { assertNotLate, assertNotSucceeded } from './mod-type-call.js';
import { defOf } from './types.js';

/** Making and deleting indexes, and what is known of them. */
export const INDEXES: readonly Entry[] = [
  func('new_index', {
    doc: 'Makes an index of a type: of the property of its name, or of a list of 1 to 4 properties; the flags are UNIQUE, NO_CASE (texts that differ in case alone are the same), or both; or EXPIRES (instances go when the moment in the property is over). It is built in the background where there are many instances. Returns the name.',
    changes: DEFINES_COLLECTION,
    params: [
      p.str('type'),
      p.str('name'),
      p.optional(p.any('properties')),
      p.optional(p.intBetween('flags', 0, INDEX_FLAGS)),
    ],
    run: (rt, typeName, name, given, flags) => {
      const type = typeNamed(rt, typeName);
      const hasFields = given instanceof List;
      if (!hasFields && flags !== undefined)
        throw p.wrongType(given ?? null, { function: 'new_index', position: 3 }, 'properties', 'a list');
      const bits = hasFields || given === undefined ? (flags ?? 0) : flagsOf(given);
      makeIndex(rt, type, name, hasFields ? given.items : [name], bits);
      return name;
    },
  }),
  func('rename_index', {
    doc: 'Gives an index another name.',
    changes: DEFINES_COLLECTION,
    params: [p.str('type'), p.str('name'), p.str('new_name')],
    run: (rt, typeName, name, newName) => {
      const type = typeNamed(rt, typeName);
      const index = indexNamed(rt, type, name);
      assertNewIndexName(rt, type, newName);
      editorOf(rt).rename(index, newName);
      return null;
    },
  }),
  func('del_index', {
    doc: 'Deletes an index; the instances stay as they are.',
    changes: DEFINES_COLLECTION,
    params: [p.str('type'), p.str('name')],
    run: (rt, typeName, name) => {
      editorOf(rt).drop(indexNamed(rt, typeNamed(rt, typeName), name));
      return null;
    },
  }),
  func('index_info', {
    doc: 'What is known of an index: its properties, whether it is unique and without regard to case, whether instances expire by it, how far it is built and why it could not be, its number of entries, and about how many pages it has on the node that is asked, how many bytes these take on the disk, and how often that node looked something up in it since it started.',
    in: In.COLLECTION,
    params: [p.str('type'), p.str('name')],
    run: (rt, typeName, name) => {
      const type = typeNamed(rt, typeName);
      return indexInfo(rt, type, indexNamed(rt, type, name));
    },
  }),
  func('indexes_info', {
    doc: 'What is known of every index of the collection, in the order in which they were made.',
    in: In.COLLECTION,
    run: (rt) => {
      const { indexes, schema } = storeOf(rt);
      const all = [...indexes.byId.values()].sort((a, b) => a.def.id - b.def.id);
      return new List(all.map((index) => indexInfo(rt, schema.type(index.def.type), index)));
    },
  }),
  func('verify_index', {
    doc: 'Looks whether an index has what it should of up to 10,000 instances, those with ids above one (0 by default): a thing with problems, a list of texts, checked, the number of instances, and next, the id to go on above, or nil at the end.',
    in: In.COLLECTION,
    params: [p.str('type'), p.str('name'), p.optional(p.intBetween('above', 0, Number.MAX_SAFE_INTEGER))],
    run: (rt, typeName, name, above = 0) => {
      const type = typeNamed(rt, typeName);
      const index = indexNamed(rt, type, name);
      const { problems, checked, next } = problemsAbove(storeOf(rt), index, above, VERIFIED_MAX, () =>
        rt.charge(UNITS_PER_READ),
      );
      const result = new Thing(0, rt.shapes.empty(), []);
      rt.transaction.setProperty(result, 'problems', listOf(problems));
      rt.transaction.setProperty(result, 'checked', checked);
      rt.transaction.setProperty(result, 'next', next);
      return result;
    },
  }),
];

/** Instances that one call of verify_index looks at. */
const VERIFIED_MAX = 10_000;

/** Says by which property the instances of a type expire; nil: by none any more. */
export function setExpiry(rt: Runtime, type: Type, property: string | null): void {
  const present = expiringIndex(storeOf(rt), type);
  if (present === undefined && property === null)
    throw lookupError(`the instances of type \`${type.name}\` do not expire`);
  if (present !== undefined) editorOf(rt).drop(present);
  if (property !== null) makeIndex(rt, type, TTL_INDEX, [property], IndexFlag.EXPIRES);
}

/** The name of the index that `mod_type(.., 'ttl', ..)` makes. */
const TTL_INDEX = 'ttl';

function assertMayExpire(rt: Runtime, type: Type, fields: readonly FieldDef[], flags: number): void {
  const [field, ...others] = fields;
  if (field === undefined || others.length > 0 || flags !== IndexFlag.EXPIRES)
    throw valueError(
      'instances expire by one property: an index with EXPIRES has no others, and no other flag',
    );
  if (!isMoment(field.definition)) {
    throw typeError(
      `type \`${type.name}\`, property \`${field.name}\`: instances expire by a datetime, a timeval, or a number of Unix seconds`,
    );
  }
  const present = expiringIndex(storeOf(rt), type);
  if (present !== undefined)
    throw existsError(
      `the instances of type \`${type.name}\` expire by the index \`${present.def.name}\` already`,
    );
}

function makeIndex(rt: Runtime, type: Type, name: string, given: readonly Value[], flags: number): void {
  const { indexes } = storeOf(rt);
  if (type.isWrapOnly) throw operationError(`the type \`${type.name}\` only wraps: it has no instances`);
  assertNewIndexName(rt, type, name);
  if (given.length === 0 || given.length > INDEX_FIELDS_MAX)
    throw valueError(`an index has 1 to ${INDEX_FIELDS_MAX} properties, not ${given.length}`);
  const fields = given.map((property) => indexableField(type, property));
  if (new Set(fields).size < fields.length) throw valueError('an index has each property once');
  if ((flags & IndexFlag.EXPIRES) !== 0) assertMayExpire(rt, type, fields, flags);
  if (indexes.of(type).length >= TYPE_INDEXES_MAX)
    throw quotaError(`a type has at most ${TYPE_INDEXES_MAX} indexes`);
  if (indexes.count >= INDEXES_MAX) throw quotaError(`a collection has at most ${INDEXES_MAX} indexes`);
  const editor = editorOf(rt);
  const def = { type: type.id, flags, name, fields: fields.map(({ id }) => id) };
  const isBuiltAtOnce = type.instances.size <= rt.indexedAtOnce;
  if (isBuiltAtOnce) {
    rt.charge(UNITS_PER_READ * type.instances.size);
    const [duplicate] = duplicatesIn(
      storeOf(rt),
      { ...def, id: 0 },
      0,
      1,
      rt.transaction.tellsValues,
      (units) => rt.charge(units),
    ).found;
    if (duplicate !== undefined) throw duplicate;
  }
  const index = editor.make(def);
  if (isBuiltAtOnce) editor.build(index, READY);
}

function flagsOf(given: Value): number {
  if (typeof given !== 'number' || given < 0 || given > INDEX_FLAGS)
    throw typeError(`new_index() takes a list of properties, or flags; not ${inWords(given)}`);
  return given;
}

function indexableField(type: Type, property: Value): FieldDef {
  if (typeof property !== 'string')
    throw typeError(`properties are named by a str, not ${inWords(property)}`);
  const field = defOf(type).fields.find(({ name }) => name === property);
  if (field === undefined) throw lookupError(`type \`${type.name}\` has no property \`${property}\``);
  assertNotSucceeded(type, field);
  assertNotLate(type, field);
  if (sortKindOf(field.definition) === null) {
    throw typeError(
      `type \`${type.name}\`, property \`${property}\`: values of this definition have no order in an index; keep what is looked for in a property of its own`,
    );
  }
  return field;
}

function assertNewIndexName(rt: Runtime, type: Type, name: string): void {
  assertName(name);
  if (storeOf(rt).indexes.named(type, name) !== undefined)
    throw existsError(`type \`${type.name}\` has an index \`${name}\` already`);
}

function indexNamed(rt: Runtime, type: Type, name: string): TypeIndex {
  const index = storeOf(rt).indexes.named(type, name);
  if (index === undefined) throw lookupError(`type \`${type.name}\` has no index \`${name}\``);
  return index;
}

function indexInfo(rt: Runtime, type: Type, index: TypeIndex): MpData {
  const { def, progress, tree } = index;
  const fields = defOf(type).fields;
  const { pages, bytes } = tree.measure(() => rt.charge(UNITS_PER_READ));
  return packInfo(rt, {
    name: def.name,
    type: type.name,
    fields: def.fields.map((id) => fields.find((field) => field.id === id)?.name ?? ''),
    unique: index.isUnique,
    no_case: index.ignoresCase,
    expires: isExpiring(def),
    state: progress.why !== null ? 'failed' : index.isReady ? 'ready' : 'building',
    percent: percentOf(index, type),
    why: progress.why,
    entries: tree.count,
    pages,
    bytes,
    lookups: index.lookUps,
  });
}

function editorOf(rt: Runtime): IndexEditor {
  return new IndexEditor(storeOf(rt), rt.transaction);
}

function storeOf({ store }: Runtime): Store {
  if (store === null) throw new Error('there are indexes in collections only');
  return store;
}
