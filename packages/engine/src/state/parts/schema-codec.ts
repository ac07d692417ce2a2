/** Types and enums as bytes, in effects, in records and in dumps: see `schema/type.ts` and `schema/enum.ts` for the forms. */
import { type ByteReader, type ByteWriter, FormatError } from '../../bytes.js';
import type { EnumState, TypeState } from '../../schema/catalog.js';
import type { MemberDef } from '../../schema/enum.js';
import { readDefinition, readMethods, writeDefinition, writeMethods } from '../../schema/structure.js';
import type { FieldDef, RelationEnd, Successor, TypeDef } from '../../schema/type.js';
import { noteProgress, type References, readValue, writeValue } from '../value-codec.js';

/** Stands in the place of the flags of a type, or of the time when an enum was made, for one that is gone. */
const GONE = 0x80;

/** Kinds of fields, where their relation stands. */
const RELATED = 1;
const SUCCESSOR = 2;

export function writeType(out: ByteWriter, id: number, state: NonNullable<TypeState>): void {
  out.varint(id);
  if ('gone' in state) {
    out.text(state.gone);
    out.u8(GONE);
    out.varint(state.generation);
    return;
  }
  out.text(state.name);
  out.u8(state.flags);
  out.varint(state.generation);
  out.varint(state.createdAt);
  out.varint(state.modifiedAt ?? 0);
  out.text(state.idName ?? '');
  out.varint(state.nextField);
  const { fields, successor } = state;
  const all = successor === null ? fields : [...fields, successor];
  out.varint(all.length);
  for (const field of all) {
    out.varint(field.id);
    out.text(field.name);
    writeDefinition(out, field.definition);
    if (field === successor) {
      out.u8(SUCCESSOR);
      out.varint(successor.of);
    } else writeRelation(out, field.relation);
    writeValue(out, field.initial);
  }
  writeMethods(out, state.methods);
}

/** Finds what definitions mention, and what a type was before. */
export interface KnownTypes extends References {
  readonly schema: { type(id: number): { readonly def: TypeDef | null } };
}

export function readType(
  input: ByteReader,
  known: KnownTypes,
): { readonly id: number; readonly state: NonNullable<TypeState> } {
  const id = input.varint();
  const name = input.text();
  const flags = input.u8();
  const generation = input.varint();
  if (flags === GONE) return { id, state: { gone: name, generation } };
  const createdAt = input.varint();
  const modifiedAt = input.varint();
  const idName = input.text();
  const nextField = input.varint();
  const def = known.schema.type(id).def;
  const before = [...(def?.fields ?? []), ...(def?.successor ? [def.successor] : [])];
  const fields: FieldDef[] = [];
  let successor: Successor | null = null;
  for (let count = input.varint(); count > 0; count--) {
    const fieldId = input.varint();
    // A field of the same id is the same field: its values stay.
    const mark = before.find((field) => field.id === fieldId)?.mark ?? { isUndone: false };
    const begun = { id: fieldId, name: input.text(), definition: readDefinition(input), mark };
    const kind = input.u8();
    if (kind === SUCCESSOR) {
      const of = input.varint();
      successor = { ...begun, relation: null, initial: readValue(input, known), of };
    } else fields.push({ ...begun, relation: readRelation(input, kind), initial: readValue(input, known) });
  }
  const state = {
    id,
    name,
    flags,
    generation,
    createdAt,
    modifiedAt: modifiedAt === 0 ? null : modifiedAt,
    idName: idName === '' ? null : idName,
    nextField,
    fields,
    successor,
    methods: readMethods(input),
  };
  return { id, state };
}

function writeRelation(out: ByteWriter, relation: RelationEnd | null): void {
  out.u8(relation === null ? 0 : RELATED);
  if (relation === null) return;
  out.varint(relation.type);
  out.varint(relation.field);
}

function readRelation(input: ByteReader, kind: number): RelationEnd | null {
  return kind === RELATED ? { type: input.varint(), field: input.varint() } : null;
}

export function writeEnum(out: ByteWriter, id: number, state: NonNullable<EnumState>): void {
  out.varint(id);
  if ('gone' in state) {
    out.text(state.gone);
    out.u8(GONE);
    return;
  }
  out.text(state.name);
  out.u8(0);
  out.varint(state.createdAt);
  out.varint(state.modifiedAt ?? 0);
  out.varint(state.nextMember);
  out.varint(state.members.length);
  let from = out.length;
  for (const { id: memberId, name, value } of state.members) {
    out.varint(memberId);
    out.text(name);
    writeValue(out, value);
    from = noteProgress(out, from);
  }
  writeMethods(out, state.methods);
}

export function readEnum(
  input: ByteReader,
  known: References,
): { readonly id: number; readonly state: NonNullable<EnumState> } {
  const id = input.varint();
  const name = input.text();
  const head = input.u8();
  if (head === GONE) return { id, state: { gone: name } };
  if (head !== 0) throw new FormatError(`unknown form ${head} of an enum`);
  const createdAt = input.varint();
  const modifiedAt = input.varint();
  const nextMember = input.varint();
  const members: MemberDef[] = [];
  for (let count = input.varint(); count > 0; count--) {
    members.push({ id: input.varint(), name: input.text(), value: readValue(input, known) });
  }
  const def = {
    id,
    name,
    createdAt,
    modifiedAt: modifiedAt === 0 ? null : modifiedAt,
    nextMember,
    members,
    methods: readMethods(input),
  };
  return { id, state: def };
}
