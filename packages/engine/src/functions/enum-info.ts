import { type Info, packInfo } from '../pack/info.js';
import { type Entry, func, In } from '../run/builtin.js';
import { enumNamed } from '../run/enum.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import type { EnumType } from '../schema/enum.js';
import { List } from '../value/containers.js';
import { isInt } from '../value/numbers.js';
import { Bytes, Float, type MpData } from '../value/scalars.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { defOf } from './enums.js';
import { methodsInfo } from './type-info.js';

/** Information on enums. */
export const ENUM_INFO: readonly Entry[] = [
  func('enum_info', {
    doc: 'What is known of an enum: members, methods, default.',
    in: In.COLLECTION,
    params: [p.str('name')],
    run: (rt, name) => enumInfo(rt, enumNamed(rt, name)),
  }),
  func('enums_info', {
    doc: 'What is known of every enum of the collection, by ascending number.',
    in: In.COLLECTION,
    run: (rt) => {
      // The order in the catalog depends on how it was loaded, and differs between nodes.
      const enums = [...rt.schema.allEnums()].sort((a, b) => a.id - b.id);
      return new List(enums.map((of) => enumInfo(rt, of)));
    },
  }),
];

function enumInfo(rt: Runtime, of: EnumType): MpData {
  const { id, name, createdAt, modifiedAt, methods } = defOf(of);
  const { members } = of;
  rt.charge(64 * (1 + members.length + methods.size));
  return packInfo(rt, {
    enum_id: id,
    name,
    default: of.default.name,
    created_at: createdAt,
    modified_at: modifiedAt,
    members: members.map((member) => [member.name, memberValue(rt, member.value)]),
    methods: methodsInfo(rt, methods),
  });
}

/** The value of a member; of a thing only the id. */
function memberValue(rt: Runtime, value: Value): Info {
  if (isInt(value) || value instanceof Float) return value;
  if (typeof value === 'string') {
    rt.charge(value.length);
    return value;
  }
  if (value instanceof Bytes) {
    rt.charge(value.data.length);
    return (sink) => sink.bin(value.data);
  }
  if (value instanceof Thing) return { [rt.schema.idNameOf(value)]: value.id };
  throw new Error('a member has a value of a kind that none can have');
}
