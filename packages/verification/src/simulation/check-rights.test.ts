import { ErrorCode } from '@althing/engine';
import { describe, expect, test } from '@jest/globals';
import { checkRights } from './check-rights.js';
import type { Action, Operation, Outcome } from './history.js';

function operation(
  kind: 'allow' | 'forbid' | 'visit',
  begin: number,
  end: number,
  outcome: Outcome,
): Operation {
  const action: Action = { kind };
  const answer = outcome === 'failed' ? ErrorCode.FORBIDDEN : null;
  const common = { id: begin, client: 0, collection: null, node: 'n0', index: 0, error: '' };
  return { ...common, action, begin, end, outcome, answer };
}

const allow = operation('allow', 10, 20, 'ok');
const refused = operation('visit', 30, 40, 'failed');

describe('rights', () => {
  test('a visit before the door was opened for sure may be refused', () => {
    expect(() => checkRights([allow, operation('visit', 15, 25, 'failed')])).not.toThrow();
    expect(() => checkRights([operation('allow', 10, 20, 'unknown'), refused])).not.toThrow();
  });

  test('a visit while it is open may not', () => {
    expect(() => checkRights([allow, refused])).toThrow(/visit 30 was refused/);
    expect(() => checkRights([operation('forbid', 1, 5, 'ok'), allow, refused])).toThrow(/refused/);
    expect(() => checkRights([allow, operation('forbid', 22, 25, 'failed'), refused])).toThrow(/refused/);
  });

  test('it may once somebody wanted to close it', () => {
    expect(() => checkRights([allow, operation('forbid', 25, 28, 'ok'), refused])).not.toThrow();
    expect(() => checkRights([allow, operation('forbid', 35, 50, 'ok'), refused])).not.toThrow();
    const lost = operation('forbid', 5, Number.POSITIVE_INFINITY, 'unknown');
    expect(() => checkRights([lost, allow, refused])).not.toThrow();
  });

  test('an error of another kind is no refusal', () => {
    expect(() => checkRights([allow, { ...refused, answer: ErrorCode.NODE }])).not.toThrow();
  });
});
