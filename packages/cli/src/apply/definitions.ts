/**
 * The types, enums, relations and procedures of a collection, as a text of the language says them: what `export()` writes, or a file
 * that somebody keeps beside a program.
 */
import {
  LanguageError,
  type Node,
  parse,
  positionOf,
  prettySource,
  quoteStr,
  type ThingLiteral,
} from '@althing/language';
import { UsageError } from '../input.js';

export interface TypeDefinition {
  /** `WPO`, `HID`, `STRICT`, or fewer. */
  readonly flags: ReadonlySet<string>;
  /** Texts of definitions, nested structures and methods, by the name of the property. */
  readonly parts: Map<string, string>;
}

export interface EnumDefinition {
  /** Texts of the values that the enum is made with, the default first; methods too. */
  readonly members: Map<string, string>;
  /** Texts of values that members get afterwards, since they may name what is made later. */
  readonly later: Map<string, string>;
}

/** One side of a relation, and the property of the other type that is its partner. */
export interface Relation {
  readonly type: string;
  readonly property: string;
  readonly partner: string;
}

export interface Definitions {
  readonly types: Map<string, TypeDefinition>;
  readonly enums: Map<string, EnumDefinition>;
  readonly relations: Relation[];
  /** Texts of closures, with that of the options behind it if there are any. */
  readonly procedures: Map<string, string>;
  /** Indexes by `TYPE.NAME`, as the call that makes each. */
  readonly indexes: Map<string, string>;
  rootType: string | null;
  /** Types that take any keys, as the text says: `mod_type('T', 'strict', false)`. */
  readonly loose: Set<string>;
  /** Texts of values, or of closures that give one for each instance, by `TYPE.PROPERTY`: for changes of what has instances. */
  readonly conversions: Map<string, string>;
}

/** A text that is no list of definitions, with the place. */
export class DefinitionsError extends UsageError {}

/**
 * @param name of the file, for errors
 * @throws {DefinitionsError}
 */
export function definitionsOf(source: string, name: string): Definitions {
  const found: Definitions = {
    types: new Map(),
    enums: new Map(),
    relations: [],
    procedures: new Map(),
    indexes: new Map(),
    rootType: null,
    loose: new Set(),
    conversions: new Map(),
  };
  const { statements } = parsed(source, name);
  const known = new Set<string>();
  for (const statement of statements) {
    if (statement.kind === 'str' || statement.kind === 'nil') continue;
    const fail: Fail = (why) => {
      const { line, column } = positionOf(source, statement.start);
      throw new DefinitionsError(`${name}:${line}:${column}: ${why}`);
    };
    const once = (what: string): void => {
      if (known.has(what)) fail(`${what} is defined twice`);
      known.add(what);
    };
    const isTaken = statement.kind === 'call' && take(found, statement.name, statement.args, source, once);
    if (isTaken) continue;
    const rootType = rootTypeOf(statement);
    if (rootType === null) {
      fail(
        'expected new_type, set_type, mod_type, set_enum, mod_enum, new_index, new_procedure or set_procedure',
      );
    }
    once('the type of the root');
    found.rootType = rootType;
  }
  return found;
}

/** Says why a statement of a file is wrong, with its place. */
type Fail = (why: string) => never;

/** Notes that a file defines something, and fails where it did before: of two definitions one would be without effect, and nobody told. */
type Once = (what: string) => void;

function parsed(source: string, name: string): ReturnType<typeof parse> {
  try {
    return parse(source);
  } catch (error) {
    if (!(error instanceof LanguageError)) throw error;
    throw new DefinitionsError(`${name}: ${error.message}`);
  }
}

/** The type that `.to_type('T')` gives the root. */
function rootTypeOf(statement: Node): string | null {
  if (statement.kind !== 'chain' || statement.head !== null || statement.links.length !== 1) return null;
  const [link] = statement.links;
  if (link?.kind !== 'method' || link.name !== 'to_type' || link.args.length !== 1) return null;
  const [name] = link.args;
  return name?.kind === 'str' ? name.value : null;
}

/** Takes what a call defines; whether it is one that defines something. */
function take(found: Definitions, call: string, args: readonly Node[], source: string, once: Once): boolean {
  const text = (node: Node): string => prettySource(node, source);
  const [named, second, third, fourth, fifth] = args;
  // The reason of a change, for the history: it has one of its own when it is applied.
  if (call === 'try') return named?.kind === 'call' && named.name === 'commit';
  if (named?.kind !== 'str') return false;
  const { value: name } = named;
  switch (call) {
    case 'new_type':
      once(`type \`${name}\``);
      found.types.set(name, { flags: flagsOf(second), parts: new Map() });
      return true;
    case 'set_type': {
      if (second?.kind !== 'thing') return false;
      if (!found.types.has(name)) once(`type \`${name}\``);
      once(`what type \`${name}\` has`);
      const parts = partsOf(second, text, (key) => once(`type \`${name}\`, property \`${key}\``));
      const isFlagged = third !== undefined && third.kind !== 'thing';
      const flags = isFlagged ? flagsOf(third) : (found.types.get(name)?.flags ?? NO_FLAGS);
      if (parts !== null) found.types.set(name, { flags, parts });
      return parts !== null;
    }
    case 'set_enum': {
      once(`enum \`${name}\``);
      const member = (key: string): void => once(`enum \`${name}\`, member \`${key}\``);
      const members = second?.kind === 'thing' ? partsOf(second, text, member) : null;
      if (members !== null) found.enums.set(name, { members, later: new Map() });
      return members !== null;
    }
    case 'mod_enum':
      if (second?.kind !== 'str' || third?.kind !== 'str' || fourth === undefined) return false;
      if (second.value !== 'mod') return false;
      once(`the value of enum \`${name}\`, member \`${third.value}\``);
      found.enums.get(name)?.later.set(third.value, text(fourth));
      return found.enums.has(name);
    case 'new_index': {
      if (second?.kind !== 'str') return false;
      const isList = third?.kind === 'list';
      if (!isList && fourth !== undefined) return false;
      const properties = isList ? third.items.map(text).join(', ') : quoteStr(second.value);
      const flags = indexFlags(isList ? fourth : third);
      if (flags === null) return false;
      const index = `new_index(${[quoteStr(name), quoteStr(second.value), `[${properties}]`, ...flags].join(', ')});`;
      once(`index \`${name}.${second.value}\``);
      found.indexes.set(`${name}.${second.value}`, index);
      return true;
    }
    case 'mod_type':
      if (second?.kind === 'str' && second.value === 'strict' && third?.kind === 'bool') {
        takeStrict(found, name, third.value);
        return true;
      }
      if (second?.kind !== 'str' || third?.kind !== 'str') return false;
      if (second.value === 'ttl') {
        const index = `new_index(${quoteStr(name)}, 'ttl', [${quoteStr(third.value)}], EXPIRES);`;
        once(`index \`${name}.ttl\``);
        found.indexes.set(`${name}.ttl`, index);
        return true;
      }
      if (fourth === undefined) return false;
      if (second.value === 'rel' && fourth.kind === 'str') {
        found.relations.push({ type: name, property: third.value, partner: fourth.value });
        return true;
      }
      if ((second.value !== 'mod' && second.value !== 'add') || fifth === undefined) return false;
      once(`the conversion of type \`${name}\`, property \`${third.value}\``);
      found.conversions.set(`${name}.${third.value}`, text(fifth));
      return true;
    case 'new_procedure':
    case 'set_procedure':
      if (second?.kind !== 'closure') return false;
      once(`procedure '${name}'`);
      found.procedures.set(name, [second, ...(third === undefined ? [] : [third])].map(text).join(', '));
      return true;
    default:
      return false;
  }
}

/** True if a type is strict, as its own line says. */
function takeStrict({ types, loose }: Definitions, name: string, isStrict: boolean): void {
  if (!isStrict) loose.add(name);
  const type = types.get(name);
  if (type === undefined) return;
  const flags = new Set(type.flags);
  if (isStrict) flags.add('STRICT');
  else flags.delete('STRICT');
  types.set(name, { ...type, flags });
}

const NO_FLAGS: ReadonlySet<string> = new Set();

/** The flags in an expression such as `WPO|HID`; `true` is how ThingsDB writes the first. */
function flagsOf(node: Node | undefined): ReadonlySet<string> {
  if (node?.kind === 'bool') return node.value ? new Set(['WPO']) : NO_FLAGS;
  if (node?.kind === 'variable') return new Set([node.name]);
  if (node?.kind === 'operation') return new Set(node.operands.flatMap((each) => [...flagsOf(each)]));
  return NO_FLAGS;
}

/** The flags of an index, as `export()` writes them: one text, or none; null for what no flags are. */
function indexFlags(node: Node | undefined): readonly string[] | null {
  const given = flagsOf(node);
  const known = INDEX_FLAGS.filter((flag) => given.has(flag));
  if (known.length < given.size || (node !== undefined && known.length === 0)) return null;
  return known.length === 0 ? [] : [known.join(' | ')];
}

const INDEX_FLAGS = ['UNIQUE', 'NO_CASE', 'EXPIRES'];

/** The entries of a thing, each with its text; null where one is only a name. */
function partsOf(
  { entries }: ThingLiteral,
  text: (node: Node) => string,
  once: (key: string) => void,
): Map<string, string> | null {
  const parts = new Map<string, string>();
  for (const { key, value } of entries) {
    if (value === null) return null;
    once(key);
    parts.set(key, value.kind === 'str' ? quoteStr(value.value) : text(value));
  }
  return parts;
}
