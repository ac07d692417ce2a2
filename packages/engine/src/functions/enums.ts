/** Enums: making, changing and deleting them, and their members. */

import { argumentsError, lookupError, operationError, quotaError, typeError, valueError } from '../error.js';
import {
  CHANGES_COLLECTION,
  DEFINES_COLLECTION,
  type Entry,
  func,
  In,
  method,
  type Receiver,
  variadic,
  variadicMethod,
} from '../run/builtin.js';
import { enumNamed, memberWithValue } from '../run/enum.js';
import { goneThings, makeValid } from '../run/gone.js';
import { assertUnused, whileInUse } from '../run/instance.js';
import { isHeldByCall } from '../run/instances.js';
import { callOwnMethod } from '../run/own-methods.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { storedCopyOf } from '../run/structure.js';
import type { Code } from '../run/unit.js';
import { type EnumDef, type EnumType, MEMBERS_OF_ENUM_MAX, type MemberDef } from '../schema/enum.js';
import { inWords } from '../schema/rule.js';
import { ENUMS_MAX, METHODS_MAX } from '../schema/type.js';
import { newIdOf } from '../state/ids.js';
import type { Closure } from '../value/closure.js';
import { eachThing, equals, kindOfMember } from '../value/kinds.js';
import { Member } from '../value/member.js';
import { Bytes, Float } from '../value/scalars.js';
import { Tag } from '../value/tag.js';
import { lengthOf } from '../value/text.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { type ActionCall, actionOf, argumentOf, assertCount, partNameOf } from './action-call.js';
import { mayChange, optionsAfter } from './known-options.js';
import { assertNewName, assertPartName, idWithRoom, inSteps, isClosure } from './type-fields.js';

const MEMBER: Receiver<Member> = { tags: [Tag.MEMBER] };

export const ENUMS: readonly Entry[] = [
  func('set_enum', {
    doc: 'Makes an enum: a thing with a value for each member, and closures as methods. The first member is the default. With {change: true} it changes one that is there.',
    changes: DEFINES_COLLECTION,
    params: [
      p.str('name'),
      p.later(p.thing('members')),
      p.optional(p.later(optionsAfter('a name and a thing', '{change: true}'))),
    ],
    run: (rt, name, given, options) => {
      const of = options === undefined ? undefined : rt.schema.enumNamed(name);
      if (of !== undefined && options !== undefined) {
        assertUnused(of);
        const members = whileInUse(of, () => (mayChange(rt, 'set_enum', options()) ? given() : null));
        if (members === null) assertNewName(rt, name);
        else changeEnum(rt, of, members);
        return null;
      }
      assertNewName(rt, name);
      const members = given();
      if (options !== undefined) mayChange(rt, 'set_enum', options());
      // The arguments may have made an enum of this name.
      assertNewName(rt, name);
      rt.schemaEditor.putEnum(newEnum(rt, name, members));
      return null;
    },
  }),
  variadic('mod_enum', {
    doc: "Changes an enum: 'add', 'del', 'mod', 'ren' a member or method, 'def' makes a member the default.",
    changes: DEFINES_COLLECTION,
    params: [p.str('name')],
    rest: p.lazy('action, member, argument'),
    min: 3,
    max: 4,
    run: (rt, name, codes) => {
      const of = enumNamed(rt, name);
      assertUnused(of);
      const call: Call = { function: 'mod_enum', rt, of, codes };
      whileInUse(of, () => actionOf(call, ACTIONS)(call, partNameOf(call, 'member')));
      return null;
    },
  }),
  func('del_enum', {
    doc: 'Deletes an enum that no type names, and of which no member is in use.',
    changes: CHANGES_COLLECTION,
    params: [p.str('name')],
    run: (rt, name) => {
      const of = enumNamed(rt, name);
      assertUnused(of);
      const [user] = rt.schema.usersOfEnum(of.id);
      if (user !== undefined)
        throw operationError(`the enum \`${name}\` is used by the type \`${user.name}\``);
      withoutMembers(rt, of.members, () => rt.schemaEditor.dropEnum(of.id, name));
      return null;
    },
  }),
  func('rename_enum', {
    doc: 'Gives an enum another name.',
    changes: DEFINES_COLLECTION,
    params: [p.str('name'), p.str('new_name')],
    run: (rt, name, newName) => {
      const of = enumNamed(rt, name);
      assertNewName(rt, newName);
      assertUnused(of);
      rt.schemaEditor.putEnum({ ...defOf(of), name: newName });
      return null;
    },
  }),
  func('has_enum', {
    doc: 'Whether there is an enum of this name.',
    in: In.COLLECTION,
    params: [p.str('name')],
    run: (rt, name) => rt.schema.enumNamed(name) !== undefined,
  }),
  variadic('enum', {
    doc: 'The default member of an enum, or the member with a value.',
    in: In.COLLECTION,
    params: [p.str('name')],
    rest: p.lazy('value'),
    max: 2,
    run: (rt, name, [code]) => {
      const of = enumNamed(rt, name);
      return whileInUse(of, () => (code === undefined ? of.default : memberWithValue(rt, of, code())));
    },
  }),
  func('enum_map', {
    doc: 'A new thing with the value of each member of an enum.',
    in: In.COLLECTION,
    params: [p.str('name')],
    run: (rt, name) => {
      const { members } = enumNamed(rt, name);
      rt.charge(UNITS_PER_MEMBER * members.length);
      const map = new Thing(0, rt.shapes.empty(), []);
      for (const member of members) map.put(member.name, member.value);
      return map;
    },
  }),
  method(MEMBER, 'name', {
    doc: 'The name of the member.',
    run: (_rt, member) => member.name,
  }),
  method(MEMBER, 'value', {
    doc: 'The value of the member.',
    run: (_rt, member) => member.value,
  }),
  variadicMethod(MEMBER, 'len', {
    doc: 'The length of the value, where that is a str, bytes or a thing.',
    rest: p.lazy('arguments'),
    run: (rt, member, ...codes) => lengthOfMember(rt, member, codes.flat()),
  }),
];

/** Units charged for looking at a member. */
const UNITS_PER_MEMBER = 16;

/** Units charged for a member that is made, whose value is compared with those of all others. */
const UNITS_PER_NEW_MEMBER = 256;

export function defOf(of: EnumType): EnumDef {
  if (of.def === null) throw lookupError(`the enum \`${of.name}\` was deleted`);
  return of.def;
}

function newEnum(rt: Runtime, name: string, source: Thing): EnumDef {
  const { schema } = rt;
  rt.load(source);
  const members: MemberDef[] = [];
  const methods = new Map<string, Closure>();
  const values = new MemberValues(name);
  for (const [key, value] of source.entries()) {
    rt.charge(UNITS_PER_NEW_MEMBER);
    assertPartName(key);
    if (isClosure(value)) {
      assertMethodCount(methods.size + 1);
      methods.set(key, storedCopyOf(rt, value));
      continue;
    }
    assertMemberCount(members.length + 1);
    values.add(key, value);
    members.push({ id: members.length, name: key, value });
  }
  if (members.length === 0) throw valueError(`the enum \`${name}\` needs a member`);
  const now = rt.seconds();
  return {
    id: idWithRoom(rt, 'enums', { count: schema.enumCount, id: newIdOf(schema.enumIds), max: ENUMS_MAX }),
    name,
    createdAt: now,
    modifiedAt: null,
    nextMember: members.length,
    members,
    methods,
  };
}

/** The values of the members of one enum: all of one kind, and each once. */
class MemberValues {
  private kind: string | null = null;
  private readonly seen = new Set<unknown>();
  private readonly values: Value[] = [];

  constructor(
    private readonly of: string,
    members: readonly MemberDef[] = [],
  ) {
    for (const { name, value } of members) this.add(name, value);
  }

  /**
   * @throws QueryError type_err for a value that no member can have, or of another kind than those before; value_err for one
   *   that equals one of them
   */
  add(name: string, value: Value): void {
    const kind = kindOfMember(value);
    const where = `enum \`${this.of}\`, member \`${name}\``;
    if (kind === null)
      throw typeError(`${where}: expected an int, float, str, bytes or a thing, got ${inWords(value)}`);
    const isOther = this.kind !== null && kind !== this.kind;
    const key = keyOf(value);
    // A value of another kind can be equal all the same, and that is what the error is then.
    if (isOther ? this.values.some((one) => equals(one, value)) : this.seen.has(key)) {
      throw valueError(`${where}: another member has the value ${inWords(value)}`);
    }
    if (isOther)
      throw typeError(`${where}: expected a value of the type ${this.kind}, got ${inWords(value)}`);
    this.kind = kind;
    this.seen.add(key);
    this.values.push(value);
  }
}

/** The same for values of one kind that are equal, except for nan, which equals nothing. */
function keyOf(value: Value): unknown {
  if (value instanceof Float) return Number.isNaN(value.value) ? value : value.value + 0;
  if (value instanceof Bytes) return Buffer.from(value.data).toString('latin1');
  return value;
}

/** One call of `mod_enum`. */
interface Call extends ActionCall {
  readonly rt: Runtime;
  readonly of: EnumType;
}

const ACTIONS: ReadonlyMap<string, (call: Call, name: string) => void> = new Map([
  ['add', add],
  ['def', makeDefault],
  ['del', del],
  ['mod', mod],
  ['ren', ren],
]);

/** Replaces what is known of the enum, with the time of the change. */
function put({ rt, of }: Call, change: Partial<Pick<EnumDef, 'members' | 'methods' | 'nextMember'>>): void {
  rt.charge(UNITS_PER_MEMBER * of.members.length);
  rt.schemaEditor.putEnum({ ...defOf(of), ...change, modifiedAt: rt.seconds() });
}

function add(call: Call, name: string): void {
  assertCount(call, 4);
  const { of } = call;
  assertFreeName(of, name);
  const given = argumentOf(call, 4);
  const def = defOf(of);
  if (isClosure(given)) {
    assertMethodCount(def.methods.size + 1);
    put(call, { methods: new Map([...def.methods, [name, storedCopyOf(call.rt, given)]]) });
    return;
  }
  assertMemberCount(def.members.length + 1);
  new MemberValues(of.name, def.members).add(name, given);
  const member = { id: of.nextMember, name, value: given };
  put(call, { members: [...def.members, member], nextMember: member.id + 1 });
}

/** Gives an enum the members and methods that it lacks, and others another value. What is not named stays as it is. */
function changeEnum(rt: Runtime, of: EnumType, source: Thing): void {
  rt.load(source);
  const parts = source.entries();
  const set = ([name, value]: readonly [string, Value]): boolean => {
    assertPartName(name);
    const call: Call = { function: 'mod_enum', rt, of, codes: [() => 'mod', () => name, () => value] };
    const isThere = of.named(name) !== undefined || defOf(of).methods.has(name);
    if (isThere) mod(call, name);
    else add(call, name);
    return true;
  };
  whileInUse(of, () => inSteps(parts, set));
}

function makeDefault(call: Call, name: string): void {
  assertCount(call, 3);
  const member = memberDef(call.of, name);
  const { members } = defOf(call.of);
  if (members[0] === member) return;
  put(call, { members: [member, ...members.filter((other) => other !== member)] });
}

function del(call: Call, name: string): void {
  assertCount(call, 3);
  const { rt, of } = call;
  const def = defOf(of);
  if (def.methods.has(name)) {
    put(call, { methods: new Map([...def.methods].filter(([key]) => key !== name)) });
    return;
  }
  const { id } = memberDef(of, name);
  if (def.members.length === 1)
    throw lookupError(`\`${name}\` is the last member of the enum \`${of.name}\``);
  const [user] = rt.schema.usersOfEnum(of.id, id);
  if (user !== undefined) {
    throw operationError(`the member \`${of.name}{${name}}\` is a default of the type \`${user.name}\``);
  }
  withoutMembers(rt, [of.member(id)], () =>
    put(call, { members: def.members.filter((member) => member.id !== id) }),
  );
}

function mod(call: Call, name: string): void {
  assertCount(call, 4);
  const { of } = call;
  const def = defOf(of);
  if (def.methods.has(name)) {
    const closure = argumentOf(call, 4);
    if (!isClosure(closure))
      throw typeError(`\`${name}\` is a method: expected a closure, got ${inWords(closure)}`);
    put(call, { methods: new Map([...def.methods, [name, storedCopyOf(call.rt, closure)]]) });
    return;
  }
  const member = memberDef(of, name);
  const value = argumentOf(call, 4);
  if (equals(member.value, value)) return;
  const others = new MemberValues(
    of.name,
    def.members.filter((other) => other !== member),
  );
  if (kindOfMember(value) !== kindOfMember(member.value) && def.members.length === 1) {
    throw typeError(
      `enum \`${of.name}\`, member \`${name}\`: expected a value of the type ${kindOfMember(member.value)}, got ${inWords(value)}`,
    );
  }
  others.add(name, value);
  put(call, { members: def.members.map((other) => (other === member ? { ...other, value } : other)) });
}

function ren(call: Call, name: string): void {
  assertCount(call, 4);
  const { of } = call;
  const def = defOf(of);
  const closure = def.methods.get(name);
  const member = closure === undefined ? memberDef(of, name) : null;
  const to = p.str('new_name').accept(argumentOf(call, 4), { function: 'mod_enum', position: 4 });
  assertPartName(to);
  if (to === name) return;
  assertFreeName(of, to);
  if (member === null) {
    const renamed = [...def.methods].map(([key, method]) => [key === name ? to : key, method] as const);
    put(call, { methods: new Map(renamed) });
  } else {
    put(call, { members: def.members.map((other) => (other === member ? { ...other, name: to } : other)) });
  }
}

function memberDef(of: EnumType, name: string): MemberDef {
  const member = defOf(of).members.find((one) => one.name === name);
  if (member === undefined) throw lookupError(`the enum \`${of.name}\` has no member \`${name}\``);
  return member;
}

function assertFreeName(of: EnumType, name: string): void {
  if (of.named(name) !== undefined || defOf(of).methods.has(name)) {
    throw valueError(`the enum \`${of.name}\` has a member or method \`${name}\` already`);
  }
}

function assertMemberCount(count: number): void {
  if (count > MEMBERS_OF_ENUM_MAX) throw quotaError(`an enum has at most ${MEMBERS_OF_ENUM_MAX} members`);
}

function assertMethodCount(count: number): void {
  if (count > METHODS_MAX) throw quotaError(`an enum has at most ${METHODS_MAX} methods`);
}

/**
 * Deletes members, of which things that are gone for the rest of the query let go before.
 *
 * @throws QueryError operation_err while stored data or the call holds one of them
 */
function withoutMembers(rt: Runtime, members: readonly Member[], remove: () => void): void {
  const holders = holdersAmong(goneThings(rt), members);
  const refsOfGone = new Map<Member, number>();
  for (const { member } of holders) refsOfGone.set(member, (refsOfGone.get(member) ?? 0) + 1);
  for (const member of members) {
    if (member.refs > (refsOfGone.get(member) ?? 0) || isHeldByCall(rt, member))
      throw operationError(`the member \`${member.label}\` is in use`);
  }
  for (const { thing, key } of holders) rt.transaction.placeUnchecked(thing, key, null);
  remove();
  makeValid(rt, new Set(holders.map(({ thing }) => thing)));
}

/** One for each reference from a property of the things to one of the members. */
function holdersAmong(
  things: ReadonlySet<Thing>,
  members: readonly Member[],
): readonly { readonly thing: Thing; readonly key: string; readonly member: Member }[] {
  const wanted = new Set<unknown>(members);
  return [...things].flatMap((thing) =>
    thing.entries().flatMap(([key, value]) => {
      const found: { thing: Thing; key: string; member: Member }[] = [];
      eachThing(
        value,
        () => {},
        (other) => {
          if (other instanceof Member && wanted.has(other)) found.push({ thing, key, member: other });
        },
      );
      return found;
    }),
  );
}

/** The length of a member's value; for one that has none a method of the enum may be called so. */
function lengthOfMember(rt: Runtime, member: Member, codes: readonly Code[]): Value {
  const { value } = member;
  const isLong = typeof value === 'string' || value instanceof Bytes || value instanceof Thing;
  if (!isLong) return callOwnMethod(rt, member, 'len', codes);
  if (codes.length > 0) throw argumentsError(`len() takes no arguments, not ${codes.length}`);
  if (typeof value === 'string') {
    rt.charge(value.length);
    return lengthOf(value);
  }
  if (value instanceof Bytes) return value.data.length;
  rt.load(value);
  return value.shape.size;
}
