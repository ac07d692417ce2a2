/**
 * The tasks of a scope as a part of the state of its group: closures that run later, by themselves. Who runs them is no concern of
 * the state: a run is a change like any other, and what became of the task is among its effects.
 *
 *   effect  := 25 task                    new or changed task
 *            | 26 id:varint               delete task
 *            | 27 id:varint schedule      when it runs next, and how it ran last
 *   task     := id:varint owner:varint schedule source:text value    the value is the tuple of the arguments, see `value-codec.ts`
 *   schedule := start:varint status:u8 (code:zigzag message:text)?   the error, for the status 2
 *
 * Record: TASK (id) holds `task`.
 */
import { ByteReader, type ByteWriter, encoded, FormatError } from '../../bytes.js';
import { Closure } from '../../value/closure.js';
import { List } from '../../value/containers.js';
import { ErrorValue } from '../../value/scalars.js';
import type { TaskBook, TaskState, TaskStatus } from '../../value/task.js';
import { Task } from '../../value/task.js';
import type { Thing } from '../../value/thing.js';
import type { Value } from '../../value/value.js';
import type { Dirty } from '../dirty.js';
import { effect, effectsOn, perform, type Undo } from '../effect.js';
import { type Ids, nextIdOf, takeIdsBack } from '../ids.js';
import { RecordKind } from '../records.js';
import type { Store } from '../store.js';
import { one } from '../tally.js';
import type { Transaction } from '../transaction.js';
import { type References, readValue, writeValue } from '../value-codec.js';
import type { GroupPart } from './part.js';

/** The last second that a task can start at. */
export const START_MAX = 4_294_967_295;

/** When a task runs next, and how it ran last. */
export type Schedule = Pick<TaskState, 'startAt' | 'status' | 'error'>;

/** The users of the cluster, as far as tasks have to know them. */
export interface Owners {
  readonly users: ReadonlyMap<number, { readonly name: string }>;
  /** Above the ids of all users that ever were, as far as this node knows. */
  readonly nextId: number;
  /** True if they are being read from a snapshot, so that one who is not there may yet come. */
  readonly isLoading: boolean;
}

export interface TaskScope {
  readonly ids: Ids;
  readonly owners: Owners;
  /** The things that arguments refer to; null where there are none. */
  readonly store: Store | null;
}

export class Tasks implements GroupPart, TaskBook {
  readonly effects = effectsOn(this, TaskEffect);
  readonly kinds = [RecordKind.TASK];
  readonly locked = new Set<number>();
  /** Called with each task that comes, goes or changes, also when that is taken back. */
  onChange: ((id: number) => void) | null = null;
  private readonly states = new Map<number, TaskState>();
  private scheduledCount = 0;
  private scope: TaskScope | null = null;

  constructor(private readonly dirty: Dirty) {}

  /** Says what the scope brings along: to be called before there is any task. */
  attach(scope: TaskScope): void {
    this.scope = scope;
    if (scope.store !== null) scope.store.tasks = this;
  }

  get ids(): Ids {
    return this.attached.ids;
  }

  /** The state of a task, also of one whose owner is gone: that may be taken back. */
  stateOf(id: number): TaskState | undefined {
    return this.states.get(id);
  }

  /** All tasks, those too whose owners are gone. */
  all(): Iterable<TaskState> {
    return this.states.values();
  }

  get scheduled(): number {
    return this.scheduledCount;
  }

  /** Number of tasks, those too whose owners are gone. */
  get size(): number {
    return this.states.size;
  }

  find(id: number): TaskState | undefined {
    const state = this.states.get(id);
    return state === undefined || this.isOwnerGone(state) ? undefined : state;
  }

  nameOf(owner: number): string {
    return this.attached.owners.users.get(owner)?.name ?? '?';
  }

  arguments(): Iterable<Value> {
    return [...this.states.values()].map(({ args }) => args);
  }

  /** All tasks that are there, by rising ids. */
  list(): readonly TaskState[] {
    return [...this.states.values()].filter((state) => !this.isOwnerGone(state)).sort((a, b) => a.id - b.id);
  }

  /** The tasks whose owners were deleted: nobody sees them any more, and they wait for their removal. */
  orphans(): readonly TaskState[] {
    return [...this.states.values()].filter((state) => this.isOwnerGone(state));
  }

  /** True if a user is known to be gone. One that this node has not heard of yet is not, nor one that is being read from a snapshot. */
  private isOwnerGone({ owner }: TaskState): boolean {
    const { users, nextId, isLoading } = this.attached.owners;
    return !isLoading && !users.has(owner) && owner < nextId;
  }

  put(state: TaskState): void {
    const { id, args } = state;
    const store = this.scope?.store ?? null;
    const before = this.states.get(id);
    if (before?.args !== args) {
      store?.retain(args);
      if (before !== undefined) store?.release(before.args);
    }
    this.keep(id, state);
    if (id >= this.ids.nextId) this.ids.nextId = id + 1;
    this.dirty.put(RecordKind.TASK, id, 0, taskRecord(state));
    this.onChange?.(id);
  }

  delete(id: number): void {
    const before = this.states.get(id);
    if (before === undefined) return;
    this.keep(id, null);
    this.scope?.store?.release(before.args);
    this.dirty.put(RecordKind.TASK, id, 0, null);
    this.onChange?.(id);
  }

  load(_kind: RecordKind, id: number, _part: number, value: Uint8Array): void {
    const state = readTask(new ByteReader(value), this.references);
    this.keep(id, state);
    // The references of its arguments are counted already, in the records of things.
    this.scope?.store?.hold(state.args);
  }

  clear(): void {
    this.states.clear();
    this.scheduledCount = 0;
    this.locked.clear();
  }

  contents(): string | null {
    const [first] = this.list();
    return first === undefined ? null : `the task ${first.id}`;
  }

  private keep(id: number, state: TaskState | null): void {
    if ((this.states.get(id)?.startAt ?? 0) !== 0) this.scheduledCount -= 1;
    if (state === null) this.states.delete(id);
    else this.states.set(id, state);
    if ((state?.startAt ?? 0) !== 0) this.scheduledCount += 1;
  }

  /** The values that arguments may refer to. */
  get references(): References {
    return this.scope?.store ?? NO_REFERENCES;
  }

  private get attached(): TaskScope {
    if (this.scope === null) throw new Error('the tasks belong to no scope');
    return this.scope;
  }
}

/** Nanoseconds that it takes to take a change of a task back: its record is written again. */
const NS_PER_UNDO = 10_000;

const TaskEffect = {
  PUT: effect<Tasks, [state: TaskState]>({
    code: 0x25,
    write: writeTask,
    read: (input, { references }) => [readTask(input, references)],
    apply: (tasks, state) => tasks.put(state),
    inverse: (tasks, { id }) => stateBack(tasks, id),
    cost: () => NS_PER_UNDO,
    counts: one('tasks'),
  }),
  DELETE: effect<Tasks, [id: number]>({
    code: 0x26,
    write: (out, id) => out.varint(id),
    read: (input) => [input.varint()],
    apply: (tasks, id) => tasks.delete(id),
    inverse: stateBack,
    cost: () => NS_PER_UNDO,
    counts: one('tasks'),
  }),
  SCHEDULE: effect<Tasks, [id: number, schedule: Schedule]>({
    code: 0x27,
    write: (out, id, schedule) => {
      out.varint(id);
      writeSchedule(out, schedule);
    },
    read: (input) => [input.varint(), readSchedule(input)],
    apply: (tasks, id, schedule) => {
      const state = tasks.stateOf(id);
      if (state !== undefined) tasks.put({ ...state, ...schedule });
    },
    inverse: stateBack,
    cost: () => NS_PER_UNDO,
    counts: one('tasks'),
  }),
};

/** Gives a task the state back that it has now. */
function stateBack(tasks: Tasks, id: number): Undo {
  const before = tasks.stateOf(id);
  return () => (before === undefined ? tasks.delete(id) : tasks.put(before));
}

/** Changes tasks in a query or run. */
export class TaskEditor {
  constructor(
    private readonly tasks: Tasks,
    private readonly transaction: Transaction,
  ) {}

  /** Makes a task, with an id that was never used; gives the reference to it. */
  make(state: Omit<TaskState, 'id'>): Task {
    const { tasks, transaction } = this;
    const { ids } = tasks;
    // Things among the arguments get their ids first.
    transaction.storeValues([state.args]);
    const id = nextIdOf(ids, transaction);
    this.put({ ...state, id });
    transaction.onUndo(() => takeIdsBack(ids, id), NS_PER_UNDO);
    return new Task(id, tasks);
  }

  /** Puts a task with the id that it has, which was never given; what its arguments refer to is there. */
  restore(state: TaskState): void {
    this.put(state);
  }

  /** Replaces what is known of a task that there is. */
  change(state: TaskState): void {
    this.transaction.storeValues([state.args]);
    this.put(state);
  }

  /** Says when a task that there is runs next, and how it ran last. */
  schedule(state: TaskState, schedule: Schedule): void {
    perform(this.transaction, TaskEffect.SCHEDULE, this.tasks, state.id, schedule);
  }

  delete({ id }: TaskState): void {
    perform(this.transaction, TaskEffect.DELETE, this.tasks, id);
  }

  private put(state: TaskState): void {
    const { tasks, transaction } = this;
    const { length } = transaction.effects;
    perform(transaction, TaskEffect.PUT, tasks, state);
    transaction.chargeUnits(transaction.effects.length - length);
  }
}

export function taskRecord(state: TaskState): Uint8Array {
  return encoded(writeTask, state);
}

/** Writes tasks for a dump: without their owners, who are not known where it is read. */
export function writeTasks(out: ByteWriter, states: readonly TaskState[]): void {
  out.list(states, (state) => writeTask(out, { ...state, owner: 0 }));
}

/** Reads what `writeTasks` wrote. */
export function readTasks(input: ByteReader, known: References): TaskState[] {
  return input.list(() => readTask(input, known));
}

const STATUSES: readonly TaskStatus[] = ['nil', 'ok', 'err'];

function writeTask(out: ByteWriter, state: TaskState): void {
  out.varint(state.id);
  out.varint(state.owner);
  writeSchedule(out, state);
  out.text(state.closure.store());
  writeValue(out, state.args);
}

function readTask(input: ByteReader, known: References): TaskState {
  const id = input.varint();
  const owner = input.varint();
  const schedule = readSchedule(input);
  const source = input.text();
  const args = readValue(input, known);
  if (!(args instanceof List)) throw new FormatError(`the arguments of task ${id} are no tuple`);
  return { id, owner, ...schedule, closure: new Closure(source, null, source), args };
}

function writeSchedule(out: ByteWriter, { startAt, status, error }: Schedule): void {
  out.varint(startAt);
  out.u8(STATUSES.indexOf(status));
  if (status !== 'err') return;
  out.zigzag(error?.code ?? 0);
  out.text(error?.message ?? '');
}

function readSchedule(input: ByteReader): Schedule {
  const startAt = input.varint();
  const status = STATUSES[input.u8()];
  if (status === undefined) throw new FormatError('the status of a task is not known');
  const error = status === 'err' ? new ErrorValue(input.zigzag(), input.text()) : null;
  return { startAt, status, error };
}

/** In the root scope arguments refer to nothing. */
const NO_REFERENCES: References = {
  thingOfId: (id): Thing => refuse(`thing ${id}`),
  typeOf: (id) => refuse(`type ${id}`),
  enumOf: (id) => refuse(`enum ${id}`),
  taskOf: (id) => refuse(`task ${id}`),
  roomOf: (id) => refuse(`room ${id}`),
};

function refuse(what: string): never {
  throw new FormatError(`the argument of a task refers to ${what} in a scope without things`);
}
