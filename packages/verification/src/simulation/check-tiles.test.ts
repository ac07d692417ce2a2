import { describe, expect, test } from '@jest/globals';
import { checkTiles } from './check-tiles.js';
import type { Operation } from './history.js';

function operation(kind: 'sweep' | 'look', begin: number, end: number, answer: unknown): Operation {
  const outcome = answer === null ? 'unknown' : 'ok';
  return {
    id: begin,
    client: 1,
    collection: 'stuff',
    action: { kind },
    node: 'n0',
    begin,
    end,
    outcome,
    answer,
    index: 0,
    error: '',
  };
}

describe('tiles', () => {
  test('tiles that count up together are in order', () => {
    expect(() =>
      checkTiles([
        operation('look', 0, 1, [0, 0, 0]),
        operation('sweep', 2, 3, [1, 1, 1]),
        operation('sweep', 4, Number.POSITIVE_INFINITY, null),
        operation('look', 5, 6, [1, 1, 1]),
        operation('sweep', 7, 8, [3, 3, 3]),
      ]),
    ).not.toThrow();
  });

  test.each<[string, Operation[]]>([
    ['one has missed a change', [operation('sweep', 0, 1, [2, 1, 2])]],
    ['a read sees half of a change', [operation('look', 0, 1, [1, 1, 2])]],
    ['there are none', [operation('look', 0, 1, [])]],
    ['a change was lost', [operation('sweep', 0, 1, [1, 1]), operation('sweep', 2, 3, [1, 1])]],
    ['a read is stale', [operation('sweep', 0, 1, [1, 1]), operation('look', 2, 3, [0, 0])]],
  ])('are not when %s', (_what, operations) => {
    expect(() => checkTiles(operations)).toThrow('tiles');
  });
});
