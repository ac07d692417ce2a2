import { describe, expect, test } from '@jest/globals';
import type { Failure, Reply } from './attempt.js';
import { type Past, type Verdict, verdictOf } from './verdict.js';

type AttemptEnd = Parameters<typeof verdictOf>[0];

const past: Past = { failures: 0, triedAll: false, isNamed: true, canRenew: false };

function answered(status: number, failure: Reply['failure'], retryAfterMs: number | null = null): AttemptEnd {
  const reply: Reply = {
    status,
    body: new Uint8Array(),
    failure,
    index: 0,
    retryAfterMs,
    closes: false,
    node: null,
    requestId: null,
  };
  return { kind: 'answered', reply };
}

function failed(status: number, outcome: Failure['outcome'], retryAfterMs: number | null = null): AttemptEnd {
  return answered(
    status,
    { code: -51, message: '', outcome, at: null, procedure: null, calls: [], detail: null },
    retryAfterMs,
  );
}

const lost: AttemptEnd = { kind: 'lost', error: null, wasReused: false };
const unsent: AttemptEnd = { kind: 'unsent', error: null };

function verdict(end: AttemptEnd, more: Partial<Past> = {}, random = 0.5): Verdict {
  return verdictOf(end, { ...past, ...more }, () => random);
}

describe('the verdict on an attempt', () => {
  test.each<[string, AttemptEnd, object, Partial<Past>]>([
    ['a value stands', answered(200, null), { kind: 'final' }, {}],
    [
      'no connection: the next node at once',
      unsent,
      { pauseMs: 0, where: 'elsewhere', inDoubt: false, costs: false },
      {},
    ],
    [
      'no connection to any node: with a pause',
      unsent,
      { pauseMs: 100, where: 'elsewhere', inDoubt: false },
      { triedAll: true, failures: 2 },
    ],
    [
      '503: another node, after what it asks',
      failed(503, 'none', 1000),
      { pauseMs: 1000, where: 'elsewhere', inDoubt: false },
      {},
    ],
    ['429: the same', failed(429, 'none', 500), { pauseMs: 500, where: 'elsewhere', inDoubt: false }, {}],
    ['503 of a proxy', answered(503, 'malformed'), { where: 'elsewhere', inDoubt: false }, {}],
    ['a lost connection: again, in doubt', lost, { where: 'elsewhere', inDoubt: true, costs: true }, {}],
    [
      'a connection that had been idle: at once, at the same node',
      { ...lost, wasReused: true },
      { where: 'same', pauseMs: 0, inDoubt: true },
      {},
    ],
    ['a lost connection of a request without a name', lost, { kind: 'in_doubt' }, { isNamed: false }],
    ['504 that is unknown: again', failed(504, 'unknown'), { where: 'elsewhere', inDoubt: true }, {}],
    ['504 that changed nothing, as a query that took too long', failed(504, 'none'), { kind: 'final' }, {}],
    ['502 of a proxy: again', answered(502, 'malformed'), { inDoubt: true }, {}],
    ['502 of a proxy, without a name', answered(502, 'malformed'), { kind: 'in_doubt' }, { isNamed: false }],
    [
      '401: asks again who it is',
      failed(401, 'none'),
      { renews: true, where: 'same', pauseMs: 0 },
      { canRenew: true },
    ],
    ['401 the second time', failed(401, 'none'), { kind: 'final' }, {}],
    ['400', failed(400, 'none'), { kind: 'final' }, {}],
    ['422', failed(422, 'none'), { kind: 'final' }, {}],
    ['500', failed(500, 'none'), { kind: 'final' }, {}],
    ['500 that made the change', failed(500, 'made'), { kind: 'final' }, {}],
    ['404 of a proxy', answered(404, 'malformed'), { kind: 'final' }, {}],
  ])('%s', (_, end, expected, more) => {
    expect(verdict(end, more)).toMatchObject(expected);
  });

  test('Retry-After is spread by a fifth, both ways', () => {
    expect(verdict(failed(503, 'none', 1000), {}, 0)).toMatchObject({ pauseMs: 800 });
    expect(verdict(failed(503, 'none', 1000), {}, 0.999)).toMatchObject({
      pauseMs: expect.closeTo(1200, -1),
    });
  });

  test('pauses double from 50 ms to 2 s, with full jitter', () => {
    const bounds = [0, 1, 2, 3, 4, 5, 6, 20].map((failures) => verdict(lost, { failures }, 0.999999));
    expect(bounds.map((each) => ('pauseMs' in each ? Math.round(each.pauseMs) : 0))).toEqual([
      50, 100, 200, 400, 800, 1600, 2000, 2000,
    ]);
    expect(verdict(lost, { failures: 6 }, 0)).toMatchObject({ pauseMs: 0 });
  });
});
