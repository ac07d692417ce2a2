import { operationError, valueError } from '../error.js';
import { type Entry, func, In } from '../run/builtin.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import type { EnumDef } from '../schema/enum.js';
import { type IndexDef, IndexFlag } from '../schema/index-def.js';
import { type TypeDef, TypeFlag } from '../schema/type.js';
import { CollectionGroup } from '../state/collection-group.js';
import { writeDump } from '../state/dump.js';
import { compareText } from '../value/scalar-compare.js';
import { Bytes } from '../value/scalars.js';
import { Thing } from '../value/thing.js';
import { closureText, definitionLiteral, entryText, LiteralWriter } from './export-literal.js';
import { defOf } from './types.js';

/** Definitions of a collection as text. */
export const EXPORT: readonly Entry[] = [
  func('export', {
    doc: 'A script that makes the types, enums and procedures of the collection again, in an empty one; with the option dump bytes for import().',
    in: In.COLLECTION,
    params: [p.optional(p.thing('options'))],
    run: (rt, options) => {
      rt.assertNoSnapshot('exports are made');
      const isDump = options !== undefined && readOptions(rt, options);
      if (rt.transaction.writable) throw operationError('export() works in queries without a change only');
      if (rt.futures.length > 0)
        throw operationError('export() works in queries that made no futures before it');
      return isDump ? dump(rt) : script(rt);
    },
  }),
];

function readOptions(rt: Runtime, options: Thing): boolean {
  rt.store?.load(options);
  let isDump = false;
  for (const [name, value] of options.entries()) {
    if (name !== 'dump') throw valueError(`there is no option '${name}'; known: dump`);
    isDump = p.bool('dump').accept(value, { function: 'export', position: 1 });
  }
  return isDump;
}

function dump(rt: Runtime): Bytes {
  if (!(rt.group instanceof CollectionGroup)) throw new Error('export() is a function of collections');
  const version = rt.environment.node?.info().version ?? '';
  return new Bytes(writeDump(rt.group, String(version), (units) => rt.charge(units)));
}

/** The sections of a script are always there, with an empty line behind each. */
function script(rt: Runtime): string {
  const types = [...rt.schema.allTypes()].map(defOf).sort(byName);
  const enums = [...rt.schema.allEnums()].flatMap(({ def }) => (def === null ? [] : [def])).sort(byName);
  const procedures = [...rt.procedures.values()].sort(byName);
  const name = rt.scope.name.replace(/^@collection:/, '');
  const { type: rootType } = rt.rootThing();
  rt.charge(64 * (types.length + enums.length + procedures.length));
  const sections = [
    [`try(commit('Source: collection \`${name}\`'));`],
    types.map(newType),
    enums.map((def) => setEnum(rt, def)),
    types.filter(hasContent).map((def) => setType(rt, def)),
    relations(rt, types),
    enums.flatMap((def) => thingMembers(rt, def)),
    procedures.map(({ name: own, closure, durationMs }) => {
      const options = durationMs === null ? '' : `, {duration: ${durationMs}}`;
      return `new_procedure('${own}', ${closureText(rt, closure, 0)}${options});`;
    }),
    rootType === null ? [] : [`\n.to_type('${rootType.name}');`],
  ];
  // Other readers of such scripts know no indexes, so nothing of them stands there unless there are some.
  const indexes = [...(rt.store?.indexes.byId.values() ?? [])]
    .map(({ def }) => newIndex(rt, def))
    .sort(compareText);
  if (indexes.length > 0) sections.push(indexes);
  return `${sections.map((lines) => lines.map((line) => `${line}\n`).join('')).join('\n')}\n'DONE';\n`;
}

function newIndex(rt: Runtime, { type: id, name, fields, flags }: IndexDef): string {
  const type = rt.schema.type(id);
  const names = fields.map((field) => `'${defOf(type).fields.find((other) => other.id === field)?.name}'`);
  const flagNames = Object.entries(IndexFlag).flatMap(([flag, bit]) => ((flags & bit) !== 0 ? [flag] : []));
  const last = flags === 0 ? '' : `, ${flagNames.join(' | ')}`;
  return `new_index('${type.name}', '${name}', [${names.join(', ')}]${last});`;
}

const FLAG_NAMES = [
  [TypeFlag.WRAP_ONLY, 'WPO'],
  [TypeFlag.HIDE_ID, 'HID'],
  [TypeFlag.INDEX, 'IDX'],
  [TypeFlag.STRICT, 'STRICT'],
] as const;

function newType({ name, flags }: TypeDef): string {
  const names = FLAG_NAMES.filter(([flag]) => (flags & flag) !== 0).map(([, text]) => text);
  return names.length === 0 ? `new_type('${name}');` : `new_type('${name}', ${names.join('|')});`;
}

function hasContent({ fields, methods, idName }: TypeDef): boolean {
  return fields.length > 0 || methods.size > 0 || idName !== null;
}

function setType(rt: Runtime, { name, fields, methods, idName }: TypeDef): string {
  const lines = [
    ...(idName === null ? [] : [entryText(idName, "'#'", 1)]),
    ...fields.map((field) => entryText(field.name, definitionLiteral(rt, field.definition, 1), 1)),
    ...[...methods].map(([own, closure]) => entryText(own, closureText(rt, closure, 1), 1)),
  ];
  return `set_type('${name}', {\n${lines.join('')}});`;
}

function setEnum(rt: Runtime, { name, members, methods }: EnumDef): string {
  const lines = [
    ...members.map((member) =>
      entryText(
        member.name,
        member.value instanceof Thing ? '{}' : new LiteralWriter(rt).literal(member.value, 1),
        1,
      ),
    ),
    ...[...methods].map(([own, closure]) => entryText(own, closureText(rt, closure, 1), 1)),
  ];
  return `set_enum('${name}', {\n${lines.join('')}});`;
}

/** A thing may hold instances, whose types are complete by now. */
function thingMembers(rt: Runtime, { name, members }: EnumDef): string[] {
  return members.flatMap((member) => {
    if (!(member.value instanceof Thing)) return [];
    return [
      `mod_enum('${name}', 'mod', '${member.name}', ${new LiteralWriter(rt).literal(member.value, 0)});\n`,
    ];
  });
}

function relations(rt: Runtime, types: readonly TypeDef[]): string[] {
  const made = new Set<string>();
  return types.flatMap((def) =>
    def.fields.flatMap(({ id, name, relation }) => {
      if (relation === null || made.has(`${def.id} ${id}`)) return [];
      made.add(`${relation.type} ${relation.field}`);
      const other = rt.schema.type(relation.type)?.def?.fields.find((field) => field.id === relation.field);
      if (other === undefined) return [];
      return [`mod_type('${def.name}', 'rel', '${name}', '${other.name}');`];
    }),
  );
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return compareText(a.name, b.name);
}
