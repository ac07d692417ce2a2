/**
 * Nested structures of definitions: what a wrap-only type or an anonymous type shows of the things inside a thing.
 *
 *   structure  := id:text fields:varint (name:text definition)* methods:varint (name:text source:text)*
 *   definition := 00 text                 a stored text, see `definition.ts`
 *               | 01 structure            {..}
 *               | 02 structure            [{..}]
 *
 * `id` is the id name, empty for none.
 */
import { type ByteReader, type ByteWriter, encoded, FormatError } from '../bytes.js';
import { valueError } from '../error.js';
import { Closure } from '../value/closure.js';
import { Anonymous } from '../value/wrap.js';
import { type Definition, DefinitionFlag } from './definition.js';
import { readStored } from './parse-definition.js';

export interface Structure {
  /** The name under which the id is shown; null where ids are hidden. */
  readonly idName: string | null;
  readonly fields: readonly StructureField[];
  readonly methods: ReadonlyMap<string, Closure>;
}

export interface StructureField {
  readonly name: string;
  readonly definition: Definition;
}

/** Bytes of one nested structure at most, packed. */
export const STRUCTURE_BYTES_MAX = 16 * 1024;

/** Structures inside each other at most. */
export const STRUCTURE_NESTING_MAX = 100;

const TEXT = 0;
const THING = 1;
const LIST = 2;

/** The definition that shows a structure of a thing, or of the things of a list. */
export function nestedDefinition(structure: Structure, isList: boolean): Definition {
  return {
    flags: DefinitionFlag.DEEPER | DefinitionFlag.SKIP_NIL,
    base: { kind: 'nested', isList, structure },
    nillable: true,
    hasDefault: false,
    stored: '',
  };
}

export function writeDefinition(out: ByteWriter, { base, stored }: Definition): void {
  if (base.kind !== 'nested') {
    out.u8(TEXT);
    out.text(stored);
    return;
  }
  out.u8(base.isList ? LIST : THING);
  writeStructure(out, base.structure);
}

export function readDefinition(input: ByteReader): Definition {
  const kind = input.u8();
  switch (kind) {
    case TEXT:
      return readStored(input.text());
    case THING:
    case LIST:
      return nestedDefinition(readStructure(input), kind === LIST);
    default:
      throw new FormatError(`unknown definition ${kind}`);
  }
}

export function writeStructure(out: ByteWriter, { idName, fields, methods }: Structure): void {
  out.text(idName ?? '');
  out.varint(fields.length);
  for (const { name, definition } of fields) {
    out.text(name);
    writeDefinition(out, definition);
  }
  writeMethods(out, methods);
}

export function readStructure(input: ByteReader): Structure {
  const idName = input.text();
  const fields: StructureField[] = [];
  for (let count = input.varint(); count > 0; count--) {
    fields.push({ name: input.text(), definition: readDefinition(input) });
  }
  return { idName: idName === '' ? null : idName, fields, methods: readMethods(input) };
}

export function writeMethods(out: ByteWriter, methods: ReadonlyMap<string, Closure>): void {
  out.varint(methods.size);
  for (const [name, closure] of methods) {
    out.text(name);
    out.text(closure.store());
  }
}

export function readMethods(input: ByteReader): Map<string, Closure> {
  const methods = new Map<string, Closure>();
  for (let count = input.varint(); count > 0; count--) {
    const name = input.text();
    const source = input.text();
    methods.set(name, new Closure(source, null, source));
  }
  return methods;
}

/** The bytes of a structure, by which two are compared. */
export function structureBytes(structure: Structure): Uint8Array {
  return encoded(writeStructure, structure);
}

export function anonymousOf(structure: Structure): Anonymous {
  return new Anonymous(structure, structureBytes);
}

/** Throws value_err for a structure that is too large. */
export function assertStructureSize(structure: Structure): void {
  const { length } = structureBytes(structure);
  if (length > STRUCTURE_BYTES_MAX) {
    throw valueError(`a nested definition takes at most ${STRUCTURE_BYTES_MAX} bytes, not ${length}`);
  }
}
