/** Completion: the names that fit at a place of a text, out of a catalogue of what there is. */
import { type Context, contextAt, type Wanted } from './context.js';
import type { FunctionInfo } from './function-info.js';

/** The names of a scope. It answers at once from what it knows, and never waits. */
export interface Catalogue {
  readonly functions: readonly FunctionInfo[];
  readonly procedures: readonly {
    readonly name: string;
    readonly arguments: readonly string[];
    readonly doc: string;
  }[];
  readonly types: readonly { readonly name: string; readonly fields: readonly string[] }[];
  readonly enums: readonly { readonly name: string; readonly members: readonly string[] }[];
  /** Names of properties of the thing at a path from the collection's root, and of what else stands there; null if not known. */
  keys(path: readonly string[]): readonly string[] | null;
  /** Names that a call takes as a text in that argument (users, rooms, collections, ...); empty if not known. */
  texts(call: string, argument: number): readonly string[];
}

export type CompletionKind =
  | 'keyword'
  | 'constant'
  | 'variable'
  | 'function'
  | 'method'
  | 'procedure'
  | 'type'
  | 'enum'
  | 'property'
  | 'text';

export interface Completion {
  readonly label: string;
  readonly kind: CompletionKind;
  /** One line: the call with its arguments, or the fields. */
  readonly detail: string;
  readonly doc: string;
  /** The text to write in the place of the word. */
  readonly insert: string;
}

export interface Completions {
  /** Offsets of what a completion replaces, in UTF-16 units. */
  readonly from: number;
  readonly to: number;
  /** In the order in which to show them: what begins with the prefix, by case, then without, then by kind and name. */
  readonly items: readonly Completion[];
  /** The signature of the function that the place is in, and the number of the argument there. */
  readonly call: { readonly info: FunctionInfo; readonly argument: number } | null;
}

/** Most completions that are given. */
export const COMPLETIONS_MAX = 200;

/**
 * @param offset the place of the cursor, in UTF-16 units
 * @param context of that place, for those who know it already
 */
export function complete(
  source: string,
  offset: number,
  catalogue: Catalogue,
  context: Context = contextAt(source, offset),
): Completions {
  const { from, to, prefix, call } = context;
  const all = candidates(context, catalogue).map((item, order) => ({
    item,
    order,
    rank: rankOf(item.label, prefix),
  }));
  // Names that only have the letters somewhere are no more than a guess, for when nothing begins with them.
  const worst = all.some(({ rank }) => rank <= INSIDE_CASE) ? INSIDE_CASE : SCATTERED;
  const ranked = all.filter(({ rank }) => rank <= worst).sort((a, b) => a.rank - b.rank || a.order - b.order);
  const seen = new Set<string>();
  const items = ranked.flatMap(({ item }) => {
    if (seen.has(item.label)) return [];
    seen.add(item.label);
    return [item];
  });
  const info = call === null ? undefined : calledFunction(call.name, call.isMethod, catalogue);
  return {
    from,
    to,
    items: items.slice(0, COMPLETIONS_MAX),
    call: call === null || info === undefined ? null : { info, argument: call.argument },
  };
}

/** The call of a function with the names of its arguments: `slice(start, stop?)`. */
export function signature({ name, params, rest }: Pick<FunctionInfo, 'name' | 'params' | 'rest'>): string {
  const names = params.map((param) => (param.optional ? `${param.name}?` : param.name));
  return `${name}(${[...names, ...(rest === null ? [] : [`...${rest.name}`])].join(', ')})`;
}

const KEYWORDS = ['if', 'else', 'for', 'in', 'return', 'break', 'continue'];
const CONSTANTS = ['true', 'false', 'nil', 'inf', 'nan'];

function candidates(context: Context, catalogue: Catalogue): Completion[] {
  const { wanted } = context;
  switch (wanted.kind) {
    case 'nothing':
      return [];
    case 'name':
      return names(context, catalogue);
    case 'member':
      return members(wanted, catalogue);
    case 'field':
      return fields(wanted, context, catalogue);
    case 'text':
      return catalogue
        .texts(wanted.call.name, wanted.call.argument)
        .map((label) => plain(label, 'text', wanted.call.name));
  }
}

function names({ variables }: Context, catalogue: Catalogue): Completion[] {
  return [
    ...variables.map((label) => plain(label, 'variable')),
    ...procedures(catalogue),
    ...catalogue.types.map(({ name, fields }) => ({
      ...plain(name, 'type', `${name}{${fields.join(', ')}}`),
      insert: `${name}{`,
    })),
    ...catalogue.enums.map(({ name, members }) => ({
      ...plain(name, 'enum', `${name}{${members.join(' | ')}}`),
      insert: `${name}{`,
    })),
    ...catalogue.functions.filter(({ on }) => on === null).map((info) => callable(info, 'function')),
    ...KEYWORDS.map((label) => plain(label, 'keyword')),
    ...CONSTANTS.map((label) => plain(label, 'constant')),
  ];
}

function procedures(catalogue: Catalogue): Completion[] {
  return catalogue.procedures.map(({ name, doc, arguments: args }) => ({
    label: name,
    kind: 'procedure',
    detail: `${name}(${args.join(', ')})`,
    doc,
    insert: args.length === 0 ? `${name}()` : `${name}(`,
  }));
}

function members({ receiver }: Wanted & { kind: 'member' }, catalogue: Catalogue): Completion[] {
  const keys = receiver.kind === 'path' ? catalogue.keys(receiver.path) : null;
  const methods = catalogue.functions.filter(({ on }) => {
    if (on === null) return false;
    if (receiver.kind === 'type') return on.includes(receiver.type);
    return receiver.kind === 'path' && receiver.path.length === 0 ? on.includes('thing') : true;
  });
  return [
    ...(keys ?? []).map((label) => plain(label, 'property')),
    ...methods.map((info) => callable(info, 'method')),
  ];
}

function fields(
  { of, isFirst }: Wanted & { kind: 'field' },
  context: Context,
  catalogue: Catalogue,
): Completion[] {
  const type = catalogue.types.find(({ name }) => name === of);
  if (type !== undefined) {
    return type.fields.map((label) => ({ ...plain(label, 'property', of), insert: `${label}: ` }));
  }
  const found = isFirst ? catalogue.enums.find(({ name }) => name === of) : undefined;
  if (found === undefined) return names(context, catalogue);
  return found.members.map((label) => ({ ...plain(label, 'enum', of), insert: `${label}}` }));
}

function callable(info: FunctionInfo, kind: 'function' | 'method'): Completion {
  const hasArguments = info.params.length > 0 || info.rest !== null;
  const receivers = info.on === null ? '' : `${info.on.join('/')}.`;
  return {
    label: info.name,
    kind,
    detail: `${receivers}${signature(info)}`,
    doc: info.doc,
    insert: hasArguments ? `${info.name}(` : `${info.name}()`,
  };
}

function plain(label: string, kind: CompletionKind, detail = ''): Completion {
  return { label, kind, detail, doc: '', insert: label };
}

function calledFunction(name: string, isMethod: boolean, catalogue: Catalogue): FunctionInfo | undefined {
  const procedure = isMethod ? undefined : catalogue.procedures.find((each) => each.name === name);
  if (procedure !== undefined) {
    const params = procedure.arguments.map((each) => ({ name: each, type: 'any', optional: false }));
    return { name, on: null, params, rest: null, doc: procedure.doc, scopes: [], changes: null };
  }
  return catalogue.functions.find((info) => info.name === name && (info.on !== null) === isMethod);
}

/** Begins with the prefix without regard to case. */
const INSIDE_CASE = 1;
/** Has the characters of the prefix, in that order. */
const SCATTERED = 2;
const NO_MATCH = 3;

/** 0: begins with the prefix; then as the constants above say. */
function rankOf(label: string, prefix: string): number {
  if (label.startsWith(prefix)) return 0;
  const lower = label.toLowerCase();
  const wanted = prefix.toLowerCase();
  if (lower.startsWith(wanted)) return INSIDE_CASE;
  let at = -1;
  for (const char of wanted) {
    at = lower.indexOf(char, at + 1);
    if (at < 0) return NO_MATCH;
  }
  return SCATTERED;
}
