import { expect, test } from '@jest/globals';
import { Pace } from './node-disk.js';

/** So many writes, each of which is held where that may be; how many were. */
function write(pace: Pace, count: number, ms: number): number {
  let held = 0;
  for (let at = 0; at < count; at++) {
    if (pace.mayHold) {
      held += 1;
      pace.held(ms);
    } else pace.pooled(ms);
  }
  return held;
}

test('a quick disk is found out by one probe, and its writes hold the thread from then on', () => {
  const pace = new Pace();
  expect(write(pace, 32, 0.3)).toBe(0);
  expect(write(pace, 100, 0.3)).toBe(100);
});

test('one slow write among quick ones changes nothing, several in a row do, and so does one that takes long', () => {
  const pace = new Pace();
  write(pace, 100, 0.3);
  pace.held(5);
  expect(write(pace, 20, 0.3)).toBe(20);
  pace.held(5);
  pace.held(5);
  expect(pace.mayHold).toBe(false);
  expect(write(pace, 100, 0.3)).toBe(68);
  pace.held(25);
  expect(pace.mayHold).toBe(false);
});

test('a slow disk holds the thread ever more rarely', () => {
  const pace = new Pace();
  expect(write(pace, 10_000, 10)).toBeLessThan(20);
  // It is found out, too, when it has become quick.
  write(pace, 1024, 0.3);
  expect(write(pace, 100, 0.3)).toBe(100);
});

test('a disk that stalls is not probed', () => {
  const pace = new Pace();
  expect(write(pace, 1000, 30)).toBe(0);
});
