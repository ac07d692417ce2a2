import { expect, test } from '@jest/globals';
import { checkFutures } from './check-futures.js';
import type { Operation, Outcome } from './history.js';

function made(value: string, outcome: Outcome | 'made', fails = false): Operation {
  const action = { kind: 'future', value, fails, asks: false } as const;
  const told = outcome === 'made' ? ({ outcome: 'unknown', isMade: true } as const) : { outcome };
  const rest = { client: 0, collection: 'stuff', node: 'n0', begin: 0, end: 1, answer: null, index: 0 };
  return { id: 1, action, error: '', ...told, ...rest };
}

test.each<[Operation[], string[], string | null]>([
  [[made('a', 'ok'), made('b', 'ok')], ['a query', 'b query', 'b future', 'a future'], null],
  [[made('a', 'unknown'), made('b', 'unknown')], ['b query'], null],
  [[made('a', 'failed'), made('b', 'made', true)], ['b query'], null],
  [[made('a', 'made')], ['a query', 'a future'], null],
  [[made('a', 'ok')], ['a query', 'a future', 'a query'], 'a query is there twice'],
  [[made('a', 'unknown')], ['a query', 'a future', 'a future'], 'a future is there twice'],
  [[made('a', 'unknown')], ['a future'], 'without it'],
  [[made('a', 'unknown')], ['a future', 'a query'], 'before it'],
  [[made('a', 'ok')], ['a query'], 'is ok: its future is lost'],
  [[made('a', 'ok')], [], 'its future is lost'],
  [[made('a', 'made')], [], 'is made: its change is lost'],
  [[made('a', 'failed')], ['a query'], 'its change is there'],
  [[made('a', 'made', true)], ['a query', 'a future'], 'failed and took effect'],
  [[made('a', 'ok', true)], ['a query'], 'should have failed'],
  [[], ['a query'], 'nobody appended'],
])('%j with %j', (operations, final, anomaly) => {
  const check = (): void => checkFutures(operations, final);
  if (anomaly === null) expect(check).not.toThrow();
  else expect(check).toThrow(anomaly);
});
