import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { bothVerdicts, majority, reachedByMajority, verdictOf } from './quorum.js';

describe('quorum', () => {
  test('the value that a majority has reached is the highest such', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 20 }), { minLength: 1, maxLength: 7 }), (values) => {
        const reached = reachedByMajority(values.slice());
        const have = (value: number): number => values.filter((each) => each >= value).length;
        expect(have(reached)).toBeGreaterThanOrEqual(majority(values.length));
        expect(have(reached + 1)).toBeLessThan(majority(values.length));
      }),
    );
  });

  test('no voters stand in nobody`s way', () => {
    expect(reachedByMajority([])).toBe(Number.POSITIVE_INFINITY);
    expect(verdictOf(0, 0, 0)).toBe('won');
  });

  test('a vote is won by a majority, lost when none is possible any more, and open before', () => {
    expect(verdictOf(3, 2, 0)).toBe('won');
    expect(verdictOf(3, 1, 1)).toBe('pending');
    expect(verdictOf(3, 1, 2)).toBe('lost');
    expect(verdictOf(4, 2, 2)).toBe('lost');
    expect(() => verdictOf(2, 2, 1)).toThrow('More votes than voters');
  });

  test('both halves must agree', () => {
    expect(bothVerdicts('won', 'won')).toBe('won');
    expect(bothVerdicts('won', 'pending')).toBe('pending');
    expect(bothVerdicts('pending', 'won')).toBe('pending');
    expect(bothVerdicts('lost', 'won')).toBe('lost');
    expect(bothVerdicts('won', 'lost')).toBe('lost');
  });
});
