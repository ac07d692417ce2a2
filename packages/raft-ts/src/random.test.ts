import { describe, expect, test } from '@jest/globals';
import { seededRandom } from './random.js';

describe('seeded randomness', () => {
  const draw = (seed: number, stream: number): number[] => {
    const random = seededRandom(seed, stream);
    return Array.from({ length: 20 }, random);
  };

  test('the same seed gives the same numbers; other nodes get others', () => {
    expect(draw(7, 1)).toEqual(draw(7, 1));
    expect(draw(7, 1)).not.toEqual(draw(7, 2));
    expect(draw(7, 1)).not.toEqual(draw(8, 1));
    expect(draw(7, 1)).not.toEqual(draw(7, 1 + 2 ** 33));
  });

  test('the numbers are unsigned 32-bit integers, spread evenly', () => {
    const random = seededRandom(1, 1);
    const buckets = Array.from({ length: 10 }, () => 0);
    for (let at = 0; at < 10_000; at += 1) {
      const value = random();
      expect(Number.isInteger(value) && value >= 0 && value < 2 ** 32).toBe(true);
      buckets[value % 10]! += 1;
    }
    for (const count of buckets) expect(Math.abs(count - 1000)).toBeLessThan(200);
  });
});
