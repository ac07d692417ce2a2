import { type History, ROOT_HISTORY } from '../admin/histories.js';
import { operationError } from '../error.js';
import type { Runtime } from './runtime.js';

/**
 * Checked before definitions change: with a commit history the query has to announce it first.
 *
 * @throws QueryError operation_err
 */
export function needCommit(rt: Runtime): void {
  if (rt.isCommitted || historyOfScope(rt) === undefined) return;
  throw operationError(
    `${rt.scope.name} has a commit history: call commit('...') earlier in the query to say why definitions change`,
  );
}

/** The history of the scope that the query runs in. */
export function historyOfScope({ scope, root }: Runtime): History | undefined {
  const { group } = scope;
  if (group === null) return undefined;
  return root.histories.all.get(scope.collectionId ?? ROOT_HISTORY);
}
