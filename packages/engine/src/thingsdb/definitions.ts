/**
 * Definitions of properties in data of ThingsDB: texts as users wrote them, and nested ones as the MessagePack of their map, or of a
 * list with it.
 */
import { type Definition, isSchemaName, type Names } from '../schema/definition.js';
import { parseDefinition } from '../schema/parse-definition.js';
import {
  nestedDefinition,
  STRUCTURE_BYTES_MAX,
  STRUCTURE_NESTING_MAX,
  type Structure,
  type StructureField,
} from '../schema/structure.js';
import type { Closure } from '../value/closure.js';
import { DataInput } from './input.js';
import { closureOf, messageOf } from './texts.js';

const NO_NAMES: Names = { typeId: () => undefined, enumId: () => undefined, memberId: () => undefined };

/** The definition of a property. @param isWrapOnly whether its type may nest others */
export function readDefinition(
  input: DataInput,
  names: Names,
  isWrapOnly: boolean,
  charge: (units: number) => void,
): Definition {
  const { offset } = input;
  if (input.token() !== 'bin') return parsed(input.text('a definition'), names, input, offset);
  const data = input.bin();
  if (!isWrapOnly) input.fail('only a wrap-only type has nested definitions', offset);
  if (data.length > STRUCTURE_BYTES_MAX) input.fail('a nested definition is too long', offset);
  const inner = new DataInput(data, charge, offset);
  const definition = nested(inner, names, 1);
  inner.end('a definition');
  return definition;
}

/**
 * The structure of a map.
 *
 * @param names of types and enums; null where none may be named
 */
export function readStructure(input: DataInput, names: Names | null, level = 0): Structure {
  if (level > STRUCTURE_NESTING_MAX) input.fail('definitions are nested too deeply');
  const seen = new Set<string>();
  const fields: StructureField[] = [];
  const methods = new Map<string, Closure>();
  let idName: string | null = null;
  for (let left = input.map('a definition'); left > 0; left--) {
    const { offset } = input;
    const name = input.text('the name of a property');
    if (!isSchemaName(name) || seen.has(name)) input.fail(`a second property '${name}', or no name`, offset);
    seen.add(name);
    if (input.token() !== 'str') {
      fields.push({ name, definition: nested(input, names, level + 1) });
      continue;
    }
    const place = input.offset;
    const text = input.text('a definition');
    if (text.startsWith('|')) methods.set(name, closureOf(text, input, place));
    else if (text !== '#') fields.push({ name, definition: parsed(text, names ?? NO_NAMES, input, place) });
    else if (idName === null) idName = name;
    else input.fail('a second name of the id', place);
  }
  return { idName, fields, methods };
}

function nested(input: DataInput, names: Names | null, level: number): Definition {
  const isList = input.token() === 'array';
  if (isList) input.parts(1, 'a nested definition');
  return nestedDefinition(readStructure(input, names, level), isList);
}

function parsed(text: string, names: Names, input: DataInput, offset: number): Definition {
  try {
    return parseDefinition(text, names);
  } catch (error) {
    return input.fail(messageOf(error), offset);
  }
}
