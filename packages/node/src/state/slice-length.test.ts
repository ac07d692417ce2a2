import { expect, test } from '@jest/globals';
import { sliceLength } from './slice-length.js';

/** The longest of many slices beside others, who have so much to do for each millisecond that goes by that it takes a part of one. */
function longestBeside(part: number, urgency: number, mayMs = 16): number {
  let longest = 0;
  for (let i = 0, othersMs = 0; i < 100; i++) {
    const slice = sliceLength(mayMs, othersMs, urgency, false);
    longest = Math.max(longest, slice);
    othersMs = (slice * part) / (1 - part);
  }
  return longest;
}

test('slices stay short where others have room beside them', () => {
  expect([0, 0.5, 0.7].map((part) => longestBeside(part, 0.3))).toEqual([1, 1, 1]);
});

test('slices get as long as they may between turns that are long without them', () => {
  expect([0, 0.5, 1, 2].map((urgency) => sliceLength(16, 40, urgency, false))).toEqual([10, 16, 16, 16]);
});

test('slices get longer as long as there is no time left and the work is urgent', () => {
  expect([0.3, 1, 1.5].map((urgency) => longestBeside(0.7, urgency))).toEqual([1, 16, 16]);
});

test('a slice behind a long run is as short as one may be', () => {
  expect(sliceLength(16, 40, 2, true)).toBe(1);
});
