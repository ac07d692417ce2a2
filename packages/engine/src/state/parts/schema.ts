/**
 * Types and enums as a part of the state of a collection: their effects, their records, and the hand that changes them on a leader.
 *
 *   effect := 10 type                         new or changed type; `type` as in `schema/type.ts`
 *           | 11 id:varint name:text          the type is deleted, or the name of a deleted type changes; instances become plain
 *           | 12 enum                         new or changed enum; `enum` as in `schema/enum.ts`
 *           | 13 id:varint name:text          the enum is deleted
 *           | 14 thing:varint type:varint     a plain thing becomes an instance of type - 1; 0: an instance becomes plain
 *
 * Records: TYPE (id) holds `type`, ENUM (id) `enum`, INSTANCES (type, chunk) a part of the index of a type, see `schema/id-set.ts`,
 * and MEMBER_REFS (enum) `refs`.
 */
import { ByteReader, ByteWriter, FormatError } from '../../bytes.js';
import type { Catalog, EnumState, TypeState } from '../../schema/catalog.js';
import type { EnumDef } from '../../schema/enum.js';
import { ENUMS_MAX, type FieldDef, TYPES_MAX, type Type, type TypeDef } from '../../schema/type.js';
import type { Thing } from '../../value/thing.js';
import { bringBack } from '../migrate.js';
import { RecordKind } from '../records.js';
import type { Store } from '../store.js';
import type { Transaction } from '../transaction.js';
import { type GroupPart, unknownEffect } from './part.js';
import { readEnum, readType, writeEnum, writeType } from './schema-codec.js';

const Effect = {
  PUT_TYPE: 0x10,
  DROP_TYPE: 0x11,
  PUT_ENUM: 0x12,
  DROP_ENUM: 0x13,
  CONVERT: 0x14,
} as const;

const KINDS = [RecordKind.TYPE, RecordKind.ENUM, RecordKind.INSTANCES, RecordKind.MEMBER_REFS] as const;

/** The state itself is the catalog of the store, which things can not be read without. */
export class Schema implements GroupPart {
  readonly effects = Object.values(Effect);
  readonly kinds = KINDS;
  private readonly store: Store;

  constructor(store: Store) {
    this.store = store;
  }

  apply(operation: number, input: ByteReader): void {
    const { store } = this;
    const { schema } = store;
    switch (operation) {
      case Effect.PUT_TYPE: {
        const { id, state } = readType(input, store);
        putType(schema, id, state, store.changedTypes);
        break;
      }
      case Effect.DROP_TYPE: {
        const id = input.varint();
        const name = input.text();
        const type = schema.type(id);
        store.makePlain(type);
        putType(schema, id, { gone: name, generation: type.generation }, store.changedTypes);
        break;
      }
      case Effect.PUT_ENUM: {
        const { id, state } = readEnum(input, store);
        store.setEnum(id, state);
        break;
      }
      case Effect.DROP_ENUM: {
        const id = input.varint();
        store.setEnum(id, { gone: input.text() });
        break;
      }
      case Effect.CONVERT: {
        const thing = store.thingOfId(input.varint());
        const type = input.varint();
        store.convert(thing, type === 0 ? null : schema.type(type - 1));
        break;
      }
      default:
        throw unknownEffect(operation);
    }
  }

  load(kind: RecordKind, id: number, part: number, value: Uint8Array): void {
    const { store } = this;
    const { schema } = store;
    const input = new ByteReader(value);
    switch (kind) {
      case RecordKind.TYPE: {
        const { state } = readType(input, store);
        schema.setType(id, state);
        if (id >= schema.nextType) schema.nextType = id + 1;
        break;
      }
      case RecordKind.ENUM: {
        const { state } = readEnum(input, store);
        // The references of its values are counted already, in the records of things.
        schema.setEnum(id, state);
        for (const { value } of schema.enum(id).members) store.hold(value);
        if (id >= schema.nextEnum) schema.nextEnum = id + 1;
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

/** Writes that a plain thing becomes an instance of a type, or an instance plain. */
export function writeConvert(out: ByteWriter, thing: Thing, type: Type | null): void {
  out.u8(Effect.CONVERT);
  out.varint(thing.id);
  out.varint(type === null ? 0 : type.id + 1);
}

/** Writes all types, those that are gone too: their ids are not given again. */
export function writeTypes(out: ByteWriter, { schema }: Store): void {
  writeStates(out, schema.nextType, (id) => schema.stateOfType(id), writeType);
}

/** Writes all enums. */
export function writeEnums(out: ByteWriter, { schema }: Store): void {
  writeStates(out, schema.nextEnum, (id) => schema.stateOfEnum(id), writeEnum);
}

function writeStates<State extends object>(
  out: ByteWriter,
  end: number,
  stateOf: (id: number) => State | undefined,
  write: (out: ByteWriter, id: number, state: State) => void,
): void {
  const ids = Array.from({ length: end }, (_, id) => id).filter((id) => stateOf(id) !== undefined);
  out.varint(ids.length);
  for (const id of ids) {
    const state = stateOf(id);
    if (state !== undefined) write(out, id, state);
  }
}

/**
 * Takes up what `writeTypes` wrote, in a collection that has no types.
 *
 * @returns the way back
 */
export function readTypes(input: ByteReader, store: Store): () => void {
  const { schema } = store;
  const { nextType } = schema;
  const ids = readStates(input, TYPES_MAX, () => {
    const { id, state } = readType(input, store);
    assertNew(id, TYPES_MAX, schema.stateOfType(id));
    putType(schema, id, state, store.changedTypes);
    return id;
  });
  return () => {
    for (const id of ids) {
      schema.setType(id, undefined);
      store.changedTypes.add(id);
    }
    schema.nextType = nextType;
  };
}

/**
 * Takes up what `writeEnums` wrote, in a collection that has no enums; the things that they name are there.
 *
 * @returns the way back
 */
export function readEnums(input: ByteReader, store: Store): () => void {
  const { schema } = store;
  const { nextEnum } = schema;
  const ids = readStates(input, ENUMS_MAX, () => {
    const { id, state } = readEnum(input, store);
    assertNew(id, ENUMS_MAX, schema.stateOfEnum(id));
    store.setEnum(id, state);
    return id;
  });
  return () => {
    for (const id of ids) store.setEnum(id, undefined);
    schema.nextEnum = nextEnum;
  };
}

function readStates(input: ByteReader, max: number, read: () => number): number[] {
  const count = input.varint();
  if (count > max) throw new FormatError(`${count} types or enums`);
  return Array.from({ length: count }, read);
}

function assertNew(id: number, max: number, state: object | undefined): void {
  if (id >= max || state !== undefined) throw new FormatError(`the id ${id} of a type or enum can not be`);
}

function putType(schema: Catalog, id: number, state: TypeState, changed: Set<number>): void {
  schema.setType(id, state);
  changed.add(id);
}

/** What a query pays whenever a type changes, and for each of its fields and methods; and for each member of an enum. */
const UNITS_PER_TYPE = 2048;
const UNITS_PER_FIELD = 64;
const UNITS_PER_MEMBER = 16;

/** Changes types and enums in a query: applies, records the effect, and records the way back. */
export class SchemaEditor {
  private readonly store: Store;
  private readonly transaction: Transaction;

  constructor(store: Store, transaction: Transaction) {
    this.store = store;
    this.transaction = transaction;
  }

  /** Makes a new type, or replaces what is known of one. */
  putType(def: TypeDef): void {
    const { transaction } = this;
    transaction.chargeUnits(UNITS_PER_TYPE + UNITS_PER_FIELD * (def.fields.length + def.methods.size));
    transaction.effects.u8(Effect.PUT_TYPE);
    writeType(transaction.effects, def.id, def);
    this.set(def.id, def);
  }

  /** Deletes a type, whose instances become plain things; or gives a deleted type another name. */
  dropType(type: Type, name: string): void {
    const { store, transaction } = this;
    transaction.effects.u8(Effect.DROP_TYPE);
    transaction.effects.varint(type.id);
    transaction.effects.text(name);
    const instances = type.instances.size;
    const back = store.makePlain(type, (units) => transaction.chargeUnits(units));
    transaction.onUndo(back, NS_PER_TYPE + NS_PER_INSTANCE * instances);
    this.set(type.id, { gone: name, generation: type.generation });
  }

  putEnum(def: EnumDef): void {
    const { transaction } = this;
    transaction.chargeUnits(UNITS_PER_MEMBER * def.members.length);
    transaction.storeValues(def.members.map(({ value }) => value));
    transaction.effects.u8(Effect.PUT_ENUM);
    writeEnum(transaction.effects, def.id, def);
    this.setEnum(def.id, def);
  }

  dropEnum(id: number, name: string): void {
    const { transaction } = this;
    transaction.effects.u8(Effect.DROP_ENUM);
    transaction.effects.varint(id);
    transaction.effects.text(name);
    this.setEnum(id, { gone: name });
  }

  private set(id: number, state: TypeState): void {
    const { store, transaction } = this;
    const { schema } = store;
    const before = schema.stateOfType(id);
    const { nextType } = schema;
    const rescue = schema.setType(id, state);
    store.changedTypes.add(id);
    const back = (): void => {
      for (const { mark } of addedFields(before, state)) mark.isUndone = true;
      schema.setType(id, before);
      schema.nextType = nextType;
      store.changedTypes.add(id);
      // What was dropped goes back at once: nobody holds it behind this, and a checkpoint saves the fields that an instance has.
      if (rescue !== null) bringBack(rescue, schema.type(id), store);
    };
    const def = defIn(before);
    const fields = def === null ? 0 : def.fields.length + def.methods.size;
    transaction.onUndo(back, NS_PER_TYPE + NS_PER_FIELD * fields);
  }

  private setEnum(id: number, state: EnumState): void {
    const { store, transaction } = this;
    const { schema } = store;
    const before = schema.stateOfEnum(id);
    const { nextEnum } = schema;
    if (before !== undefined) transaction.noteDroppedMembers();
    store.setEnum(id, state);
    const back = (): void => {
      store.setEnum(id, before);
      schema.nextEnum = nextEnum;
    };
    const members = before !== undefined && 'members' in before ? before.members.length : 0;
    transaction.onUndo(back, NS_PER_TYPE + NS_PER_ENUM_MEMBER * members);
  }
}

/** The fields that a type has in a state and did not have in the one before. */
function addedFields(before: TypeState, now: TypeState): readonly FieldDef[] {
  const known = new Set(defIn(before)?.fields.map(({ mark }) => mark));
  return defIn(now)?.fields.filter(({ mark }) => !known.has(mark)) ?? [];
}

function defIn(state: TypeState): TypeDef | null {
  return state !== undefined && 'fields' in state ? state : null;
}

/** How long it takes to take the change of a type or enum back, and what each part of it adds, in nanoseconds, as measured. */
const NS_PER_TYPE = 2000;
const NS_PER_FIELD = 1400;
const NS_PER_INSTANCE = 600;
const NS_PER_ENUM_MEMBER = 120;

function flushSchema(store: Store): void {
  const { schema, dirty, changedTypes, changedEnums, changedMembers } = store;
  for (const id of changedTypes) {
    const state = schema.stateOfType(id);
    dirty.put(
      RecordKind.TYPE,
      id,
      0,
      state === undefined ? null : encoded((out) => writeType(out, id, state)),
    );
  }
  changedTypes.clear();
  for (const id of changedEnums) {
    const state = schema.stateOfEnum(id);
    dirty.put(
      RecordKind.ENUM,
      id,
      0,
      state === undefined ? null : encoded((out) => writeEnum(out, id, state)),
    );
  }
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

function encoded(write: (out: ByteWriter) => void): Uint8Array {
  const out = new ByteWriter();
  write(out);
  return out.take();
}

export function isSchemaKind(kind: number): boolean {
  return KINDS.some((known) => known === kind);
}
