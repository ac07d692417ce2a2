/** The records of ThingsDB that change types which are there; instances follow. */
import { FIELDS_MAX, type FieldDef, METHODS_MAX, type Type, type TypeDef, TypeFlag } from '../schema/type.js';
import { type DefaultContext, defaultValue } from '../state/default-value.js';
import { ThingSet } from '../value/containers.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import type { CollectionBuilder } from './builder.js';
import { readDefinition } from './definitions.js';
import type { DataInput } from './input.js';
import type { Payload } from './payload.js';
import { type SchemaBuilder, timeOrNull } from './schema.js';
import type { ValueReader } from './values.js';

export class TypeChanges {
  constructor(
    private readonly input: DataInput,
    private readonly builder: CollectionBuilder,
    private readonly schema: SchemaBuilder,
    private readonly values: ValueReader,
  ) {}

  /** Deletes a type; its instances become plain things. */
  delete(): void {
    const { builder, input } = this;
    const { store } = builder;
    const def = this.schema.typeOf(input);
    const type = store.schema.type(def.id);
    store.makePlain(type, builder.charge);
    store.schema.setType(def.id, { gone: def.name, generation: type.generation });
    store.changedTypes.add(def.id);
  }

  /** A new name: {id, name}. */
  rename(payload: Payload): void {
    const def = this.schema.typeOf(payload.next());
    this.schema.putType({ ...def, name: this.schema.newName(payload.next()) });
  }

  /** A flag is on or off: {type_id, modified_at, bool}. */
  flag(payload: Payload, flag: number): void {
    const def = this.begin(payload);
    const flags = payload.next().bool() ? def.flags | flag : def.flags & ~flag;
    this.schema.putType({ ...def, flags });
  }

  /** A new property, method, or name of the id: {type_id, modified_at, name, spec, (value)} or {.., closure}. */
  add(payload: Payload): void {
    const { input, schema } = this;
    const def = this.begin(payload);
    const { offset } = payload.next();
    const name = input.text('the name of a property');
    schema.assertPart(name, this.partsOf(def), offset);
    if (payload.nextKey() === 'closure') {
      if (def.methods.size >= METHODS_MAX) input.fail('too many methods', offset);
      schema.putType({ ...def, methods: new Map([...def.methods, [name, this.values.closure()]]) });
      return;
    }
    if (schema.readIdField()) {
      if (def.idName !== null) input.fail('a second name of the id', offset);
      schema.putType({ ...def, idName: name });
      return;
    }
    if (def.fields.length >= FIELDS_MAX) input.fail('too many properties', offset);
    const id = Math.max(def.nextField, this.typeOf(def).nextField);
    const definition = this.definition(def);
    const field = { id, name, definition, relation: null, initial: null, mark: { isUndone: false } };
    const given = this.givenValue(payload);
    schema.putType({ ...def, nextField: id + 1, fields: [...def.fields, field] });
    this.fill(def, field, given);
  }

  /** A new definition of a property or method: {type_id, modified_at, name, spec or closure}. */
  change(payload: Payload): void {
    const { input, schema } = this;
    const def = this.begin(payload);
    const { offset } = payload.next();
    const name = input.text('the name of a property');
    if (payload.nextKey() === 'closure') {
      if (!def.methods.has(name)) input.fail(`the type ${def.name} has no method ${name}`, offset);
      schema.putType({ ...def, methods: new Map([...def.methods, [name, this.values.closure()]]) });
      return;
    }
    const field = this.fieldOf(def, name, offset);
    const changed = { ...field, definition: this.definition(def) };
    schema.putType({ ...def, fields: def.fields.map((other) => (other === field ? changed : other)) });
  }

  /** A property or method is gone: {type_id, modified_at, name}. The last property takes its place. */
  remove(payload: Payload): void {
    const { input, schema, builder } = this;
    const def = this.begin(payload);
    const { offset } = payload.next();
    const name = input.text('the name of a property');
    if (def.idName === name) schema.putType({ ...def, idName: null });
    else if (def.methods.has(name))
      schema.putType({ ...def, methods: new Map([...def.methods].filter(([key]) => key !== name)) });
    else {
      const field = this.fieldOf(def, name, offset);
      if (field.relation !== null) input.fail(`the property ${name} is in a relation`, offset);
      // Things that refer to it count on it no more.
      this.eachInstance(def, (thing) =>
        builder.change((transaction) => transaction.placeUnchecked(thing, name, null)),
      );
      const fields = [...def.fields];
      const last = fields.pop() ?? field;
      if (last !== field) fields[def.fields.indexOf(field)] = last;
      schema.putType({ ...def, fields });
    }
  }

  /** Another name of a property or method: {type_id, modified_at, name, to}. */
  renamePart(payload: Payload): void {
    const { input, schema } = this;
    const def = this.begin(payload);
    const { offset } = payload.next();
    const name = input.text('the name of a property');
    payload.next();
    const to = input.text('the name of a property');
    const parts = this.partsOf(def);
    if (!parts.delete(name)) input.fail(`the type ${def.name} has no property ${name}`, offset);
    schema.assertPart(to, parts, offset);
    schema.putType({
      ...def,
      idName: def.idName === name ? to : def.idName,
      methods: new Map(Array.from(def.methods, ([key, closure]) => [key === name ? to : key, closure])),
      fields: def.fields.map((field) => (field.name === name ? { ...field, name: to } : field)),
    });
  }

  /** Ends a relation: {modified_at, type_id, name}. */
  unrelate(payload: Payload): void {
    const { input, schema, builder } = this;
    payload.next().uint('a time');
    const def = schema.typeOf(payload.next());
    const { offset } = payload.next();
    const field = this.fieldOf(def, input.text('the name of a property'), offset);
    const { relation } = field;
    if (relation === null) return input.fail(`the property ${field.name} is in no relation`, offset);
    schema.setRelation(def.id, field.id, null);
    const other = builder.store.schema.type(relation.type).def;
    if (other?.fields.find(({ id }) => id === relation.field)?.relation)
      schema.setRelation(relation.type, relation.field, null);
  }

  /** A plain thing becomes an instance of a type: its properties are found by their names, and what it lacks gets the default. */
  toInstance(thing: Thing): void {
    const { input, builder, schema } = this;
    const { offset } = input;
    const type = this.typeOf(schema.typeOf(input));
    const { shape } = type;
    if (shape === null || type.isWrapOnly || thing.type !== null)
      return input.fail(`thing ${thing.id} can not become an instance of ${type.name}`, offset);
    const keys = thing.entries().map(([key]) => key);
    const unknown = keys.find((key) => !shape.index.has(key));
    if (unknown !== undefined) input.fail(`the type ${type.name} has no property ${unknown}`, offset);
    const missing = shape.fields.filter(({ name }) => !keys.includes(name));
    builder.change((transaction) => {
      for (const { name, definition } of missing)
        transaction.placeUnchecked(thing, name, this.defaultOf(definition));
      transaction.convert(thing, type);
    });
  }

  /** An instance becomes a plain thing. */
  toPlain(thing: Thing): void {
    this.input.bool();
    if (thing.type !== null) this.builder.change((transaction) => transaction.convert(thing, null));
  }

  /** Gives new instances the other sides of the relations that they came with. */
  relateNew(): void {
    const { newInstances } = this.builder;
    for (const thing of newInstances.splice(0)) {
      const { type } = thing;
      for (const field of type?.shape?.fields ?? []) {
        if (field.relation === null) continue;
        const value = thing.get(field.name) ?? null;
        const back = this.nameOf(field.relation);
        if (value instanceof ThingSet) {
          const alone = [...value.members].filter((partner) => !isMutual(thing, partner, back));
          if (alone.length === 0) continue;
          this.builder.change((transaction) => {
            transaction.removeUnrelated(value, alone);
            transaction.addMembers(value, alone);
          });
        } else if (value instanceof Thing && !isMutual(thing, value, back)) {
          this.builder.change((transaction) => {
            transaction.placeUnchecked(thing, field.name, null);
            transaction.placeField(thing, field, value);
          });
        }
      }
    }
  }

  private nameOf({ type, field }: { readonly type: number; readonly field: number }): string {
    const { def } = this.builder.store.schema.type(type);
    return def?.fields.find(({ id }) => id === field)?.name ?? '';
  }

  /** Reads the type, and when it was changed. */
  private begin(payload: Payload): TypeDef {
    const def = this.schema.typeOf(payload.next());
    return { ...def, modifiedAt: timeOrNull(payload.next().uint('a time')) };
  }

  private definition(def: TypeDef) {
    const { input, builder } = this;
    const isWrapOnly = (def.flags & TypeFlag.WRAP_ONLY) !== 0;
    return readDefinition(input, builder.store.schema, isWrapOnly, builder.charge);
  }

  private partsOf(def: TypeDef): Set<string> {
    const names = [...def.fields.map(({ name }) => name), ...def.methods.keys()];
    return new Set(def.idName === null ? names : [...names, def.idName]);
  }

  private fieldOf(def: TypeDef, name: string, offset: number): FieldDef {
    const field = def.fields.find((other) => other.name === name);
    return field ?? this.input.fail(`the type ${def.name} has no property ${name}`, offset);
  }

  private typeOf({ id }: TypeDef): Type {
    return this.builder.store.schema.type(id);
  }

  private givenValue(payload: Payload): Value | undefined {
    if (payload.remaining === 0) return undefined;
    payload.next();
    return this.values.read();
  }

  /** Gives the instances of a type a property that they have not. */
  private fill(def: TypeDef, { name, definition }: FieldDef, given: Value | undefined): void {
    this.eachInstance(def, (thing) => {
      const value = given === undefined ? this.defaultOf(definition) : given;
      this.builder.change((transaction) =>
        transaction.placeUnchecked(
          thing,
          name,
          value instanceof ThingSet ? new ThingSet(value.members) : value,
        ),
      );
    });
  }

  private defaultOf(definition: FieldDef['definition']): Value {
    const { store, charge } = this.builder;
    const context: DefaultContext = {
      schema: store.schema,
      shapes: store.shapes,
      scope: { timeZone: 'UTC' },
      seconds: () => 0,
      chargeLength: charge,
    };
    return defaultValue(context, definition, (_, type) =>
      this.input.fail(`an instance of ${store.schema.typeLabel(type)} is missing`),
    );
  }

  private eachInstance({ id }: TypeDef, work: (thing: Thing) => void): void {
    const { store, charge } = this.builder;
    const ids: number[] = [];
    store.schema.type(id).instances.forEach((one) => {
      ids.push(one);
    });
    for (const one of ids) {
      charge(1);
      const thing = store.thingOfId(one);
      store.load(thing);
      work(thing);
    }
  }
}

/** True if a partner has a thing on its side of a relation. */
function isMutual(thing: Thing, partner: Thing, back: string): boolean {
  void partner.type;
  const value = partner.get(back) ?? null;
  return value === thing || (value instanceof ThingSet && value.members.has(thing));
}
