import { ErrorCode, QueryError } from '@althing/engine';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Reply } from '../groups/request.js';
import { Counters } from './counters.js';

let clock: number;
let elsewhere: { changes: number; garbage: number; cacheHits: number };
let counters: Counters;

beforeEach(() => {
  clock = 0;
  elsewhere = { changes: 100, garbage: 10, cacheHits: 1000 };
  counters = new Counters(
    () => 1_700_000_000_900 + clock,
    () => ({ ...elsewhere }),
  );
});

const FAILED: Reply = { ok: false, error: new QueryError(ErrorCode.ZERO_DIV, 'by zero') };

/** A request that takes some time. */
function request(durationMs: number, reply: Reply): void {
  clock += durationMs;
  counters.count(reply, durationMs);
}

describe('counters', () => {
  test('begin at 0, whatever was counted elsewhere before', () => {
    const { started_at: startedAt, ...others } = counters.values();
    expect(startedAt).toBe(1_700_000_000);
    expect(new Set(Object.values(others))).toEqual(new Set([0]));
  });

  test('count what came of requests, and how long they took', () => {
    const answer: Reply = { ok: true, result: 'x'.repeat(50) };
    request(10, answer);
    request(20, { ok: true, result: new Uint8Array(20) });
    request(60, FAILED);
    request(30, { ...FAILED, lost: true });

    expect(counters.values()).toMatchObject({
      queries_success: 2,
      queries_with_error: 2,
      quorum_lost: 1,
      largest_result_size: 50,
      longest_query_duration: 0.06,
      average_query_duration: 0.03,
    });
  });

  test('tell what was counted elsewhere since', () => {
    elsewhere = { changes: 105, garbage: 12, cacheHits: 1003 };
    expect(counters.values()).toMatchObject({
      changes_committed: 5,
      garbage_collected: 2,
      queries_from_cache: 3,
    });
  });

  test('begin again when they are reset', () => {
    request(10, FAILED);
    clock += 5000;
    elsewhere.changes += 7;

    counters.reset();

    const { started_at: startedAt, ...others } = counters.values();
    expect(startedAt).toBe(1_700_000_005);
    expect(new Set(Object.values(others))).toEqual(new Set([0]));
  });
});
