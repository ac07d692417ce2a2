import { expect, test } from '@jest/globals';
import { MemoryKeeper } from './memory-keeper.js';

/** An engine whose rounds take so many bytes out of memory, one after the other. */
function roundsOf(...rounds: number[]) {
  const engine = {
    thingBytes: 300,
    isOver: (bytesMax: number) => engine.thingBytes > bytesMax,
    evict: () => {
      engine.thingBytes -= rounds.shift() ?? 0;
      return false;
    },
  };
  const works: (() => void)[] = [];
  const keeper = new MemoryKeeper(
    engine,
    { cacheBytes: 100 },
    () => 0,
    (work) => works.push(work),
  );
  keeper.consider();
  let count = 0;
  for (let work = works.shift(); work !== undefined; work = works.shift(), count++) work();
  return { count, bytes: engine.thingBytes, isWorking: keeper.isWorking };
}

test('what a first round spared leaves in the next one, and what that spares stays', () => {
  expect(roundsOf(0, 250)).toEqual({ count: 2, bytes: 50, isWorking: false });
  expect(roundsOf(250)).toEqual({ count: 1, bytes: 50, isWorking: false });
  expect(roundsOf(0, 0, 250)).toEqual({ count: 2, bytes: 300, isWorking: false });
});
