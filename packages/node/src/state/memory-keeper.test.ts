import { expect, test } from '@jest/globals';
import { MemoryKeeper } from './memory-keeper.js';

/** Collections whose rounds take so many bytes out of memory, one after the other. */
function roundsOf(...rounds: number[]) {
  const collections = {
    bytes: 300,
    isOver: (bytesMax: number) => collections.bytes > bytesMax,
    evict: () => {
      collections.bytes -= rounds.shift() ?? 0;
      return false;
    },
  };
  const works: (() => void)[] = [];
  const keeper = new MemoryKeeper(
    collections,
    { cacheBytes: 100 },
    () => 0,
    (work) => works.push(work),
    () => false,
  );
  keeper.consider();
  let count = 0;
  for (let work = works.shift(); work !== undefined; work = works.shift(), count++) work();
  return { count, bytes: collections.bytes, isWorking: keeper.isWorking };
}

test('records that a first round spared leave in the next one, and those that this one spares stay', () => {
  expect(roundsOf(0, 250)).toEqual({ count: 2, bytes: 50, isWorking: false });
  expect(roundsOf(250)).toEqual({ count: 1, bytes: 50, isWorking: false });
  expect(roundsOf(0, 0, 250)).toEqual({ count: 2, bytes: 300, isWorking: false });
});

/** The longest slice of a keeper, with so much more in memory than there may be, beside others who have turns of so many milliseconds. */
function longestSlice(excess: number, othersMs: number, isBehindLongRun = false): number {
  let now = 0;
  let longest = 0;
  let rounds = 0;
  const collections = {
    bytes: 100 * (1 + excess),
    isOver: () => true,
    evict: (_bytesMax: number, until: number) => {
      longest = Math.max(longest, until - now);
      now = until;
      return ++rounds < 50;
    },
  };
  const works: (() => void)[] = [];
  const keeper = new MemoryKeeper(
    collections,
    { cacheBytes: 100 },
    () => now,
    (work) => works.push(work),
    () => isBehindLongRun,
  );
  keeper.consider();
  for (let work = works.shift(); work !== undefined && rounds < 50; work = works.shift()) {
    now += othersMs;
    work();
  }
  return longest;
}

test('slices are as short as what others do in between, and as long as memory needs beside those who fill it in long turns', () => {
  expect(longestSlice(0.1, 1)).toBeLessThanOrEqual(1);
  expect(longestSlice(0.5, 1)).toBeLessThanOrEqual(4);
  expect(longestSlice(0.5, 40)).toBe(32);
});

test('slices are as short as can be while those wait who came during a long run', () => {
  expect(longestSlice(0.5, 1000, true)).toBe(1);
});
