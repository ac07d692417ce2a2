/** Types, enums and relations of a collection that is being made of data of ThingsDB. Their ids are kept. */
import type { Definition } from '../schema/definition.js';
import { type EnumDef, MEMBERS_OF_ENUM_MAX } from '../schema/enum.js';
import { NAME } from '../schema/name.js';
import {
  ENUMS_MAX,
  FIELDS_MAX,
  type FieldDef,
  METHODS_MAX,
  type RelationEnd,
  TYPES_MAX,
  type TypeDef,
  TypeFlag,
} from '../schema/type.js';
import type { Closure } from '../value/closure.js';
import { ThingSet } from '../value/containers.js';
import { kindOfMember } from '../value/kinds.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import type { CollectionBuilder } from './builder.js';
import { readDefinition } from './definitions.js';
import type { DataInput } from './input.js';
import type { Payload } from './payload.js';
import type { ValueReader } from './values.js';

/** Units charged for a field, method or member. */
const UNITS_PER_PART = 64;

/** The flags of types, in the order in which they are written. */
export const TYPE_FLAGS = [TypeFlag.WRAP_ONLY, TypeFlag.HIDE_ID, TypeFlag.INDEX] as const;

export class SchemaBuilder {
  constructor(
    private readonly builder: CollectionBuilder,
    private readonly input: DataInput,
    private readonly values: ValueReader,
  ) {}

  /** A type, without properties: {id, created_at, name, wrap-only, hide-id, index}, the last three or fewer since some version each. */
  newType(payload: Payload): void {
    const { input } = this;
    const { offset } = input;
    const id = payload.next().uint('the id of a type', TYPES_MAX - 1);
    const createdAt = payload.next().uint('a time');
    const name = this.newName(payload.next());
    if (this.builder.store.schema.type(id).def !== null)
      input.fail(`there are two types with the id ${id}`, offset);
    const flags = this.flags(payload, payload.remaining);
    this.putType({
      id,
      generation: 0,
      name,
      flags,
      createdAt,
      modifiedAt: null,
      idName: null,
      nextField: 0,
      successor: null,
      fields: [],
      methods: new Map(),
    });
  }

  /** The parts of a type that has none: {id, modified_at, flags, fields, methods}. */
  setType(payload: Payload): void {
    const { input } = this;
    const { offset } = input;
    const def = this.typeOf(payload.next());
    if (def.fields.length > 0 || def.methods.size > 0 || def.idName !== null)
      input.fail(`the type ${def.name} has properties already`, offset);
    const modifiedAt = payload.next().uint('a time');
    const flags = this.flags(payload, Math.max(payload.remaining - 2, 0), def.flags);
    const count = payload.next().array('fields');
    const withFields = this.fields({ ...def, flags, modifiedAt: timeOrNull(modifiedAt) }, count, () => {
      input.parts(2, 'a field');
      return input.text('the name of a field');
    });
    const methods = payload.remaining > 0 ? payload.next().map('methods') : 0;
    this.putType(this.methods(withFields, methods, () => input.text('the name of a method')));
  }

  /** An enum: {id, created_at, name, count, [names]}, without the names before 1.7. @param late gives the names that come later */
  newEnum(payload: Payload, late: (id: number, count: number) => readonly string[] | null): void {
    const { input, builder } = this;
    const { offset } = input;
    const { schema } = builder.store;
    const id = payload.next().uint('the id of an enum', ENUMS_MAX - 1);
    const createdAt = payload.next().uint('a time');
    const name = this.newName(payload.next());
    const count = payload.next().uint('the number of members', MEMBERS_OF_ENUM_MAX);
    if (schema.enum(id).def !== null) input.fail(`there are two enums with the id ${id}`, offset);
    const names = payload.remaining > 0 ? this.names(payload.next()) : (late(id, count) ?? []);
    if (count === 0 || names.length !== count)
      input.fail(`the enum ${name} has ${names.length} names for ${count} members`, offset);
    const seen = new Set<string>();
    for (const member of names) this.assertPart(member, seen, offset);
    builder.charge(UNITS_PER_PART * count);
    this.putEnum({
      id,
      name,
      createdAt,
      modifiedAt: null,
      nextMember: count,
      members: names.map((member, place) => ({ id: place, name: member, value: null })),
      methods: new Map(),
    });
  }

  /** The values of all members of an enum, by name: {id, [[name, value]...], [[name, closure]...]}. */
  setEnum(payload: Payload): void {
    const { input, values, builder } = this;
    const { offset } = input;
    const id = payload.next().uint('the id of an enum', ENUMS_MAX - 1);
    const def = builder.store.schema.enum(id).def ?? input.fail(`there is no enum ${id}`, offset);
    const given = new Map<string, Value>();
    for (let left = payload.next().array('the members of an enum'); left > 0; left--) {
      input.parts(2, 'a member');
      const place = input.offset;
      const name = input.text('the name of a member');
      if (given.has(name)) input.fail(`a second member ${name}`, place);
      given.set(name, values.read());
    }
    const count = payload.remaining > 0 ? payload.next().array('methods') : 0;
    const methods = this.readMethods(count, new Set(given.keys()), () => {
      input.parts(2, 'a method');
      return input.text('the name of a method');
    });
    this.giveValues(def, given, methods, offset);
  }

  /** Gives each member of an enum its value. */
  giveValues(
    def: EnumDef,
    given: ReadonlyMap<string, Value>,
    methods: ReadonlyMap<string, Closure>,
    offset: number,
  ): void {
    const { input } = this;
    const members = def.members.map((member) => ({
      ...member,
      value: given.get(member.name) ?? input.fail(`the enum ${def.name} lacks ${member.name}`, offset),
    }));
    if (given.size !== members.length)
      input.fail(`the enum ${def.name} has members that it does not name`, offset);
    const kinds = new Set(members.map(({ value }) => kindOfMember(value)));
    if (kinds.size !== 1 || kinds.has(null))
      input.fail(`the values of ${def.name} are of several types`, offset);
    this.putEnum({ ...def, members, methods });
  }

  /** Couples two fields whose values are there already: {modified_at, type 1, field 1, type 2, field 2}. */
  relate(payload: Payload): void {
    const { offset } = this.input;
    payload.next().uint('a time');
    const side = (): readonly [TypeDef, FieldDef] => this.side(payload.next(), () => payload.next());
    this.couple(side(), side(), offset);
  }

  /** Couples two fields. */
  couple([a, f]: readonly [TypeDef, FieldDef], [b, g]: readonly [TypeDef, FieldDef], offset: number): void {
    const { input, builder } = this;
    for (const [def, field, partner] of [
      [a, f, b],
      [b, g, a],
    ] as const) {
      if (field.relation !== null || !names(field.definition, partner.id))
        input.fail(`${def.name}.${field.name} can not be related to ${partner.name}`, offset);
    }
    const isOneField = a.id === b.id && f.id === g.id;
    if (builder.isReplaying) {
      this.completeSides(a.id, f.name, g.name);
      if (!isOneField) this.completeSides(b.id, g.name, f.name);
    }
    this.setRelation(a.id, f.id, { type: b.id, field: g.id });
    if (!isOneField) this.setRelation(b.id, g.id, { type: a.id, field: f.id });
    this.assertMutual(a.id, f.id, g, offset);
    if (!isOneField) this.assertMutual(b.id, g.id, f, offset);
  }

  /** Throws where an instance would need another one, and so on without end, or one of a type that only wraps. */
  assertPossible(): void {
    const { schema } = this.builder.store;
    const open = new Set<number>();
    const done = new Set<number>();
    const path: { readonly id: number; readonly needed: Iterator<number> }[] = [];
    const enter = (id: number): void => {
      if (open.has(id))
        this.input.fail(`an instance of ${schema.type(id).name} would need another one, without end`);
      if (done.has(id)) return;
      open.add(id);
      path.push({ id, needed: this.needed(id)[Symbol.iterator]() });
    };
    for (const { id: first } of schema.allTypes()) {
      enter(first);
      for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
        const { value, done: isOver } = top.needed.next();
        if (isOver !== true) {
          enter(value);
          continue;
        }
        open.delete(top.id);
        done.add(top.id);
        path.pop();
      }
    }
  }

  /** The types of which an instance of a type needs one. */
  private needed(id: number): number[] {
    const { schema } = this.builder.store;
    const type = schema.type(id);
    if (type.isWrapOnly) return [];
    return (type.def?.fields ?? []).flatMap(({ name, definition: { base, nillable } }) => {
      if (base.kind !== 'type' || nillable) return [];
      const other = schema.type(base.id);
      if (other.isWrapOnly)
        this.input.fail(`${type.name}.${name} needs an instance of ${other.name}, which only wraps`);
      return [base.id];
    });
  }

  putType(def: TypeDef): void {
    const { store } = this.builder;
    store.schema.setType(def.id, def);
    store.changedTypes.add(def.id);
  }

  putEnum(def: EnumDef): void {
    this.builder.store.setEnum(def.id, def);
  }

  /** Reads the definition of the property that shows the id; or nothing, where another comes. */
  readIdField(): boolean {
    const { input } = this;
    if (input.token() !== 'str') return false;
    const { offset } = input;
    if (input.text('a definition') === '#') return true;
    input.seek(offset);
    return false;
  }

  private flags(payload: Payload, count: number, before = 0): number {
    let flags = before;
    if (count > TYPE_FLAGS.length) this.input.fail(`${count} flags of a type`);
    for (const flag of TYPE_FLAGS.slice(0, count))
      flags = payload.next().bool() ? flags | flag : flags & ~flag;
    return flags;
  }

  /** Reads the fields of a type. @param nextName reads the name of the next one, in front of its definition */
  fields(def: TypeDef, count: number, nextName: () => string): TypeDef {
    const { builder, input } = this;
    const fields: FieldDef[] = [];
    const seen = new Set<string>();
    let { idName } = def;
    const isWrapOnly = (def.flags & TypeFlag.WRAP_ONLY) !== 0;
    for (let left = count; left > 0; left--) {
      const { offset } = input;
      const name = nextName();
      this.assertPart(name, seen, offset);
      builder.charge(UNITS_PER_PART);
      if (idName === null && this.readIdField()) {
        idName = name;
        continue;
      }
      const definition = readDefinition(input, builder.store.schema, isWrapOnly, builder.charge);
      const id = fields.length;
      if (id >= FIELDS_MAX) input.fail(`a type has at most ${FIELDS_MAX} properties`, offset);
      fields.push({ id, name, definition, relation: null, initial: null, mark: { isUndone: false } });
    }
    return { ...def, idName, fields, nextField: fields.length };
  }

  /** The same for its methods. */
  methods(def: TypeDef, count: number, nextName: () => string): TypeDef {
    const taken = new Set([...def.fields.map(({ name }) => name), def.idName ?? '']);
    return { ...def, methods: this.readMethods(count, taken, nextName) };
  }

  /** Reads methods of a type or enum. */
  readMethods(count: number, taken: Set<string>, nextName: () => string): Map<string, Closure> {
    const { input, values, builder } = this;
    const methods = new Map<string, Closure>();
    if (count > METHODS_MAX) input.fail(`more than ${METHODS_MAX} methods`);
    for (let left = count; left > 0; left--) {
      const { offset } = input;
      const name = nextName();
      this.assertPart(name, taken, offset);
      builder.charge(UNITS_PER_PART);
      methods.set(name, values.closure());
    }
    return methods;
  }

  private names(input: DataInput): string[] {
    return Array.from({ length: input.array('names') }, () => input.text('the name of a member'));
  }

  newName(input: DataInput): string {
    const { offset } = input;
    const name = input.text('a name');
    if (!NAME.test(name) || this.builder.store.schema.has(name))
      input.fail(`a second type or enum '${name}', or no name`, offset);
    return name;
  }

  assertPart(name: string, taken: Set<string>, offset: number): void {
    if (!NAME.test(name) || taken.has(name)) this.input.fail(`a second part '${name}', or no name`, offset);
    taken.add(name);
  }

  typeOf(input: DataInput): TypeDef {
    const { offset } = input;
    const id = input.uint('the id of a type', TYPES_MAX - 1);
    return this.builder.store.schema.type(id).def ?? input.fail(`there is no type ${id}`, offset);
  }

  /** Reads one side of a relation. @param next goes to the name of its field */
  side(input: DataInput, next: () => DataInput): readonly [TypeDef, FieldDef] {
    const def = this.typeOf(input);
    const { offset } = next();
    const name = this.input.text('the name of a field');
    const field = def.fields.find((one) => one.name === name);
    return [def, field ?? this.input.fail(`the type ${def.name} has no field ${name}`, offset)];
  }

  setRelation(typeId: number, fieldId: number, relation: RelationEnd | null): void {
    const { def } = this.builder.store.schema.type(typeId);
    if (def === null) throw new Error('a type that is being related is there');
    const fields = def.fields.map((field) => (field.id === fieldId ? { ...field, relation } : field));
    this.putType({ ...def, fields });
  }

  /** Gives the partners of a type's instances the other side of a relation, where they have none yet. */
  private completeSides(typeId: number, name: string, back: string): void {
    const { store, charge } = this.builder;
    store.schema.type(typeId).instances.forEach((id) => {
      const thing = store.thingOfId(id);
      store.load(thing);
      for (const partner of partnersIn(thing.get(name) ?? null)) {
        charge(UNITS_PER_PART);
        store.load(partner);
        const other = partner.get(back) ?? null;
        this.builder.change((transaction) => {
          if (other instanceof ThingSet) transaction.addUnrelated(other, [thing]);
          else if (other === null) transaction.placeUnchecked(partner, back, thing);
        });
      }
    });
  }

  /** Throws unless each thing that a field names names it back. */
  private assertMutual(typeId: number, fieldId: number, end: FieldDef, offset: number): void {
    const { builder, input } = this;
    const { store } = builder;
    const type = store.schema.type(typeId);
    const name = type.def?.fields.find(({ id }) => id === fieldId)?.name ?? '';
    type.instances.forEach((id) => {
      const thing = store.thingOfId(id);
      store.load(thing);
      for (const partner of partnersIn(thing.get(name) ?? null)) {
        builder.charge(UNITS_PER_PART);
        store.load(partner);
        const back = partner.get(end.name) ?? null;
        if (back !== thing && !(back instanceof ThingSet && back.members.has(thing)))
          input.fail(
            `thing ${id} is related by ${name} to thing ${partner.id}, and not the other way round`,
            offset,
          );
      }
    });
  }
}

/** When something was changed; 0 is never. */
export function timeOrNull(seconds: number): number | null {
  return seconds === 0 ? null : seconds;
}

/** True if a definition is one that a relation to a type can have. */
function names({ base, nillable }: Definition, type: number): boolean {
  if (base.kind === 'type') return nillable && base.id === type;
  return base.kind === 'set' && !nillable && base.item?.base.kind === 'type' && base.item.base.id === type;
}

/** The things that a value of a property in a relation names. */
function partnersIn(value: Value): readonly Thing[] {
  if (value instanceof ThingSet) return [...value.members];
  return value instanceof Thing ? [value] : [];
}
