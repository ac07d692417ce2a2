/** Structures from things: what `&{..}`, `ano(..)` and the nested definitions of wrap-only types are made of. */
import { existsError, typeError, valueError } from '../error.js';
import { type Definition, isSchemaName, type Names, referencesOf } from '../schema/definition.js';
import { parseDefinition } from '../schema/parse-definition.js';
import { inWords } from '../schema/rule.js';
import {
  assertStructureSize,
  nestedDefinition,
  STRUCTURE_NESTING_MAX,
  type Structure,
  type StructureField,
} from '../schema/structure.js';
import { Closure } from '../value/closure.js';
import { List } from '../value/containers.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { assertUnused } from './instance.js';
import type { Runtime } from './runtime.js';

/** The owner of a structure: a type, by its id, or nothing with a name. */
export type Owner = number | 'anonymous';

/**
 * A structure of the entries of a thing.
 *
 * @param own what it belongs to: the id of a type, which may be in use; 'anonymous' for what may name no types and enums
 * @throws QueryError as the definitions do; value_err for a bad name, or a list without exactly one thing; lookup_err for a second
 *   name of the id
 */
export function structureOf(
  rt: Runtime,
  entries: ReadonlyMap<string, Value>,
  own: Owner,
  level = 0,
): Structure {
  if (level > STRUCTURE_NESTING_MAX) {
    throw valueError(`definitions are nested at most ${STRUCTURE_NESTING_MAX} deep`);
  }
  const fields: StructureField[] = [];
  const methods = new Map<string, Closure>();
  let idName: string | null = null;
  for (const [name, value] of entries) {
    rt.charge(UNITS_PER_ENTRY);
    if (!isSchemaName(name)) throw valueError(`'${name}' is no name of a property`);
    if (value instanceof Closure) methods.set(name, storedCopyOf(rt, value));
    else if (typeof value === 'string' && value.startsWith('|'))
      methods.set(name, storedCopyOf(rt, rt.compileText(value)));
    else if (value === '#') {
      if (idName !== null) throw existsError(`ids are shown under the name \`${idName}\` already`);
      idName = name;
    } else fields.push({ name, definition: structureDefinition(rt, name, value, own, level) });
  }
  const structure = { idName, fields, methods };
  if (level === 0) assertStructureSize(structure);
  return structure;
}

/** A definition that may be a text, a thing, or a list with one thing. */
export function structureDefinition(
  rt: Runtime,
  name: string,
  value: Value,
  own: Owner,
  level: number,
): Definition {
  if (typeof value === 'string') {
    const definition = parseDefinition(value, own === 'anonymous' ? NO_NAMES : rt.schema);
    assertNotInUse(rt, definition, own);
    return definition;
  }
  if (value instanceof Thing) {
    return nestedDefinition(structureOf(rt, entriesOf(value), own, level + 1), false);
  }
  if (value instanceof List) {
    const [item] = value.items;
    if (value.length !== 1)
      throw valueError(`property \`${name}\`: a nested list has exactly one thing, not ${value.length}`);
    if (!(item instanceof Thing))
      throw typeError(`property \`${name}\`: a nested list has a thing, not ${inWords(item ?? null)}`);
    return nestedDefinition(structureOf(rt, entriesOf(item), own, level + 1), true);
  }
  throw typeError(`property \`${name}\`: expected a definition, got ${inWords(value)}`);
}

/** Throws operation_err when a definition names a type or enum that is in use. */
export function assertNotInUse(rt: Runtime, definition: Definition, own: Owner): void {
  const { types, enums } = referencesOf(definition);
  for (const id of types) if (id !== own) assertUnused(rt.schema.type(id));
  for (const { id } of enums) assertUnused(rt.schema.enum(id));
}

/**
 * A closure of its own: what happens to the original does not matter to it. It is compiled from its own text, so that places of errors in
 * it are not those of the query that it came with.
 */
export function storedCopyOf(rt: Runtime, closure: Closure): Closure {
  rt.charge(closure.unitsToStore);
  return new Closure(closure.source, null, closure.store());
}

function entriesOf(thing: Thing): ReadonlyMap<string, Value> {
  // Brings it into memory.
  void thing.type;
  return new Map(thing.entries());
}

/** Units charged for an entry, whose definition is parsed. */
const UNITS_PER_ENTRY = 256;

const NO_NAMES: Names = { typeId: () => undefined, enumId: () => undefined, memberId: () => undefined };
