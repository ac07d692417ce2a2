import { DiskFullError } from '@althing/storage';
import { describe, expect, test } from '@jest/globals';
import { DiskKeeper } from './disk-keeper.js';

const RESERVE = 1000;

/** A disk with a reserve, as the keeper sees it. */
class Bench {
  free = 10_000;
  hasReserve = true;
  reopens = 0;
  reopenError: Error | null = null;
  failures: unknown[] = [];
  readonly said: string[] = [];
  readonly keeper = new DiskKeeper({
    reserve: this,
    reserveBytes: RESERVE,
    freeBytes: async () => this.free,
    bytesToReopen: async () => RESERVE / 2,
    setLevel: (level) => this.said.push(`set ${level}`),
    reopenState: async (makeRoom) => {
      this.said.push(this.hasReserve ? 'reopens with the reserve' : 'reopens');
      this.reopens += 1;
      if (!(await makeRoom())) return false;
      if (this.reopenError !== null) throw this.reopenError;
      return true;
    },
    report: ({ kind }) => this.said.push(kind),
    onFailure: (error) => this.failures.push(error),
  });

  async releaseReserve(): Promise<void> {
    this.hasReserve = false;
    this.free += RESERVE;
  }

  async restoreReserve(): Promise<void> {
    this.hasReserve = true;
    this.free -= RESERVE;
  }

  /** Time passes: the keeper looks again and does what it can. */
  async look(): Promise<string[]> {
    this.keeper.consider();
    for (let i = 0; i < 20; i++) await Promise.resolve();
    return this.said.splice(0);
  }
}

describe('a node on a disk that gets full', () => {
  test('refuses changes when little is left, and keeps its reserve', async () => {
    const bench = new Bench();
    bench.keeper.noteLevel('low');
    expect(await bench.look()).toEqual(['set low', 'level']);
    expect(bench.hasReserve).toBe(true);
    bench.keeper.noteLevel('ok');
    expect(await bench.look()).toEqual(['set ok', 'level']);
  });

  test('gives its reserve up when the log is full, and takes it again when twice as much is free', async () => {
    const bench = new Bench();
    bench.free = 0;
    bench.keeper.noteLevel('full');
    expect(await bench.look()).toEqual(['set full', 'level', 'reserve_released']);
    bench.keeper.noteLevel('ok');
    await bench.look();
    expect(bench.hasReserve).toBe(false);
    bench.free = 2 * RESERVE;
    expect(await bench.look()).toEqual(['reserve_restored']);
    expect(await bench.look()).toEqual([]);
  });

  test('opens a state that had no room again, with the room of the reserve', async () => {
    const bench = new Bench();
    bench.free = 0;
    bench.keeper.noteStateFull();
    expect(await bench.look()).toEqual([
      'set full',
      'level',
      'reopens with the reserve',
      'reserve_released',
      'set ok',
      'level',
      'state_reopened',
    ]);
    expect(bench.reopens).toBe(1);
  });

  test('waits with a state that had no room until there is some, and tries again what had none', async () => {
    const bench = new Bench();
    bench.hasReserve = false;
    bench.free = 10;
    bench.keeper.noteStateFull();
    await bench.look();
    expect(bench.reopens).toBe(0);
    bench.free = 5 * RESERVE;
    bench.reopenError = new DiskFullError('no room');
    expect(await bench.look()).toEqual(['reopens', 'state_shut']);
    expect([bench.reopens, bench.keeper.level, bench.failures]).toEqual([1, 'full', []]);
    expect(await bench.look()).toEqual(['reopens']);
    bench.reopenError = null;
    await bench.look();
    expect([bench.reopens, bench.keeper.level]).toEqual([3, 'ok']);
  });

  test('opens the state before the log can take the room of the reserve', async () => {
    const bench = new Bench();
    bench.free = 0;
    bench.keeper.noteStateFull();
    bench.keeper.noteLevel('full');
    const said = await bench.look();
    expect(said.find((what) => /^re/.test(what))).toBe('reopens with the reserve');
  });

  test('ends when the state can not be opened for another reason', async () => {
    const bench = new Bench();
    bench.reopenError = new Error('damaged');
    bench.keeper.noteStateFull();
    await bench.look();
    expect(bench.failures).toEqual([bench.reopenError]);
  });
});
