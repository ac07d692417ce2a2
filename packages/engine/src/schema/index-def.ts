/**
 * Definitions of indexes: which properties of a type the instances are found by, and in whose order.
 *
 *   index := id:varint type:varint flags:u8 name:text fields:varint field:varint*
 *
 * Ids of indexes are those of things: none is ever used again. Fields are named by their ids, so renaming one changes nothing here.
 */
import { type ByteReader, type ByteWriter, FormatError } from '../bytes.js';
import type { Definition } from './definition.js';

export const IndexFlag = {
  /** No two instances have the same values, none of which is nil. */
  UNIQUE: 1,
  /** Texts that differ in case alone are the same: by the folding of Unicode 15.0, so one of another version is another flag. */
  NO_CASE: 2,
  /** An instance expires when the moment in its property is over; see `state/expiry.ts`. */
  EXPIRES: 4,
} as const;

/** All flags. */
export const INDEX_FLAGS = IndexFlag.UNIQUE | IndexFlag.NO_CASE | IndexFlag.EXPIRES;

/** Indexes of one type, and of one collection, at most. */
export const TYPE_INDEXES_MAX = 16;
export const INDEXES_MAX = 1000;

/** Properties of one index at most. */
export const INDEX_FIELDS_MAX = 4;

/** The state of an index. Never changes; the next one replaces it. */
export interface IndexDef {
  readonly id: number;
  /** Id of the type. */
  readonly type: number;
  /** Bits of `IndexFlag`. */
  readonly flags: number;
  readonly name: string;
  /** Ids of the fields, the most significant one first. */
  readonly fields: readonly number[];
}

export function isUnique({ flags }: IndexDef): boolean {
  return (flags & IndexFlag.UNIQUE) !== 0;
}

export function ignoresCase({ flags }: IndexDef): boolean {
  return (flags & IndexFlag.NO_CASE) !== 0;
}

export function isExpiring({ flags }: IndexDef): boolean {
  return (flags & IndexFlag.EXPIRES) !== 0;
}

/** True if values of a definition are moments, or nil: dates, or Unix seconds. */
export function isMoment(definition: Definition): boolean {
  const kind = sortKindOf(definition);
  return kind === 'time' || kind === 'number';
}

export function writeIndexDef(out: ByteWriter, { id, type, flags, name, fields }: IndexDef): void {
  out.varint(id);
  out.varint(type);
  out.u8(flags);
  out.text(name);
  out.varints(fields);
}

export function readIndexDef(input: ByteReader): IndexDef {
  const def = {
    id: input.varint(),
    type: input.varint(),
    flags: input.u8(),
    name: input.text(),
    fields: input.varints(),
  };
  const { id, flags, fields } = def;
  if (fields.length === 0 || fields.length > INDEX_FIELDS_MAX || flags > INDEX_FLAGS)
    throw new FormatError(`the index ${id} has ${fields.length} properties and the flags ${flags}`);
  return def;
}

/** The values that order a property in an index. */
export type SortKind = 'text' | 'number' | 'bool' | 'time' | 'member' | 'thing';

/** The kind of values of a definition, nil aside; null for what an index can't have. */
export function sortKindOf({ base }: Definition): SortKind | null {
  switch (base.kind) {
    case 'str':
    case 'form':
    case 'pattern':
      return 'text';
    case 'int':
    case 'float':
      return 'number';
    case 'bool':
      return 'bool';
    case 'enum':
      return 'member';
    case 'type':
      return 'thing';
    case 'plain':
      return PLAIN_KINDS.get(base.name) ?? null;
    default:
      return null;
  }
}

const PLAIN_KINDS: ReadonlyMap<string, SortKind> = new Map<string, SortKind>([
  ['str', 'text'],
  ['utf8', 'text'],
  ['email', 'text'],
  ['url', 'text'],
  ['tel', 'text'],
  ['int', 'number'],
  ['uint', 'number'],
  ['pint', 'number'],
  ['nint', 'number'],
  ['float', 'number'],
  ['number', 'number'],
  ['bool', 'bool'],
  ['datetime', 'time'],
  ['timeval', 'time'],
  ['enum', 'member'],
  ['thing', 'thing'],
]);
