/**
 * How long after its limit a query goes on: between two looks at the clock, and while its changes are taken back. Nobody
 * else is served meanwhile.
 */
import { describe, expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';
import { HOSTILE_QUERIES } from '../testing/hostile-queries.js';
import { threadClock } from '../testing/thread-clock.js';

const LIMIT_MS = 200;

/** A tenth of the time that a query has by default: what is done between two looks does not depend on the limit. */
const OVERRUN_MS = 100;

/** The collector may run at the worst moment, but not each time. */
const ATTEMPTS = 3;

test('patterns of one text are bounded together, since they are compiled before its time begins', () => {
  const db = new Harness();
  const pattern = '/(a?){1000}/; ';
  expect(db.error(pattern.repeat(5000))).toBe('value_err');
  expect(db.run(`${pattern.repeat(20)} 1;`)).toBe(1);
  expect(db.error('closure(source);', { vars: { source: `|| {${pattern.repeat(5000)}}` } })).toBe(
    'value_err',
  );
});

test('a text of very many variables is compiled in time that grows with it', () => {
  const clock = threadClock();
  const timeOf = (count: number): number => {
    const times = [0, 1, 2].map((round) => {
      const code = Array.from({ length: count }, (_, i) => `v${round}${i.toString(36)}=1;`).join('');
      const begun = clock();
      new Harness().engine.prepare(code);
      return clock() - begun;
    });
    return Math.min(...times);
  };
  timeOf(10_000);
  expect(timeOf(100_000) / timeOf(10_000)).toBeLessThan(25);
});

test('errors that are caught bring the next look at the clock nearer: they take longer than other steps', () => {
  // The clock goes on with each look at it.
  const looksOf = (code: string): number => {
    let looks = 0;
    const db = new Harness({ limits: { durationMs: 60_000 }, monotonic: () => ++looks / 1000 });
    db.run(code);
    return looks;
  };
  const caught = looksOf("for (i in range(100000)) try(raise('x'));");
  expect(caught).toBeGreaterThan(4 * looksOf('for (i in range(100000)) try(str(1));'));
});

describe('a query ends soon after its time is over', () => {
  const clock = threadClock();
  test.each(HOSTILE_QUERIES)(
    '%s',
    (_what, code) => {
      let shortest = Number.POSITIVE_INFINITY;
      for (let attempt = 1; attempt <= ATTEMPTS && shortest > LIMIT_MS + OVERRUN_MS; attempt++) {
        const db = new Harness({ limits: { durationMs: LIMIT_MS }, monotonic: clock });
        const begun = clock();
        const outcome = db.outcome(code);
        shortest = Math.min(shortest, clock() - begun);
        expect(outcome.kind === 'error' ? outcome.error.message : outcome.kind).toContain(
          'query_duration_limit_ms',
        );
      }
      expect(shortest).toBeLessThan(LIMIT_MS + OVERRUN_MS);
    },
    60_000,
  );
});
