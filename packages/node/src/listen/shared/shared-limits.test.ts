import { expect, test } from '@jest/globals';
import { SharedLimits } from './shared-limits.js';

test('a few networks of strangers never take all places, and a newcomer always gets one', () => {
  const shared = new SharedLimits({ memoryMax: 1, connectionsMax: 10_000, pendingMax: 1 });
  const open = (perNetworkMax: number): number => {
    let count = 0;
    while (
      shared.connections < shared.connectionsMax &&
      count < Math.min(perNetworkMax, shared.strangersOfNetworkMax)
    ) {
      count += 1;
      shared.connections += 1;
    }
    return count;
  };
  expect([open(4000), open(4000), open(4000)]).toEqual([4000, 1000, 556]);
  for (let network = 3; network < 16; network++) open(4000);
  expect(shared.connectionsMax - shared.connections).toBeGreaterThan(800);
  expect(open(4000)).toBeGreaterThan(100);
});
