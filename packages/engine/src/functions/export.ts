import { parseClosure, prettySource, quoteStr } from '@althing/language';
import { operationError, valueError } from '../error.js';
import { type Entry, func, In } from '../run/builtin.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { type Definition, definitionText } from '../schema/definition.js';
import type { EnumDef } from '../schema/enum.js';
import type { Structure } from '../schema/structure.js';
import { type TypeDef, TypeFlag } from '../schema/type.js';
import { CollectionGroup } from '../state/collection-group.js';
import { writeDump } from '../state/dump.js';
import { Closure } from '../value/closure.js';
import { List } from '../value/containers.js';
import { compareText } from '../value/scalar-compare.js';
import { Bytes, Float } from '../value/scalars.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { defOf } from './types.js';

/** Definitions of a collection as text. */
export const EXPORT: readonly Entry[] = [
  func('export', {
    doc: 'A script that makes the types, enums and procedures of the collection again, in an empty one; with the option dump bytes for import().',
    in: In.COLLECTION,
    readsState: true,
    params: [p.optional(p.thing('options'))],
    run: (rt, options) => {
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
    procedures.map(({ name: own, closure }) => `new_procedure('${own}', ${printClosure(rt, closure, 0)});`),
    rootType === null ? [] : [`\n.to_type('${rootType.name}');`],
  ];
  return `${sections.map((lines) => lines.map((line) => `${line}\n`).join('')).join('\n')}\n'DONE';\n`;
}

const FLAG_NAMES = [
  [TypeFlag.WRAP_ONLY, 'WPO'],
  [TypeFlag.HIDE_ID, 'HID'],
  [TypeFlag.INDEX, 'IDX'],
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
    ...(idName === null ? [] : [entry(idName, "'#'", 1)]),
    ...fields.map((field) => entry(field.name, definition(rt, field.definition, 1), 1)),
    ...[...methods].map(([own, closure]) => entry(own, printClosure(rt, closure, 1), 1)),
  ];
  return `set_type('${name}', {\n${lines.join('')}});`;
}

/** A definition as it stands in a script: text, or for an anonymous type a thing or a list with one. */
function definition(rt: Runtime, of: Definition, level: number): string {
  const { base } = of;
  if (base.kind !== 'nested') return quoteStr(definitionText(of, rt.schema));
  const inner = structure(rt, base.structure, level);
  return base.isList ? `[${inner}]` : inner;
}

function structure(rt: Runtime, { idName, fields, methods }: Structure, level: number): string {
  const lines = [
    ...(idName === null ? [] : [entry(idName, "'#'", level + 1)]),
    ...fields.map(({ name, definition: own }) => entry(name, definition(rt, own, level + 1), level + 1)),
    ...[...methods].map(([name, closure]) => entry(name, printClosure(rt, closure, level + 1), level + 1)),
  ];
  return `{\n${lines.join('')}${'\t'.repeat(level)}}`;
}

function setEnum(rt: Runtime, { name, members, methods }: EnumDef): string {
  const lines = [
    ...members.map((member) =>
      entry(member.name, member.value instanceof Thing ? '{}' : literal(rt, member.value, 1), 1),
    ),
    ...[...methods].map(([own, closure]) => entry(own, printClosure(rt, closure, 1), 1)),
  ];
  return `set_enum('${name}', {\n${lines.join('')}});`;
}

/** A thing may hold instances, whose types are complete by now. */
function thingMembers(rt: Runtime, { name, members }: EnumDef): string[] {
  return members.flatMap((member) => {
    if (!(member.value instanceof Thing)) return [];
    return [`mod_enum('${name}', 'mod', '${member.name}', ${literal(rt, member.value, 0)});\n`];
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

/** A value as the language writes it. What can't be written there, as a reference to stored data, becomes nil. */
function literal(rt: Runtime, value: Value, level: number): string {
  rt.charge(1);
  if (typeof value === 'string') return quoteStr(value);
  if (value instanceof Float) return value.value.toFixed(6);
  if (value instanceof Bytes) return `base64_decode('${Buffer.from(value.data).toString('base64')}')`;
  if (value instanceof Closure) return printClosure(rt, value, level);
  if (value instanceof List) {
    return `[${value.items.map((item) => literal(rt, item, level + 1)).join(', ')}]`;
  }
  if (value instanceof Thing) return thing(rt, value, level);
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return `${value}`;
  return 'nil';
}

/** Names that the language can write. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

function thing(rt: Runtime, value: Thing, level: number): string {
  rt.store?.load(value);
  const lines = value
    .entries()
    .filter(([name]) => NAME.test(name))
    .map(([name, own]) => entry(name, literal(rt, own, level + 1), level + 1));
  const { type } = value;
  return `${type === null ? '' : type.name}{\n${lines.join('')}${'\t'.repeat(level)}}`;
}

function printClosure(rt: Runtime, closure: Closure, level: number): string {
  rt.charge(closure.source.length);
  return prettySource(parseClosure(closure.source), closure.source, level);
}

function entry(name: string, text: string, level: number): string {
  return `${'\t'.repeat(level)}${name}: ${text},\n`;
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return compareText(a.name, b.name);
}
