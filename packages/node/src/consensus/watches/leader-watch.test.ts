import { describe, expect, test } from '@jest/globals';
import { LeaderWatch } from './leader-watch.js';

describe('the watch for a leader', () => {
  test('misses one from the beginning, until there is one', () => {
    const watch = new LeaderWatch(3);
    watch.tick(0);
    expect(watch.isMissing).toBe(true);
    watch.tick(7);
    expect(watch.isMissing).toBe(false);
  });

  test('misses none during an election, and one when there is none for longer', () => {
    const watch = new LeaderWatch(3);
    for (const leader of [7, 0, 0, 0]) watch.tick(leader);
    expect(watch.isMissing).toBe(false);
    watch.tick(0);
    expect(watch.isMissing).toBe(true);
    watch.tick(8);
    expect(watch.isMissing).toBe(false);
  });
});
