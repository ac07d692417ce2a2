/** The records of ThingsDB that change enums which are there, or make whole ones. */
import type { EnumDef } from '../schema/enum.js';
import { ENUMS_MAX } from '../schema/type.js';
import { Closure } from '../value/closure.js';
import type { Value } from '../value/value.js';
import type { CollectionBuilder } from './builder.js';
import type { DataInput } from './input.js';
import type { Payload } from './payload.js';
import { type SchemaBuilder, timeOrNull } from './schema.js';
import type { ValueReader } from './values.js';

export class EnumChanges {
  constructor(
    private readonly input: DataInput,
    private readonly builder: CollectionBuilder,
    private readonly schema: SchemaBuilder,
    private readonly values: ValueReader,
  ) {}

  /** A new enum, complete: {enum_id, created_at, name, [[name, value]...], [[name, closure]...]}; methods since 1.7. */
  make(payload: Payload): void {
    const { input, schema } = this;
    const { offset } = input;
    const id = payload.next().uint('the id of an enum', ENUMS_MAX - 1);
    const createdAt = payload.next().uint('a time');
    const name = schema.newName(payload.next());
    if (this.builder.store.schema.enum(id).def !== null)
      input.fail(`there are two enums with the id ${id}`, offset);
    const given = new Map<string, Value>();
    for (const [member, value] of this.pairs(payload)) given.set(member, value);
    const methods = new Map<string, Closure>();
    if (payload.remaining > 0)
      for (const [method, value] of this.pairs(payload)) methods.set(method, this.closureOf(value, offset));
    const taken = new Set<string>();
    for (const part of [...given.keys(), ...methods.keys()]) schema.assertPart(part, taken, offset);
    const members = [...given.keys()].map((member, place) => ({ id: place, name: member, value: null }));
    const def = { id, name, createdAt, modifiedAt: null, nextMember: members.length, members, methods };
    schema.giveValues(def, given, methods, offset);
  }

  /** Deletes an enum. */
  delete(): void {
    const def = this.defOf(this.input);
    this.builder.store.setEnum(def.id, { gone: def.name });
  }

  /** A new name: {id, name}. */
  rename(payload: Payload): void {
    const def = this.defOf(payload.next());
    this.schema.putEnum({ ...def, name: this.schema.newName(payload.next()) });
  }

  /** A new member, or a method when the value is a closure: {enum_id, modified_at, name, value}. */
  add(payload: Payload): void {
    const { def, name, offset } = this.part(payload);
    this.schema.assertPart(name, partsOf(def), offset);
    payload.next();
    const value = this.values.read();
    if (value instanceof Closure) {
      this.schema.putEnum({ ...def, methods: new Map([...def.methods, [name, value]]) });
      return;
    }
    const id = def.nextMember;
    this.schema.putEnum({ ...def, members: [...def.members, { id, name, value }], nextMember: id + 1 });
  }

  /** Another member becomes the default, which takes its place: {enum_id, modified_at, index}. */
  makeDefault(payload: Payload): void {
    const def = this.begin(payload);
    const { offset } = payload.next();
    const index = this.input.uint('the index of a member', def.members.length - 1);
    const members = [...def.members];
    const [first, chosen] = [members[0], members[index]];
    if (first === undefined || chosen === undefined)
      return this.input.fail('an enum without members', offset);
    members[index] = first;
    members[0] = chosen;
    this.schema.putEnum({ ...def, members });
  }

  /** A member or method is gone: {enum_id, modified_at, name}. The last member takes its place. */
  remove(payload: Payload): void {
    const { def, name, offset } = this.part(payload);
    if (def.methods.has(name)) {
      const methods = new Map([...def.methods].filter(([key]) => key !== name));
      this.schema.putEnum({ ...def, methods });
      return;
    }
    const index = def.members.findIndex((member) => member.name === name);
    const members = [...def.members];
    const last = members.pop();
    if (index < 0 || last === undefined)
      this.input.fail(`the enum ${def.name} has no member ${name}`, offset);
    else if (index < members.length) members[index] = last;
    this.schema.putEnum({ ...def, members });
  }

  /** A new value of a member or method: {enum_id, modified_at, name, value}. */
  change(payload: Payload): void {
    const { def, name, offset } = this.part(payload);
    payload.next();
    const value = this.values.read();
    if (def.methods.has(name)) {
      const methods = new Map([...def.methods, [name, this.closureOf(value, offset)]]);
      this.schema.putEnum({ ...def, methods });
      return;
    }
    if (!def.members.some((member) => member.name === name))
      this.input.fail(`the enum ${def.name} has no member ${name}`, offset);
    const members = def.members.map((member) => (member.name === name ? { ...member, value } : member));
    this.schema.putEnum({ ...def, members });
  }

  /** Another name of a member or method: {enum_id, modified_at, name, to}. */
  renamePart(payload: Payload): void {
    const { def, name, offset } = this.part(payload);
    payload.next();
    const to = this.input.text('the name of a member');
    const parts = partsOf(def);
    if (!parts.delete(name)) this.input.fail(`the enum ${def.name} has no member ${name}`, offset);
    this.schema.assertPart(to, parts, offset);
    this.schema.putEnum({
      ...def,
      members: def.members.map((member) => (member.name === name ? { ...member, name: to } : member)),
      methods: new Map(Array.from(def.methods, ([key, closure]) => [key === name ? to : key, closure])),
    });
  }

  /** Reads the enum, and when it was changed. */
  private begin(payload: Payload): EnumDef {
    const def = this.defOf(payload.next());
    return { ...def, modifiedAt: timeOrNull(payload.next().uint('a time')) };
  }

  private part(payload: Payload): { readonly def: EnumDef; readonly name: string; readonly offset: number } {
    const def = this.begin(payload);
    const { offset } = payload.next();
    return { def, offset, name: this.input.text('the name of a member') };
  }

  private defOf(input: DataInput): EnumDef {
    const { offset } = input;
    const id = input.uint('the id of an enum', ENUMS_MAX - 1);
    return this.builder.store.schema.enum(id).def ?? input.fail(`there is no enum ${id}`, offset);
  }

  private *pairs(payload: Payload): Generator<readonly [string, Value], void, undefined> {
    const { input, values } = this;
    for (let left = payload.next().array('the parts of an enum'); left > 0; left--) {
      input.parts(2, 'a part of an enum');
      yield [input.text('the name of a part'), values.read()];
    }
  }

  private closureOf(value: Value, offset: number): Closure {
    return value instanceof Closure ? value : this.input.fail('a method is a closure', offset);
  }
}

function partsOf({ members, methods }: EnumDef): Set<string> {
  return new Set([...members.map(({ name }) => name), ...methods.keys()]);
}
