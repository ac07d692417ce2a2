/**
 * Types and enums as a part of the state of a collection with their effects and their records.
 *
 *   effect := 10 type                         new or changed type; `type` as in `schema/type.ts`
 *           | 11 id:varint name:text          the type is deleted, or the name of a deleted type changes; instances become plain
 *           | 12 enum                         new or changed enum; `enum` as in `schema/enum.ts`
 *           | 13 id:varint name:text          the enum is deleted
 *           | 14 thing:varint type:varint     a plain thing becomes an instance of type - 1; 0: an instance becomes plain
 *           | 32 id:varint                    a deleted type is forgotten
 *           | 33 id:varint                    a deleted enum is forgotten
 *           | 1c                              a definition as it was, see `former-definitions.ts`
 *
 * Records: TYPE (id) holds `type`, ENUM (id) `enum`, INSTANCES (type, chunk) a part of the index of a type, see `schema/id-set.ts`,
 * and MEMBER_REFS (enum) `refs`.
 */
import { ByteReader, ByteWriter, FormatError } from '../../bytes.js';
import { type Catalog, type EnumState, slottedOf, type TypeState } from '../../schema/catalog.js';
import type { EnumDef } from '../../schema/enum.js';
import {
  ENUMS_MAX,
  type FieldDef,
  type Rescue,
  TYPES_MAX,
  type Type,
  type TypeDef,
} from '../../schema/type.js';
import type { Thing } from '../../value/thing.js';
import {
  type BoundEffect,
  type Effect,
  type EffectRow,
  effect,
  effectsOn,
  perform,
  type Undo,
} from '../effect.js';
import { takeIdsBack } from '../ids.js';
import { bringBack } from '../migrate.js';
import { placesOf } from '../places.js';
import { RecordKind } from '../records.js';
import type { Store } from '../store.js';
import { one } from '../tally.js';
import { NS_PER_PROPERTY, NS_PER_THING } from '../transaction/undo-costs.js';
import type { Charge, Transaction } from '../transaction.js';
import { FormerEffect, writeFormerEnum, writeFormerType } from './former-definitions.js';
import { IndexEditor } from './indexes.js';
import type { GroupPart } from './part.js';
import { readEnum, readType, writeEnum, writeType } from './schema-codec.js';

const KINDS = [RecordKind.TYPE, RecordKind.ENUM, RecordKind.INSTANCES, RecordKind.MEMBER_REFS] as const;

/** The state itself is the catalog of the store, which things can not be read without. */
export class Schema implements GroupPart {
  readonly effects: readonly BoundEffect[];
  readonly kinds = KINDS;

  constructor(private readonly store: Store) {
    this.effects = [...effectsOn(store, SchemaEffect), ...effectsOn(store, FormerEffect)];
  }

  load(kind: RecordKind, id: number, part: number, value: Uint8Array): void {
    const { store } = this;
    const { schema } = store;
    const input = new ByteReader(value);
    switch (kind) {
      case RecordKind.TYPE: {
        const { state } = readType(input, store);
        schema.setType(id, state);
        if (id >= schema.typeIds.nextId) schema.typeIds.nextId = id + 1;
        break;
      }
      case RecordKind.ENUM: {
        const { state } = readEnum(input, store);
        // The references of its values are counted already, in the records of things.
        schema.setEnum(id, state);
        for (const { value } of schema.enum(id).members) store.hold(value);
        if (id >= schema.enumIds.nextId) schema.enumIds.nextId = id + 1;
        break;
      }
      case RecordKind.INSTANCES:
        schema.type(id).instances.load(part, value);
        break;
      case RecordKind.MEMBER_REFS:
        while (input.remaining > 0) schema.enum(id).member(input.varint()).refs = input.varint();
        break;
      default:
        throw new FormatError(`unexpected record of kind ${kind}`);
    }
  }

  flush(): void {
    flushSchema(this.store);
  }

  clear(): void {
    const { schema, changedTypes, changedEnums, changedMembers, changedIndexes } = this.store;
    schema.clear();
    for (const changed of [changedTypes, changedEnums, changedMembers, changedIndexes]) changed.clear();
  }

  contents(): string | null {
    const { schema } = this.store;
    const [type] = schema.allTypes();
    if (type !== undefined) return `the type '${type.name}'`;
    const [of] = schema.allEnums();
    return of === undefined ? null : `the enum '${of.name}'`;
  }
}

/** The charge for a query whenever a type changes, and for each of its fields and methods; and for each member of an enum. */
const UNITS_PER_TYPE = 2048;
const UNITS_PER_FIELD = 64;
const UNITS_PER_MEMBER = 16;

/** Deleted types or enums that are forgotten for a new one at most. */
const FORGOTTEN_AT_ONCE = 2;

/** A type or enum with its id; `state` is what becomes of it. */
interface Put<State> {
  readonly id: number;
  readonly state: NonNullable<State>;
}

export const SchemaEffect = {
  /** A new or changed type. What is dropped from its instances is the result: it goes back with the change. */
  PUT_TYPE: effect<Store, [put: Put<TypeState>], Rescue | null>({
    code: 0x10,
    write: (out, { id, state }) => writeType(out, id, state),
    read: (input, store) => [readType(input, store)],
    apply: (store, { id, state }) => putType(store, id, state),
    inverse: (store, { id, state }) => backTo(store, id, state),
    cost: ({ schema }, { id }) => nsOfType(schema, id),
    counts: one('definitions'),
  }),
  /** Deletes a type with its indexes, whose instances become plain things; or gives a deleted type another name. */
  DROP_TYPE: effect<Store, [id: number, name: string, charge?: Charge], DroppedType>({
    code: 0x11,
    write: writeNamed,
    read: (input) => [input.varint(), input.text()],
    apply: (store, id, name, charge) => {
      const type = store.schema.type(id);
      const undo = store.makePlain(type, charge);
      return { undo, rescue: putType(store, id, { gone: name, generation: type.generation }) };
    },
    inverse: (store, id, name) => {
      const back = backTo(store, id, { gone: name, generation: store.schema.type(id).generation });
      return ({ undo, rescue }) => {
        back(rescue);
        undo();
      };
    },
    cost: ({ schema }, id) =>
      nsOfType(schema, id) + NS_PER_TYPE + NS_PER_INSTANCE * schema.type(id).instances.size,
    counts: one('definitions'),
  }),
  /** A new or changed enum. */
  PUT_ENUM: effect<Store, [put: Put<EnumState>]>({
    code: 0x12,
    write: (out, { id, state }) => writeEnum(out, id, state),
    read: (input, store) => [readEnum(input, store)],
    apply: (store, { id, state }) => store.setEnum(id, state),
    inverse: (store, { id }) => enumBack(store, id),
    cost: ({ schema }, { id }) => nsOfEnum(schema, id),
    counts: one('definitions'),
  }),
  DROP_ENUM: effect<Store, [id: number, name: string]>({
    code: 0x13,
    write: writeNamed,
    read: (input) => [input.varint(), input.text()],
    apply: (store, id, name) => store.setEnum(id, { gone: name }),
    inverse: enumBack,
    cost: ({ schema }, id) => nsOfEnum(schema, id),
    counts: one('definitions'),
  }),
  FORGET_TYPE: forgets(0x32, ({ schema }, id) => schema.stateOfType(id), putType),
  FORGET_ENUM: forgets(
    0x33,
    ({ schema }, id) => schema.stateOfEnum(id),
    (store, id, state) => store.setEnum(id, state),
  ),
  /** A plain thing becomes an instance of a type, or an instance plain. */
  CONVERT: effect<Store, [thing: Thing, type: Type | null]>({
    code: 0x14,
    write: (out, thing, type) => {
      out.varint(thing.id);
      out.varint(type === null ? 0 : type.id + 1);
    },
    read: (input, store) => {
      const thing = store.thingOfId(input.varint());
      const type = input.varint();
      return [thing, type === 0 ? null : store.schema.type(type - 1)];
    },
    apply: (store, thing, type) => store.convert(thing, type),
    inverse: (store, thing) => {
      const places = placesOf(thing);
      return () => store.unconvert(thing, places);
    },
    cost: (_, { slots }) => NS_PER_THING + NS_PER_PROPERTY * slots.length,
    counts: one('things_retyped'),
  }),
};

/** Forgets a deleted type or enum, so that a later one of its name is another. Its id is not given again. */
function forgets<State>(
  code: number,
  stateOf: (store: Store, id: number) => State | undefined,
  put: (store: Store, id: number, state: State | undefined) => void,
): EffectRow<Store, [id: number]> & Effect<Store> {
  return effect<Store, [id: number]>({
    code,
    write: (out, id) => out.varint(id),
    read: (input) => [input.varint()],
    apply: (store, id) => put(store, id, undefined),
    inverse: (store, id) => {
      const before = stateOf(store, id);
      return () => put(store, id, before);
    },
    cost: () => NS_PER_TYPE,
    counts: one('definitions'),
  });
}

/** Values that have to go back into the instances of a type that was deleted. */
interface DroppedType {
  readonly undo: Undo;
  readonly rescue: Rescue | null;
}

/** Makes this the state of a type. Returns the values that its instances lost, as long as somebody holds it. */
export function putType({ schema, changedTypes }: Store, id: number, state: TypeState): Rescue | null {
  const rescue = schema.setType(id, state);
  changedTypes.add(id);
  return rescue;
}

/** The way back from a state that a type gets. */
function backTo(store: Store, id: number, state: TypeState): (rescue: Rescue | null) => void {
  const { schema } = store;
  const before = schema.stateOfType(id);
  const { nextId } = schema.typeIds;
  return (rescue) => {
    for (const { mark } of addedFields(before, state)) mark.isUndone = true;
    putType(store, id, before);
    takeIdsBack(schema.typeIds, nextId);
    // Dropped values go back at once: nobody holds it behind this, and a checkpoint saves the fields that an instance has.
    if (rescue !== null) bringBack(rescue, schema.type(id), store);
  };
}

function enumBack(store: Store, id: number): Undo {
  const { schema } = store;
  const before = schema.stateOfEnum(id);
  const { nextId } = schema.enumIds;
  return () => {
    schema.enum(id).forget(before !== undefined && 'members' in before ? before.nextMember : 0);
    store.setEnum(id, before);
    takeIdsBack(schema.enumIds, nextId);
  };
}

function writeNamed(out: ByteWriter, id: number, name: string): void {
  out.varint(id);
  out.text(name);
}

/** Changes types and enums in a query. */
export class SchemaEditor {
  constructor(
    private readonly store: Store,
    private readonly transaction: Transaction,
  ) {}

  /** Makes a new type, or replaces what is known of one. */
  putType(def: TypeDef): void {
    const { store, transaction } = this;
    const { schema } = store;
    transaction.chargeUnits(UNITS_PER_TYPE + UNITS_PER_FIELD * (def.fields.length + def.methods.size));
    if (schema.stateOfType(def.id) === undefined) {
      this.forget(SchemaEffect.FORGET_TYPE, () => schema.typeToForget(TYPES_MAX));
    }
    writeFormerType(transaction.effects, store, def.id);
    perform(transaction, SchemaEffect.PUT_TYPE, store, { id: def.id, state: def });
  }

  /** Deletes a type, whose instances become plain things; or gives a deleted type another name. */
  dropType(type: Type, name: string): void {
    const { store, transaction } = this;
    const { id } = type;
    const indexes = new IndexEditor(store, transaction);
    for (const index of store.indexes.of(type)) indexes.drop(index);
    writeFormerType(transaction.effects, store, id);
    perform(transaction, SchemaEffect.DROP_TYPE, store, id, name, (units) => transaction.chargeUnits(units));
  }

  putEnum(def: EnumDef): void {
    const { store, transaction } = this;
    transaction.chargeUnits(UNITS_PER_MEMBER * def.members.length);
    transaction.storeValues(def.members.map(({ value }) => value));
    const { schema } = store;
    if (schema.stateOfEnum(def.id) === undefined) {
      this.forget(SchemaEffect.FORGET_ENUM, () => schema.enumToForget(ENUMS_MAX));
    }
    this.noteMembers(def.id);
    writeFormerEnum(transaction.effects, store, def.id);
    perform(transaction, SchemaEffect.PUT_ENUM, store, { id: def.id, state: def });
  }

  dropEnum(id: number, name: string): void {
    this.noteMembers(id);
    writeFormerEnum(this.transaction.effects, this.store, id);
    perform(this.transaction, SchemaEffect.DROP_ENUM, this.store, id, name);
  }

  /** Makes room for a new type or enum. An import can bring more than there is room for: they go bit by bit. */
  private forget(row: (typeof SchemaEffect)['FORGET_TYPE'], find: () => number | undefined): void {
    for (let i = 0; i < FORGOTTEN_AT_ONCE; i++) {
      const id = find();
      if (id === undefined) return;
      this.transaction.chargeUnits(UNITS_PER_TYPE);
      perform(this.transaction, row, this.store, id);
    }
  }

  private noteMembers(id: number): void {
    if (this.store.schema.stateOfEnum(id) !== undefined) this.transaction.noteDroppedMembers();
  }
}

/** The fields that a type has in a state and did not have in the one before. */
function addedFields(before: TypeState, now: TypeState): readonly FieldDef[] {
  const [old, present] = [defIn(before), defIn(now)];
  const known = new Set((old === null ? [] : slottedOf(old)).map(({ mark }) => mark));
  return present === null ? [] : slottedOf(present).filter(({ mark }) => !known.has(mark));
}

export function defIn(state: TypeState): TypeDef | null {
  return state !== undefined && 'fields' in state ? state : null;
}

/** Time it takes to take the change of a type or enum back, and what each part of it adds, in nanoseconds, as measured. */
const NS_PER_TYPE = 2000;
const NS_PER_FIELD = 1400;
const NS_PER_INSTANCE = 600;
const NS_PER_ENUM_MEMBER = 120;

function nsOfType(schema: Catalog, id: number): number {
  const def = defIn(schema.stateOfType(id));
  return NS_PER_TYPE + NS_PER_FIELD * (def === null ? 0 : def.fields.length + def.methods.size);
}

function nsOfEnum(schema: Catalog, id: number): number {
  const before = schema.stateOfEnum(id);
  return (
    NS_PER_TYPE +
    NS_PER_ENUM_MEMBER * (before !== undefined && 'members' in before ? before.members.length : 0)
  );
}

function flushSchema(store: Store): void {
  const { schema, dirty, changedTypes, changedEnums, changedMembers } = store;
  const put = <State>(kind: RecordKind, id: number, state: State | undefined, write: Write<State>): void =>
    dirty.put(kind, id, 0, state === undefined ? null : encoded((out) => write(out, id, state)));
  for (const id of changedTypes) put(RecordKind.TYPE, id, schema.stateOfType(id), writeType);
  changedTypes.clear();
  for (const id of changedEnums) put(RecordKind.ENUM, id, schema.stateOfEnum(id), writeEnum);
  changedEnums.clear();
  for (const id of changedMembers) {
    const members = [...schema.enum(id).known()].filter(({ refs }) => refs > 0);
    const value = encoded((out) => {
      for (const member of members.sort((a, b) => a.id - b.id)) {
        out.varint(member.id);
        out.varint(member.refs);
      }
    });
    dirty.put(RecordKind.MEMBER_REFS, id, 0, members.length === 0 ? null : value);
  }
  changedMembers.clear();
  for (const type of store.changedIndexes) {
    type.instances.flush((chunk, value) => dirty.put(RecordKind.INSTANCES, type.id, chunk, value));
  }
  store.changedIndexes.clear();
}

type Write<State> = (out: ByteWriter, id: number, state: State) => void;

function encoded(write: (out: ByteWriter) => void): Uint8Array {
  const out = new ByteWriter();
  write(out);
  return out.take();
}
