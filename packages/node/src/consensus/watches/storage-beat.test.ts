import { beforeEach, describe, expect, test } from '@jest/globals';
import { StorageBeat } from './storage-beat.js';

let now: number;
let beat: StorageBeat;

beforeEach(() => {
  now = 1000;
  beat = new StorageBeat(() => now);
});

describe('the beat of the storage', () => {
  test('is silent since the oldest write without an answer began', () => {
    expect(beat.silence()).toBe(0);
    beat.writeBegan();
    now += 20_000;
    beat.writeBegan();
    now += 10_000;
    expect(beat.silence()).toBe(30_000);
  });

  test('any answer tells that the disk is there, also while others are waited for', () => {
    beat.writeBegan();
    beat.writeBegan();
    now += 20_000;
    beat.writeEnded(true);
    expect(beat.silence()).toBe(0);
    now += 5000;
    expect(beat.silence()).toBe(5000);
    beat.writeEnded(false);
    now += 60_000;
    expect(beat.silence()).toBe(0);
  });

  test('a look that does not end is told, and no other is taken meanwhile', async () => {
    let release = (): void => {};
    let looks = 0;
    const look = (): Promise<void> => {
      looks += 1;
      return new Promise((resolve) => {
        release = resolve;
      });
    };
    const first = beat.look(look);
    now += 40_000;
    await beat.look(look);
    expect([looks, beat.silence()]).toEqual([1, 40_000]);
    release();
    await first;
    expect(beat.silence()).toBe(0);
    void beat.look(look);
    expect(looks).toBe(2);
  });

  test('a look that fails has ended', async () => {
    await expect(beat.look(() => Promise.reject(new Error('no such file system')))).rejects.toThrow(
      'no such',
    );
    now += 40_000;
    expect(beat.silence()).toBe(0);
  });
});
