import { closureDoc, parseClosure } from '@althing/language';
import { Privilege } from '../admin/privileges.js';
import { MsgpackWriter } from '../pack/msgpack-writer.js';
import { packDefinition } from '../pack/structure.js';
import { type Entry, func, In } from '../run/builtin.js';
import { typeNamed } from '../run/instance.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { definitionText } from '../schema/definition.js';
import { type Type, TypeFlag } from '../schema/type.js';
import type { Closure } from '../value/closure.js';
import { List } from '../value/containers.js';
import { MpData } from '../value/scalars.js';
import { defOf } from './types.js';

/** Information on types. */
export const TYPE_INFO: readonly Entry[] = [
  func('type_info', {
    doc: 'What is known of a type: properties, methods, relations, flags.',
    in: In.COLLECTION,
    readsState: true,
    params: [p.str('name')],
    run: (rt, name) => typeInfo(rt, typeNamed(rt, name)),
  }),
  func('types_info', {
    doc: 'What is known of every type of the collection, by ascending number.',
    in: In.COLLECTION,
    readsState: true,
    run: (rt) => {
      // In what order the catalog has them depends on how it was loaded, and differs between nodes.
      const types = [...rt.schema.allTypes()].sort((a, b) => a.id - b.id);
      return new List(types.map((type) => typeInfo(rt, type)));
    },
  }),
];

function typeInfo(rt: Runtime, type: Type): MpData {
  const def = defOf(type);
  const out = new MsgpackWriter();
  rt.charge(64 * (20 + 4 * (def.fields.length + def.methods.size)));
  out.beginMap(11);
  out.key('type_id');
  out.int(def.id);
  out.key('name');
  out.str(def.name);
  out.key('wrap_only');
  out.bool((def.flags & TypeFlag.WRAP_ONLY) !== 0);
  out.key('hide_id');
  out.bool((def.flags & TypeFlag.HIDE_ID) !== 0);
  out.key('auto_index');
  out.bool((def.flags & TypeFlag.INDEX) !== 0);
  out.key('strict');
  out.bool((def.flags & TypeFlag.STRICT) !== 0);
  out.key('created_at');
  out.int(def.createdAt);
  out.key('modified_at');
  if (def.modifiedAt === null) out.nil();
  else out.int(def.modifiedAt);
  out.key('fields');
  out.beginArray(def.fields.length + (def.idName === null ? 0 : 1));
  if (def.idName !== null) writePair(out, def.idName, () => out.str('#'));
  for (const { name, definition } of def.fields)
    writePair(out, name, () => packDefinition(out, definition, rt.schema));
  out.key('methods');
  writeMethodsInfo(rt, out, def.methods, rt.access.has(Privilege.CHANGE));
  out.key('relations');
  writeRelations(rt, out, type);
  return new MpData(out.out.take());
}

function writePair(out: MsgpackWriter, name: string, value: () => void): void {
  out.beginArray(2);
  out.str(name);
  value();
}

/** Methods of a type or enum. */
export function writeMethodsInfo(
  rt: Runtime,
  out: MsgpackWriter,
  methods: ReadonlyMap<string, Closure>,
  withDefinition: boolean,
): void {
  out.beginMap(methods.size);
  for (const [name, closure] of methods) {
    out.key(name);
    out.beginMap(withDefinition ? 4 : 3);
    const { params } = rt.unitOf(closure);
    out.key('arguments');
    out.beginArray(params.length);
    for (const param of params) out.str(param.name);
    out.key('doc');
    out.str(closureDoc(parseClosure(closure.source)));
    out.key('with_side_effects');
    out.bool(rt.needsChange(closure));
    if (!withDefinition) continue;
    out.key('definition');
    out.str(closure.pretty());
  }
}

/** The other side of each relation. */
function writeRelations(rt: Runtime, out: MsgpackWriter, type: Type): void {
  const related = defOf(type).fields.filter(({ relation }) => relation !== null);
  out.beginMap(related.length);
  for (const { name, relation } of related) {
    if (relation === null) continue;
    const other = rt.schema.type(relation.type);
    const end = other.def?.fields.find(({ id }) => id === relation.field);
    if (end === undefined) throw new Error(`the relation of ${type.name}.${name} has no other side`);
    out.key(name);
    out.beginMap(3);
    out.key('type');
    out.str(other.name);
    out.key('property');
    out.str(end.name);
    out.key('definition');
    out.str(definitionText(end.definition, rt.schema));
  }
}
