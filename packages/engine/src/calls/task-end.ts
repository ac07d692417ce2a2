import type { TaskRun } from '../run/execution.js';
import { TaskEditor } from '../state/parts/tasks.js';
import type { Scope } from '../state/scope.js';
import type { Transaction } from '../state/transaction.js';

/** Ends a run that went well: the task is gone, or scheduled again. */
export function endRun({ group }: Scope, run: TaskRun, transaction: Transaction): void {
  const state = group?.tasks.find(run.id);
  if (group === null || state === undefined) return;
  const editor = new TaskEditor(group.tasks, transaction);
  if (run.next === null) editor.delete(state);
  else editor.schedule(state, { startAt: run.next, status: 'ok', error: null });
}
