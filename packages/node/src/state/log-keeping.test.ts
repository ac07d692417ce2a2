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
  const checkpoint = (index: number, bytes = 10): number | undefined => {
    state.now += 1000;
    return kept.keptFrom(GROUP, index, bytes);
  };
  return { state, checkpoint };
}

test('the log begins at the checkpoint before without a setting, unless much lies there, and at the last one on a disk without room', () => {
  const { state, checkpoint } = keeping(0, 0);
  expect([checkpoint(10), checkpoint(20, 1e9)]).toEqual([undefined, 20]);
  state.keep = { bytes: 1000, seconds: 1000 };
  expect([checkpoint(30), checkpoint(40)]).toEqual([0, 0]);
  state.isDiskLow = true;
  expect(checkpoint(50)).toBe(50);
});

test('the log has no more bytes behind where it begins than are kept', () => {
  const { checkpoint } = keeping(25, 1000);
  expect([10, 20, 30, 40, 50].map((index) => checkpoint(index))).toEqual([0, 0, 10, 20, 30]);
});

test('the log goes back as long as is kept', () => {
  const { checkpoint } = keeping(1_000_000, 3);
  expect([10, 20, 30, 40, 50, 60].map((index) => checkpoint(index))).toEqual([0, 0, 0, 10, 20, 30]);
});
