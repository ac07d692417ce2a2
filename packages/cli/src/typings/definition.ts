/**
 * Definitions of the language as types of TypeScript.
 *
 *   definition := mark? body '?'?            ; mark: how deep a wrap goes
 *   body       := '[' definition? ']' / '{' definition? '}' / name ('<' ... '>')? / name '{' member '}' / '/' regex '/' flags ('<' ... '>')?
 *
 * Their forms are in `docs/types.md`. What is not known becomes `unknown`: a type must not promise too much.
 */

/** Names of the types of a collection in the file that is written. */
export interface Names {
  /** The name of a type or an enum in TypeScript, by its name in the collection; undefined for none. */
  typeOf(name: string): { readonly text: string; readonly isEnum: boolean } | undefined;
}

/** Where a value stands: in a thing, where depth may cut things off; in a result; or in an argument. */
export type Place = 'property' | 'result' | 'argument';

/** The package, as the file imports it. No name of a collection has a `$`. */
export const PACKAGE = '$';

export function typeOfDefinition(definition: string, names: Names, place: Place): string {
  const text = definition.trim();
  if (text.endsWith('?')) return nullable(typeOfDefinition(text.slice(0, -1), names, place));
  return typeOfBody(text.replace(/^[-+&*^](?=.)/, ''), names, place);
}

function typeOfBody(text: string, names: Names, place: Place): string {
  if (text.startsWith('['))
    return listOf(inside(text, ']'), names, place, place === 'argument' ? 'readonly ' : '');
  if (text.startsWith('{')) {
    // Sets hold things, and an argument can't be one.
    return place === 'argument' ? ANYTHING : listOf(inside(text, '}'), names, place, 'readonly ');
  }
  if (text.startsWith('/')) return 'string';
  const [, word = '', rest = ''] = /^([A-Za-z_][A-Za-z0-9_]*)(.*)$/s.exec(text) ?? [];
  const own = names.typeOf(word);
  if (own !== undefined && (rest === '' || rest.startsWith('{'))) return typeOfName(own, place);
  if (word === 'thing') return thingOf(rest, names, place);
  const simple = SIMPLE.get(word);
  if (simple === undefined || (rest !== '' && !rest.startsWith('<'))) return unknownAt(place);
  return place === 'argument' ? (ARGUMENTS.get(word) ?? simple) : simple;
}

const INT = `${PACKAGE}.Int`;
const ANYTHING = `${PACKAGE}.Sendable`;

const SIMPLE: ReadonlyMap<string, string> = new Map([
  ['str', 'string'],
  ['utf8', 'string'],
  ['email', 'string'],
  ['url', 'string'],
  ['tel', 'string'],
  ['bytes', 'Uint8Array'],
  ['raw', 'string | Uint8Array'],
  ['bool', 'boolean'],
  ['int', INT],
  ['uint', INT],
  ['pint', INT],
  ['nint', INT],
  ['float', 'number'],
  ['number', INT],
  ['datetime', 'string'],
  ['timeval', 'number'],
  ['room', 'string'],
  ['task', 'string'],
  ['regex', 'string'],
  ['closure', 'string'],
  ['nil', 'null'],
]);

/** Types of arguments differ in numbers: a whole number is an int, unless it is said to be a float. */
const ARGUMENTS: ReadonlyMap<string, string> = new Map([
  ['float', `number | ${PACKAGE}.Float`],
  ['number', `${INT} | ${PACKAGE}.Float`],
  ['datetime', ANYTHING],
  ['timeval', ANYTHING],
  ['room', ANYTHING],
  ['task', ANYTHING],
  ['regex', ANYTHING],
  ['closure', ANYTHING],
]);

function typeOfName(
  { text, isEnum }: { readonly text: string; readonly isEnum: boolean },
  place: Place,
): string {
  if (isEnum || place === 'result') return text;
  // A stored thing can't be an argument; a new one has no id yet.
  return place === 'argument' ? ANYTHING : `${text} | ${PACKAGE}.Ref<${text}>`;
}

function thingOf(rest: string, names: Names, place: Place): string {
  const [, value] = /^<(.*)>$/s.exec(rest) ?? [];
  const type =
    value === undefined
      ? unknownAt(place)
      : typeOfDefinition(value, names, place === 'result' ? 'property' : place);
  return `{ readonly [name: string]: ${type} }`;
}

function listOf(item: string, names: Names, place: Place, modifier: string): string {
  const type = item === '' ? unknownAt(place) : typeOfDefinition(item, names, place);
  return `${modifier}${type.includes(' ') ? `(${type})` : type}[]`;
}

function unknownAt(place: Place): string {
  return place === 'argument' ? ANYTHING : 'unknown';
}

/** The text between brackets; text behind them is no definition. */
function inside(text: string, closing: string): string {
  return text.endsWith(closing) ? text.slice(1, -1) : 'any';
}

function nullable(type: string): string {
  return type === 'unknown' || type === 'null' || type === ANYTHING ? type : `${type} | null`;
}
