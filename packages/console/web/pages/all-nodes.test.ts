import { wireMap } from '@althing/client';
import { expect, test } from '@jest/globals';
import { historyOfAll, shapesOfAll } from './all-nodes.js';

const history = (times: readonly bigint[], ok: readonly number[], p99: readonly (number | null)[]) =>
  wireMap({ step: 5n, times, requests: wireMap({ ok }), commit_latency: wireMap({ p99 }), marks: [] });

test('requests of all nodes add up by time, of delays the worst counts, and a node that came later lacks nothing', () => {
  const all = historyOfAll([
    history([10n, 15n], [1, 2], [0.5, null]),
    history([16n, 21n], [4, 8], [0.25, 0.1]),
  ]);
  expect(all).toEqual(
    new Map<string, unknown>([
      ['step', 5],
      ['times', [10, 15, 20]],
      ['marks', []],
      ['requests', new Map([['ok', [1, 6, 8]]])],
      ['commit_latency', new Map([['p99', [0.5, 0.25, 0.1]]])],
    ]),
  );
});

test('a query shape that ran on several nodes is one, and the one that took the most time comes first', () => {
  const shape = (query: string, count: bigint, total: number, p99: number) =>
    wireMap({ scope: '@collection:stuff', query, count, failures: 1n, run_total: total, run_p99: p99 });
  const found = shapesOfAll([[shape('a', 1n, 2, 0.1), shape('b', 3n, 3, 3)], [shape('a', 2n, 2, 0.3)]]);
  expect(found.map(({ query, count, failures, total, p99 }) => [query, count, failures, total, p99])).toEqual(
    [
      ['a', 3, 2, 4, 0.3],
      ['b', 3, 1, 3, 3],
    ],
  );
});
