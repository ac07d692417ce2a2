/** The types of a collection as a file of TypeScript: in stable order and without a date, so that the same collection gives the same bytes. */
import { isWireBytes, type WireValue } from '@althing/client';
import { type Names, PACKAGE, type Place, typeOfDefinition } from './definition.js';
import type { EnumInfo, FieldDefinition, ProcedureInfo, Schema, TypeInfo } from './schema.js';

/** @param collection its name */
export function writeTypes(collection: string, schema: Schema): string {
  const names = namesOf(collection, schema);
  const parts = [
    `/** Types of the collection ${collection}, written by \`althing types //${collection}\`. Do not edit. */`,
    `import type * as ${PACKAGE} from '@althing/client';`,
    '',
    ...schema.enums.flatMap((each) => [enumType(each, names), '']),
    ...schema.types.flatMap((each) => [...typeLines(each, names), '']),
    ...collectionLines(schema, names),
    '',
  ];
  return parts.join('\n');
}

interface AllNames extends Names {
  readonly collection: string;
}

/** Words of TypeScript that can't be names of types, and names that would hide those that the file uses. */
const RESERVED: ReadonlySet<string> = new Set(
  `any as async await bigint boolean break case catch class const continue debugger default delete do else enum export extends false
  finally for function if implements import in instanceof interface let never new null number object package private protected public
  return static string super switch symbol this throw true try type typeof undefined unknown var void while with yield Uint8Array`.split(
    /\s+/,
  ),
);

function namesOf(collection: string, { types, enums }: Schema): AllNames {
  const known = new Map<string, { text: string; isEnum: boolean }>();
  for (const { name } of types)
    known.set(name, { text: RESERVED.has(name) ? `${name}$` : name, isEnum: false });
  for (const { name } of enums)
    known.set(name, { text: RESERVED.has(name) ? `${name}$` : name, isEnum: true });
  const plain = collection.charAt(0).toUpperCase() + collection.slice(1);
  return {
    typeOf: (name) => known.get(name),
    collection: known.has(plain) || RESERVED.has(plain) ? `${plain}$` : plain,
  };
}

function enumType({ name, values }: EnumInfo, names: AllNames): string {
  const types = [...new Set(values.map(literalType))];
  return `export type ${typeName(name, names)} = ${types.length === 0 ? 'never' : types.join(' | ')};`;
}

/** The type of one value: a text or a number stands for itself. */
function literalType(value: WireValue): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? String(value) : `${value}n`;
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'number';
  return isWireBytes(value) ? 'Uint8Array' : 'unknown';
}

function typeLines(type: TypeInfo, names: AllNames): string[] {
  const { name, fields, hasId, computed } = type;
  const idName = fields.find(([, definition]) => definition === '#')?.[0] ?? '#';
  const own = fields.filter(([, definition]) => definition !== '#');
  return [
    `export interface ${typeName(name, names)} {`,
    ...(hasId ? [`  readonly ${key(idName)}: ${PACKAGE}.Int;`] : []),
    ...own.map(([field, definition]) => `  ${key(field)}: ${fieldType(definition, names)};`),
    ...computed.map((field) => `  readonly ${key(field)}: unknown;`),
    '}',
  ];
}

/** The type of a field; in wraps it may be that of a nested thing, or of a list of such. */
function fieldType(definition: FieldDefinition, names: AllNames): string {
  if (typeof definition === 'string') return typeOfDefinition(definition, names, 'property');
  if (!(definition instanceof Map)) {
    const [item = 'any'] = definition;
    return `readonly (${fieldType(item, names)})[]`;
  }
  const fields = [...definition].map(([name, inner]) => `${key(name)}: ${fieldType(inner, names)}`);
  return `{ ${fields.join('; ')} }`;
}

function collectionLines({ types, enums, procedures, root }: Schema, names: AllNames): string[] {
  const rootType = root === null ? undefined : names.typeOf(root)?.text;
  return [
    `export interface ${names.collection} {`,
    ...block('types', types, ({ name }) => `${key(name)}: ${typeName(name, names)};`),
    ...block('enums', enums, ({ name }) => `${key(name)}: ${typeName(name, names)};`),
    `  readonly root: ${rootType ?? 'unknown'};`,
    ...block('procs', procedures, (each) => procedureText(each, names)),
    '}',
  ];
}

function block<T>(name: string, items: readonly T[], text: (item: T) => string): string[] {
  if (items.length === 0) return [`  readonly ${name}: {};`];
  const lines = items.flatMap((item) => text(item).split('\n'));
  return [
    `  readonly ${name}: {`,
    ...lines.map((line) => (/^\s*[/*]/.test(line) ? `    ${line}` : `    readonly ${line}`)),
    '  };',
  ];
}

function procedureText({ name, doc, parameters }: ProcedureInfo, names: AllNames): string {
  const { text, definitions, result } = docOf(doc);
  const types = parameters.map(({ name: parameter, definition: own }) => {
    const definition = own ?? definitions.get(parameter);
    return definition === undefined ? `${PACKAGE}.Sendable` : typeOfDefinition(definition, names, 'argument');
  });
  const named = parameters.map(({ name: parameter }, i) => {
    const type = types[i] ?? '';
    // One that is not given is nil.
    const isOptional = /\| null$/.test(type) || type === `${PACKAGE}.Sendable`;
    return `${key(parameter)}${isOptional ? '?' : ''}: ${type}`;
  });
  const positional = parameters.map(({ name: parameter }, i) => `${labelOf(parameter)}: ${types[i]}`);
  const returned =
    result === undefined ? 'unknown' : typeOfDefinition(result, names, 'result' satisfies Place);
  const type = `${PACKAGE}.Procedure<${braced(named)}, [${positional.join(', ')}], ${returned}>`;
  const comment = text === '' ? '' : `/** ${text.replaceAll('*/', '*\\/').split('\n').join('\n * ')} */\n`;
  return `${comment}${key(name)}: ${type};`;
}

function braced(fields: readonly string[]): string {
  return fields.length === 0 ? '{}' : `{ ${fields.join('; ')} }`;
}

/** The doc of a procedure: `@param NAME DEFINITION` and `@returns DEFINITION` on lines of their own, the rest is text. */
function docOf(doc: string): {
  readonly text: string;
  readonly definitions: ReadonlyMap<string, string>;
  readonly result: string | undefined;
} {
  const definitions = new Map<string, string>();
  let result: string | undefined;
  const text: string[] = [];
  for (const line of doc.split('\n').map((each) => each.trim())) {
    const [, name, definition] = /^@param\s+(\w+)\s+(\S.*)$/.exec(line) ?? [];
    const [, returned] = /^@returns?\s+(\S.*)$/.exec(line) ?? [];
    if (name !== undefined && definition !== undefined) definitions.set(name, definition);
    else if (returned !== undefined) result = returned;
    else if (line !== '') text.push(line);
  }
  return { text: text.join('\n'), definitions, result };
}

function typeName(name: string, names: AllNames): string {
  return names.typeOf(name)?.text ?? name;
}

/** A label of a tuple can't be any word. */
function labelOf(name: string): string {
  return RESERVED.has(name) ? `${name}_` : name;
}

function key(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : quoted(name);
}

/** As a text of TypeScript between single quotes. */
function quoted(text: string): string {
  const inner = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `'${inner.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}'`;
}
