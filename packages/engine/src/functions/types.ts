import { lookupError, operationError, typeError, valueError } from '../error.js';
import { DEFINES_COLLECTION, type Entry, func, In, MODIFIES, method, type Receiver } from '../run/builtin.js';
import { needCommit } from '../run/commit.js';
import { defaultOf } from '../run/defaults.js';
import { lockForWriting, unlockWriting } from '../run/dispatch.js';
import { goneThings } from '../run/gone.js';
import {
  assertUnused,
  instanceFrom,
  makeInstance,
  storedInstance,
  typeNamed,
  whileInUse,
} from '../run/instance.js';
import { allInstances, countInstances, looseInstances } from '../run/instances.js';
import { storeLate } from '../run/late.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { inWords } from '../schema/rule.js';
import { TYPES_MAX, type Type, type TypeDef, TypeFlag } from '../schema/type.js';
import { newIdOf } from '../state/ids.js';
import { List, listOf, ThingSet } from '../value/containers.js';
import { isInt } from '../value/numbers.js';
import { Tag } from '../value/tag.js';
import { Thing } from '../value/thing.js';
import { typeName, type Value } from '../value/value.js';
import { assertNewName, idWithRoom } from './type-fields.js';

/** Functions on types and enums make every query a change, whatever they find. */
const INSTANCE: Receiver<Thing> = { tags: [Tag.THING] };
const ARRAY: Receiver<List> = { tags: [Tag.LIST, Tag.TUPLE] };

const FLAG_BITS = TypeFlag.WRAP_ONLY | TypeFlag.HIDE_ID | TypeFlag.INDEX | TypeFlag.STRICT;

/** Types: making, deleting, renaming and counting them, and making instances. */
export const TYPES: readonly Entry[] = [
  func('new_type', {
    doc: 'Makes a type without properties; the flags are a sum of WPO, HID, IDX and STRICT. Returns the name.',
    changes: DEFINES_COLLECTION,
    params: [p.str('name'), p.optional(p.later(p.any('flags'))), p.optional(p.later(p.any('hide_id')))],
    run: (rt, name, flags, hideId) => {
      assertNewName(rt, name);
      const bits = flagBits(0, flags?.(), hideId?.());
      // The arguments may have made a type of this name.
      assertNewName(rt, name);
      rt.schemaEditor.putType(newType(rt, name, bits));
      return name;
    },
  }),
  func('del_type', {
    doc: 'Deletes a type that no other type names; its instances become plain things.',
    changes: DEFINES_COLLECTION,
    params: [p.str('name')],
    run: (rt, name) => {
      const type = typeNamed(rt, name);
      assertUnused(type);
      const [user] = rt.schema.usersOfType(type.id);
      if (user !== undefined)
        throw operationError(`the type \`${name}\` is used by the type \`${user.name}\``);
      if (defOf(type).successor !== null)
        throw operationError(
          `a job gives a property of the type \`${name}\` another definition: cancel_job() ends it`,
        );
      if (type.shape?.late !== null)
        throw operationError(
          `a job gives instances of the type \`${name}\` a property: cancel_job() ends it`,
        );
      const loose = looseInstances(rt, type);
      rt.schemaEditor.dropType(type, name);
      // At once: a later type of the name is another one, though it has the same id.
      for (const thing of loose) rt.load(thing);
      return null;
    },
  }),
  func('rename_type', {
    doc: 'Gives a type another name.',
    changes: DEFINES_COLLECTION,
    params: [p.str('name'), p.str('new_name')],
    run: (rt, name, newName) => {
      const type = typeNamed(rt, name);
      assertNewName(rt, newName);
      assertUnused(type);
      // A wrap with a deleted type of the new name shall not become one with this type.
      const gone = rt.schema.goneType(newName);
      rt.schemaEditor.putType({ ...defOf(type), name: newName });
      if (gone !== undefined) rt.schemaEditor.dropType(rt.schema.type(gone), name);
      return null;
    },
  }),
  func('has_type', {
    doc: 'Whether there is a type of this name.',
    in: In.COLLECTION,
    params: [p.str('name')],
    run: (rt, name) => rt.schema.typeNamed(name) !== undefined,
  }),
  func('type_count', {
    doc: 'The number of instances of a type.',
    in: In.COLLECTION,
    params: [p.str('name')],
    run: (rt, name) => countInstances(rt, typeNamed(rt, name)),
  }),
  func('type_all', {
    doc: 'A new set with all instances of a type.',
    in: In.COLLECTION,
    params: [p.str('name')],
    run: (rt, name) => new ThingSet(allInstances(rt, typeNamed(rt, name), goneThings(rt))),
  }),
  func('new', {
    doc: 'A new instance of a type, from a thing or with defaults.',
    in: In.COLLECTION,
    params: [p.str('type'), p.optional(p.later(p.thing('source')))],
    run: (rt, name, source) => {
      const type = typeNamed(rt, name);
      return whileInUse(type, () => {
        return source === undefined ? makeInstance(rt, type, []) : instanceFrom(rt, type, source());
      });
    },
  }),
  method(ARRAY, 'map_type', {
    doc: 'A list of instances of a type: made from the things in it, or the stored ones with the ids in it.',
    params: [p.str('type')],
    readsState: true,
    run: (rt, { items }, name) => {
      const type = typeNamed(rt, name);
      return listOf(items.map((item) => instanceOfItem(rt, type, item)));
    },
  }),
  func('type_assert', {
    doc: 'Raises type_err, with a message of its own perhaps, unless the type of a value has one of these names.',
    params: [p.any('value'), p.any('names'), p.optional(p.later(p.str('message')))],
    run: (_rt, value, names, message) => {
      if (isNamed(typeName(value), names)) return null;
      if (message === undefined)
        throw typeError(`the type \`${typeName(value)}\` is not among those asked for`);
      throw typeError(message());
    },
  }),
  method(INSTANCE, 'to_type', {
    doc: 'Makes a plain thing an instance of a type; what it lacks gets the default.',
    params: [p.later(p.str('type'))],
    instances: 'never',
    // The lock ends before the conversion: it is counted in the type that the thing has.
    lock: null,
    changes: MODIFIES,
    run: (rt, thing, name) => {
      if (thing === rt.store?.root) needCommit(rt);
      const type = whileLocked(rt, thing, () => typeNamed(rt, name()));
      assertUnused(type);
      toType(rt, thing, type);
      return null;
    },
  }),
  method(INSTANCE, 'to_thing', {
    doc: 'Makes an instance a plain thing, if no type names its own.',
    instances: 'only',
    lock: null,
    changes: MODIFIES,
    run: (rt, thing) => {
      const { type } = thing;
      if (type === null) throw new Error('to_thing is a method of instances');
      rt.transaction.assertWritable(thing);
      if (thing.locked) throw operationError('the thing is in use: it is being iterated or modified');
      assertUnused(type);
      const users = [...rt.schema.usersOfType(type.id), ...(namesItself(type) ? [type] : [])];
      const [user] = users;
      if (user !== undefined)
        throw operationError(`the type \`${type.name}\` is used by the type \`${user.name}\``);
      storeLate(rt, thing);
      rt.transaction.convert(thing, null);
      return null;
    },
  }),
];

export function defOf(type: Type): TypeDef {
  if (type.def === null) throw lookupError(`the type \`${type.name}\` was deleted`);
  return type.def;
}

/** Throws operation_err when a thing that only wraps is needed, as it is, by a type that does not. */
export function assertNotNeeded(rt: Runtime, type: Type): void {
  for (const user of rt.schema.usersOfType(type.id)) {
    const needs = defOf(user).fields.some(
      ({ definition }) =>
        definition.base.kind === 'type' && definition.base.id === type.id && !definition.nillable,
    );
    if (needs && !user.isWrapOnly) {
      throw operationError(`the type \`${user.name}\` needs instances of \`${type.name}\``);
    }
  }
}

function namesItself(type: Type): boolean {
  return defOf(type).fields.some(
    ({ definition: { base } }) =>
      (base.kind === 'type' && base.id === type.id) ||
      ('item' in base && base.item?.base.kind === 'type' && base.item.base.id === type.id),
  );
}

export function newType(rt: Runtime, name: string, flags: number): TypeDef {
  const { schema } = rt;
  const gone = schema.goneType(name);
  const id = gone ?? newIdOf(schema.typeIds);
  return {
    id: idWithRoom(rt, 'types', { count: schema.typeCount, id, max: TYPES_MAX }),
    generation: gone === undefined ? 0 : schema.type(gone).generation + 1,
    name,
    flags,
    createdAt: rt.seconds(),
    modifiedAt: null,
    idName: null,
    nextField: 0,
    fields: [],
    successor: null,
    methods: new Map(),
  };
}

/** The flags that `new_type` and `set_type` get: an int adds to the present ones, the older bools replace them. */
export function flagBits(present: number, flags: Value | undefined, hideId: Value | undefined): number {
  if (flags === undefined) return present;
  if (typeof flags === 'boolean') {
    const wraps = flags ? TypeFlag.WRAP_ONLY : 0;
    const kept = present & ~TypeFlag.WRAP_ONLY;
    if (hideId === undefined) return kept | wraps;
    if (typeof hideId !== 'boolean') throw typeError(`hide_id is a bool, not ${inWords(hideId)}`);
    return (kept & ~TypeFlag.HIDE_ID) | wraps | (hideId ? TypeFlag.HIDE_ID : 0);
  }
  if (typeof flags !== 'number' && typeof flags !== 'bigint') {
    throw typeError(`the flags of a type are an int or a bool, not ${inWords(flags)}`);
  }
  if (hideId !== undefined) throw typeError('wrap_only and hide_id are both bools');
  return present | (Number(BigInt(flags) & 0xffn) & FLAG_BITS);
}

function isNamed(name: string, names: Value): boolean {
  if (typeof names === 'string') return names === name;
  if (!(names instanceof List))
    throw p.wrongType(names, { function: 'type_assert', position: 2 }, 'names', 'a str or a list of them');
  for (const item of names.items) {
    if (typeof item !== 'string') throw typeError(`type_assert() takes names, not ${inWords(item)}`);
    if (item === name) return true;
  }
  return false;
}

function instanceOfItem(rt: Runtime, type: Type, item: Value): Thing {
  if (item instanceof Thing) return instanceFrom(rt, type, item);
  if (isInt(item)) return storedInstance(rt, type, item);
  throw typeError(`map_type() takes things and ids, not ${inWords(item)}`);
}

function whileLocked<T>(rt: Runtime, thing: Thing, action: () => T): T {
  lockForWriting(rt, thing);
  try {
    return action();
  } finally {
    unlockWriting(thing);
  }
}

/** Makes a plain thing an instance: all is checked before anything changes. */
function toType(rt: Runtime, thing: Thing, type: Type): void {
  const { transaction } = rt;
  if (type.isWrapOnly) throw typeError(`the type \`${type.name}\` only wraps: it has no instances`);
  if (thing.restriction !== null) throw valueError('a restricted thing can not become an instance');
  const { shape } = type;
  if (shape === null) throw lookupError(`the type \`${type.name}\` was deleted`);
  thing.forEach((key, value) => {
    const slot = shape.index.get(key);
    const field = slot === undefined ? undefined : shape.fields[slot];
    if (field === undefined) throw typeError(`type \`${type.name}\` has no property \`${key}\``);
    if (field.relation !== null)
      throw typeError(`type \`${type.name}\`, property \`${key}\`: it is in a relation`);
    if ((value instanceof List || value instanceof ThingSet) && value.lock !== 0) {
      throw operationError(`the list or set \`${key}\` is in use`);
    }
    transaction.checkField(field, value);
  });
  const missing = shape.fields.filter(({ name }) => thing.get(name) === undefined);
  const defaults = missing.map((field) => ({ field, value: defaultOf(rt, field.definition) }));
  const valueNamed = (name: string): Value =>
    thing.get(name) ?? defaults.find(({ field }) => field.name === name)?.value ?? null;
  transaction.checkConversion(thing, type, valueNamed);
  for (const field of shape.fields) {
    const value = thing.get(field.name);
    if (field.rule.restriction !== null && value instanceof Thing) {
      transaction.demandRestriction(value, field.rule.restriction);
    }
  }
  transaction.inParts(() => {
    for (const { field, value } of defaults) transaction.placeUnchecked(thing, field.name, value);
    transaction.convert(thing, type);
  });
}
