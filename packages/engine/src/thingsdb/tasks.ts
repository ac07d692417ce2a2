/** Tasks and procedures of ThingsDB, and the records that change them. */

import { NAME } from '../schema/name.js';
import { START_MAX, TaskEditor } from '../state/parts/tasks.js';
import { parseCharged } from '../value/closure.js';
import { type List, listOf } from '../value/containers.js';
import { ErrorValue } from '../value/scalars.js';
import type { TaskState } from '../value/task.js';
import type { Value } from '../value/value.js';
import type { CollectionBuilder } from './builder.js';
import type { DataInput } from './input.js';
import type { Payload } from './payload.js';
import type { ValueReader } from './values.js';

export class TaskChanges {
  constructor(
    private readonly input: DataInput,
    private readonly builder: CollectionBuilder,
    private readonly values: ValueReader,
  ) {}

  /** {id} */
  delete(payload: Payload): void {
    const task = this.find(payload);
    if (task === undefined) return;
    const { builder } = this;
    builder.change((transaction) => new TaskEditor(builder.group.tasks, transaction).delete(task));
    builder.taskOwners.delete(task.id);
  }

  /** {id} */
  cancel(payload: Payload): void {
    this.put(this.find(payload), { startAt: 0 });
  }

  /** A task ran: {id, run_at, error or nil}, with when it runs next. */
  ran(payload: Payload): void {
    const task = this.find(payload);
    const startAt = payload.next().uint('a time', START_MAX);
    payload.next();
    const error = this.values.read();
    if (error instanceof ErrorValue) this.put(task, { startAt, status: 'err', error });
    else this.put(task, { startAt, status: 'ok', error: null });
  }

  /** {id, args} */
  setArguments(payload: Payload): void {
    const { offset } = this.input;
    const task = this.find(payload);
    const args = readArguments(payload.next(), this.values);
    if (task !== undefined) putTask(this.builder, { ...task, args }, this.input, offset);
  }

  /** {id, owner} */
  setOwner(payload: Payload): void {
    const task = this.find(payload);
    const owner = payload.next().uint('the id of a user');
    if (task !== undefined) this.builder.taskOwners.set(task.id, owner);
  }

  /** {id, closure} */
  setClosure(payload: Payload): void {
    const { offset } = this.input;
    const task = this.find(payload);
    payload.next();
    const closure = this.values.closure();
    if (task !== undefined) putTask(this.builder, { ...task, closure }, this.input, offset);
  }

  deleteProcedure(): void {
    const name = this.procedureName(this.input);
    this.builder.group.procedures.delete(name);
  }

  /** Another closure: {name, created_at, closure}. */
  changeProcedure(payload: Payload): void {
    const name = this.procedureName(payload.next());
    const createdAt = payload.next().uint('a time');
    payload.next();
    this.builder.group.procedures.put({ name, createdAt, durationMs: null, closure: this.values.closure() });
  }

  /** Another name: {old, name}. */
  renameProcedure(payload: Payload): void {
    const { procedures } = this.builder.group;
    const from = this.procedureName(payload.next());
    const { offset } = payload.next();
    const to = this.input.text('the name of a procedure');
    if (!NAME.test(to) || procedures.byName.has(to))
      this.input.fail(`a second procedure '${to}', or no name`, offset);
    procedures.rename(from, to);
  }

  private procedureName(input: DataInput): string {
    const { offset } = input;
    const name = input.text('the name of a procedure');
    if (!this.builder.group.procedures.byName.has(name))
      input.fail(`there is no procedure '${name}'`, offset);
    return name;
  }

  private find(payload: Payload): TaskState | undefined {
    return this.builder.group.tasks.stateOf(payload.next().uint('the id of a task'));
  }

  private put(task: TaskState | undefined, change: Partial<TaskState>): void {
    if (task !== undefined) this.builder.group.tasks.put({ ...task, ...change });
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
  const wanted = Math.max(0, parseCharged(state.closure.source, input.charge).params.length - 1);
  const { items } = state.args;
  if (items.length > wanted) input.fail(`${items.length} arguments for ${wanted} parameters`, offset);
  const missing = new Array<null>(wanted - items.length).fill(null);
  builder.group.tasks.put({ ...state, args: listOf([...items, ...missing], true) });
}
