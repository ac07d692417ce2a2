import { ErrorCode, SESSIONS_PER_USER } from '@althing/engine';
import { describe, expect, test } from '@jest/globals';
import { checkSessions } from './check-sessions.js';
import type { Operation, Outcome, SessionAct } from './history.js';

function operation(act: SessionAct, begin: number, outcome: Outcome = 'ok', session = 0): Operation {
  const answer = outcome === 'failed' ? ErrorCode.AUTH : null;
  const common = { id: begin, client: 0, collection: null, node: 'n0', index: 0, error: '' };
  return { ...common, action: { kind: 'session', act, session }, begin, end: begin + 5, outcome, answer };
}

const begun = operation('begin', 10);

describe('sessions', () => {
  test('one that was ended is not renewed', () => {
    const ended = operation('end', 20);
    expect(() => checkSessions([begun, ended, operation('renew', 30)])).toThrow(
      /30 renewed what operation 20/,
    );
    expect(() => checkSessions([begun, ended, operation('renew', 22)])).not.toThrow();
    expect(() =>
      checkSessions([begun, operation('end', 20, 'unknown'), operation('renew', 30)]),
    ).not.toThrow();
    expect(() => checkSessions([begun, operation('end', 20, 'ok', 1), operation('renew', 30)])).not.toThrow();
  });

  test('one that nobody ended is not lost', () => {
    const refused = operation('renew', 30, 'failed');
    expect(() => checkSessions([begun, refused])).toThrow(/30 lost the session of operation 10/);
    expect(() => checkSessions([operation('begin', 10, 'unknown'), refused])).not.toThrow();
    expect(() => checkSessions([begun, operation('end', 20, 'unknown'), refused])).not.toThrow();
    expect(() => checkSessions([begun, { ...refused, answer: ErrorCode.NODE }])).not.toThrow();
    const others = Array.from({ length: SESSIONS_PER_USER }, (_, i) => operation('begin', 20, 'ok', i + 1));
    expect(() => checkSessions([begun, ...others, refused])).not.toThrow();
  });
});
