import { describe, expect, test } from '@jest/globals';
import { Draw } from './random.js';

function drawn(draw: Draw, count: number): number[] {
  return Array.from({ length: count }, () => draw.bits());
}

describe('random numbers', () => {
  test('are the same for the same seed and purpose, and others for others', () => {
    const numbers = drawn(new Draw(1, 'disk'), 5);
    expect(drawn(new Draw(1, 'disk'), 5)).toEqual(numbers);
    expect(drawn(new Draw(2, 'disk'), 5)).not.toEqual(numbers);
    expect(drawn(new Draw(1, 'link'), 5)).not.toEqual(numbers);
  });

  test('random numbers of a moment do not depend on what was drawn before it', () => {
    const clock = { now: 10.25 };
    const [one, other] = [new Draw(1, 'disk', clock), new Draw(1, 'disk', clock)];
    drawn(one, 7);
    clock.now = 11.5;
    const numbers = drawn(one, 3);
    expect(drawn(other, 3)).toEqual(numbers);
    clock.now = 11.5001;
    expect(drawn(other, 3)).not.toEqual(numbers);
  });

  test('are spread evenly from moment to moment', () => {
    const clock = { now: 0 };
    const draw = new Draw(1, 'disk', clock);
    const tenths = new Array<number>(10).fill(0);
    for (let at = 0; at < 10_000; at++) {
      clock.now += 0.37;
      const tenth = Math.floor(draw.unit() * 10);
      tenths[tenth] = (tenths[tenth] ?? 0) + 1;
    }
    for (const count of tenths) expect(Math.abs(count - 1000)).toBeLessThan(150);
  });
});
