/** The records of ThingsDB of which a dump of a collection consists, and those of changes that a collection may have. */
import { parseClosure } from '@althing/language';
import { NAME } from '../schema/name.js';
import { START_MAX } from '../state/parts/tasks.js';
import type { Closure } from '../value/closure.js';
import { type List, listOf } from '../value/containers.js';
import type { TaskState } from '../value/task.js';
import type { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import type { CollectionBuilder } from './builder.js';
import type { DataInput } from './input.js';
import { Payload } from './payload.js';
import { SchemaBuilder } from './schema.js';
import { ThingRecords } from './thing-records.js';
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

/** The number of a record that has a name. */
export function nameOfRecord(name: string): number | undefined {
  return NAMES.get(name);
}

export class CollectionRecords {
  private readonly rows: ReadonlyMap<number, () => void>;
  private readonly values: ValueReader;
  private readonly things: ThingRecords;
  private readonly schema: SchemaBuilder;

  constructor(
    private readonly input: DataInput,
    private readonly builder: CollectionBuilder,
    lateNames: LateNames,
  ) {
    this.values = new ValueReader(input, builder);
    this.things = new ThingRecords(input, this.values, builder);
    const schema = new SchemaBuilder(builder, input, this.values);
    this.schema = schema;
    this.rows = new Map([
      [25, this.whole('a relation', (payload) => schema.relate(payload))],
      [32, this.whole('a procedure', (payload) => this.procedure(payload))],
      [35, this.whole('a type', (payload) => schema.newType(payload))],
      [51, this.whole('the parts of a type', (payload) => schema.setType(payload))],
      [59, this.whole('a task', (payload) => this.task(payload))],
      [63, this.whole('arguments', (payload) => this.arguments(payload))],
      [75, this.whole('an enum', (payload) => schema.newEnum(payload, lateNames))],
      [SET_ENUM, this.whole('the values of an enum', (payload) => schema.setEnum(payload))],
      [77, () => this.root()],
      [79, () => this.roomName()],
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
      this.things.rows.get(number) ?? this.input.fail(`there is no record ${number} of collections`);
    const thing = target();
    this.builder.store.load(thing);
    change(thing);
  }

  /** All records were done. */
  end(): void {
    const { builder, input, schema } = this;
    for (const { def } of builder.store.schema.allEnums()) {
      const member = def?.members.find(({ value }) => value === null);
      if (member !== undefined) input.fail(`the member ${def?.name}{${member.name}} has no value`);
    }
    schema.assertPossible();
    builder.finish();
  }

  private whole(what: string, work: (payload: Payload) => void): () => void {
    return () => {
      const payload = new Payload(this.input, what);
      work(payload);
      payload.end();
    };
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
    payload.next().uint('the id of a user');
    payload.next();
    const closure = values.closure();
    const args = readArguments(payload.next(), values);
    if (id === 0 || builder.isTaken(id)) input.fail(`a task can not have the id ${id}`, offset);
    putTask(builder, { id, owner: 0, startAt, status: 'nil', error: null, closure, args }, input, offset);
  }

  private arguments(payload: Payload): void {
    const { input, builder, values } = this;
    const { offset } = input;
    const id = payload.next().uint('the id of a task');
    const args = readArguments(payload.next(), values);
    const task = builder.group.tasks.stateOf(id);
    if (task !== undefined) putTask(builder, { ...task, args }, input, offset);
  }

  private roomName(): void {
    readRoomName(this.input, this.builder);
  }
}

/** Reads the arguments of a task, of which the first is the task itself. */
export function readArguments(input: DataInput, values: ValueReader): List {
  const args: Value[] = [];
  for (let left = input.array('arguments'), first = true; left > 0; left--, first = false) {
    if (first) input.skip();
    else args.push(values.read());
  }
  return listOf(args, true);
}

/** Puts a task, with an argument for each parameter of its closure. */
export function putTask(
  builder: CollectionBuilder,
  state: TaskState,
  input: DataInput,
  offset: number,
): void {
  const wanted = Math.max(0, parseClosure(state.closure.source).params.length - 1);
  const { items } = state.args;
  if (items.length > wanted) input.fail(`${items.length} arguments for ${wanted} parameters`, offset);
  const missing = new Array<null>(wanted - items.length).fill(null);
  builder.group.tasks.put({ ...state, args: listOf([...items, ...missing], true) });
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
  procedures.put(parts);
}
