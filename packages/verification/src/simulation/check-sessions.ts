/** Checks of sessions, of which one client begins, renews and ends some. */
import { ErrorCode, SESSIONS_PER_USER } from '@althing/engine';
import { type Action, Anomaly, isOk, type Operation, type SessionAct } from './history.js';

type SessionAction = Extract<Action, { readonly kind: 'session' }>;

/**
 * A session whose end was acknowledged is never renewed again, and none that was begun is gone before somebody ends it: none expires in
 * a run.
 *
 * @throws Anomaly
 */
export function checkSessions(operations: readonly Operation[]): void {
  const all = operations.flatMap((operation) =>
    operation.action.kind === 'session' ? [{ operation, action: operation.action }] : [],
  );
  for (const { operation, action } of all) {
    if (action.act !== 'renew') continue;
    const of = (act: SessionAct): Operation[] =>
      all.filter((each) => isAbout(each.action, act, action.session)).map((each) => each.operation);
    const begun = of('begin').find((each) => isOk(each) && each.end < operation.begin);
    if (begun === undefined) continue;
    const ends = of('end');
    const ended = ends.find((each) => isOk(each) && each.begin > begun.end && each.end < operation.begin);
    if (isOk(operation) && ended !== undefined) {
      throw new Anomaly('sessions', `operation ${operation.id} renewed what operation ${ended.id} had ended`);
    }
    const isGone = operation.outcome === 'failed' && operation.answer === ErrorCode.AUTH;
    const mayBeGone = ends.some((each) => each.begin < operation.end && each.outcome !== 'failed');
    const before = all.filter((each) => each.action.act === 'begin' && each.operation.begin < operation.end);
    if (isGone && !mayBeGone && before.length <= SESSIONS_PER_USER) {
      throw new Anomaly('sessions', `operation ${operation.id} lost the session of operation ${begun.id}`);
    }
  }
}

function isAbout(action: SessionAction, act: SessionAct, session: number): boolean {
  return action.act === act && action.session === session;
}
