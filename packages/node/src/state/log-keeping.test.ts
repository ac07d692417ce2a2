import { expect, test } from '@jest/globals';
import { LogKeeping } from './log-keeping.js';

const GROUP = 5;

function keeping(bytes: number, seconds: number) {
  const state = { now: 0, keep: { bytes, seconds }, isDiskLow: false };
  const kept = new LogKeeping({
    keepOf: () => state.keep,
    isDiskLow: () => state.isDiskLow,
    now: () => state.now,
  });
  /** A checkpoint each second, each of 10 bytes. */
  const checkpoint = (index: number): number => {
    state.now += 1000;
    return kept.keptFrom(GROUP, index, 10);
  };
  return { state, checkpoint };
}

test('nothing is kept without a setting, or on a disk without room', () => {
  const { state, checkpoint } = keeping(0, 0);
  expect([checkpoint(10), checkpoint(20)]).toEqual([10, 20]);
  state.keep = { bytes: 1000, seconds: 1000 };
  expect([checkpoint(30), checkpoint(40)]).toEqual([0, 0]);
  state.isDiskLow = true;
  expect(checkpoint(50)).toBe(50);
});

test('the log has no more bytes behind where it begins than are kept', () => {
  const { checkpoint } = keeping(25, 1000);
  expect([10, 20, 30, 40, 50].map(checkpoint)).toEqual([0, 0, 10, 20, 30]);
});

test('the log goes back as long as is kept', () => {
  const { checkpoint } = keeping(1_000_000, 3);
  expect([10, 20, 30, 40, 50, 60].map(checkpoint)).toEqual([0, 0, 0, 10, 20, 30]);
});
