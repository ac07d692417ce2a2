import { describe, expect, test } from '@jest/globals';
import { checkRegister, isLinearizable, type RegisterStep } from './check-register.js';
import type { Action, Operation } from './history.js';
import { Draw } from './random.js';

const NEVER = Number.POSITIVE_INFINITY;

function get(begin: number, end: number, value: number): RegisterStep {
  return step({ begin, end, kind: 'get', expected: 0, value, swapped: null });
}

function swap(
  begin: number,
  end: number,
  expected: number,
  value: number,
  swapped: boolean | null,
): RegisterStep {
  return step({ begin, end, kind: 'swap', expected, value, swapped });
}

function step(rest: Omit<RegisterStep, 'operation'>): RegisterStep {
  const action: Action = { kind: 'get', register: 'r' };
  const operation: Operation = {
    id: 0,
    client: 0,
    collection: 'stuff',
    action,
    node: 'n0',
    begin: rest.begin,
    end: rest.end,
    outcome: 'ok',
    answer: null,
    index: 0,
    error: '',
  };
  return { operation, ...rest };
}

describe('registers', () => {
  test.each([
    ['reads around a change', [get(0, 1, 0), swap(0, 5, 0, 1, true), get(2, 3, 0), get(4, 6, 1)]],
    [
      'a change of unknown outcome that took effect',
      [swap(0, NEVER, 0, 1, null), get(2, 3, 0), get(4, 5, 1)],
    ],
    ['a change of unknown outcome that did not', [swap(0, NEVER, 0, 1, null), get(2, 3, 0), get(4, 5, 0)]],
    ['a swap that was right to fail', [swap(0, 1, 3, 4, false), get(2, 3, 0)]],
  ])('%s: can have happened', (_name, steps) => {
    expect(isLinearizable(steps, 0)).toBe('ok');
  });

  test.each([
    ['a stale read', [swap(0, 1, 0, 1, true), get(2, 3, 0)]],
    ['a read that goes back', [swap(0, NEVER, 0, 1, null), get(2, 3, 1), get(4, 5, 0)]],
    ['two swaps of the same value', [swap(0, 1, 0, 1, true), swap(0, 1, 0, 2, true)]],
    ['a swap that failed without a reason', [swap(0, 1, 0, 1, false)]],
    ['a value from nowhere', [get(0, 1, 5)]],
    [
      'an unknown change that took effect twice',
      [swap(0, NEVER, 0, 1, null), get(1, 2, 1), swap(3, 4, 1, 0, true), get(5, 6, 1)],
    ],
  ])('%s: can not have happened', (_name, steps) => {
    expect(isLinearizable(steps, 0)).toBe('wrong');
  });

  test('a search that is given up is undecided', () => {
    const steps = Array.from({ length: 12 }, (_, at) => swap(0, 100, at, at + 1, true)).reverse();
    expect(isLinearizable([...steps, get(200, 201, 0)], 0, 5)).toBe('undecided');
  });

  test('operations become steps', () => {
    const { operation } = get(0, 1, 0);
    const stale: Operation = { ...operation, answer: 3 };
    expect(() => checkRegister('r', [stale], 0)).toThrow(/no order/);
    expect(() => checkRegister('r', [stale], 3)).not.toThrow();
    expect(() => checkRegister('other', [stale], 0)).not.toThrow();
  });

  test('no false alarm in histories of an orderly register, and planted stale reads are found', () => {
    let found = 0;
    for (let seed = 1; seed <= 200; seed++) {
      const steps = orderly(seed);
      if (isLinearizable(steps, 0) !== 'ok') throw new Error(`seed ${seed}: a false alarm`);
      // A value that nobody ever wrote.
      if (isLinearizable([...steps, get(-10, 1000, 99)], 0) === 'wrong') found += 1;
    }
    expect(found).toBe(200);
  });
});

function orderly(seed: number): RegisterStep[] {
  const draw = new Draw(seed, 'orderly register');
  let value = 0;
  return Array.from({ length: 25 }, (_, at) => {
    const begin = at * 10 - draw.int(0, 30);
    const end = at * 10 + draw.int(0, 30);
    if (draw.chance(0.4)) return get(begin, end, value);
    const expected = draw.int(0, 2);
    const next = draw.int(0, 2);
    const does = expected === value;
    if (does) value = next;
    return draw.chance(0.15)
      ? swap(begin, NEVER, expected, next, null)
      : swap(begin, end, expected, next, does);
  });
}
