/** Checks of who may do what. */
import { ErrorCode } from '@althing/engine';
import { Anomaly, isOk, type Operation } from './history.js';

/**
 * One user is let in and locked out again, by one client. Once that user was let in, nobody refuses a visit until the
 * next attempt to lock the user out. (That a visit is let in a moment after that is allowed.)
 *
 * @throws Anomaly
 */
export function checkRights(operations: readonly Operation[]): void {
  const allowed = operations.filter((operation) => operation.action.kind === 'allow' && isOk(operation));
  const forbidden = operations.filter(
    ({ action, outcome }) => action.kind === 'forbid' && outcome !== 'failed',
  );
  for (const visit of operations) {
    const { action, outcome, answer, begin, end, id } = visit;
    if (action.kind !== 'visit' || outcome !== 'failed' || answer !== ErrorCode.FORBIDDEN) continue;
    const open = allowed.findLast((each) => each.end < begin);
    if (open === undefined) continue;
    const isExplained = forbidden.some((each) => each.end > open.begin && each.begin < end);
    if (!isExplained)
      throw new Anomaly('rights', `visit ${id} was refused, though operation ${open.id} allowed it`);
  }
}
