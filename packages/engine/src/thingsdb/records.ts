/** The records of ThingsDB of which dumps of collections and changes of them consist. */
import { NAME } from '../schema/name.js';
import { TypeFlag } from '../schema/type.js';
import { START_MAX } from '../state/parts/tasks.js';
import type { Closure } from '../value/closure.js';
import type { Thing } from '../value/thing.js';
import type { CollectionBuilder } from './builder.js';
import { EnumChanges } from './enum-changes.js';
import type { DataInput } from './input.js';
import { Payload } from './payload.js';
import { SchemaBuilder } from './schema.js';
import { putTask, readArguments, TaskChanges } from './tasks.js';
import { ThingRecords } from './thing-records.js';
import { TypeChanges } from './type-changes.js';
import { ValueReader } from './values.js';

/** Finds the names of the members of an enum that was written without them. */
export type LateNames = (id: number, count: number) => readonly string[] | null;

export const SET_ENUM = 76;

/** Old data have names for the numbers. */
const NAMES: ReadonlyMap<string, number> = new Map([
  ['set', 0],
  ['del', 1],
  ['splice', 2],
  ['add', 3],
  ['remove', 4],
  ['new_procedure', 32],
  ['new_type', 35],
  ['set_type', 51],
]);

/** Reads the number of a record; its payload comes next. */
export function readRecordHead(input: DataInput): number {
  if (input.token() !== 'map') {
    input.parts(2, 'a record');
    return input.uint('the number of a record', 0xff);
  }
  const { offset } = input;
  if (input.map('a record') !== 1) input.fail('a record has one name', offset);
  const name = input.text('the name of a record');
  return NAMES.get(name) ?? input.fail(`there is no record '${name}'`, offset);
}

export class CollectionRecords {
  private readonly rows: ReadonlyMap<number, () => void>;
  /** The effect of records on a thing. */
  private readonly ofThings: ReadonlyMap<number, (thing: Thing) => void>;
  private readonly values: ValueReader;
  private readonly schema: SchemaBuilder;
  private readonly types: TypeChanges;

  constructor(
    private readonly input: DataInput,
    private readonly builder: CollectionBuilder,
    lateNames: LateNames,
  ) {
    this.values = new ValueReader(input, builder);
    const schema = new SchemaBuilder(builder, input, this.values);
    this.schema = schema;
    const types = new TypeChanges(input, builder, schema, this.values);
    this.types = types;
    const enums = new EnumChanges(input, builder, schema, this.values);
    const tasks = new TaskChanges(input, builder, this.values);
    this.ofThings = new Map([
      ...new ThingRecords(input, this.values, builder).rows,
      [52, (thing) => types.toInstance(thing)],
      [70, (thing) => types.toPlain(thing)],
    ]);
    const whole = Payload.reader(input);
    this.rows = new Map([
      [6, () => enums.delete()],
      [10, () => tasks.deleteProcedure()],
      [13, () => types.delete()],
      [17, whole('a new member', (payload) => enums.add(payload))],
      [18, whole('a default member', (payload) => enums.makeDefault(payload))],
      [19, whole('a member that goes', (payload) => enums.remove(payload))],
      [20, whole('the value of a member', (payload) => enums.change(payload))],
      [21, whole('the name of a member', (payload) => enums.renamePart(payload))],
      [22, whole('a new property', (payload) => types.add(payload))],
      [23, whole('a definition', (payload) => types.change(payload))],
      [24, whole('a property that goes', (payload) => types.remove(payload))],
      [25, whole('a relation', (payload) => schema.relate(payload))],
      [26, whole('the end of a relation', (payload) => types.unrelate(payload))],
      [27, whole('the name of a property', (payload) => types.renamePart(payload))],
      [28, whole('a flag', (payload) => types.flag(payload, TypeFlag.WRAP_ONLY))],
      [32, whole('a procedure', (payload) => this.procedure(payload))],
      [35, whole('a type', (payload) => schema.newType(payload))],
      [38, whole('the name of an enum', (payload) => enums.rename(payload))],
      [40, whole('the name of a procedure', (payload) => tasks.renameProcedure(payload))],
      [41, whole('the name of a type', (payload) => types.rename(payload))],
      [45, whole('an enum', (payload) => enums.make(payload))],
      [51, whole('the parts of a type', (payload) => schema.setType(payload))],
      [59, whole('a task', (payload) => this.task(payload))],
      [60, whole('a task that goes', (payload) => tasks.delete(payload))],
      [61, whole('a task', (payload) => tasks.cancel(payload))],
      [62, whole('the run of a task', (payload) => tasks.ran(payload))],
      [63, whole('arguments', (payload) => tasks.setArguments(payload))],
      [64, whole('an owner', (payload) => tasks.setOwner(payload))],
      [65, whole('a closure', (payload) => tasks.setClosure(payload))],
      [71, whole('a flag', (payload) => types.flag(payload, TypeFlag.HIDE_ID))],
      [74, whole('a procedure', (payload) => tasks.changeProcedure(payload))],
      [75, whole('an enum', (payload) => schema.newEnum(payload, lateNames))],
      [SET_ENUM, whole('the values of an enum', (payload) => schema.setEnum(payload))],
      [77, () => this.root()],
      [79, () => this.roomName()],
      // Commits are no part of a collection here.
      [84, () => input.skip()],
      [85, whole('a flag', (payload) => types.flag(payload, TypeFlag.INDEX))],
    ]);
  }

  /** Does the record of a number, whose payload comes next, to the collection or to a thing of it. */
  run(number: number, target: () => Thing): void {
    const row = this.rows.get(number);
    if (row !== undefined) {
      row();
      return;
    }
    const change =
      this.ofThings.get(number) ?? this.input.fail(`there is no record ${number} of collections`);
    const thing = target();
    this.builder.store.load(thing);
    change(thing);
    if (this.builder.isReplaying) this.types.relateNew();
  }

  /** All records were done. */
  end(): void {
    const { builder, input, schema } = this;
    for (const thing of builder.store.all()) builder.store.load(thing);
    for (const { def } of builder.store.schema.allEnums()) {
      const member = def?.members.find(({ value }) => value === null);
      if (member !== undefined) input.fail(`the member ${def?.name}{${member.name}} has no value`);
    }
    schema.assertPossible();
    builder.finish();
  }

  private root(): void {
    const { input, builder } = this;
    const { offset } = input;
    if (builder.hasRoot) input.fail('a second root', offset);
    builder.expectRoot();
    this.values.thing('the root');
  }

  private procedure(payload: Payload): void {
    const { input, builder, values } = this;
    const { offset } = input;
    const name = payload.next().text('the name of a procedure');
    const createdAt = payload.next().uint('a time');
    payload.next();
    putProcedure(builder, input, { name, createdAt, closure: values.closure() }, offset);
  }

  private task(payload: Payload): void {
    const { input, builder, values } = this;
    const { offset } = input;
    const id = payload.next().uint('the id of a task', 2 ** 47);
    const startAt = payload.next().uint('a time', START_MAX);
    const owner = payload.next().uint('the id of a user');
    payload.next();
    const closure = values.closure();
    const args = readArguments(payload.next(), values);
    if (id === 0 || builder.isTaken(id)) input.fail(`a task can not have the id ${id}`, offset);
    putTask(builder, { id, owner: 0, startAt, status: 'nil', error: null, closure, args }, input, offset);
    if (owner !== 0) builder.taskOwners.set(id, owner);
  }

  private roomName(): void {
    readRoomName(this.input, this.builder);
  }
}

/** Reads the name of a room; one that is not there is passed over. */
export function readRoomName(input: DataInput, builder: CollectionBuilder): void {
  const { rooms } = builder.store;
  input.parts(2, 'the name of a room');
  const id = input.uint('the id of a room');
  const { offset } = input;
  const name = input.token() === 'nil' ? input.nil() : input.text('the name of a room');
  const room = rooms.byId.get(id);
  if (room === undefined) return;
  if (name !== null && (!NAME.test(name) || rooms.byName.has(name)))
    input.fail(`a second room '${name}', or no name`, offset);
  rooms.rename(room, name);
}

/** Puts a procedure that nobody has the name of. */
export function putProcedure(
  builder: CollectionBuilder,
  input: DataInput,
  parts: { readonly name: string; readonly createdAt: number; readonly closure: Closure },
  offset: number,
): void {
  const { procedures } = builder.group;
  if (!NAME.test(parts.name) || procedures.byName.has(parts.name))
    input.fail(`a second procedure '${parts.name}', or no name`, offset);
  procedures.put({ ...parts, durationMs: null });
}
