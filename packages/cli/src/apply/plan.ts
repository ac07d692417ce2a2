/** Plans: the statements that turn the definitions of a collection into those of a file. */
import { quoteStr } from '@althing/language';
import type { Definitions, EnumDefinition, Relation, TypeDefinition } from './definitions.js';

export interface Plan {
  /** Statements of the language, in an order in which they can run. */
  readonly statements: readonly string[];
  /** Definitions that stay although the file does not have them, in words. */
  readonly left: readonly string[];
}

/**
 * Compares definitions.
 *
 * @param deletes whether what the file does not have goes; else it stays
 */
export function planOf(present: Definitions, wanted: Definitions, deletes: boolean): Plan {
  const statements: string[] = [];
  const left: string[] = [];
  const gone = (what: string, statement: string): void => {
    if (deletes) statements.push(statement);
    else left.push(what);
  };
  for (const [name, { flags }] of wanted.types) {
    if (present.types.has(name)) continue;
    const isStrict = !wanted.loose.has(name) && !flags.has('WPO');
    const made = isStrict ? new Set([...flags, 'STRICT']) : flags;
    statements.push(call('new_type', quoteStr(name), ...flagText(made)));
  }
  for (const [name, enumeration] of wanted.enums) {
    const now = present.enums.get(name);
    if (now === undefined) statements.push(call('set_enum', quoteStr(name), thing(enumeration.members)));
    else changeEnum(name, now, enumeration, statements, gone);
  }
  for (const [name, type] of wanted.types) {
    const now = present.types.get(name);
    if (now !== undefined) changeType(name, now, type, wanted, statements, gone);
    else if (type.parts.size > 0) statements.push(call('set_type', quoteStr(name), thing(type.parts)));
  }
  changeRelations(present, wanted, statements, gone);
  changeIndexes(present, wanted, statements, gone);
  for (const [name, { later }] of wanted.enums) {
    const now = present.enums.get(name);
    for (const [member, value] of later) {
      if (now !== undefined && finalValue(now, member) === value) continue;
      statements.push(call('mod_enum', quoteStr(name), "'mod'", quoteStr(member), value));
    }
  }
  for (const [name, closure] of wanted.procedures) {
    if (present.procedures.get(name) !== closure)
      statements.push(call('set_procedure', quoteStr(name), closure));
  }
  if (wanted.rootType !== null && wanted.rootType !== present.rootType) {
    if (present.rootType !== null) statements.push('.to_thing();');
    statements.push(`.${call('to_type', quoteStr(wanted.rootType))}`);
  }
  for (const name of missing(present.procedures, wanted.procedures)) {
    gone(`procedure '${name}'`, call('del_procedure', quoteStr(name)));
  }
  for (const name of missing(present.types, wanted.types)) {
    gone(`type \`${name}\``, call('del_type', quoteStr(name)));
  }
  for (const name of missing(present.enums, wanted.enums)) {
    gone(`enum \`${name}\``, call('del_enum', quoteStr(name)));
  }
  return { statements, left };
}

type Gone = (what: string, statement: string) => void;

function changeType(
  name: string,
  now: TypeDefinition,
  { flags, parts }: TypeDefinition,
  { conversions, loose }: Definitions,
  statements: string[],
  gone: Gone,
): void {
  const type = quoteStr(name);
  for (const [flag, action] of FLAGS) {
    // Types made by this command are strict although their file does not say so.
    const isLeft = flag === 'STRICT' && !loose.has(name);
    const isWanted = flags.has(flag) || (isLeft && now.flags.has(flag));
    if (isWanted !== now.flags.has(flag)) statements.push(call('mod_type', type, action, String(isWanted)));
  }
  for (const [part, text] of parts) {
    const before = now.parts.get(part);
    if (before === text) continue;
    const conversion = conversions.get(`${name}.${part}`);
    const rest = conversion === undefined ? [] : [conversion];
    const action = before === undefined ? "'add'" : "'mod'";
    statements.push(call('mod_type', type, action, quoteStr(part), text, ...rest));
  }
  for (const part of missing(now.parts, parts)) {
    gone(`type \`${name}\`, property \`${part}\``, call('mod_type', type, "'del'", quoteStr(part)));
  }
}

const FLAGS = [
  ['WPO', "'wpo'"],
  ['HID', "'hid'"],
  ['STRICT', "'strict'"],
] as const;

function changeEnum(
  name: string,
  now: EnumDefinition,
  wanted: EnumDefinition,
  statements: string[],
  gone: Gone,
): void {
  const of = quoteStr(name);
  for (const [member, text] of wanted.members) {
    if (!now.members.has(member)) statements.push(call('mod_enum', of, "'add'", quoteStr(member), text));
    else if (!wanted.later.has(member) && finalValue(now, member) !== text)
      statements.push(call('mod_enum', of, "'mod'", quoteStr(member), text));
  }
  const [first] = wanted.members.keys();
  const [firstNow] = now.members.keys();
  if (first !== undefined && first !== firstNow)
    statements.push(call('mod_enum', of, "'def'", quoteStr(first)));
  for (const member of missing(now.members, wanted.members)) {
    gone(`enum \`${name}\`, member \`${member}\``, call('mod_enum', of, "'del'", quoteStr(member)));
  }
}

/** The text of a member's value in the end. */
function finalValue({ members, later }: EnumDefinition, member: string): string | undefined {
  return later.get(member) ?? members.get(member);
}

/** Relations are compared by both of their sides: either may be the one that a text names. */
function changeRelations(present: Definitions, wanted: Definitions, statements: string[], gone: Gone): void {
  const keysNow = new Set(present.relations.map((relation) => keyOf(relation, present)));
  const keysWanted = new Set(wanted.relations.map((relation) => keyOf(relation, wanted)));
  for (const relation of wanted.relations) {
    const key = keyOf(relation, wanted);
    if (keysNow.has(key)) continue;
    // A file may name a relation from both of its sides.
    keysNow.add(key);
    const { type, property, partner } = relation;
    statements.push(call('mod_type', quoteStr(type), "'rel'", quoteStr(property), quoteStr(partner)));
  }
  for (const relation of present.relations) {
    if (keysWanted.has(keyOf(relation, present))) continue;
    const { type, property } = relation;
    gone(
      `the relation of type \`${type}\`, property \`${property}\``,
      call('mod_type', quoteStr(type), "'rel'", quoteStr(property), 'nil'),
    );
  }
}

/** Indexes that are not wanted go at the end, when what is wanted is there. An index that differs is made anew. */
function changeIndexes(present: Definitions, wanted: Definitions, statements: string[], gone: Gone): void {
  const dropped = (key: string): string => call('del_index', ...key.split('.').map(quoteStr));
  for (const [key, index] of wanted.indexes) {
    const now = present.indexes.get(key);
    if (now === index) continue;
    if (now !== undefined) statements.push(dropped(key));
    statements.push(index);
  }
  for (const key of missing(present.indexes, wanted.indexes)) gone(`index \`${key}\``, dropped(key));
}

function keyOf({ type, property, partner }: Relation, { types }: Definitions): string {
  const definition = types.get(type)?.parts.get(property) ?? '';
  const other = /\w+/.exec(definition)?.[0] ?? '';
  return [`${type}.${property}`, `${other}.${partner}`].sort().join(' ');
}

function missing(now: ReadonlyMap<string, unknown>, wanted: ReadonlyMap<string, unknown>): string[] {
  return [...now.keys()].filter((name) => !wanted.has(name));
}

function flagText(flags: ReadonlySet<string>): string[] {
  return flags.size === 0 ? [] : [[...flags].sort().join('|')];
}

function thing(parts: ReadonlyMap<string, string>): string {
  return `{${[...parts].map(([name, text]) => `${name}: ${text}`).join(', ')}}`;
}

function call(name: string, ...args: readonly string[]): string {
  return `${name}(${args.join(', ')});`;
}
