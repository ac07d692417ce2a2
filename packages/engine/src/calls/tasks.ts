/** Runs of tasks: what a closure did and what becomes of its task are one change, so that no run is made twice or lost. */

import type { Target } from '../admin/access-lists.js';
import { Privilege } from '../admin/privileges.js';
import { QueryError } from '../error.js';
import type { TaskRun } from '../run/execution.js';
import { invoke } from '../run/invoke.js';
import { TaskEditor } from '../state/parts/tasks.js';
import { ErrorValue } from '../value/scalars.js';
import { Task } from '../value/task.js';
import type { Change, TaskOptions, TaskOutcome } from './call.js';
import { changesOf, doubted, type Executor } from './executor.js';
import type { Futures } from './futures.js';
import { endRun } from './task-end.js';

export class TaskRuns {
  constructor(
    private readonly executor: Executor,
    private readonly futures: Futures,
  ) {}

  /**
   * Runs a task that there is. What its closure changes and what becomes of the task is one change; if the closure fails, only the
   * error and the next start are. With futures, what becomes of the task is in the change of the last one, by `resume`.
   */
  run(target: Target, id: number, options: TaskOptions): TaskOutcome {
    const { runtime: rt, root } = this.executor;
    const scope = this.executor.scope(target);
    const state = scope?.group?.tasks.find(id);
    const user = state === undefined ? undefined : root.users.get(state.owner);
    if (scope === undefined || state === undefined || user === undefined) return NOTHING_RUN;
    const run: TaskRun = { id, next: null, isCancelled: false };
    const { closure } = state;
    const writes = scope.isAmong(changesOf(rt, closure));
    const start = { ...options, scope, user, run };
    const transaction = this.executor.begin(start, target, writes, this.executor.defaultDeep(target), null);
    try {
      if (writes) rt.access.require(Privilege.CHANGE);
      const value = invoke(rt, closure, [new Task(id, scope.group?.tasks ?? null), ...state.args.items]);
      if (rt.futures.length > 0) {
        return this.futures.suspend({ scope, user, format: 'json' }, target, value, transaction);
      }
      endRun(scope, run, transaction);
      return { kind: 'done', change: this.executor.changeOf(scope.group, transaction), error: null, run };
    } catch (error) {
      const outcome = doubted(this.executor.failed(error, transaction), options.fresh);
      return outcome.kind === 'error' ? this.fail(target, run, outcome.error) : outcome;
    } finally {
      rt.end();
    }
  }

  /** Notes that a run of a task failed: the change has the error and the next start, and nothing of what the closure did. */
  fail(target: Target, run: TaskRun, { code, message }: QueryError): TaskOutcome & { readonly kind: 'done' } {
    const error = new QueryError(code, message);
    const group = this.executor.scope(target)?.group ?? null;
    const state = group?.tasks.find(run.id);
    if (group === null || state === undefined) return { kind: 'done', change: null, error, run };
    const transaction = this.executor.transactionOf(group);
    const startAt = run.next ?? 0;
    const kept = new ErrorValue(code, message);
    new TaskEditor(group.tasks, transaction).schedule(state, { startAt, status: 'err', error: kept });
    return { kind: 'done', change: this.executor.changeOf(group, transaction), error, run };
  }

  /** Removes the tasks of a scope whose owners are gone; null when there are none. */
  removeOrphaned(target: Target): Change | null {
    const group = this.executor.scope(target)?.group ?? null;
    const orphans = group?.tasks.orphans() ?? [];
    if (group === null || orphans.length === 0) return null;
    const transaction = this.executor.transactionOf(group);
    const editor = new TaskEditor(group.tasks, transaction);
    for (const state of orphans) editor.delete(state);
    return this.executor.changeOf(group, transaction);
  }
}

/** The task is gone, or has no owner. */
const NOTHING_RUN: TaskOutcome = { kind: 'done', change: null, error: null, run: null };
