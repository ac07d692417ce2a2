/**
 * A collection in the store of ThingsDB: files, each of which is {label: content}, told by order. Names are numbers, which another file
 * explains, and things never nest: whatever refers to one does so by its id, in any direction.
 *
 *   types   := removed, types: [[id, wrap-only, hide-id, index, created, modified, name, {name: spec}, {name: method}]...], relations: [[type, field, type, field]...]
 *   enums   := [[id, created, modified, name, {name: method}, {name: value}]...]
 *   things  := {id: type | 0x4001 + 0x10000 * restriction}, of garbage {id: [type | 0x4001, change]}
 *   props   := {id: {name: value} | [value...]}
 *   tasks   := [[id, run_at, user, closure, error, [nil, argument...]]...]
 *
 * Types without their last flags, and without methods, are of old stores, as are enums with one map for values and methods.
 */
import { Buffer } from 'node:buffer';
import { FormatError } from '../bytes.js';
import { Restriction } from '../schema/restriction.js';
import { ENUMS_MAX, TYPES_MAX } from '../schema/type.js';
import { START_MAX } from '../state/parts/tasks.js';
import type { Charge } from '../state/transaction.js';
import { Closure } from '../value/closure.js';
import { ErrorValue } from '../value/scalars.js';
import { isReservedKey, type Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { CollectionBuilder } from './builder.js';
import { DamagedDataError, DataInput } from './input.js';
import { putProcedure, readRoomName } from './records.js';
import { restrictionOf } from './restrictions.js';
import { SchemaBuilder, TYPE_FLAGS, timeOrNull } from './schema.js';
import { putTask, readArguments } from './tasks.js';
import { ValueReader } from './values.js';

/** Gives a file of a collection; null where there is none. */
export type StoreFiles = (name: string) => Uint8Array | null;

/** The names that numbers stand for, by the numbers as texts. */
export type StoreNames = ReadonlyMap<string, string>;

/** A thing of no type. */
const PLAIN = 0x4001;

/** A file that is being read, behind its label. */
interface StoreFile {
  readonly input: DataInput;
  readonly values: ValueReader;
  readonly schema: SchemaBuilder;
  /** The number of its labels. */
  readonly parts: number;
}

/** Reads the file that explains the numbers of names: pairs up to its end, whatever its beginning counts. */
export function readStoreNames(data: Uint8Array, charge: Charge): StoreNames {
  const input = new DataInput(data, charge);
  const names = new Map<string, string>();
  input.array('names');
  while (input.remaining > 0) {
    input.parts(2, 'a name');
    names.set(String(input.int()), input.text('a name'));
  }
  return names;
}

/**
 * Reads a collection, which may have garbage.
 *
 * @throws FormatError, with the file and the place
 */
export function readCollectionFiles(files: StoreFiles, names: StoreNames, charge: Charge): CollectionBuilder {
  return new StoreReader(files, names, charge).read();
}

class StoreReader {
  private readonly builder: CollectionBuilder;

  constructor(
    private readonly files: StoreFiles,
    private readonly names: StoreNames,
    private readonly charge: Charge,
  ) {
    this.builder = new CollectionBuilder(charge);
  }

  read(): CollectionBuilder {
    const { builder } = this;
    builder.rootId = this.rootId();
    this.file('enums.mp', (file) => this.enums(file));
    this.file('types.mp', (file) => this.types(file));
    this.file('things.mp', (file) => this.things(file));
    this.file('gcthings.mp', (file) => this.things(file));
    if (!builder.hasRoot) throw new FormatError('things.mp: the root is missing');
    builder.root.refs = 1;
    this.file('enums.mp', (file) => this.enumValues(file));
    this.file('tasks.mp', (file) => this.rows(file, () => this.task(file)));
    this.file('props.mp', (file) => this.properties(file));
    this.file('gcprops.mp', (file) => this.properties(file));
    for (const thing of builder.store.all()) builder.complete(thing);
    this.file('types.mp', (file) => this.relations(file));
    this.file('named_rooms.mp', (file) => this.rows(file, () => readRoomName(file.input, builder)));
    this.file('procedures.mp', (file) => this.rows(file, () => this.procedure(file)));
    return builder;
  }

  private rootId(): number {
    const data = this.files('collection.dat');
    if (data?.length !== 8) throw new FormatError('collection.dat: it is missing, or no number');
    return Number(Buffer.from(data).readBigUInt64LE());
  }

  private file(name: string, work: (file: StoreFile) => void): void {
    const data = this.files(name);
    if (data === null) return;
    const input = new DataInput(data, this.charge);
    const values = new ValueReader(input, this.builder);
    try {
      const parts = input.map('a file');
      if (parts === 0) return;
      input.skip();
      work({ input, values, schema: new SchemaBuilder(this.builder, input, values), parts });
    } catch (error) {
      if (error instanceof DamagedDataError) throw new FormatError(`${name}, ${error.message}`);
      throw error;
    }
  }

  private rows({ input }: StoreFile, read: () => void): void {
    for (let left = input.array('rows'); left > 0; left--) read();
  }

  /** Reads a name: its number, or a text that is no name. */
  private name(input: DataInput): string {
    if (input.token() === 'str') return input.text('a name');
    const { offset } = input;
    const number = String(input.int());
    return this.names.get(number) ?? input.fail(`there is no name ${number}`, offset);
  }

  /** The enums with their members, whose values come when there are things. */
  private enums(file: StoreFile): void {
    const { input, schema } = file;
    this.rows(file, () => {
      const count = input.array('an enum');
      const id = input.uint('the id of an enum', ENUMS_MAX - 1);
      const createdAt = input.uint('a time');
      const modifiedAt = timeOrNull(input.uint('a time'));
      const { offset } = input;
      const name = schema.newName(input);
      if (count > 5) input.skip();
      const members: string[] = [];
      for (let left = input.map('members'); left > 0; left--) {
        const member = this.name(input);
        if (count > 5 || !isMethod(input)) members.push(member);
        input.skip();
      }
      const taken = new Set<string>();
      for (const member of members) schema.assertPart(member, taken, offset);
      if (members.length === 0 || this.builder.store.schema.enum(id).def !== null)
        input.fail(`a second enum ${id}, or one without members`, offset);
      schema.putEnum({
        id,
        name,
        createdAt,
        modifiedAt,
        nextMember: members.length,
        members: members.map((member, place) => ({ id: place, name: member, value: null })),
        methods: new Map(),
      });
    });
  }

  private enumValues(file: StoreFile): void {
    const { input, schema, values } = file;
    this.rows(file, () => {
      const { offset } = input;
      const count = input.array('an enum');
      const { def } = this.builder.store.schema.enum(input.uint('the id of an enum'));
      if (def === null) throw new Error('an enum that was read is there');
      for (let left = 3; left > 0; left--) input.skip();
      const methods = new Map<string, Closure>();
      const given = new Map<string, Value>();
      for (let maps = count > 5 ? 2 : 1; maps > 0; maps--) {
        for (let left = input.map('members'); left > 0; left--) {
          const name = this.name(input);
          const value = values.read();
          if (value instanceof Closure) methods.set(name, value);
          else given.set(name, value);
        }
      }
      schema.giveValues(def, given, methods, offset);
    });
  }

  /** All types first: their fields name each other. */
  private types(file: StoreFile): void {
    const { input, schema } = file;
    input.skip();
    input.skip();
    const parts = new Map<number, { readonly offset: number; readonly hasMethods: boolean }>();
    this.rows(file, () => {
      const { offset } = input;
      const count = input.array('a type');
      const id = input.uint('the id of a type', TYPES_MAX - 1);
      let flags = 0;
      for (const flag of TYPE_FLAGS.slice(0, Math.max(0, count - 6))) if (input.bool()) flags |= flag;
      const createdAt = input.uint('a time');
      const modifiedAt = timeOrNull(input.uint('a time'));
      const name = schema.newName(input);
      if (parts.has(id)) input.fail(`there are two types with the id ${id}`, offset);
      parts.set(id, { offset: input.offset, hasMethods: count > 5 });
      for (let left = count > 5 ? 2 : 1; left > 0; left--) input.skip();
      const none = {
        idName: null,
        nextField: 0,
        fields: [],
        successor: null,
        methods: new Map<string, Closure>(),
      };
      schema.putType({ id, generation: 0, name, flags, createdAt, modifiedAt, ...none });
    });
    for (const [id, { offset, hasMethods }] of parts) {
      input.seek(offset);
      const { def } = this.builder.store.schema.type(id);
      if (def === null) throw new Error('a type that was read is there');
      const name = (): string => this.name(input);
      const withFields = schema.fields(def, input.map('fields'), name);
      schema.putType(schema.methods(withFields, hasMethods ? input.map('methods') : 0, name));
    }
    schema.assertPossible();
  }

  private relations(file: StoreFile): void {
    const { input, schema } = file;
    if (file.parts < 3) return;
    // Names that were removed, and the types, each with the label behind it.
    for (let left = 4; left > 0; left--) input.skip();
    this.rows(file, () => {
      const { offset } = input;
      input.parts(4, 'a relation');
      const side = () => schema.side(input, () => input);
      schema.couple(side(), side(), offset);
    });
  }

  /** Makes the things, empty. */
  private things({ input }: StoreFile): void {
    const { builder } = this;
    const { schema, shapes } = builder.store;
    for (let left = input.map('things'); left > 0; left--) {
      const { offset } = input;
      const thing = builder.make(input.uint('the id of a thing'), offset);
      const isGarbage = input.token() === 'array';
      if (isGarbage) input.parts(2, 'a thing');
      const number = input.uint('the type of a thing', 0xffff_ffff);
      if (isGarbage) input.uint('a change');
      const code = number >>> 16;
      if ((number & 0xffff) !== PLAIN) {
        const type = schema.type(number);
        thing.shape = type.shape ?? input.fail(`there is no type ${number}`, offset);
        if (type.isWrapOnly) input.fail(`the type ${type.name} only wraps`, offset);
        thing.slots = thing.shape.fields.map(() => null);
      } else if (code !== 0) {
        const item = restrictionOf(code, schema) ?? input.fail(`there is no restriction ${code}`, offset);
        if (item !== 'any') thing.shape = shapes.empty(new Restriction(item, schema));
      }
    }
  }

  private properties({ input, values }: StoreFile): void {
    for (let left = input.map('things'); left > 0; left--) {
      const { offset } = input;
      const id = input.uint('the id of a thing');
      const thing = this.builder.find(id) ?? input.fail(`there is no thing ${id}`, offset);
      if (thing.shape.type === null) this.entries(input, values, thing);
      else {
        input.parts(thing.slots.length, 'the values of an instance');
        for (const slot of thing.slots.keys()) thing.slots[slot] = values.read();
      }
    }
  }

  private entries(input: DataInput, values: ValueReader, thing: Thing): void {
    for (let left = input.map('properties'); left > 0; left--) {
      const { offset } = input;
      const key = this.name(input);
      if (isReservedKey(key) || thing.get(key) !== undefined)
        input.fail(`a second property ${JSON.stringify(key)}, or a key that none can have`, offset);
      thing.put(key, values.read());
    }
  }

  private task({ input, values }: StoreFile): void {
    const { offset } = input;
    input.parts(6, 'a task');
    const id = input.uint('the id of a task', 2 ** 47);
    const startAt = input.uint('a time', START_MAX);
    const owner = input.uint('the id of a user');
    const closure = values.closure();
    const error = values.read();
    const args = readArguments(input, values);
    if (id === 0 || this.builder.isTaken(id)) input.fail(`a task can not have the id ${id}`, offset);
    const ended =
      error instanceof ErrorValue
        ? ({ status: 'err', error } as const)
        : ({ status: 'nil', error: null } as const);
    putTask(this.builder, { id, owner: 0, startAt, closure, args, ...ended }, input, offset);
    this.builder.taskOwners.set(id, owner);
  }

  private procedure({ input, values }: StoreFile): void {
    const { offset } = input;
    input.parts(3, 'a procedure');
    const name = input.text('the name of a procedure');
    const createdAt = input.uint('a time');
    putProcedure(this.builder, input, { name, createdAt, closure: values.closure() }, offset);
  }
}

/** True if a closure comes next. */
function isMethod(input: DataInput): boolean {
  if (input.token() !== 'ext') return false;
  const { offset } = input;
  const { type } = input.ext();
  input.seek(offset);
  return type === 2;
}
