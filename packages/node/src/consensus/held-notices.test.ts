import { beforeEach, expect, test } from '@jest/globals';
import { HeldNotices } from './held-notices.js';

let now: number;
let timers: (() => void)[];
let told: number[];
let notices: HeldNotices;

beforeEach(() => {
  now = 1000;
  timers = [];
  told = [];
  const after = (_ms: number, work: () => void): (() => void) => {
    timers.push(work);
    return () => undefined;
  };
  notices = new HeldNotices({ now: () => now, after }, (group) => told.push(group));
});

test('what is committed is told at once where nobody asks again at once', () => {
  for (let round = 0; round < 3; round++) {
    notices.proposed(1);
    expect(notices.holds(1)).toBe(false);
    now += 50;
  }
  expect(timers).toHaveLength(0);
});

test('it is held where one change follows the other, and told by one timer when no more comes', () => {
  for (const group of [1, 2]) {
    notices.holds(group);
    notices.proposed(group);
  }
  expect([notices.holds(1), notices.holds(1), notices.holds(2)]).toEqual([true, true, true]);
  expect(timers).toHaveLength(1);
  expect(told).toEqual([]);
  timers.shift()?.();
  expect(told).toEqual([1, 2]);

  now += 4;
  notices.proposed(1);
  expect(notices.holds(1)).toBe(false);
  notices.proposed(2);
  notices.forget(2);
  expect(notices.holds(2)).toBe(false);
  expect(timers).toHaveLength(0);
});
