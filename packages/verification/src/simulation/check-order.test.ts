import { describe, expect, test } from '@jest/globals';
import { checkBank, checkCounter, checkIndexes, checkList, checkPair } from './check-order.js';
import { type Action, Anomaly, type Operation } from './history.js';
import { Draw } from './random.js';

let nextId = 0;

function done(action: Action, begin: number, end: number, answer: unknown, index = 0): Operation {
  return {
    id: nextId++,
    client: 0,
    collection: 'stuff',
    action,
    node: 'n0',
    begin,
    end,
    outcome: 'ok',
    answer,
    index,
    error: '',
  };
}

function ended(operation: Operation, outcome: 'failed' | 'unknown'): Operation {
  return { ...operation, outcome, end: outcome === 'unknown' ? Number.POSITIVE_INFINITY : operation.end };
}

const append = (value: string, ...lists: string[]): Action => ({ kind: 'append', lists, value });
const read = (...lists: string[]): Action => ({ kind: 'read', lists });
const tried = (value: string, list: string, explains = false): Action => ({
  kind: 'dry_run',
  list,
  value,
  explains,
});
const told = (...result: string[]) => ({ result, changes: { items: 1 } });
/** The answer of a dry run that was explained: what its statements changed. */
const explained = (result: readonly string[], items: number) => ({
  result,
  changes: { items: 1 },
  explain: { statements: [{}, { changes: { items } }] },
});

describe('lists', () => {
  const history = [
    done(append('a', 'l'), 0, 2, [1]),
    done(append('b', 'l'), 1, 4, [2]),
    done(read('l'), 3, 5, [['a']]),
    done(read('l'), 5, 6, [['a', 'b']]),
    done(tried('t', 'l'), 5, 6, told('a', 'b', 't')),
    done(tried('u', 'l', true), 5, 6, explained(['a', 'b', 'u'], 1)),
    done(tried('v', 'l', true), 5, 6, { error: {}, changes: {}, explain: { statements: [] } }),
  ];

  test('a history that can have happened', () => {
    expect(() => checkList('l', history, ['a', 'b'])).not.toThrow();
  });

  test('an unknown outcome may go either way', () => {
    const unknown = ended(done(append('c', 'l'), 2, 3, null), 'unknown');
    expect(() => checkList('l', [...history, unknown], ['a', 'b'])).not.toThrow();
    expect(() => checkList('l', [...history, unknown], ['a', 'b', 'c'])).not.toThrow();
  });

  test.each([
    ['a lost change', history, ['a'], /lost/],
    ['a change made twice', history, ['a', 'b', 'b'], /twice/],
    ['a stranger', history, ['a', 'b', 'c'], /nobody/],
    ['another order than was told', history, ['b', 'a'], /told the length/],
    [
      'a refusal that had an effect',
      [...history, ended(done(append('c', 'l'), 7, 8, null), 'failed')],
      ['a', 'b', 'c'],
      /refused/,
    ],
    [
      'a failed query that had an effect',
      [...history, ended(done({ kind: 'append_and_fail', list: 'l', value: 'c' }, 7, 8, null), 'failed')],
      ['a', 'b', 'c'],
      /failed operation/,
    ],
    [
      'a dry run that had an effect',
      [...history, done(append('t', 'l'), 7, 8, [3])],
      ['a', 'b', 't'],
      /dry run/,
    ],
    ['a stale dry run', [...history, done(tried('d', 'l'), 6, 7, told('a', 'd'))], ['a', 'b'], /ended at/],
    [
      'a dry run that counted nothing',
      [...history, done(tried('d', 'l'), 6, 7, { result: ['a', 'b', 'd'], changes: {} })],
      ['a', 'b'],
      /was told/,
    ],
    [
      'an explained run whose statements changed something else',
      [...history, done(tried('d', 'l', true), 6, 7, explained(['a', 'b', 'd'], 2))],
      ['a', 'b'],
      /was told/,
    ],
    ['a stale read', [...history, done(read('l'), 6, 7, [['a']])], ['a', 'b'], /ended at/],
    [
      'a read of what was not there',
      [...history, done(read('l'), 6, 7, [['a', 'c']])],
      ['a', 'b'],
      /in the end/,
    ],
    [
      'changes against real time',
      [done(append('a', 'l'), 0, 1, [2]), done(append('b', 'l'), 2, 3, [1])],
      ['b', 'a'],
      /ended at/,
    ],
  ])('%s is found', (_name, operations, final, message) => {
    expect(() => checkList('l', operations, final)).toThrow(message);
  });
});

describe('pairs of lists', () => {
  const both = [done(append('a', 'l', 'm'), 0, 2, [1, 1]), done(append('b', 'l', 'm'), 1, 4, [2, 2])];

  test('the values that both lists have are in one order', () => {
    expect(() =>
      checkPair(['l', 'm'], both, [
        ['a', 'b'],
        ['a', 'b'],
      ]),
    ).not.toThrow();
    expect(() =>
      checkPair(['l', 'm'], both, [
        ['a', 'b'],
        ['b', 'a'],
      ]),
    ).toThrow(Anomaly);
  });

  test('half of a transaction is found', () => {
    const half = done(read('l', 'm'), 1, 2, [['a'], []]);
    expect(() =>
      checkPair(
        ['l', 'm'],
        [...both, half],
        [
          ['a', 'b'],
          ['a', 'b'],
        ],
      ),
    ).toThrow(/half/);
  });
});

describe('counter', () => {
  const increment: Action = { kind: 'increment', tag: 'v0' };

  test('a history that can have happened', () => {
    const unknown = ended(done(increment, 0, 9, null), 'unknown');
    const operations = [done(increment, 0, 1, 1), done(increment, 0, 2, 3), unknown];
    expect(() => checkCounter(operations, 3)).not.toThrow();
  });

  test.each([
    ['the same number twice', [done(increment, 0, 1, 1), done(increment, 0, 1, 1)], 2],
    ['a lost increment', [done(increment, 0, 1, 1), done(increment, 2, 3, 2)], 1],
    ['an increment made twice', [done(increment, 0, 1, 1)], 2],
    ['numbers against real time', [done(increment, 0, 1, 2), done(increment, 2, 3, 1)], 2],
  ])('%s is found', (_name, operations, final) => {
    expect(() => checkCounter(operations, final)).toThrow(Anomaly);
  });
});

describe('bank', () => {
  test('money that is lost is found, in a read and in the end', () => {
    const look = done({ kind: 'balances' }, 0, 1, [90, 110]);
    expect(() => checkBank([look], [80, 120], 200)).not.toThrow();
    expect(() => checkBank([{ ...look, answer: [90, 100] }], [80, 120], 200)).toThrow(/saw 190/);
    expect(() => checkBank([look], [80, 119], 200)).toThrow(/199 is left/);
  });
});

describe('indexes', () => {
  test('an answer from before another one is found', () => {
    const operations = [done(read('l'), 0, 1, [[]], 7), done(read('l'), 2, 3, [[]], 6)];
    expect(() => checkIndexes(operations)).toThrow(Anomaly);
    expect(() => checkIndexes([operations[0]!, { ...operations[1]!, index: 7 }])).not.toThrow();
  });
});

test('no false alarm in histories of an orderly list', () => {
  for (let seed = 1; seed <= 300; seed++) {
    const draw = new Draw(seed, 'orderly list');
    const list: string[] = [];
    const operations: Operation[] = [];
    for (let at = 0; at < 30; at++) {
      const moment = at * 10;
      const [begin, end] = [moment - draw.int(0, 40), moment + draw.int(0, 40)];
      const outcome = draw.weighted([
        ['append', 4],
        ['read', 4],
        ['lost', 1],
        ['unknown', 1],
      ] as const);
      if (outcome === 'read') {
        operations.push(done(read('l'), begin, end, [[...list]]));
        continue;
      }
      const value = `v${at}`;
      if (outcome !== 'lost') list.push(value);
      const operation = done(append(value, 'l'), begin, end, [list.length]);
      operations.push(outcome === 'append' ? operation : ended(operation, 'unknown'));
    }
    try {
      checkList('l', operations, list);
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  }
});
