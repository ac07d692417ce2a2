import { describe, expect, test } from '@jest/globals';
import { DiskTimes } from './disk-times.js';
import { Scheduler } from './scheduler.js';

/** Runs everything that is planned within some time; gives what ended, and when. */
async function endsOf(
  prepare: (times: DiskTimes, ended: (name: string) => () => void, scheduler: Scheduler) => void,
) {
  const scheduler = new Scheduler();
  const ends: [string, number][] = [];
  prepare(new DiskTimes(scheduler), (name) => () => ends.push([name, scheduler.now]), scheduler);
  await scheduler.run(
    () => false,
    100_000,
    () => {},
  );
  return ends;
}

describe('the times of operations of a disk', () => {
  test('an operation that began on a slow disk goes on at full speed when the disk is healed', async () => {
    const ends = await endsOf((times, ended, scheduler) => {
      times.slowness = 50;
      times.after(1000, ended('state'));
      times.inOrder(500, ended('log'));
      scheduler.at(5000, () => {
        times.slowness = 1;
      });
    });
    expect(ends).toEqual([
      ['log', 5400],
      ['state', 5900],
    ]);
  });

  test('an operation that is under way when the disk gets slow takes longer', async () => {
    const ends = await endsOf((times, ended, scheduler) => {
      times.after(100, ended('state'));
      scheduler.at(50, () => {
        times.slowness = 5;
      });
    });
    expect(ends).toEqual([['state', 300]]);
  });

  test('operations in order end in their order, whatever the speed becomes', async () => {
    const ends = await endsOf((times, ended, scheduler) => {
      times.inOrder(300, ended('first'));
      times.slowness = 50;
      times.inOrder(1, ended('second'));
      times.after(1, ended('beside'));
      scheduler.at(10, () => {
        times.slowness = 1;
        times.inOrder(1, ended('third'));
      });
    });
    expect(ends.map(([name]) => name)).toEqual(['beside', 'first', 'second', 'third']);
  });
});
