import { describe, expect, test } from '@jest/globals';
import { SEQUENCES_MAX, Sequences } from './sequences.js';

describe('sequences', () => {
  test('are counted for each group by itself', () => {
    const sequences = new Sequences();
    expect([sequences.take(1), sequences.take(1), sequences.take(2)]).toEqual([1, 2, 1]);
  });

  test('the low watermark is the oldest that still waits', () => {
    const sequences = new Sequences();
    expect(sequences.low(1)).toBe(1);
    for (let i = 0; i < 4; i++) sequences.take(1);
    sequences.release(1, 3);
    sequences.release(1, 2);
    expect(sequences.low(1)).toBe(1);
    sequences.release(1, 1);
    expect(sequences.low(1)).toBe(4);
    sequences.release(1, 4);
    expect(sequences.low(1)).toBe(5);
    expect(sequences.take(1)).toBe(5);
  });

  test('are not given out without bound while one waits', () => {
    const sequences = new Sequences();
    for (let i = 1; i <= SEQUENCES_MAX; i++) sequences.take(1);
    for (let i = 2; i <= SEQUENCES_MAX; i++) sequences.release(1, i);
    expect(sequences.take(1)).toBe(0);
    expect(sequences.take(2)).toBe(1);
    sequences.release(1, 1);
    expect(sequences.take(1)).toBe(SEQUENCES_MAX + 1);
  });
});
