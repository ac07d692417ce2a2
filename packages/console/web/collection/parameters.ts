/** The fields of a procedure's form: from `@param NAME DEFINITION` in its documentation, else from its parameters alone. */
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
}: Pick<ProcedureInfo, 'doc' | 'arguments'>): Parameter[] {
  const definitions = new Map(
    [...doc.matchAll(/^\s*@param\s+(\w+)\s+(.+?)\s*$/gm)].map(([, name = '', definition = '']) => [
      name,
      definition,
    ]),
  );
  return names.map((name) => {
    const definition = definitions.get(name) ?? '';
    return { name, definition, type: typeFor(definition), isOptional: definition.endsWith('?') };
  });
}

/** What a procedure gives, as its documentation says; empty for nothing. */
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
