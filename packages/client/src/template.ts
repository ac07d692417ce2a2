/**
 * Code with values in it, as a tagged template: each `${value}` becomes a variable of the query, so no value can ever
 * become code. The same template gives the same text each time, which nodes remember parsed.
 */
import { ThingRef } from './values/things.js';

/** The content of `${...}` in a template: any value, and code. */
export type TemplateValue = unknown;

/** A piece of code, to be put into templates. Made by {@link code} and {@link unsafeCode} alone. */
export class Code {
  readonly #parts: readonly Part[];

  /** @internal */
  constructor(parts: readonly Part[]) {
    this.#parts = parts;
  }

  /** @internal */
  static partsOf(piece: Code): readonly Part[] {
    return piece.#parts;
  }
}

type Part = { readonly text: string } | { readonly value: unknown };

/** A query as nodes take it. */
export interface CompiledCode {
  readonly text: string;
  readonly vars: ReadonlyMap<string, unknown>;
}

/**
 * A piece of code with its values, to be put into `query` or into other pieces.
 *
 * @example
 * const adults = code`.guests.filter(|g| g.age >= ${18})`;
 * await db.stuff.query`${adults}.map(|g| g.name);`;
 */
export function code(strings: TemplateStringsArray, ...values: readonly TemplateValue[]): Code {
  const parts: Part[] = [];
  strings.forEach((text, i) => {
    if (text !== '') parts.push({ text });
    if (i >= values.length) return;
    const value = values[i];
    if (value instanceof Code) parts.push(...Code.partsOf(value));
    else parts.push({ value });
  });
  return new Code(parts);
}

/** Lets a text into a template as code. It runs as it is: never pass what comes from users. */
export function unsafeCode(text: string): Code {
  return new Code([{ text }]);
}

/**
 * The text of a piece of code, and its variables.
 *
 * @throws {TypeError} for a value that no variable can hold
 */
export function compileCode(piece: Code): CompiledCode {
  const parts = Code.partsOf(piece);
  const prefix = freshPrefix(parts);
  const vars = new Map<string, unknown>();
  let text = '';
  for (const part of parts) {
    if ('text' in part) {
      text += needsBlank(text, part.text, prefix) ? ` ${part.text}` : part.text;
      continue;
    }
    const name = `${prefix}${vars.size}`;
    const { expression, value } = expressionOf(part.value, name);
    vars.set(name, value);
    text += WORD_END.test(text) ? ` ${expression}` : expression;
  }
  return { text, vars };
}

/** Begins the names of variables, and occurs nowhere in the code. */
function freshPrefix(parts: readonly Part[]): string {
  const texts = parts.flatMap((part) => ('text' in part ? [part.text] : []));
  let prefix = '_v';
  while (texts.some((text) => text.includes(prefix))) prefix += '_';
  return prefix;
}

/** True if a text behind a variable would become a part of its name. */
function needsBlank(before: string, text: string, prefix: string): boolean {
  return WORD_START.test(text) && before.slice(before.lastIndexOf(prefix)).search(/^\w+$/) === 0;
}

const WORD_END = /\w$/;
const WORD_START = /^\w/;

/** The code that makes the value of a template out of its variable. */
function expressionOf(value: unknown, name: string): { expression: string; value: unknown } {
  if (value instanceof ThingRef) return { expression: `thing(${name})`, value: value.id };
  if (value instanceof Date) {
    const ms = value.getTime();
    if (Number.isNaN(ms)) throw new TypeError('an invalid Date can not be sent');
    return { expression: `datetime(${name})`, value: Math.floor(ms / 1000) };
  }
  if (!(value instanceof Set)) return { expression: name, value };
  const items = [...value];
  const refs = items.flatMap((item) => (item instanceof ThingRef ? [item.id] : []));
  if (refs.length === 0) return { expression: `set(${name})`, value: items };
  if (refs.length < items.length)
    throw new TypeError('a Set has either ref(...) of stored things or new things, not both');
  return { expression: `set(${name}.map(|id| thing(id)))`, value: refs };
}
