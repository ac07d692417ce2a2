import { expect, test } from '@jest/globals';
import { ManualClock } from '../../testing/index.js';
import { Gate } from './gate.js';

function gateOf(connectionsMax: number) {
  const rejected: string[] = [];
  const clock = new ManualClock();
  const gate = new Gate({
    memoryMax: 1,
    connectionsMax,
    pendingMax: 1,
    refusal: () => null,
    stale: () => null,
    figures: { rejected: (why) => rejected.push(why) },
    clock,
  });
  return { gate, rejected, clock };
}

test('a few networks of strangers never take all places, and a newcomer always gets one', () => {
  const { gate } = gateOf(10_000);
  const open = (perNetworkMax: number): number => {
    let count = 0;
    while (
      gate.connections < gate.connectionsMax &&
      count < Math.min(perNetworkMax, gate.strangersOfNetworkMax)
    ) {
      count += 1;
      gate.connected(1);
    }
    return count;
  };
  expect([open(4000), open(4000), open(4000)]).toEqual([4000, 1000, 556]);
  for (let network = 3; network < 16; network++) open(4000);
  expect(gate.connectionsMax - gate.connections).toBeGreaterThan(800);
  expect(open(4000)).toBeGreaterThan(100);
});

test('the last places are kept for the machine itself, and a refusal is counted by its reason', () => {
  const { gate, rejected } = gateOf(32);
  gate.connected(30);
  expect([gate.admits(false, false), gate.admits(true, false), gate.admits(true, true)]).toEqual([
    false,
    true,
    false,
  ]);
  expect(rejected).toEqual(['connections', 'connections_per_address']);
});

test('the queue is full when more requests wait for their answer than may', () => {
  const { gate } = gateOf(1);
  gate.begin();
  expect(gate.isQueueFull).toBe(false);
  gate.begin();
  expect(gate.isQueueFull).toBe(true);
  gate.done();
  expect([gate.isQueueFull, gate.pending]).toEqual([false, 1]);
});

test('a gate is idle when every request is answered, those included that come in the last moment', async () => {
  const { gate, clock } = gateOf(10);
  gate.connected(1);
  gate.begin();
  let isIdle = false;
  const idle = gate.idle().then(() => {
    isIdle = true;
  });
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  gate.done();
  gate.begin();
  await turn();
  clock.pass(1000);
  await turn();
  expect(isIdle).toBe(false);
  gate.done();
  await turn();
  await turn();
  gate.begin();
  clock.pass(1000);
  await turn();
  expect(isIdle).toBe(false);
  gate.done();
  await turn();
  await turn();
  clock.pass(1000);
  await idle;
  expect(isIdle).toBe(true);
});
