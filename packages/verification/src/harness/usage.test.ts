import { parseArgs } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { durationOf, isWrongUsage, UsageError, wholeIn } from './usage.js';

describe('options', () => {
  test('numbers within their bounds', () => {
    expect([wholeIn('--n', '1', 1, 5), wholeIn('--n', '5', 1, 5)]).toEqual([1, 5]);
    for (const text of ['0', '6', '', '1.5', '-1', 'x', '1e1', ' 1']) {
      expect(() => wholeIn('--n', text, 1, 5)).toThrow('--n must be a whole number from 1 to 5');
    }
  });

  test('times', () => {
    expect(['90s', '10m', '1h'].map((text) => durationOf('--for', text))).toEqual([
      90_000, 600_000, 3_600_000,
    ]);
    for (const text of ['', '0s', '90', 's', '1d', '-1s', '1.5h']) {
      expect(() => durationOf('--for', text)).toThrow(UsageError);
    }
  });

  test('wrong usage is told from other errors', () => {
    const parse = () => parseArgs({ args: ['--what'], options: {} });
    expect(isWrongUsage(errorOf(parse))).toBe(true);
    expect(isWrongUsage(errorOf(() => durationOf('--for', 'x')))).toBe(true);
    expect(isWrongUsage(new Error('x'))).toBe(false);
  });
});

function errorOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}
