import { fromMoment, type MoveUnit, move, parsePlace } from '@althing/datetime';
import { Privilege } from '../admin/privileges.js';
import {
  argumentsError,
  ErrorCode,
  forbiddenError,
  lookupError,
  operationError,
  quotaError,
  typeError,
  valueError,
} from '../error.js';
import { CHANGES_DATA, type Entry, func, In, method, type Receiver, variadic } from '../run/builtin.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { START_MAX, TaskEditor } from '../state/parts/tasks.js';
import { chargeLoads } from '../state/transaction/undo-costs.js';
import { Closure } from '../value/closure.js';
import { List, listOf } from '../value/containers.js';
import { DateTimeValue, withDates } from '../value/datetime-value.js';
import { RegexValue } from '../value/regex-value.js';
import { Bytes, ErrorValue, Float } from '../value/scalars.js';
import { Tag } from '../value/tag.js';
import { Task, type TaskState } from '../value/task.js';
import { typeName, type Value } from '../value/value.js';
import { unitParam } from './datetime.js';
import { DELETES } from './thing.js';

const TASK: Receiver<Task> = { tags: [Tag.TASK] };

/** Tasks: closures that run later, by themselves. */
export const TASKS: readonly Entry[] = [
  variadic('task', {
    doc: 'Makes a task that runs a closure at a time, with itself and the arguments of a list; finds the one of an id; without argument an empty task.',
    changes: CHANGES_DATA,
    rest: p.lazy('argument'),
    max: 3,
    run: (rt, [first, second, third]) => {
      if (first === undefined) return new Task(0, null);
      if (second === undefined) return taskById(rt, p.int('id').accept(first(), where(1)));
      const startAt = startOf(p.datetime('start').accept(first(), where(1)));
      const { tasks } = rt.group;
      if (tasks.size >= rt.quotas.tasks && tasks.list().length >= rt.quotas.tasks) {
        throw quotaError(`there are ${tasks.size} tasks, the most that max_tasks allows`);
      }
      const closure = copy(rt, p.closure('closure').accept(second(), where(2)));
      const given = third === undefined ? NO_ARGS : p.array('args').accept(third(), where(3));
      const args = argsOf(rt, closure, given.items);
      rt.assertCommittedUser(rt.user.id);
      return editorOf(rt).make({ owner: rt.user.id, startAt, status: 'nil', error: null, closure, args });
    },
  }),
  func('tasks', {
    doc: 'A list of the tasks of the scope, by ascending id.',
    in: In.DATA,
    run: (rt) => {
      const { tasks } = rt.group;
      rt.charge(64 * tasks.size);
      return listOf(tasks.list().map(({ id }) => new Task(id, tasks)));
    },
  }),
  method(TASK, 'id', {
    doc: 'The id; nil for an empty task.',
    run: (_rt, { state }) => state?.id ?? null,
  }),
  method(TASK, 'at', {
    doc: 'When the task runs next, as a datetime; nil when it is not scheduled.',
    run: (rt, { state }) => {
      const startAt = state === undefined ? 0 : nextStart(rt, state);
      return startAt === 0 ? null : dateOf(rt, startAt);
    },
  }),
  method(TASK, 'owner', {
    doc: 'The name of the user that the task runs as.',
    run: (rt, task) => rt.group.tasks.nameOf(stateOf(task).owner),
  }),
  method(TASK, 'args', {
    doc: 'A tuple of the arguments that the closure gets behind the task itself.',
    run: (_rt, task) => stateOf(task).args,
  }),
  method(TASK, 'closure', {
    doc: 'The closure that the task runs.',
    run: (_rt, task) => stateOf(task).closure,
  }),
  method(TASK, 'err', {
    doc: 'The error that the last run ended with; nil when it ended well, or there was none.',
    run: (_rt, { state }) => state?.error ?? null,
  }),
  method(TASK, 'cancel', {
    doc: 'Takes the task off the schedule; it stays, with cancelled_err() as its error.',
    changes: CHANGES_DATA,
    run: (rt, task) => {
      const { state } = task;
      if (state === undefined) return null;
      assertMine(rt, state);
      const { run } = rt;
      if (run?.id === task.id) {
        run.next = null;
        run.isCancelled = true;
      }
      editorOf(rt).schedule(state, { startAt: 0, status: 'err', error: CANCELLED });
      return null;
    },
  }),
  method(TASK, 'del', {
    doc: 'Deletes the task; references to it become empty.',
    changes: DELETES,
    run: (rt, task) => {
      const { state } = task;
      if (state === undefined) return null;
      assertMine(rt, state);
      editorOf(rt).delete(state);
      return null;
    },
  }),
  method(TASK, 'set_args', {
    doc: 'Gives the closure of the task other arguments.',
    params: [p.later(p.array('args'))],
    changes: CHANGES_DATA,
    run: (rt, task, given) => {
      assertMine(rt, stateOf(task));
      const { items } = given();
      const state = stateOf(task);
      editorOf(rt).change({ ...state, args: argsOf(rt, state.closure, items) });
      return null;
    },
  }),
  method(TASK, 'set_closure', {
    doc: 'Gives the task another closure, which keeps the arguments as far as it has parameters for them.',
    params: [p.later(p.closure('closure'))],
    changes: CHANGES_DATA,
    run: (rt, task, given) => {
      assertMine(rt, stateOf(task));
      const closure = copy(rt, given());
      const state = stateOf(task);
      const args = argsOf(rt, closure, state.args.items.slice(0, argCount(rt, closure)));
      editorOf(rt).change({ ...state, closure, args });
      return null;
    },
  }),
  method(TASK, 'set_owner', {
    doc: 'Makes the task run as another user, who has CHANGE on the scope and no privilege there that you lack.',
    params: [p.later(p.str('name'))],
    changes: CHANGES_DATA,
    run: (rt, task, given) => {
      stateOf(task);
      const name = given();
      const user = rt.root.usersByName.get(name);
      if (user === undefined) throw lookupError(`there is no user '${name}'`);
      const state = stateOf(task);
      assertMine(rt, state);
      rt.assertCommittedUser(user.id);
      const { target } = rt.access;
      const mask = rt.root.access.maskOf(target, user.id) ?? 0;
      const own = rt.root.access.maskOf(target, rt.user.id) ?? 0;
      if ((mask & Privilege.CHANGE) === 0) {
        throw forbiddenError(
          `user '${name}' lacks the privilege CHANGE on ${rt.scope.name}, which an owner of tasks needs`,
        );
      }
      if ((mask & ~own) !== 0) {
        throw forbiddenError(
          `user '${name}' has privileges on ${rt.scope.name} that you lack, so a task of yours can not run as it`,
        );
      }
      editorOf(rt).change({ ...state, owner: user.id });
      return null;
    },
  }),
  method(TASK, 'again_at', {
    doc: 'Schedules the running task again, at a time.',
    params: [p.later(p.datetime('start'))],
    changes: CHANGES_DATA,
    run: (rt, task, given) => {
      assertRunning(rt, task);
      const startAt = startOf(given());
      if (startAt < rt.seconds()) throw valueError('a task can not be scheduled again in the past');
      again(rt, task, startAt);
      return null;
    },
  }),
  method(TASK, 'again_in', {
    doc: 'Schedules the running task again, a number of years, months, weeks, days, hours, minutes or seconds behind its present start.',
    params: [p.later(unitParam()), p.later(p.int('number'))],
    changes: CHANGES_DATA,
    run: (rt, task, unit, number) => {
      assertRunning(rt, task);
      const startAt = later(rt, nextStart(rt, stateOf(task)), unit(), number());
      again(rt, task, startAt);
      return null;
    },
  }),
];

const NO_ARGS = new List([]);

const CANCELLED = new ErrorValue(ErrorCode.CANCELLED, 'the task was cancelled');

function where(position: number): p.Where {
  return { function: 'task', position };
}

function taskById(rt: Runtime, id: number | bigint): Task {
  const { tasks } = rt.group;
  if (tasks.find(Number(id)) === undefined) throw lookupError(`there is no task with the id ${id}`);
  return new Task(Number(id), tasks);
}

function editorOf({ group, transaction }: Runtime): TaskEditor {
  return new TaskEditor(group.tasks, transaction);
}

/** The state of a task; value_err for an empty one. */
function stateOf({ state }: Task): TaskState {
  if (state === undefined) throw valueError('the task is empty: it was deleted, or has run, or never was');
  return state;
}

/** Throws forbidden_err for a task of another user, unless this one has GRANT on the scope. */
function assertMine(rt: Runtime, { id, owner }: TaskState): void {
  if (owner === rt.user.id || rt.access.has(Privilege.GRANT)) return;
  throw forbiddenError(
    `task ${id} belongs to '${rt.group.tasks.nameOf(owner)}': only the owner, or a user with GRANT on ${rt.scope.name}, can change it`,
  );
}

function assertRunning(rt: Runtime, task: Task): void {
  const { id } = stateOf(task);
  const { run } = rt;
  if (run?.id !== id) throw operationError('only the task that is running can be scheduled again, by itself');
  if (run.isCancelled) throw operationError('the task cancelled itself, and can not be scheduled again');
}

/** Notes when the running task runs again; it is a part of the state when the run has ended, however it ends. */
function again(rt: Runtime, task: Task, startAt: number): void {
  assertRunning(rt, task);
  if (rt.run !== null) rt.run.next = startAt;
}

/** When a task runs next; for the running task what it said last. */
function nextStart(rt: Runtime, { id, startAt }: TaskState): number {
  return (rt.run?.id === id ? rt.run.next : null) ?? startAt;
}

/** The seconds of a start. */
function startOf({ time }: DateTimeValue): number {
  const { moment } = time;
  if (moment < 0 || moment > START_MAX) {
    throw valueError(`a task starts between 1970 and 2106-02-07T06:28:15Z`);
  }
  return Number(moment);
}

function dateOf(rt: Runtime, seconds: number): DateTimeValue {
  return withDates(() => new DateTimeValue(fromMoment('datetime', seconds, parsePlace(rt.scope.timeZone))));
}

/** Units whose length is always the same, in seconds. */
const SECONDS: ReadonlyMap<MoveUnit, number> = new Map([
  ['seconds', 1],
  ['minutes', 60],
  ['hours', 3600],
]);

/** Units charged for working a date out. */
const PER_DATE = 1280;

/** A start that is moved on until it is not in the past any more. */
function later(rt: Runtime, from: number, unit: MoveUnit, number: number | bigint): number {
  if (number <= 0) throw valueError('a task is scheduled again later: by a positive number');
  const now = rt.seconds();
  const fixed = SECONDS.get(unit);
  if (fixed !== undefined) {
    const step = Number(number) * fixed;
    return checked(from + step * Math.max(1, Math.ceil((now - from) / step)));
  }
  let time = dateOf(rt, from).time;
  do {
    rt.charge(PER_DATE);
    const before = time;
    time = withDates(() => move(before, unit, number));
    checked(Number(time.moment));
  } while (time.moment < now);
  return Number(time.moment);
}

function checked(startAt: number): number {
  if (startAt <= START_MAX) return startAt;
  throw valueError('a task can not be scheduled behind 2106-02-07T06:28:15Z');
}

/** A closure of one's own: what happens to the original does not matter to it. */
export function copy(rt: Runtime, closure: Closure): Closure {
  rt.charge(closure.unitsToStore);
  return new Closure(closure.source, closure.unit, closure.store());
}

/** Number of arguments that a closure takes behind the task itself. */
function argCount(rt: Runtime, closure: Closure): number {
  return Math.max(0, rt.unitOf(closure).params.length - 1);
}

/** The arguments of a closure: those that are given, and nil for each further parameter. */
export function argsOf(
  rt: Runtime,
  closure: Closure,
  given: readonly Value[],
  first = 'the task itself',
): List {
  const count = argCount(rt, closure);
  if (given.length > count) {
    throw argumentsError(`the closure takes ${count} arguments behind ${first}, not ${given.length}`);
  }
  if (rt.store === null) for (const value of given) assertSimple(value);
  const values = [...given, ...new Array<Value>(count - given.length).fill(null)];
  const args = listOf(values, true);
  chargeLoads(args, rt.charging);
  return args;
}

/** True if a value refers to nothing that may be stored, or changed. */
export function isSimple(value: Value): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (value instanceof Float || value instanceof Bytes || value instanceof RegexValue) return true;
  return value instanceof DateTimeValue;
}

/** Throws type_err for what can't be an argument where nothing is stored that it could refer to. */
function assertSimple(value: Value): void {
  if (isSimple(value)) return;
  throw typeError(
    `in @thingsdb the arguments of a task are nil, bools, numbers, texts, bytes, regular expressions and dates, not ${typeName(value)}`,
  );
}
