import { expect, test } from '@jest/globals';
import { checkTasks } from './check-tasks.js';
import type { Operation, Outcome } from './history.js';

function made(value: string, runs: number, outcome: Outcome): Operation {
  const action = { kind: 'task', value, startAt: 0, runs } as const;
  const rest = {
    client: 0,
    collection: 'stuff',
    node: 'n0',
    begin: 0,
    end: 1,
    answer: null,
    index: 0,
    error: '',
  };
  return { id: 1, action, outcome, ...rest };
}

test.each<[Operation[], string[], string | null]>([
  [[made('a', 2, 'ok'), made('b', 1, 'ok')], ['a 1', 'b 1', 'a 2'], null],
  [[made('a', 2, 'unknown')], ['a 1', 'a 2'], null],
  [[made('a', 2, 'unknown'), made('b', 1, 'failed')], [], null],
  [[made('a', 2, 'ok')], ['a 1', 'a 2', 'a 1'], 'a 1 is there twice'],
  [[made('a', 2, 'ok')], ['a 1'], '1 of 2 runs'],
  [[made('a', 2, 'unknown')], ['a 1'], '1 of 2 runs'],
  [[made('a', 1, 'ok')], [], '0 of 1 runs'],
  [[made('a', 1, 'failed')], ['a 1'], 'which is failed'],
  [[made('a', 2, 'ok')], ['a 2', 'a 1'], 'are at 1, 0'],
  [[], ['a 1'], 'no task was to have: a 1'],
])('%j with %j', (operations, final, anomaly) => {
  const check = (): void => checkTasks(operations, final);
  if (anomaly === null) expect(check).not.toThrow();
  else expect(check).toThrow(anomaly);
});
