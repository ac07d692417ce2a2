/** Fields and methods of types, as `set_type` and `mod_type` make them: what a definition may be in which type. */
import { LEVEL_OF_HIGH_IDS } from '../admin/level.js';
import { existsError, operationError, QueryError, quotaError, typeError, valueError } from '../error.js';
import type { Runtime } from '../run/runtime.js';
import { assertNotInUse, storedCopyOf, structureDefinition } from '../run/structure.js';
import { type Definition, isSchemaName, RESERVED_NAMES } from '../schema/definition.js';
import { assertName } from '../schema/name.js';
import { parseDefinition } from '../schema/parse-definition.js';
import { inWords, ruleOf } from '../schema/rule.js';
import { assertStructureSize } from '../schema/structure.js';
import {
  FIELDS_MAX,
  type Field,
  type FieldDef,
  METHODS_MAX,
  SELF_REFERENCES_MAX,
  type Type,
  type TypeDef,
  TypeFlag,
} from '../schema/type.js';
import { Closure } from '../value/closure.js';
import { List } from '../value/containers.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';

/** Throws value_err unless a type or enum may have this name; lookup_err when one has it already. */
export function assertNewName(rt: Runtime, name: string): void {
  assertName(name);
  if (RESERVED_NAMES.has(name)) throw valueError(`the name '${name}' is reserved`);
  if (rt.schema.has(name)) throw existsError(`there is a type or enum '${name}' already`);
}

/** Throws value_err unless a property, method or member may have this name. */
export function assertPartName(name: string): void {
  if (!isSchemaName(name)) throw valueError(`'${name}' is no name of a property, method or member`);
}

/** Throws lookup_err when a type has a property or method of this name, or shows ids under it. */
export function assertFreePart(def: TypeDef, name: string): void {
  const isTaken =
    def.idName === name || def.methods.has(name) || def.fields.some((field) => field.name === name);
  if (isTaken) throw existsError(`type \`${def.name}\` has a property or method \`${name}\` already`);
}

/**
 * Sets parts one after the other. The error of one can't be caught once another was set: so all of them are taken back.
 *
 * @param set whether it changed anything
 */
export function inSteps<Part>(parts: readonly Part[], set: (part: Part) => boolean): void {
  let isChanged = false;
  for (const part of parts) {
    try {
      isChanged = set(part) || isChanged;
    } catch (error) {
      throw isChanged && error instanceof QueryError ? error.asFatal() : error;
    }
  }
}

/** A type with one more property, method or id name: as a definition, closure, or nested structure says. */
export function withPart(rt: Runtime, def: TypeDef, name: string, given: Value): TypeDef {
  assertPartName(name);
  assertFreePart(def, name);
  if (isClosure(given)) return withMethod(rt, def, name, given);
  if (given === '#') {
    if (def.idName !== null)
      throw existsError(`type \`${def.name}\` shows ids under the name \`${def.idName}\` already`);
    return { ...def, idName: name };
  }
  return withField(rt, def, name, fieldDefinition(rt, def, name, given), null);
}

export function withMethod(rt: Runtime, def: TypeDef, name: string, closure: Closure): TypeDef {
  if (!def.methods.has(name) && def.methods.size >= METHODS_MAX) {
    throw quotaError(`a type has at most ${METHODS_MAX} methods`);
  }
  return { ...def, methods: new Map([...def.methods, [name, storedCopyOf(rt, closure)]]) };
}

/** The id of the next field: no other one of the type ever had it. */
export function nextFieldId({ schema }: Pick<Runtime, 'schema'>, { id, nextField }: TypeDef): number {
  return Math.max(nextField, schema.type(id).nextField);
}

/** @param initial what instances hold that are there already, if it is the same for all and refers to no thing */
export function withField(
  { schema }: Runtime,
  def: TypeDef,
  name: string,
  definition: Definition,
  initial: Value,
): TypeDef {
  if (def.fields.length >= FIELDS_MAX) throw quotaError(`a type has at most ${FIELDS_MAX} properties`);
  const id = nextFieldId({ schema }, def);
  const field: FieldDef = { id, name, definition, relation: null, initial, mark: { isUndone: false } };
  return { ...def, nextField: id + 1, fields: [...def.fields, field] };
}

/** The definition of a property, after checking that it can be one of the type. */
export function fieldDefinition(rt: Runtime, def: TypeDef, name: string, given: Value): Definition {
  const isWrapOnly = (def.flags & TypeFlag.WRAP_ONLY) !== 0;
  const definition = parsed(rt, def, name, given, isWrapOnly);
  assertNotInUse(rt, definition, def.id);
  const { base } = definition;
  if (base.kind === 'type' && !definition.nillable) {
    const other = base.id === def.id ? def : rt.schema.type(base.id).def;
    if (!isWrapOnly && other !== null && (other.flags & TypeFlag.WRAP_ONLY) !== 0) {
      throw typeError(
        `type \`${def.name}\`, property \`${name}\`: \`${other.name}\` only wraps, so it must be nillable here`,
      );
    }
    assertNoCircle(rt, def, name, base.id, isWrapOnly);
  }
  assertSelfReferences(def, definition);
  return definition;
}

function parsed(rt: Runtime, def: TypeDef, name: string, given: Value, isWrapOnly: boolean): Definition {
  if (typeof given === 'string') return parseDefinition(given, rt.schema);
  const isNested = given instanceof Thing || given instanceof List;
  if (isNested && isWrapOnly) {
    const definition = structureDefinition(rt, name, given, def.id, 0);
    if (definition.base.kind === 'nested') assertStructureSize(definition.base.structure);
    return definition;
  }
  if (isNested) throw nestedRefused(def.name, name);
  throw typeError(`type \`${def.name}\`, property \`${name}\`: expected a definition, got ${inWords(given)}`);
}

/** The error for a nested definition in a type that is not wrap-only. */
export function nestedRefused(type: string, name: string): QueryError {
  return valueError(`type \`${type}\`, property \`${name}\`: only a wrap-only type has nested definitions`);
}

/** Throws value_err when a new instance would need another one of its type, and so on without end. */
function assertNoCircle(rt: Runtime, def: TypeDef, name: string, first: number, isWrapOnly: boolean): void {
  if (first === def.id && isWrapOnly) return;
  const seen = new Set<number>();
  const open = [first];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id === def.id) {
      throw valueError(
        `type \`${def.name}\`, property \`${name}\`: each instance would need another one, without end; make it nillable`,
      );
    }
    if (seen.has(id)) continue;
    seen.add(id);
    rt.charge(64);
    for (const { definition } of rt.schema.type(id).def?.fields ?? []) {
      if (definition.base.kind === 'type' && !definition.nillable) open.push(definition.base.id);
    }
  }
}

function assertSelfReferences(def: TypeDef, definition: Definition): void {
  const isSelf = ({ base }: Definition): boolean =>
    (base.kind === 'type' && base.id === def.id) ||
    ('item' in base && base.item?.base.kind === 'type' && base.item.base.id === def.id);
  if (!isSelf(definition)) return;
  const count = def.fields.filter((field) => isSelf(field.definition)).length;
  if (count >= SELF_REFERENCES_MAX)
    throw quotaError(`a type names itself at most ${SELF_REFERENCES_MAX} times`);
}

/** A field with its rule that is not a part of its type yet, for checking values. */
export function provisionalField(type: Type, def: FieldDef): Field {
  const field = { ...def, type, slot: -1 };
  return Object.assign(field, { rule: ruleOf(field) });
}

/** Throws operation_err while instances of a type are being iterated or assigned to. */
export function assertUnlocked(type: Type): void {
  if (type.locks > 0)
    throw operationError(`an instance of \`${type.name}\` is in use: its type can not be changed now`);
}

export function isClosure(value: Value): value is Closure {
  return value instanceof Closure;
}

/**
 * The id of a new type or enum.
 *
 * @param count of those that are there
 * @throws QueryError max_quota_err where a collection has as many as it may, or an older node could not read the id
 */
export function idWithRoom(
  { root }: Runtime,
  what: string,
  { count, id, max }: { readonly count: number; readonly id: number; readonly max: number },
): number {
  if (count >= max) throw quotaError(`a collection has at most ${max} ${what}`);
  if (id >= max && root.level < LEVEL_OF_HIGH_IDS) {
    throw quotaError(
      `a collection has at most ${max} ${what}, deleted ones included, as long as older nodes are there`,
    );
  }
  return id;
}
