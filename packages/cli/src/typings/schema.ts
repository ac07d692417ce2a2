/** The schema of a collection as a node tells it, as far as types are made of it. */
import { isWireList, isWireMap, type WireValue } from '@althing/client';

export interface Schema {
  readonly types: readonly TypeInfo[];
  readonly enums: readonly EnumInfo[];
  readonly procedures: readonly ProcedureInfo[];
  /** The type of the root; null for a plain thing. */
  readonly root: string | null;
}

export interface TypeInfo {
  readonly name: string;
  readonly hasId: boolean;
  readonly fields: readonly (readonly [name: string, definition: FieldDefinition])[];
  /** Computed properties of what is wrapped. */
  readonly computed: readonly string[];
}

/** A definition, or those of a nested thing, or of the items of a list. */
export type FieldDefinition = string | readonly FieldDefinition[] | ReadonlyMap<string, FieldDefinition>;

export interface EnumInfo {
  readonly name: string;
  readonly values: readonly WireValue[];
}

export interface ParameterInfo {
  readonly name: string;
  /** Undefined for anything. */
  readonly definition: string | undefined;
}

export interface ProcedureInfo {
  readonly name: string;
  readonly doc: string;
  readonly parameters: readonly ParameterInfo[];
}

/** The code that asks for all of it; it takes the privilege QUERY, and its answer does not depend on who asks. */
export const SCHEMA_CODE = 'return [types_info(), enums_info(), procedures_info(), type(root())], 127;';

/**
 * Reads the answer.
 *
 * @throws {TypeError} for what is none
 */
export function schemaOf(answer: WireValue): Schema {
  const [types, enums, procedures, root] = listOf(answer);
  return {
    types: listOf(types).map(typeInfoOf).sort(byName),
    enums: listOf(enums).map(enumInfoOf).sort(byName),
    procedures: listOf(procedures).map(procedureInfoOf).sort(byName),
    root: root === 'thing' ? null : textOf(root),
  };
}

function typeInfoOf(value: WireValue): TypeInfo {
  const info = mapOf(value);
  const isWrap = info.get('wrap_only') === true;
  return {
    name: textOf(info.get('name')),
    hasId: info.get('hide_id') !== true,
    fields: listOf(info.get('fields')).map((field) => {
      const [name, definition] = listOf(field);
      return [textOf(name), definitionOf(definition)] as const;
    }),
    computed: isWrap ? [...mapOf(info.get('methods')).keys()].sort() : [],
  };
}

function definitionOf(value: WireValue | undefined): FieldDefinition {
  if (typeof value === 'string') return value;
  if (isWireList(value)) return value.map(definitionOf);
  return new Map([...mapOf(value)].map(([name, inner]) => [name, definitionOf(inner)]));
}

function enumInfoOf(value: WireValue): EnumInfo {
  const info = mapOf(value);
  const values = listOf(info.get('members')).map((member) => listOf(member)[1] ?? null);
  return { name: textOf(info.get('name')), values };
}

function procedureInfoOf(value: WireValue): ProcedureInfo {
  const info = mapOf(value);
  const definitions = info.has('definitions') ? listOf(info.get('definitions')) : [];
  return {
    name: textOf(info.get('name')),
    doc: textOf(info.get('doc')),
    parameters: listOf(info.get('arguments')).map((parameter, i) => {
      const definition = definitions[i];
      return { name: textOf(parameter), definition: typeof definition === 'string' ? definition : undefined };
    }),
  };
}

/** Compares by code units, so that the order depends on no language of a machine. */
function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

function listOf(value: WireValue | undefined): readonly WireValue[] {
  if (!isWireList(value)) throw new TypeError(OTHERWISE);
  return value;
}

function mapOf(value: WireValue | undefined): ReadonlyMap<string, WireValue> {
  if (!isWireMap(value)) throw new TypeError(OTHERWISE);
  return value;
}

function textOf(value: WireValue | undefined): string {
  if (typeof value !== 'string') throw new TypeError(OTHERWISE);
  return value;
}

const OTHERWISE = 'the node describes the collection in another way than is known here';
