import { describe, expect, test } from '@jest/globals';
import { OutrunWatch, SlowDisk } from './slow-disk.js';

describe('the time that a disk lacks what others have', () => {
  test('is counted for an entry, until that entry is there', () => {
    const watch = new OutrunWatch();
    const seen = (commit: number, stable: number): number => {
      watch.tick(commit, stable);
      return watch.ticks;
    };
    expect([seen(5, 5), seen(6, 5), seen(7, 5), seen(8, 5)]).toEqual([0, 0, 1, 2]);
    // A disk that is busy but keeps up never lacks the same entry for long.
    expect([seen(9, 6), seen(10, 8), seen(11, 10), seen(12, 11)]).toEqual([0, 1, 0, 0]);
    expect([seen(12, 12), seen(12, 12)]).toEqual([0, 0]);
  });
});

describe('a disk', () => {
  test('is slow from a slow write on, and well again after a while without one', () => {
    const changes: boolean[] = [];
    const disk = new SlowDisk({ slowTicks: 3, wellTicks: 4, changed: (isSlow) => changes.push(isSlow) });
    for (const ticks of [0, 1, 2, 3, 4, 0, 1, 2, 3, 0, 0, 0]) disk.tick(ticks);
    expect([disk.isSlow, changes]).toEqual([true, [true]]);
    disk.tick(0);
    expect([disk.isSlow, changes]).toEqual([false, [true, false]]);
  });
});
