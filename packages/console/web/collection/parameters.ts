/**
 * The fields of a procedure's form: from the definitions of its parameters, else from `@param NAME DEFINITION` in its documentation, else from
 * calls of `type_assert` in its source, else from the names alone.
 */
import type { VariableType } from '../query/variables.js';
import type { ProcedureInfo } from '../state/names.js';

export interface Parameter {
  readonly name: string;
  /** As the documentation has it; empty for none. */
  readonly definition: string;
  /** The type that the form begins with. */
  readonly type: VariableType;
  readonly isOptional: boolean;
}

export function parametersOf({
  doc,
  arguments: names,
  definitions,
  definition: source,
}: Pick<ProcedureInfo, 'doc' | 'arguments' | 'definitions' | 'definition'>): Parameter[] {
  const described = new Map(
    [...doc.matchAll(/^\s*@param\s+(\w+)\s+(.+?)\s*$/gm)].map(([, name = '', text = '']) => [name, text]),
  );
  const asserted = assertedTypes(source);
  return names.map((name, i) => {
    const definition = definitions[i] || described.get(name) || asserted.get(name) || '';
    return { name, definition, type: typeFor(definition), isOptional: definition.endsWith('?') };
  });
}

/** Types by what they are asserted of: `type_assert(age, 'int')`, or a list of names, of which nil makes it optional. */
function assertedTypes(source: string): ReadonlyMap<string, string> {
  const calls = source.matchAll(/\btype_assert\(\s*(\w+)\s*,\s*(\[[^\]]*\]|'[^']*'|"[^"]*")/g);
  return new Map(
    [...calls].map(([, name = '', text = '']) => {
      const types: readonly string[] = text.match(/\w+/g) ?? [];
      const [first = '', ...others] = types.filter((type) => type !== 'nil');
      const definition = others.length > 0 ? 'any' : first;
      return [name, types.includes('nil') ? `${definition}?` : definition];
    }),
  );
}

/** The result of a procedure, as its documentation says; empty for none. */
export function returnsOf(doc: string): string {
  return /^\s*@returns\s+(.+?)\s*$/m.exec(doc)?.[1] ?? '';
}

/** The documentation without these lines. */
export function proseOf(doc: string): string {
  return doc.replace(/^\s*@(?:param|returns)\b.*$/gm, '').trim();
}

function typeFor(definition: string): VariableType {
  const plain = definition.replace(/\?$/, '');
  if (/^(u?int|pint|nint)\b/.test(plain)) return 'int';
  if (/^(float|number)\b/.test(plain)) return 'float';
  if (/^bool\b/.test(plain)) return 'bool';
  if (/^bytes\b/.test(plain)) return 'bytes';
  return /^(thing|any|\[|\{|[A-Z])/.test(plain) ? 'json' : 'str';
}
