import { Privilege } from '../admin/privileges.js';
import { MsgpackWriter } from '../pack/msgpack-writer.js';
import { type Entry, func, In } from '../run/builtin.js';
import { enumNamed } from '../run/enum.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import type { EnumType } from '../schema/enum.js';
import { List } from '../value/containers.js';
import { Bytes, Float, MpData } from '../value/scalars.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { defOf } from './enums.js';
import { writeMethodsInfo } from './type-info.js';

/** Information on enums. */
export const ENUM_INFO: readonly Entry[] = [
  func('enum_info', {
    doc: 'What is known of an enum: members, methods, default.',
    in: In.COLLECTION,
    readsState: true,
    params: [p.str('name')],
    run: (rt, name) => enumInfo(rt, enumNamed(rt, name)),
  }),
  func('enums_info', {
    doc: 'What is known of every enum of the collection, by ascending number.',
    in: In.COLLECTION,
    readsState: true,
    run: (rt) => {
      // In what order the catalog has them depends on how it was loaded, and differs between nodes.
      const enums = [...rt.schema.allEnums()].sort((a, b) => a.id - b.id);
      return new List(enums.map((of) => enumInfo(rt, of)));
    },
  }),
];

function enumInfo(rt: Runtime, of: EnumType): MpData {
  const { id, name, createdAt, modifiedAt, methods } = defOf(of);
  const { members } = of;
  const out = new MsgpackWriter();
  rt.charge(64 * (1 + members.length + methods.size));
  out.beginMap(7);
  out.key('enum_id');
  out.int(id);
  out.key('name');
  out.str(name);
  out.key('default');
  out.str(of.default.name);
  out.key('created_at');
  out.int(createdAt);
  out.key('modified_at');
  if (modifiedAt === null) out.nil();
  else out.int(modifiedAt);
  out.key('members');
  out.beginArray(members.length);
  for (const member of members) {
    out.beginArray(2);
    out.str(member.name);
    writeMemberValue(rt, out, member.value);
  }
  out.key('methods');
  writeMethodsInfo(rt, out, methods, rt.access.has(Privilege.CHANGE));
  return new MpData(out.out.take());
}

/** The value of a member; of a thing only the id. */
function writeMemberValue(rt: Runtime, out: MsgpackWriter, value: Value): void {
  if (typeof value === 'string') {
    rt.charge(value.length);
    out.str(value);
  } else if (typeof value === 'number' || typeof value === 'bigint') out.int(value);
  else if (value instanceof Float) out.float(value.value);
  else if (value instanceof Bytes) {
    rt.charge(value.data.length);
    out.bin(value.data);
  } else if (value instanceof Thing) {
    out.beginMap(1);
    out.key(rt.schema.idNameOf(value));
    out.int(value.id);
  } else throw new Error('a member has a value of a kind that none can have');
}
