import { closureDoc, parseClosure } from '@althing/language';
import { Privilege } from '../admin/privileges.js';
import { type Info, packInfo } from '../pack/info.js';
import { packDefinition } from '../pack/structure.js';
import { type Entry, func, In } from '../run/builtin.js';
import { chargeParse } from '../run/charge.js';
import { typeNamed } from '../run/instance.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { definitionText } from '../schema/definition.js';
import { type Type, TypeFlag } from '../schema/type.js';
import type { Closure } from '../value/closure.js';
import { List } from '../value/containers.js';
import type { MpData } from '../value/scalars.js';
import { defOf } from './types.js';

/** Information on types. */
export const TYPE_INFO: readonly Entry[] = [
  func('type_info', {
    doc: 'What is known of a type: properties, methods, relations, flags; definitions of methods for those with CHANGE.',
    in: In.COLLECTION,
    params: [p.str('name')],
    run: (rt, name) => typeInfo(rt, typeNamed(rt, name)),
  }),
  func('types_info', {
    doc: 'What is known of every type of the collection, by ascending number.',
    in: In.COLLECTION,
    run: (rt) => {
      // The order in the catalog depends on how it was loaded, and differs between nodes.
      const types = [...rt.schema.allTypes()].sort((a, b) => a.id - b.id);
      return new List(types.map((type) => typeInfo(rt, type)));
    },
  }),
];

function typeInfo(rt: Runtime, type: Type): MpData {
  const def = defOf(type);
  rt.charge(64 * (20 + 4 * (def.fields.length + def.methods.size)));
  const has = (flag: number): boolean => (def.flags & flag) !== 0;
  const idField: readonly Info[] = def.idName === null ? [] : [[def.idName, '#']];
  return packInfo(rt, {
    type_id: def.id,
    name: def.name,
    wrap_only: has(TypeFlag.WRAP_ONLY),
    hide_id: has(TypeFlag.HIDE_ID),
    auto_index: has(TypeFlag.INDEX),
    strict: has(TypeFlag.STRICT),
    created_at: def.createdAt,
    modified_at: def.modifiedAt,
    fields: [
      ...idField,
      ...def.fields.map(
        ({ name, definition }): Info => [name, (sink) => packDefinition(sink, definition, rt.schema)],
      ),
    ],
    methods: methodsInfo(rt, def.methods),
    relations: relationsInfo(rt, type),
  });
}

/** Methods of a type or enum; their definitions are for those who may change them. */
export function methodsInfo(rt: Runtime, methods: ReadonlyMap<string, Closure>): Info {
  const hasDefinition = rt.access.has(Privilege.CHANGE);
  const infoOf = (closure: Closure): Info => {
    // Its text is parsed for the doc, and again to be laid out.
    chargeParse(rt, closure.source);
    chargeParse(rt, closure.source);
    return {
      arguments: rt.unitOf(closure).params.map(({ name }) => name),
      doc: closureDoc(parseClosure(closure.source)),
      with_side_effects: rt.needsChange(closure),
      definition: hasDefinition ? closure.pretty() : undefined,
    };
  };
  return new Map([...methods].map(([name, closure]) => [name, infoOf(closure)]));
}

/** The other side of each relation. */
function relationsInfo(rt: Runtime, type: Type): Info {
  const relations = new Map<string, Info>();
  for (const { name, relation } of defOf(type).fields) {
    if (relation === null) continue;
    const other = rt.schema.type(relation.type);
    const end = other.def?.fields.find(({ id }) => id === relation.field);
    if (end === undefined) throw new Error(`the relation of ${type.name}.${name} has no other side`);
    const definition = definitionText(end.definition, rt.schema);
    relations.set(name, { type: other.name, property: end.name, definition });
  }
  return relations;
}
