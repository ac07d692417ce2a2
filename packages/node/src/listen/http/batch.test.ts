import { App } from 'uWebSockets.js';
import { describe, expect, test } from '@jest/globals';
import { Batch } from './batch.js';

/** A batch of connections of which each is answered all the time; how many are left at each tick. */
function leftOver(connections: number, ageMaxMs: number, tickMs: number): readonly number[] {
  const batch = new Batch(App());
  batch.connections = connections;
  const left: number[] = [];
  for (let ageMs = 0; ageMs <= ageMaxMs; ageMs += tickMs) {
    batch.tick(ageMs, ageMaxMs, tickMs);
    for (let answered = 0; answered < batch.connections; ) {
      if (batch.closesNext()) batch.connections -= 1;
      else answered += 1;
    }
    left.push(batch.connections);
  }
  return left;
}

describe('a batch of connections', () => {
  test('is left alone in the first four fifths of its time, and then ends evenly', () => {
    const left = leftOver(100, 1000, 10);
    expect(left.slice(0, 80)).toEqual(Array(80).fill(100));
    expect(left[90]).toBeGreaterThanOrEqual(40);
    expect(left[90]).toBeLessThanOrEqual(60);
    expect(left.at(-1)).toBe(0);
  });

  test('a batch of one connection ends in time, too', () => {
    const left = leftOver(1, 1000, 10);
    expect(left[79]).toBe(1);
    expect(left.at(-1)).toBe(0);
  });

  test('ends one connection with each answer once it is told to end, and none when it begins anew', () => {
    const batch = new Batch(App());
    expect(batch.closesNext()).toBe(false);
    batch.end(true);
    expect([batch.closesNext(), batch.closesNext(), batch.closesNext()]).toEqual([true, true, true]);
    batch.end(false);
    expect(batch.closesNext()).toBe(false);
  });
});
