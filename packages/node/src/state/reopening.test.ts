import { DiskFullError } from '@althing/storage';
import { describe, expect, test } from '@jest/globals';
import { Reopening } from './reopening.js';

class Bench {
  isOpen = true;
  room = true;
  error: Error | null = null;
  holds = 0;
  paused = false;
  held = false;
  shut = false;
  readonly reopening = new Reopening({
    state: this.state(),
    checkpointer: {
      hold: async () => {
        this.holds += 1;
      },
      release: () => {
        this.holds -= 1;
      },
      rest: () => {},
    },
    sessions: {
      pause: () => {
        this.paused = true;
      },
      resume: () => {
        this.paused = false;
        this.shut = false;
      },
      shut: () => {
        this.shut = true;
      },
    },
  });

  attempt(): Promise<boolean> {
    return this.reopening.attempt(async () => {
      expect([this.holds, this.paused, this.held, this.isOpen]).toEqual([1, true, true, true]);
      return this.room;
    });
  }

  private state() {
    const bench = this;
    return {
      get isOpen(): boolean {
        return bench.isOpen;
      },
      hold: async (): Promise<void> => {
        bench.held = true;
      },
      release: (): void => {
        bench.held = false;
      },
      reopen: async (): Promise<void> => {
        expect([bench.holds, bench.paused, bench.held]).toEqual([1, true, true]);
        bench.isOpen = false;
        if (bench.error !== null) throw bench.error;
        bench.isOpen = true;
      },
    };
  }
}

describe('the state', () => {
  test('is opened again while everything stands still, and only then', async () => {
    const bench = new Bench();
    expect(await bench.attempt()).toBe(true);
    expect([bench.holds, bench.paused, bench.held]).toEqual([0, false, false]);
  });

  test('stays open when the room was taken meanwhile', async () => {
    const bench = new Bench();
    bench.room = false;
    expect(await bench.attempt()).toBe(false);
    expect([bench.isOpen, bench.holds, bench.paused]).toEqual([true, 0, false]);
  });

  test('a state that could not be opened is held by one attempt, however many follow', async () => {
    const bench = new Bench();
    bench.error = new DiskFullError('no room');
    for (let attempt = 0; attempt < 3; attempt++) await expect(bench.attempt()).rejects.toThrow('no room');
    expect([bench.isOpen, bench.holds, bench.paused, bench.shut]).toEqual([false, 1, true, true]);
    bench.error = null;
    expect(await bench.attempt()).toBe(true);
    expect([bench.isOpen, bench.holds, bench.paused, bench.shut]).toEqual([true, 0, false, false]);
  });
});
