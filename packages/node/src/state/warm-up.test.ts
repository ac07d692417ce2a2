import { expect, test } from '@jest/globals';
import { workInSlices } from './warm-up.js';

/** Takes steps of 1 ms each; gives how many were taken between other work. */
function slicesOf(steps: number, failsAt = Number.POSITIVE_INFINITY): number[] {
  let nowMs = 0;
  const later: (() => void)[] = [];
  function* work(): Generator<void, void, undefined> {
    for (let step = 0; step < steps; step++) {
      if (step === failsAt) throw new Error('the record is damaged');
      nowMs += 1;
      yield;
    }
  }
  workInSlices(work(), { now: () => nowMs, soon: (slice) => later.push(slice) });
  const slices: number[] = [];
  for (let slice = later.shift(); slice !== undefined; slice = later.shift()) {
    const before = nowMs;
    slice();
    slices.push(nowMs - before);
  }
  return slices;
}

test('work that is done for later has some milliseconds a turn', () => {
  expect(slicesOf(30)).toEqual([12, 12, 6]);
});

test('a step that fails is the last one', () => {
  expect(slicesOf(30, 15)).toEqual([12, 3]);
});
